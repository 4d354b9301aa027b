"""The steps from files to samples, and the folders they leave side by side in one working folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from passdown.data.engine.decide import decide, deciding_stage, signing_stage
from passdown.data.engine.ingest import Input, find_inputs, ingest_stage, list_files
from passdown.data.engine.manifest import Manifest
from passdown.data.engine.pipeline import Pipeline, SourceTable
from passdown.data.engine.processes import Processes
from passdown.data.engine.run import Backend, Ran, run_stage
from passdown.data.engine.shards import made_by
from passdown.data.engine.stage import Stage
from passdown.data.engine.stages import building_stage, points_stage, quality_stage
from passdown.data.engine.viewing import views_stage
from passdown.data.sources.licence_table import read_licences
from passdown.errors import UsageError
from passdown.io.files import write_files

Progress = Callable[[str, int, int], None]
"""Is told the step's name, how many shards are done, and of how many."""


class Step(Struct, frozen=True, kw_only=True):
    """One step: the folder it reads, the folder it writes, how its stage is made of the pipeline's settings."""

    name: str
    reads: str
    writes: str
    stage: Callable[[Pipeline, Path], Stage]


def _points(pipeline: Pipeline, folder: Path) -> Stage:
    if pipeline.replay.sandbox:
        from passdown.data.replay.sandbox import Sandbox

        with Sandbox(
            tools=Path(pipeline.replay.tools) if pipeline.replay.tools else None
        ):  # where none can be made, that is said before the work and not in the midst of it
            pass
    return points_stage(folder / "blobs", pipeline.points, pipeline.replay)


def _views(pipeline: Pipeline, folder: Path) -> Stage:
    del folder
    return views_stage(pipeline.views)


def _perturb(pipeline: Pipeline, folder: Path) -> Stage:
    from passdown.data.engine.perturbing import perturbing_stage

    return perturbing_stage(pipeline.perturb, folder / "blobs", pipeline.seed)


def _build(pipeline: Pipeline, folder: Path) -> Stage:
    return building_stage(pipeline.samples, folder / "blobs", pipeline.seed)


def _quality(pipeline: Pipeline, folder: Path) -> Stage:
    listed = folder / pipeline.filter.evaluation if pipeline.filter.evaluation else None
    return quality_stage(pipeline.filter, pipeline.split, listed)


def _decide(pipeline: Pipeline, folder: Path) -> Stage:
    return deciding_stage(decide(folder / "signed", folder / "decisions.sqlite", pipeline.filter))


STEPS: tuple[Step, ...] = (
    Step(name="read", reads="files", writes="read", stage=lambda _pipeline, _folder: ingest_stage()),
    Step(name="quality", reads="read", writes="quality", stage=_quality),
    Step(name="sign", reads="quality", writes="signed", stage=lambda _pipeline, _folder: signing_stage()),
    Step(name="decide", reads="quality", writes="trajectories", stage=_decide),
    Step(name="points", reads="trajectories", writes="points", stage=_points),
    Step(name="views", reads="points", writes="views", stage=_views),
    Step(name="perturb", reads="views", writes="perturbed", stage=_perturb),
    Step(name="build", reads="perturbed", writes="samples", stage=_build),
)
"""Every step, in order. What a step rejects lies in the folder `rejects` of what it writes."""


def run_steps(
    names: list[str],
    pipeline: Pipeline,
    folder: Path,
    *,
    workers: int = 1,
    backend: Backend = "local",
    progress: Progress | None = None,
    again: bool = False,
) -> dict[str, Ran]:
    """Run the named steps in their order in a working folder; what is finished is not done again.

    With `again` that is tried once more which another try may bring: summaries that a model did not give.
    Raises `UsageError` when what a step reads is not there yet, or is not what came before it.
    """
    folder = folder.resolve()
    first = next((step for step in STEPS if step.name in names), None)
    if first is not None:
        require_fresh(folder, first.reads)
    done: dict[str, Ran] = {}
    with Processes(workers) as processes:
        for step in STEPS:
            if step.name in names:
                stage = step.stage(pipeline, folder)
                tell = _telling(step.name, progress)
                done[step.name] = run_stage(
                    stage, folder / step.reads, folder / step.writes, backend=backend, processes=processes,
                    progress=tell, again=again,
                )  # fmt: skip
    return done


def require_fresh(folder: Path, name: str) -> None:
    """Raise `UsageError` where what lies in the folder `name` was not made of all that lies in those before it."""
    step = next((step for step in STEPS if step.writes == name), None)
    if step is None:
        return
    require_fresh(folder, step.reads)
    made_of = {entry.source for entry in Manifest(folder / name).entries.values()}
    there = {entry.sha256 for entry in Manifest(folder / step.reads).entries.values()}
    if made_of and there and "" not in made_of and made_of != there:  # those of older versions do not say
        raise UsageError(
            f"not finished, or not made of what lies in `{step.reads}` now", where=name,
            next_step=f"Run `passdown data {made_by(name)}` first.",
        )  # fmt: skip


def _telling(name: str, progress: Progress | None) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)


def _inputs(source: SourceTable, beside: Path, listed: Path) -> list[Input]:
    if source.runs:
        write_files([(listed, "".join(f"{line}\n" for line in source.runs).encode())])
        return find_inputs([listed], "worlds", source.licence)
    if not (beside / source.path).exists():
        raise UsageError(
            "there is no such file or folder", where=str(beside / source.path),
            next_step='Put recorded trajectories there, or have passdown make some: runs = ["*"] instead of the path.',
        )  # fmt: skip
    licences = read_licences(beside / source.licences) if source.licences else None
    return find_inputs([beside / source.path], source.format, source.licence, licences)


def list_sources(pipeline: Pipeline, beside: Path, folder: Path) -> int:
    """Write the list of files that the pipeline's sources name, relative to `beside`; return how many there are.

    A file that several sources name is read once, as the first of them says. Runs that passdown makes itself are
    listed in `folder`. Raises `UsageError` for a path that is not there.
    """
    named = [
        entry
        for number, source in enumerate(pipeline.source)
        for entry in _inputs(source, beside, folder / f"runs-{number}.txt")
    ]
    inputs: dict[str, Input] = {}
    for entry in named:
        inputs.setdefault(entry.path, entry)
    list_files(list(inputs.values()), folder / "files")
    return len(inputs)
