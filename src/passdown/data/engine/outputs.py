"""From a working folder to files that leave it: every sample rendered and written by one exporter."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import Struct, field

from passdown.data.engine.processes import Processes
from passdown.data.engine.shards import column_values, read_batches, shards_in
from passdown.data.engine.stages import cuts_in
from passdown.data.engine.steps import require_fresh
from passdown.data.export.written import PLAIN, How, Written, write_json
from passdown.data.records import Reject, SampleKind, Trajectory
from passdown.data.samples.encoders import tokenizer_file
from passdown.data.samples.render import Rendered, render
from passdown.errors import UsageError
from passdown.io.files import join_inside

MANIFEST = "export.json"
RECORDS = "exported"
"""The folder in a working folder that keeps what each target's last export wrote and dropped."""
LICENCE, NOT_ASKED = "its licence was not asked for", "its kind was not asked for"


class Target(NamedTuple):
    """One way out. `writer` (`module:function`) is given samples, a path and `How`; `ending` is that of its files, and
    without one a path is a folder. `below` is the folder that they lie in; `finish` (`module:function`) is given the
    folder and what was written, and completes it. `kinds` are those that it holds; empty for all."""

    writer: str
    ending: str = ""
    below: str = ""
    finish: str = ""
    kinds: tuple[SampleKind, ...] = ()


TARGETS = {
    "atif": Target("passdown.data.export.atif:write_atif_files"),
    "parquet": Target("passdown.data.export.parquet:write_parquet", ".parquet"),
    "jsonl": Target("passdown.data.export.parquet:write_jsonl", ".jsonl"),
    "harbor": Target("passdown.data.export.harbor:write_harbor", kinds=("rl",)),
    "hf": Target("passdown.data.export.hf:write_hf", below="data", finish="passdown.data.export.hf:finish_hf"),
    "trl": Target("passdown.data.export.trl:write_trl"),
    "verl": Target("passdown.data.export.verl:write_verl", kinds=("sft", "plain", "reconstruction", "rl")),
}


def target_called(name: str) -> Target:
    """Return a target by its name. Raises `UsageError` naming the known ones."""
    if name not in TARGETS:
        raise UsageError(f"no target called {name[:40]!r}", next_step=f"One of: {', '.join(sorted(TARGETS))}.")
    return TARGETS[name]


class Exported(Struct, frozen=True, kw_only=True):
    """What an export wrote: samples by split, what was dropped by reason, the files' names, and what was asked for.

    Every sample of the working folder is in `samples` or in `dropped`. `shortened` are those written without a part of
    their prompt or of an observation, for which a window has no room.
    """

    schema_version: int = 1
    target: str = ""
    samples: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    shortened: int = 0
    files: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)


