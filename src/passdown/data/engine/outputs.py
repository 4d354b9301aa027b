"""From a working folder to files that leave it: every sample rendered and written by one exporter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from passdown.data.engine.shards import read_batches, shards_in
from passdown.data.engine.stages import cuts_in
from passdown.data.export.written import PLAIN, How, Written
from passdown.data.records import Reject, SampleKind, Trajectory
from passdown.data.samples.render import Rendered, render
from passdown.errors import UsageError

TARGETS = {
    "parquet": ("passdown.data.export.parquet:write_parquet", ".parquet"),
    "jsonl": ("passdown.data.export.parquet:write_jsonl", ".jsonl"),
    "trl": ("passdown.data.export.trl:write_trl", ""),
}
"""Target → the writer (`module:function`, given samples, a path and `How`) and the ending of its files.

Without an ending, a path is that of a folder.
"""


class Exported(NamedTuple):
    """What an export wrote: samples by split, what was dropped by reason, the files' names."""

    samples: dict[str, int]
    dropped: dict[str, int]
    files: list[str]


def export(
    folder: Path,
    target: str,
    out: Path,
    *,
    kinds: tuple[SampleKind, ...] = (),
    licences: frozenset[str] | None = None,
    how: How = PLAIN,
) -> Exported:
    """Write the samples of a working folder to `out`, one file a split and shard.

    `kinds` chooses among samples, `licences` keeps only those sources. `how` is what the writer is told.
    Raises `UsageError` for an unknown target.
    """  # fmt: skip
    if target not in TARGETS:
        raise UsageError(f"no target called {target[:40]!r}", next_step=f"One of: {', '.join(sorted(TARGETS))}.")
    place, ending = TARGETS[target]
    module, _, name = place.partition(":")
    writer = cast("Callable[[Iterator[Rendered], Path, How], Written]", getattr(import_module(module), name))
    how = how._replace(blobs=how.blobs or folder / "blobs")
    dropped: Counter[str] = Counter()
    written: Counter[str] = Counter()
    files: list[str] = []
    for shard in shards_in(folder / "samples"):
        for split in _splits(shard):
            path = out / f"{split or 'all'}-{shard.stem.removeprefix('part-')}{ending}"
            done = writer(_chosen(shard, split, kinds, licences, dropped), path, how)
            dropped.update(done.dropped)
            if done.rows:
                written[split or "all"] += done.rows
                files.append(path.name)
            elif ending:
                path.unlink(missing_ok=True)
    return Exported(dict(sorted(written.items())), dict(sorted(dropped.items())), files)


def _splits(shard: Path) -> list[str]:
    return sorted({row.split for batch in read_batches(shard) for row in batch})


def _chosen(
    shard: Path, split: str, kinds: tuple[SampleKind, ...], licences: frozenset[str] | None, dropped: Counter[str]
) -> Iterator[Rendered]:
    runs: dict[str, Trajectory] = {}
    for batch in read_batches(shard):
        for row in batch:
            if row.split != split:
                continue
            if licences is not None and row.licence not in licences:
                dropped["licence"] += 1
                continue
            for made in render(cuts_in(row), runs):
                if isinstance(made, Reject):
                    dropped[made.reason] += 1
                elif not kinds or made.sample.kind in kinds:
                    yield made
