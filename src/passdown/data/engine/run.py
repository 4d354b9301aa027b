"""Run a stage over a folder of shards: in this process, in several, or on a cluster; killed and resumed at will."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from passdown.data.engine.manifest import Finished, Manifest, file_hash
from passdown.data.engine.processes import Processes
from passdown.data.engine.shards import (
    PIECE_BYTES,
    REJECTS,
    Row,
    ShardWriter,
    pieces,
    read_batches,
    shards_in,
    sweep,
    written,
)
from passdown.data.engine.stage import Stage
from passdown.data.records import Reject
from passdown.io.files import lock

Backend = Literal["local", "ray"]
EXAMPLE = 160
"""Characters of an example."""


class Job(Struct, frozen=True, kw_only=True):
    """One shard's work: everything a process needs to know, small enough to be sent.

    A shard of more than about `piece_bytes` is written as several.
    """

    stage: Stage
    source: str
    target: str
    key: str
    source_hash: str = ""
    piece_bytes: int = PIECE_BYTES


class Ran(Struct, frozen=True, kw_only=True):
    """What a run of a stage did: shards made now, shards found finished, rows by kind, rejects by reason.

    `examples` names for each reason one of the rows that were dropped.
    """

    made: int
    kept: int
    rows: int
    read: int
    kinds: dict[str, int]
    rejected: dict[str, int]
    examples: dict[str, str] = field(default_factory=dict)


def run_job(job: Job) -> list[Finished]:
    """Make shards of another, mostly one, batch by batch; memory does not grow with what is read or written."""
    source, target = Path(job.source), Path(job.target)
    work = job.stage.work()
    read = 0
    with ExitStack() as stack:
        writer = stack.enter_context(pieces(target, job.piece_bytes))
        rejects = _Rejects(target, stack)
        for batch in read_batches(source):
            read += len(batch)
            for made in work(batch):
                if isinstance(made, Reject):
                    rejects.add(made)
                else:
                    writer.write(made)
    first, *others = [
        Finished(
            shard=piece.path.name, key=job.key, stage=job.stage.name, sha256=file_hash(piece.path),
            bytes=piece.path.stat().st_size, rows=piece.rows, kinds=dict(sorted(piece.kinds.items())),
            source=job.source_hash,
        )
        for piece in writer.made
    ]  # fmt: skip
    counted = dict(sorted(rejects.counts.items()))
    first = replace(
        first, read=read, rejected=counted, rejects=rejects.name(), pieces=len(writer.made),
        examples=dict(sorted(rejects.examples.items())),
    )  # fmt: skip
    return [first, *others]


class _Rejects:
    """Writes a shard's rejects beside it as they come; without any there is no file."""

    def __init__(self, target: Path, stack: ExitStack) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self._path = target.parent / REJECTS / target.name
        self._stack = stack
        self._writer: ShardWriter | None = None

    def add(self, reject: Reject) -> None:
        """Write one."""
        if self._writer is None:
            self._writer = self._stack.enter_context(written(self._path))
        self._writer.write(
            Row(
                id=f"{self._path.stem}-{self.counts.total()}", trajectory_id=reject.trajectory_id, kind=reject.reason,
                source=reject.provenance.source if reject.provenance else "", record=msgspec.json.encode(reject),
            )
        )  # fmt: skip
        self.counts[reject.reason] += 1
        if reject.reason not in self.examples:
            self.examples[reject.reason] = _told(reject)

    def name(self) -> str:
        """Return the name of the file, empty where there is none; one of an earlier run is removed."""
        if self._writer is None:
            self._path.unlink(missing_ok=True)
            return ""
        return f"{REJECTS}/{self._path.name}"


def _told(reject: Reject) -> str:
    """Return which row was dropped, in a few words."""
    where = reject.provenance
    row = f"{where.file}:{where.row}" if where is not None and where.row else where.file if where is not None else ""
    return ": ".join(filter(None, (row or reject.trajectory_id, reject.detail)))[:EXAMPLE]


def run_stage(
    stage: Stage,
    source: Path,
    target: Path,
    *,
    workers: int = 1,
    backend: Backend = "local",
    processes: Processes | None = None,
    progress: Callable[[int, int], None] | None = None,
    piece_bytes: int = PIECE_BYTES,
    again: bool = False,
) -> Ran:
    """Run `stage` over every shard in `source` and leave the results in `target`, with a manifest.

    Shards that are finished with the same input, parameters and code are kept; what is left of others is removed.
    `processes` are those of a longer run, else `workers` new ones are started. `progress` is told how many shards are
    done, and of how many. What makes more than about `piece_bytes` is written as several shards. With `again` finished
    shards are made anew that dropped a row for a transient reason. Raises `ConflictError` when another run works there.
    """
    source, target = source.resolve(), target.resolve()  # who does a job may stand elsewhere
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock(target / ".lock"):
        manifest = Manifest(target)
        shards = shards_in(source)
        jobs = [
            Job(
                stage=stage, source=str(path), target=str(target / path.name), key=stage.key(sha), source_hash=sha,
                piece_bytes=piece_bytes,
            )
            for path, sha in ((path, file_hash(path)) for path in shards)
        ]  # fmt: skip
        known = {job.target: manifest.finished(Path(job.target).name, job.key) for job in jobs}
        done = {target: found for target, found in known.items() if found and not (again and _is_open(found, stage))}
        todo = [job for job in jobs if job.target not in done]
        kept = [entry for found in done.values() for entry in found]
        made: list[Finished] = []
        tell = progress or (lambda _done, _total: None)
        tell(len(done), len(jobs))
        if todo:
            stage.begin()
        for number, found in enumerate(_run(todo, processes or workers, backend), 1 + len(done)):
            for entry in reversed(found):  # the first one last: it says that all are there
                manifest.add(entry)
            made += found
            tell(number, len(jobs))
        manifest.rewrite(kept + made)
        sweep(target, {name for entry in kept + made for name in (entry.shard, Path(entry.rejects).name)})
    kinds, rejected = manifest.totals()
    return Ran(
        made=len(made), kept=len(kept), rows=sum(entry.rows for entry in kept + made),
        read=sum(entry.read for entry in kept + made), kinds=dict(sorted(kinds.items())),
        rejected=dict(sorted(rejected.items())),
        examples=dict(sorted(pair for entry in kept + made for pair in entry.examples.items())),
    )  # fmt: skip


def _is_open(shards: list[Finished], stage: Stage) -> bool:
    return any(reason in entry.rejected for entry in shards for reason in stage.transient)


def _run(jobs: list[Job], processes: Processes | int, backend: Backend) -> Iterator[list[Finished]]:
    if backend == "ray":
        from passdown.data.engine.cluster import run_jobs

        yield from run_jobs(jobs)
    elif isinstance(processes, Processes):
        yield from processes.results(run_job, jobs)
    else:
        with Processes(processes) as own:
            yield from own.results(run_job, jobs)
