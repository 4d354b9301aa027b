"""Find samples of a working folder to look at, rendered as they would be exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passdown.data.engine.shards import read_batches, shards_in
from passdown.data.engine.stages import cuts_in
from passdown.data.records import Reject, Sample
from passdown.data.samples.render import Rendered, render
from passdown.errors import UsageError


def matching(
    folder: Path, name: str = "", *, kind: str = "", view: str = "", point: str = ""
) -> Iterator[Rendered | Reject]:
    """Yield the samples whose id, trajectory or source begins with `name`, of one kind, view and point if given."""

    def wanted(sample: Sample, source: str) -> bool:
        named = not name or any(text.startswith(name) for text in (sample.sample_id, sample.trajectory_id, source))
        return named and kind in ("", sample.kind) and view in ("", sample.view) and point in ("", sample.point)

    from msgspec.structs import replace

    for path in shards_in(folder / "samples"):
        for batch in read_batches(path):
            for row in batch:
                cuts = cuts_in(row)
                chosen = tuple(sample for sample in cuts.samples if wanted(sample, row.source))
                if chosen:
                    yield from render(replace(cuts, samples=chosen))


def look_at(
    folder: Path, name: str = "", *, kind: str = "", view: str = "", point: str = "", skip: int = 0
) -> Rendered:
    """Return the first sample that matches, or, with `skip`, one behind it. Raises `UsageError` when there is none."""
    for made in matching(folder, name, kind=kind, view=view, point=point):
        if isinstance(made, Rendered):
            if skip == 0:
                return made
            skip -= 1
    raise UsageError("no such sample here", where=folder.name, next_step="`passdown data card` says what there is.")
