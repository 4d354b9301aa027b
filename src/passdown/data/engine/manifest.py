"""The manifest of a folder of shards: one line a finished shard, so that a killed run goes on where it stopped."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, field

from passdown.data.engine.shards import piece_of
from passdown.io.append import append_line

NAME = "manifest.jsonl"


class Finished(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One shard that is done: what it was made of, by which stage and code, and what it holds.

    `key` covers the input's bytes, the stage, its parameters and the code's version: equal keys give equal shards.
    `rejected` counts dropped rows by reason; they lie in `rejects`, a shard of their own, empty when there are none.
    What made several shards has `pieces` of the same key; the first of them counts what was read and dropped, with an
    example for each reason. `source` is the sha256 of the shard that it was made of.
    """

    shard: str
    key: str
    stage: str
    sha256: str
    bytes: int
    rows: int = 0
    read: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    rejects: str = ""
    pieces: int = 1
    source: str = ""
    examples: dict[str, str] = field(default_factory=dict)


_DECODE = msgspec.json.Decoder(Finished)
_ENCODE = msgspec.json.Encoder(order="deterministic")


class Manifest:
    """A folder's manifest. A torn line, as a killed run leaves it, is passed over; a shard's last line counts."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.entries: dict[str, Finished] = {entry.shard: entry for entry in _read(self.path)}

    def finished(self, shard: str, key: str) -> list[Finished]:
        """Return the entries of what is done with this very key and still lies there as it was written; none if not."""
        first = self.entries.get(shard) or self.entries.get(piece_of(Path(shard), 0).name)
        if first is None:
            return []
        others = [piece_of(Path(shard), number).name for number in range(1, first.pieces)]
        found = [first, *(entry for name in others if (entry := self.entries.get(name)))]
        return found if len(found) == first.pieces and all(self._holds(entry, key) for entry in found) else []

    def _holds(self, entry: Finished, key: str) -> bool:
        path = self.path.parent / entry.shard
        same = entry.key == key and path.is_file() and path.stat().st_size == entry.bytes
        return same and file_hash(path) == entry.sha256

    def add(self, entry: Finished) -> None:
        """Write one line; it is on the disk when this returns."""
        append_line(self.path, _ENCODE.encode(entry))
        self.entries[entry.shard] = entry

    def rewrite(self, entries: list[Finished]) -> None:
        """Keep exactly these entries, in shard order: what a finished run leaves, whatever order it was done in."""
        from passdown.io.files import write_files

        ordered = sorted(entries, key=lambda entry: entry.shard)
        write_files([(self.path, b"".join(_ENCODE.encode(entry) + b"\n" for entry in ordered))])
        self.entries = {entry.shard: entry for entry in ordered}

    def totals(self) -> tuple[Counter[str], Counter[str]]:
        """Return the rows by kind and the rejected rows by reason, over all shards."""
        kinds: Counter[str] = Counter()
        rejected: Counter[str] = Counter()
        for entry in self.entries.values():
            kinds.update(entry.kinds)
            rejected.update(entry.rejected)
        return kinds, rejected


def _read(path: Path) -> Iterator[Finished]:
    if not path.is_file():
        return
    for line in path.read_bytes().splitlines():
        try:
            yield _DECODE.decode(line)
        except msgspec.DecodeError:
            continue


def file_hash(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
