"""Ingest: from files of any source to shards of trajectories. The list of files is a folder of shards as well."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from passdown.data.engine.shards import Row, sweep, written
from passdown.data.engine.stage import Batch, Stage, Work
from passdown.data.records import Reject, Trajectory
from passdown.data.sources.parts import Part, parts_of
from passdown.errors import UsageError
from passdown.io.files import lock
from passdown.io.git import try_git

FILES_IN_SHARD = 64
BYTES_IN_SHARD = 64 << 20


class Input(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file (or git repository) to be read, as this machine finds it, and what it is said to be.

    `mark` changes with the content, so that a changed file is read again. `licence` replaces what the source says.
    A large file of rows stands there several times, each time with another `part`.
    """

    path: str
    name: str
    source: str = "auto"
    licence: str = ""
    mark: str = ""
    part: Part | None = None


_ENCODE = msgspec.json.Encoder(order="deterministic")
_DECODE = msgspec.json.Decoder(Input)
_TRAJECTORY = msgspec.json.Encoder()


def find_inputs(
    paths: Iterable[Path], source: str = "auto", licence: str = "", licences: Mapping[str, str] | None = None
) -> list[Input]:
    """Return every file under `paths`, sorted; a git repository counts as one when `source` is `commits`.

    `licences` says by name (relative to the path) which licence a file has; the others have `licence`. Hidden files and
    symlinks are passed over. Raises `UsageError` for a path that is not there.
    """
    found: list[Input] = []
    known = licences or {}
    for top in paths:
        if not top.exists():
            raise UsageError("there is no such file or folder", where=str(top), next_step="Name one that is there.")
        if source == "commits" or top.is_file():
            found.append(_input(top, top.name, source, known.get(top.name, licence)))
            continue
        for path in sorted(top.rglob("*")):
            relative = path.relative_to(top)
            if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in relative.parts):
                name = relative.as_posix()
                found.append(_input(path, name, source, known.get(name, licence)))
    return found


def _input(path: Path, name: str, source: str, licence: str) -> Input:
    if source == "commits":  # a commit does not touch the folder: what changes is what the refs name
        mark = hashlib.sha256(try_git(path, "for-each-ref", "--format=%(objectname) %(refname)")[1]).hexdigest()
    else:
        status = path.stat()
        mark = f"{status.st_size}-{status.st_mtime_ns}"
    return Input(path=str(path.resolve()), name=name, source=source, licence=licence, mark=mark)


def list_files(inputs: list[Input], folder: Path, size: int = BYTES_IN_SHARD) -> None:
    """Write the list of inputs as shards of about `size` bytes, whatever the number of processes.

    A larger file of rows becomes several shards.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted: set[str] = set()
    with lock(folder / ".lock"):
        for number, group in enumerate(_grouped(inputs, size)):
            path = folder / f"part-{number:05}.parquet"
            wanted.add(path.name)
            with written(path) as writer:
                for entry in group:
                    record = _ENCODE.encode(entry)
                    writer.write(Row(id=hashlib.sha256(record).hexdigest()[:16], source=entry.source, record=record))
        sweep(folder, wanted)


def _grouped(inputs: list[Input], most: int) -> Iterator[list[Input]]:
    group: list[Input] = []
    size = 0
    for whole in inputs:
        own = Path(whole.path).stat().st_size
        parts = _parts(whole, own, most)
        if len(parts) > 1:
            yield from ([structs.replace(whole, part=part)] for part in parts)
            continue
        if group and (len(group) >= FILES_IN_SHARD or size + own > most):
            yield group
            group, size = [], 0
        group.append(whole)
        size += own
    if group:
        yield group


def _parts(entry: Input, size: int, most: int) -> list[Part]:
    """Return the parts of a large file; none where it can only be read whole, or not at all, as reading it will say."""
    from passdown.data.sources import worlds
    from passdown.data.sources.sessions import BROKEN
    from passdown.data.sources.table import is_rows

    path = Path(entry.path)
    if entry.source == "worlds" and path.is_file():  # small, and much to do
        return worlds.parts_of(path)
    if not path.is_file() or (size <= most and path.suffix != ".parquet"):  # Parquet is small only until it is read
        return []
    try:
        return parts_of(path, most) if is_rows(path, entry.source) else []
    except BROKEN:
        return []


def ingest_stage() -> Stage:
    """Return the stage that reads each input of the list."""
    return Stage(name="ingest", maker="passdown.data.engine.ingest:ingesting", version=4)


def ingesting() -> Work:
    """Make the work of `ingest`: file rows to trajectory rows without secrets, one file at a time."""
    from passdown.data.sources.masking import mask_secrets
    from passdown.data.sources.table import read_source

    def work(batch: Batch) -> Iterator[Row | Reject]:
        for row in batch:
            entry = _DECODE.decode(row.record)
            path = Path(entry.path)
            for made in read_source(path, entry.source, licence=entry.licence, name=entry.name, part=entry.part):
                yield made if isinstance(made, Reject) else trajectory_row(mask_secrets(made))

    return work


def trajectory_row(trajectory: Trajectory) -> Row:
    """Return a trajectory as a row of a shard."""
    return Row(
        id=trajectory.trajectory_id, trajectory_id=trajectory.trajectory_id, repo=trajectory.repo,
        source=trajectory.provenance.source, licence=trajectory.provenance.licence, split=trajectory.split,
        kind="trajectory", record=_TRAJECTORY.encode(trajectory),
    )  # fmt: skip