def export(
    folder: Path,
    target: str,
    out: Path,
    *,
    kinds: tuple[SampleKind, ...] = (),
    licences: frozenset[str] | None = None,
    how: How = PLAIN,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write the samples of a working folder to `out`, one file a split and shard, with `export.json` beside them.

    `kinds` chooses among samples, `licences` keeps only those sources. `how` is what the writer is told. Files of an
    earlier export to `out` that are not written again are removed. `progress` is told how many files are done, and of
    how many. Raises `UsageError` for an unknown target, and where samples were made of what lies there no longer.
    """
    row = target_called(target)
    require_fresh(folder, "samples")
    how = how._replace(blobs=how.blobs or folder / "blobs")
    jobs = [
        _Job(number, target, shard, split, out / row.below / _name(shard, split, row), kinds, licences, how)
        for number, (shard, split) in enumerate(_parts(folder))
    ]
    written: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    files: list[str] = []
    shortened = 0
    with Processes(workers) as processes:
        ended = sorted(_watched(processes.results(_write, jobs), len(jobs), progress), key=lambda one: one[0])
    for number, done, left_out in ended:
        job = jobs[number]
        dropped.update(left_out)
        dropped.update(done.dropped)
        shortened += done.shortened
        if done.rows:
            written[job.split or "all"] += done.rows
            files.append(job.path.relative_to(out).as_posix())
        elif row.ending:
            job.path.unlink(missing_ok=True)
    made = Exported(
        target=target, samples=dict(sorted(written.items())), dropped=dict(sorted(dropped.items())),
        shortened=shortened, files=files, settings=_settings(kinds, licences, how),
    )  # fmt: skip
    _remove_stale(out, files)
    if row.finish:
        _called(row.finish)(out, made)
    write_json(out / MANIFEST, made)
    write_json(folder / RECORDS / f"{target}.json", made)
    return made


def _watched(results: Iterator[_Done], total: int, progress: Callable[[int, int], None] | None) -> Iterator[_Done]:
    """Yield what is done, and tell how much of it there is."""
    tell = progress or (lambda _done, _total: None)
    tell(0, total)
    for number, result in enumerate(results, 1):
        tell(number, total)
        yield result


def _remove_stale(out: Path, files: list[str]) -> None:
    """Remove what an earlier export to this folder wrote and this one did not."""
    try:
        before = msgspec.json.decode((out / MANIFEST).read_bytes(), type=Exported)
    except (OSError, msgspec.DecodeError):
        return
    for name in set(before.files) - set(files):
        path = join_inside(out, name)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _called(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    return cast("Callable[..., Any]", getattr(import_module(module), name))


def _settings(kinds: tuple[SampleKind, ...], licences: frozenset[str] | None, how: How) -> dict[str, Any]:
    """Return what was asked for. Of a tokenizer's file its name and hash are kept, not where it lay."""
    file = tokenizer_file(how.tokenizer) if how.tokenizer else None
    known = hashlib.sha256(file.read_bytes()).hexdigest() if file else ""
    return {
        "kinds": sorted(kinds), "licences": sorted(licences or ()), "tokenizer": Path(how.tokenizer).name,
        "tokenizer_sha256": known, "max_tokens": how.most, "observations": how.observations,
    }  # fmt: skip


def read_records(folder: Path) -> dict[str, Exported]:
    """Return the last export to each target that was made of a working folder, by target."""
    found = {}
    for path in sorted((folder / RECORDS).glob("*.json")):
        found[path.stem] = msgspec.json.decode(path.read_bytes(), type=Exported)
    return found


_Done = tuple[int, Written, Counter[str]]


class _Job(NamedTuple):
    """One file that is to be written: everything that a process needs to know."""

    number: int
    target: str
    shard: Path
    split: str
    path: Path
    kinds: tuple[SampleKind, ...]
    licences: frozenset[str] | None
    how: How


def _write(job: _Job) -> _Done:
    """Write one file; return the job's number, what was written, and what was left out before it came to that."""
    row = target_called(job.target)
    wanted = _Wanted(job.kinds, row.kinds, job.licences, job.target)
    done: Written = _called(row.writer)(wanted.samples(job.shard, job.split), job.path, job.how)
    return job.number, done, wanted.dropped


def _name(shard: Path, split: str, row: Target) -> str:
    return f"{split or 'all'}-{shard.stem.removeprefix('part-')}{row.ending}"


def _parts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield every shard of samples with each of its splits."""
    for shard in shards_in(folder / "samples"):
        for split in column_values(shard, "split"):
            yield shard, split


class _Wanted:
    """Chooses among samples, and counts those that are left out."""

    def __init__(
        self, kinds: tuple[str, ...], holds: tuple[str, ...], licences: frozenset[str] | None, target: str
    ) -> None:
        self.kinds, self.holds, self.licences = kinds, holds, licences
        self.unheld = f"{target} holds no samples of its kind"
        self.dropped: Counter[str] = Counter()

    def samples(self, shard: Path, split: str) -> Iterator[Rendered]:
        """Yield the samples of one split, rendered."""
        runs: dict[str, Trajectory] = {}
        for batch in read_batches(shard):
            for row in batch:
                if row.split != split:
                    continue
                cuts = cuts_in(row)
                if self.licences is not None and row.licence not in self.licences:
                    self.dropped[LICENCE] += len(cuts.samples)
                    continue
                kept = tuple(sample for sample in cuts.samples if self._kept(sample.kind))
                for made in render(msgspec.structs.replace(cuts, samples=kept), runs):
                    if isinstance(made, Reject):
                        self.dropped[made.reason] += 1
                    else:
                        yield made

    def _kept(self, kind: str) -> bool:
        if self.kinds and kind not in self.kinds:
            self.dropped[NOT_ASKED] += 1
            return False
        if self.holds and kind not in self.holds:
            self.dropped[self.unheld] += 1
            return False
        return True
