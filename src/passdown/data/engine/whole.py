"""The whole of a pipeline file, from files to exported samples and their card."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from passdown.data.engine.card import as_markdown, make_card
from passdown.data.engine.outputs import export, target_called
from passdown.data.engine.pipeline import ExportTable, Pipeline, read_pipeline
from passdown.data.engine.run import Backend, Ran
from passdown.data.engine.steps import STEPS, Progress, list_sources, run_steps
from passdown.data.export.written import How
from passdown.data.samples.encoders import load_tokenizer
from passdown.io.files import write_files


def run_pipeline(
    file: Path, *, workers: int = 1, backend: Backend = "local", progress: Progress | None = None, again: bool = False
) -> dict[str, Ran]:
    """Run every step of a pipeline file, export, and write `card.md` and `card.json` beside the exported files.

    Run again it does only what is not finished, with `again` also what another try may bring. Raises
    `FormatError` for a file that cannot be used, `UsageError` for a target or a tokenizer that is not there.
    """
    pipeline = _beside(read_pipeline(file), file.parent)
    for target in pipeline.export.targets:
        target_called(target)
    how = _how(pipeline.export, file.parent)
    folder = file.parent / pipeline.out
    folder.mkdir(parents=True, exist_ok=True)
    list_sources(pipeline, file.parent, folder)
    ran = run_steps(
        [step.name for step in STEPS],
        pipeline,
        folder,
        workers=workers,
        backend=backend,
        progress=progress,
        again=again,
    )
    kinds, licences = tuple(pipeline.export.kinds), frozenset(pipeline.export.licences) or None
    for target in pipeline.export.targets:
        export(
            folder, target, folder / "export" / target, kinds=kinds, licences=licences, how=how, workers=workers,
            progress=partial(progress, f"export {target}") if progress else None,
        )  # fmt: skip
    card = make_card(folder)
    write_files([
        (folder / "export" / "card.md", as_markdown(card).encode()),
        (folder / "export" / "card.json", msgspec.json.format(msgspec.json.encode(card, order="sorted")) + b"\n"),
    ])  # fmt: skip
    return ran


def _how(table: ExportTable, folder: Path) -> How:
    """Return what the writers are told; a tokenizer that cannot be read is found out before the work, not after it."""
    named = table.tokenizer
    if named and (folder / named).exists():
        named = str((folder / named).resolve())
    if named:
        load_tokenizer(named)
    return How(tokenizer=named, observations=table.observations, most=table.max_tokens or None)


def _beside(pipeline: Pipeline, folder: Path) -> Pipeline:
    """Return the settings with the evaluation list and base trees as absolute paths; they are named beside the file."""
    if pipeline.filter.evaluation:
        listed = str((folder / pipeline.filter.evaluation).resolve())
        pipeline = replace(pipeline, filter=replace(pipeline.filter, evaluation=listed))
    asked = pipeline.replay
    base, tools = (str((folder / place).resolve()) if place else "" for place in (asked.base, asked.tools))
    return replace(pipeline, replay=replace(asked, base=base, tools=tools))
