"""Where a conversation's events lie: one file an event in a folder, a JSON list of them, or one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Raw

from passdown.errors import UnsafeError
from passdown.io.files import open_regular, read_most
from passdown.io.jsonl import MAX_LINE, open_log, read_document, read_file_lines, salvage
from passdown.io.log import BAD, HEAD
from passdown.model.pattern import lazy_pattern

MAX_DOCUMENT = 256 << 20
"""Longest list of events that is read, in bytes."""
MAX_FILES = 200_000

_EVENT = lazy_pattern(r"event-(\d{1,12})(?:-[0-9a-zA-Z-]{1,80})?\.json")
_NUMBERED = lazy_pattern(r"(\d{1,12})\.json")
_LIST = msgspec.json.Decoder(list[Raw])
_COMMA = lazy_pattern(r"[\s,\x00]*")


class Piece(NamedTuple):
    """One event as bytes. `data` is None for what is too long, or for the rest of a list that is cut off (`broken`).

    `torn` says that nothing came after it, so that it may not have been written whole.
    """

    data: bytes | None
    offset: int
    line: int
    length: int
    torn: bool = False
    broken: bool = False


def is_state(text: bytes) -> bool:
    """Say whether a file that starts with `text` is a conversation's state."""
    return (
        text.startswith(b"{")
        and b'"agent"' in text
        and (b'"persistence_dir"' in text or b'"execution_status"' in text or b'"agent_status"' in text)
        and b'"workspace"' in text
    )


def folder_of(path: Path) -> Path | None:
    """Return the folder of events that a file stands for: a conversation's state, or any event of its folder."""
    if path.name in ("base_state.json", "metadata.json"):
        return path.parent / "events"
    if _EVENT.fullmatch(path.name) or (_NUMBERED.fullmatch(path.name) and path.parent.name == "events"):
        return path.parent
    return None


def files_in(folder: Path) -> list[tuple[int, Path]]:
    """Return the event files of a folder in their order. Links are left out."""
    found: list[tuple[int, Path]] = []
    try:
        for path in folder.iterdir():
            match = _EVENT.fullmatch(path.name) or _NUMBERED.fullmatch(path.name)
            if match and len(found) < MAX_FILES and not path.is_symlink():
                found.append((int(match[1]), path))
    except OSError:
        return []
    return sorted(found, key=lambda item: (item[0], item[1].name))


def pieces_of(path: Path, max_line: int = MAX_LINE) -> Iterator[Piece]:
    """Yield the events that a file holds or stands for. Raises `FileNotFoundError` when it is gone."""
    with open_log(path) as stream:
        head = stream.read(HEAD).lstrip(b"\xef\xbb\xbf\x00 \t\r\n")
    folder = path.parent / "events" if is_state(head) else folder_of(path)
    if folder is not None:
        yield from _of_folder(folder, max_line)
    elif head.startswith(b"["):
        yield from _of_list(path)
    else:
        for line in read_file_lines(path, max_line=max_line):
            yield Piece(line.data, line.offset, line.number, line.length, not line.complete)


def _of_folder(folder: Path, max_line: int) -> Iterator[Piece]:
    offset = 0
    for _, path in files_in(folder):
        try:
            with open_regular(path) as stream:
                data = read_most(stream, max_line + 1)
                size = stream.seek(0, 2)
        except (OSError, UnsafeError):
            continue  # gone since the folder was listed
        yield Piece(data if len(data) <= max_line else None, offset, 0, size, torn=True)
        offset += size


def _of_list(path: Path) -> Iterator[Piece]:
    data = read_document(path, MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        yield Piece(None, 0, 0, len(data))
        return
    items = _listed(data)
    if items is None:
        yield from _pulled_apart(data)
        return
    at = 0
    for raw in items:
        text = bytes(raw)
        at = max(data.find(text, at), at)
        yield Piece(text, at, 0, len(text))
        at += len(text)


def _listed(data: bytes) -> list[Raw] | None:
    try:
        return _LIST.decode(data)
    except BAD:
        documents = salvage(data)
    try:
        return _LIST.decode(documents[0]) if len(documents) == 1 else None
    except BAD:
        return None


def _pulled_apart(data: bytes) -> Iterator[Piece]:
    """Yield what is whole of a list that is cut off, and then what is not."""
    text = data.decode("utf-8", "replace")
    decoder, at, offset, counted = json.JSONDecoder(), text.find("[") + 1, 0, 0
    while True:
        gap = _COMMA.match(text, at)
        at = gap.end() if gap else at
        if not text.startswith("{", at):
            break
        offset, counted = offset + len(text[counted:at].encode()), at
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        part = text[at:end].encode()
        yield Piece(part, offset, 0, len(part))
        at = end
    yield Piece(None, offset, 0, max(0, len(data) - offset), torn=True, broken=True)
