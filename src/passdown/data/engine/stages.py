"""The stages between trajectories and samples: each takes rows of one record and gives rows of the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from passdown.data.engine.ingest import trajectory_row
from passdown.data.engine.manifest import file_hash
from passdown.data.engine.pipeline import FilterTable, PointsTable, ReplayTable, SamplesTable, SplitTable
from passdown.data.engine.shards import Row
from passdown.data.engine.stage import Batch, Stage, Work
from passdown.data.filters.result import Filtered, dropped
from passdown.data.records import Cut, Cuts, Reject, SampleKind, Trajectory

_TRAJECTORY = msgspec.json.Decoder(Trajectory)
_CUTS = msgspec.json.Decoder(Cuts)
_ENCODE = msgspec.json.Encoder(order="deterministic")


def trajectory_in(row: Row) -> Trajectory:
    """Return a row's trajectory, with the split that was decided for it."""
    return msgspec.structs.replace(_TRAJECTORY.decode(row.record), split=row.split)


def cuts_in(row: Row) -> Cuts:
    """Return a row's trajectory with its cuts."""
    return _CUTS.decode(row.record)


def again(row: Row, cuts: Cuts, kind: str) -> Row:
    """Return the row with another record and kind."""
    return msgspec.structs.replace(row, kind=kind, record=_ENCODE.encode(cuts))


def quality_stage(settings: FilterTable, sides: SplitTable | None = None, evaluation: Path | None = None) -> Stage:
    """Return the stage of the filters that look at one trajectory alone, and of the split.

    `evaluation` lists instances to keep out; its content is a part of the stage.
    """
    drawn = sides or SplitTable()
    parameters = {
        "limits": {"fewest_turns": settings.min_steps, "most_turns": settings.max_steps},
        "licences": settings.licences, "validation": drawn.validation, "test": drawn.test, "seed": drawn.seed,
        "mark": file_hash(evaluation) if evaluation else "",
    }  # fmt: skip
    places = {"evaluation": str(evaluation) if evaluation else ""}
    return Stage(name="quality", maker="passdown.data.engine.stages:judging", parameters=parameters, places=places)


def judging(
    limits: dict[str, int], licences: str, validation: float, test: float, seed: int, mark: str, evaluation: str
) -> Work:
    """Make the work of `quality`: gates, licences, evaluation instances, and the side of the split."""
    from passdown.data.filters.decontaminate import decontaminate, read_evaluation
    from passdown.data.filters.licence import permitted
    from passdown.data.filters.quality import Limits, gate
    from passdown.data.filters.split import split

    del mark
    held_out = read_evaluation(Path(evaluation)) if evaluation else None
    bounds = Limits(**limits)

    def work(batch: Batch) -> Iterator[Row | Reject]:
        found: Filtered = gate(map(trajectory_in, batch), bounds)
        if licences == "permissive":
            found = _also(found, permitted)
        if held_out is not None:
            found = _also(found, lambda one: decontaminate(one, held_out))
        found = _also(found, lambda one: split(one, seed=seed, validation=validation, test=test))
        for made in found:
            yield made if isinstance(made, Reject) else trajectory_row(made)

    return work


def _also(found: Filtered, then: Callable[[Iterable[Trajectory]], Filtered]) -> Filtered:
    """Pass what one filter kept on to the next, one at a time."""
    for made in found:
        if isinstance(made, Reject):
            yield made
        else:
            yield from then([made])


def points_stage(blobs: Path, points: PointsTable, settings: ReplayTable | None = None) -> Stage:
    """Return the stage that finds where to cut. Contents of files at the cuts go to the store `blobs`."""
    from passdown.data.replay.base import mark_of
    from passdown.data.replay.sandbox import mark_of_tools

    asked = settings or ReplayTable()
    base = Path(asked.base) if asked.base else None
    mark = mark_of(base) + (mark_of_tools(Path(asked.tools)) if asked.tools else "")
    return Stage(
        name="points", maker="passdown.data.engine.stages:finding_points", version=5,
        parameters={**structs.asdict(points), "sandbox": asked.sandbox, "mark": mark},
        places={"blobs": str(blobs), "base": asked.base, "tools": asked.tools},
    )  # fmt: skip


def finding_points(
    per_trajectory: int,
    blobs: str,
    sandbox: bool = False,
    mark: str = "",
    base: str = "",
    tools: str = "",
) -> Work:
    """Make the work of `points`: replay, subtasks, detectors, selection."""
    from passdown.data.points.detect import detect
    from passdown.data.points.select import select
    from passdown.data.replay.base import find_base
    from passdown.data.replay.blobs import BlobStore
    from passdown.data.replay.rerun import rerun
    from passdown.data.replay.virtual import replay
    from passdown.data.subtasks.graph import subtasks

    del mark
    store = BlobStore(Path(blobs))
    folder, lent = (Path(place) if place else None for place in (base, tools))

    def work(batch: Batch) -> Iterator[Row | Reject]:
        for row in batch:
            trajectory = trajectory_in(row)
            began = find_base(trajectory, folder)
            replayed = replay(trajectory, began.files if began else None)
            graph = subtasks(trajectory, replayed)
            found = detect(trajectory, replayed, graph)
            chosen = select(found, trajectory.trajectory_id, per_trajectory)
            if not chosen:
                yield dropped("points", trajectory, "no point to cut at")
                continue
            real = rerun(trajectory, began, tools=lent) if sandbox and began else None
            states = [real if real and real.exact(point.k) else replayed for point in chosen]
            cuts = tuple(
                Cut(point=point, snapshot=state.snapshot(point.k, store))
                for point, state in zip(chosen, states, strict=True)
            )
            told = (real.told() if real else "nobody has its base tree") if sandbox else ""
            yield again(row, Cuts(trajectory=trajectory, graph=graph, cuts=cuts, replayed=told), "points")

    return work


def building_stage(settings: SamplesTable, blobs: Path, seed: int) -> Stage:
    """Return the stage that chooses samples. Raises `UsageError` for a successor that is none."""
    from passdown.data.engine.succeeding import check_successors

    check_successors(settings.successors)
    parameters = {**msgspec.to_builtins(settings), "seed": seed}
    return Stage(
        name="build", maker="passdown.data.engine.stages:building", version=5, parameters=parameters,
        places={"blobs": str(blobs)},
    )  # fmt: skip


def building(
    kinds: list[SampleKind],
    per_trajectory: int,
    self_tails: float,
    seed: int,
    successors: Sequence[str] = (),
    blobs: str = "",
) -> Work:
    """Make the work of `build`: samples by reference, beside what they refer to."""
    from passdown.data.engine.succeeding import named_in, succeed
    from passdown.data.replay.blobs import BlobStore
    from passdown.data.samples.build import build_samples

    how: dict[str, Any] = {"kinds": kinds, "per_trajectory": per_trajectory, "self_tails": self_tails, "seed": seed}
    store = BlobStore(Path(blobs))

    def work(batch: Batch) -> Iterator[Row | Reject]:
        for row in batch:
            cuts = cuts_in(row)
            runs: list[Trajectory] = []
            for made in succeed(cuts, successors if "sft" in kinds else (), store):
                if isinstance(made, Reject):
                    yield made
                else:
                    runs.append(made)
            samples = build_samples(cuts, successors=runs, **how)
            if samples:
                kept = msgspec.structs.replace(cuts, samples=samples, successors=named_in(samples, runs))
                yield again(row, kept, "samples")
            else:
                yield dropped("build", cuts.trajectory, "no sample")

    return work
