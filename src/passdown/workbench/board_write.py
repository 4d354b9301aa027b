"""Set the status of items of a task board or feature list, changing nothing else in the text of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import BoardStatus
from passdown.workbench.aliases import STATUSES
from passdown.workbench.board import read_tasks
from passdown.workbench.document import MalformedError, Notes, decode_text

_SPACE = lazy_pattern(r"[ \t\r\n]*")
_LISTS = ("features", "tasks", "items")
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    """The value of a key, and where its text stands."""

    value: Any
    start: int
    end: int


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def set_status(data: bytes, path: str, wanted: Mapping[str, BoardStatus]) -> bytes:
    """Return the file with each of these items in its new status: `status`, or `passes` where the list keeps that.

    Indentation, order of keys, line ends and everything else stay as they are; ids that are not there are passed over.
    Raises `MalformedError` when the file is no board.
    """
    text = decode_text(data)
    try:
        entries = list(_entries(text, path))
    except (ValueError, RecursionError) as error:
        raise MalformedError("artifact.bad_json", f"is no board that can be edited: {error}") from error
    worded = [members for members in entries if "status" in members]
    edits: list[_Edit] = []
    left = dict(wanted)
    for members in entries:
        found = read_tasks([{key: member.value for key, member in members.items()}], Notes(path), ids_expected=False)
        status = left.pop(found[0].id, None) if found else None
        if status is not None and found[0].status != status:
            edits += _edit(members, status, _word_for(status, worded))
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    return mark + text.encode()


def _entries(text: str, path: str) -> Iterator[dict[str, _Member]]:
    """Yield the members of every item: of an array, of the list in an object, of each line."""
    start = _skip(text, 0)
    if path.endswith(".jsonl"):
        yield from _lines(text)
    elif text.startswith("[", start):
        yield from _items(text, start)
    else:
        members = _members(text, start)
        if _skip(text, _end(text, start)) < len(text):
            yield from _lines(text)
            return
        lists = [members[name] for name in _LISTS if name in members and isinstance(members[name].value, list)]
        if lists:
            yield from _items(text, lists[0].start)
        elif "id" in members:
            yield members


def _lines(text: str) -> Iterator[dict[str, _Member]]:
    for line in re.finditer(r"[^\n]+", text):
        if line[0].lstrip().startswith("{"):
            try:
                yield _members(text, _skip(text, line.start()))
            except ValueError:  # a torn line; the reader reports it
                continue


def _items(text: str, start: int) -> Iterator[dict[str, _Member]]:
    at = _skip(text, start + 1)
    while not text.startswith("]", at):
        if text.startswith("{", at):
            yield _members(text, at)
        at = _skip(text, _end(text, at))
        at = _skip(text, at + 1) if text.startswith(",", at) else at


def _members(text: str, start: int) -> dict[str, _Member]:
    """Return the members of the object that begins at `start`. Raises `ValueError` when none does."""
    if not text.startswith("{", start):
        raise ValueError("an object is expected")
    found: dict[str, _Member] = {}
    at = _skip(text, start + 1)
    while not text.startswith("}", at):
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if not isinstance(key, str) or not text.startswith(":", at):
            raise ValueError("a key is expected")
        at = _skip(text, at + 1)
        value, end = _DECODER.raw_decode(text, at)
        found[key] = _Member(value, at, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text.startswith(",", at) else at
        if at >= len(text):
            raise ValueError("the object has no end")
    return found


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _word_for(status: BoardStatus, items: list[dict[str, _Member]]) -> str:
    """Return the word by which the file itself calls a status."""
    words = [word for members in items if isinstance(word := members["status"].value, str)]
    plain = {word: word.strip().lower().replace("-", "_").replace(" ", "_") for word in words}
    return next((word for word in words if STATUSES.get(plain[word]) == status), status)


def _edit(members: dict[str, _Member], status: BoardStatus, word: str) -> list[_Edit]:
    if "status" in members:
        return [_Edit(members["status"].start, members["status"].end, json.dumps(word, ensure_ascii=False))]
    if "passes" in members and status in ("done", "todo"):
        return [_Edit(members["passes"].start, members["passes"].end, "true" if status == "done" else "false")]
    last = max(members.values(), key=lambda member: member.end)
    return [_Edit(last.end, last.end, f', "status": {json.dumps(word, ensure_ascii=False)}')]
