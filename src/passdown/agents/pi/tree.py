"""Pi's session tree: which entries lie on the way from the last entry to the root, and which a fork copied.

A first pass over the file looks only at the start of each line, where Pi writes `id` and `parentId`: most sessions have
no branch, and then nothing is kept. In a tree an entry is known by the hash of its id, eight bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from passdown.agents.pi.records import Header, header_of, parent_name
from passdown.errors import PassdownError
from passdown.io.jsonl import MAX_LINE, READ, open_log, read_file_lines
from passdown.model.pattern import lazy_pattern

_LINK = lazy_pattern(
    rb'\s*\{\s*"type"\s*:\s*"\w{1,40}"\s*,\s*"id"\s*:\s*"([^"\\]{1,64})"\s*,'
    rb'\s*"parentId"\s*:\s*(?:null|"([^"\\]{1,64})")'
)


class _Link(Struct, rename="camel"):
    id: str | None = None
    parent_id: str | None = None


_LINK_DECODER = msgspec.json.Decoder(_Link)


def mark(identifier: str, line: bytes) -> int:
    """Return what an entry is known by: its id, or the whole line where there are no ids (v1)."""
    return hash(identifier.encode("utf-8", "replace") if identifier else line)


def _slow_link(line: bytes) -> tuple[bytes, bytes | None] | None:
    """Return the id and the parent's id of an entry that does not start with them, None when it has none."""
    if b'"parentId"' not in line:
        return None
    try:
        link = _LINK_DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not link.id:
        return None
    return link.id.encode("utf-8", "replace"), link.parent_id.encode("utf-8", "replace") if link.parent_id else None


def _links(path: Path, max_line: int) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield the id and the parent's id of every entry, without cutting the file into lines first."""
    with open_log(path) as stream:
        carry: list[bytes] = []
        held, skipping, link_at = 0, False, _LINK.match
        while chunk := stream.read(READ):
            start = 0
            if carry or skipping:
                start = chunk.find(b"\n") + 1
                if not skipping:
                    carry.append(chunk[:start] if start else chunk)
                if not start:
                    held += len(chunk)
                    skipping = skipping or held > max_line
                    carry = [] if skipping else carry
                    continue
                if carry and (link := _link(b"".join(carry))) is not None:
                    yield link
                carry, held, skipping = [], 0, False
            while (end := chunk.find(b"\n", start)) >= 0:
                if match := link_at(chunk, start, end):
                    yield match[1], match[2]
                elif (link := _slow_link(chunk[start:end])) is not None:
                    yield link
                start = end + 1
            if start < len(chunk):
                carry, held = [chunk[start:]], len(chunk) - start
        if carry and (match := _LINK.match(b"".join(carry))):
            yield match[1], match[2]


def _link(line: bytes) -> tuple[bytes, bytes | None] | None:
    match = _LINK.match(line)
    return (match[1], match[2]) if match else _slow_link(line)


def abandoned(path: Path, *, max_line: int = MAX_LINE) -> frozenset[int]:
    """Return the marks of the entries that are not on the way from the last entry to the root.

    A parent that is missing or stands below its child is damage: the entry then follows the one before it.
    """
    ids = array("q")
    jumps: dict[int, int | None] = {}
    previous: bytes | None = None
    add = ids.append
    for identifier, parent in _links(path, max_line):
        if parent != previous:
            jumps[len(ids)] = None if parent is None else hash(parent)
        add(hash(identifier))
        previous = identifier
    return _off_the_path(ids, jumps) if jumps else frozenset()


def _off_the_path(ids: array[int], jumps: dict[int, int | None]) -> frozenset[int]:
    position: dict[int, int] = {}
    for index, identifier in enumerate(ids):
        position.setdefault(identifier, index)
    off: set[int] = set()
    index = len(ids) - 1
    while index >= 0:
        following = index - 1
        if index in jumps:
            parent = jumps[index]
            if parent is None:
                off.update(ids[:index])
                break
            above = position.get(parent, index)
            following = above if above < index else following
            off.update(ids[following + 1 : index])
        index = following
    return frozenset(off)


def inherited(path: Path, header: Header) -> frozenset[int] | None:
    """Return the marks of the parent session's entries, None when the parent does not lie beside this file.

    The header names the parent with an absolute path from the machine it was written on: only its last two parts are
    used, and looked for in this session's own store.
    """
    name = parent_name(header)
    parent = (header.parent_session or header.branched_from or "").replace("\\", "/").split("/")
    folder = parent[-2] if len(parent) > 1 else ""
    if not name.endswith(".jsonl") or name == path.name:
        return None
    places = [path.parent / name]
    if folder not in ("", ".", ".."):
        places.append(path.parent.parent / folder / name)
    for place in places:
        if place.is_file() and not place.is_symlink() and not place.parent.is_symlink():
            try:
                return frozenset(_marks(place))
            except (OSError, PassdownError):
                return None
    return None


def _marks(path: Path) -> Iterator[int]:
    for line in read_file_lines(path):
        if line.data is None:
            continue
        if match := _LINK.match(line.data):
            yield hash(match[1])
        elif (link := _slow_link(line.data)) is not None:
            yield hash(link[0])
        elif header_of(line.data) is None:
            yield mark("", line.data)
