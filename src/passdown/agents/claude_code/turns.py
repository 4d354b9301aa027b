"""Which parts of a log a person took back. The log is a tree: an edited prompt starts a new branch beside the old one.

Parallel tool calls, progress rows and hooks fork the tree as well, so a fork alone means nothing. What was taken back
is a turn: from a person's prompt up to the next one, when the session went on from a row before it. Only prompts are
decoded here; everything else is passed over by a search for bytes.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

import io
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from passdown.agents.claude_code.records import BAD, Row, identifier
from passdown.io.jsonl import CHUNK, MAX_LINE, open_log, size_of
from passdown.model.session import TakenBackError

_NOT_A_PROMPT = ("[Request interrupted", "<")
_SOUGHT = 16
"""Parents looked for in the whole file; one more that lies far off is read as if it were the row before."""

_NEARBY = 2
"""Stretches of the log before one that are kept to search for parents in."""

_ROWS = 20_000
"""Rows of a turn that are remembered; a prompt that goes on from another is looked at more closely."""
_TICKS = 64

_BUDGET = 1 << 28
"""Bytes that may be searched for parents nearby, so that no log makes the search quadratic."""


class _Kind(Struct):
    type: str = ""


class _Content(Struct):
    content: msgspec.Raw = msgspec.Raw(b"null")


class _Prompt(Struct, rename="camel"):
    type: str = ""
    uuid: str | None = None
    parent_uuid: str | UnsetType | None = UNSET
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    message: _Content | None = None


class _Turn(Struct):
    """A prompt and what followed it: `parent` is the turn it goes on from, -1 for none; `human` when a person asked."""

    offset: int
    parent: int
    human: bool
    sought: bytes = b""


class _Window(NamedTuple):
    """A stretch of the log: whole lines, the byte offset of the first, and the stretches before, with theirs."""

    data: bytes
    offset: int
    before: tuple[tuple[bytes, int], ...]


_PROMPT = msgspec.json.Decoder(_Prompt)
_SAID = msgspec.json.Decoder(str | list[_Kind] | None)
_SHORT = 1 << 16


def taken_back(path: Path, data: bytes | None = None) -> list[tuple[int, int]]:
    """Return the byte ranges of the log that the session left behind, in order. `data` is the whole log, if at hand."""
    scan = _Scan()
    for window in _windows(path, data):
        scan.look(window)
    if scan.sought:
        for window in _windows(path, data):
            scan.seek(window)
    return scan.ranges()


def _windows(path: Path, data: bytes | None) -> Iterator[_Window]:
    """Yield the log in stretches of whole lines; one longer than the reader takes is left out here as well."""
    with open_log(path) if data is None else io.BytesIO(data) as stream:
        size = size_of(stream)
        left = 1 << 62 if size is None else size
        parts: list[bytes] = []
        before: tuple[tuple[bytes, int], ...] = ()
        offset, held, skipping = 0, 0, False
        while left and (chunk := stream.read(min(CHUNK, left))):
            left -= len(chunk)
            end = chunk.rfind(b"\n") + 1
            if skipping and end:  # the stretch begins behind the long line, which is let go of
                start = chunk.find(b"\n") + 1
                offset, held, skipping, before = offset + held + start, 0, False, ()
                chunk, end = chunk[start:], end - start
            if end:
                whole = not parts and end == len(chunk)
                lines = chunk if whole else b"".join([*parts, memoryview(chunk)[:end]])
                parts, chunk = [], chunk[end:]
                yield _Window(lines, offset, before)
                before, offset, held = (*before, (lines, offset))[-_NEARBY:], offset + len(lines), 0
                del lines
            held += len(chunk)
            skipping = skipping or held > MAX_LINE
            parts = [] if skipping else [*parts, chunk]
        if held and not skipping:
            yield _Window(b"".join(parts), offset, before)


def _said(content: msgspec.Raw) -> str | list[_Kind] | None:
    """Return a prompt's content, of a long text its beginning alone: as a whole one may take many megabytes."""
    with memoryview(content) as data:
        head = bytes(data[:100]) if len(data) > _SHORT else b""
    return head[1:].decode("utf-8", "replace") if head.startswith(b'"') else _SAID.decode(content)


class _Scan:
    """The turns found so far."""

    def __init__(self) -> None:
        self.turns: list[_Turn] = []
        self.offsets: list[int] = []
        self.sought: dict[bytes, int] = {}
        self.colon = b""
        self.chained = False
        self.budget = _BUDGET

    def look(self, window: _Window) -> None:
        """Find the prompts of a window and the turns they go on from."""
        data = window.data
        if not self.colon:
            self.colon = b'": "' if b'"type": "' in data else b'":"'
        needle, position = b'"type' + self.colon + b'user"', 0
        while (position := data.find(needle, position)) >= 0:
            start, end = data.rfind(b"\n", 0, position) + 1, data.find(b"\n", position)
            end = end if end >= 0 else len(data)
            near = data[position : position + 120]
            position = end
            if b"tool_use_id" not in near and b"tool_result" not in near:
                self._prompt(window, start, end)

    def _prompt(self, window: _Window, start: int, end: int) -> None:
        try:
            row = _PROMPT.decode(memoryview(window.data)[start:end])
            content = _said(row.message.content) if row.message else None
        except BAD:
            return
        if row.type != "user" or row.is_sidechain or row.is_meta or row.is_compact_summary or not row.uuid:
            return
        if isinstance(content, list) and any(block.type == "tool_result" for block in content):
            return
        human = not (isinstance(content, str) and content.startswith(_NOT_A_PROMPT))
        parent, sought = self._parent(window, row, start, human=human)
        if not self.turns and row.parent_uuid is None:
            child = b'"parentUuid' + self.colon + row.uuid.encode() + b'"'
            self.chained = window.data.find(child, end) >= 0
        self.turns.append(_Turn(window.offset + start, parent, human, sought))
        self.offsets.append(window.offset + start)

    def _parent(self, window: _Window, row: _Prompt, start: int, *, human: bool) -> tuple[int, bytes]:
        """Return the turn a prompt goes on from, or the bytes to look for; an unknown parent means the turn before."""
        last = len(self.turns) - 1
        if row.parent_uuid is None and human and self.chained:
            return -1, b""
        parent = identifier(row.parent_uuid)
        if not parent:
            return last, b""
        needle = b'"uuid' + self.colon + parent.encode() + b'"'
        if self.budget <= 0:
            return last, b""
        found = window.data.rfind(needle, 0, start)
        self.budget -= start - found
        if found >= 0:
            return self._turn_at(window.offset + found), b""
        for data, offset in reversed(window.before):
            found = data.rfind(needle)
            self.budget -= len(data) - found
            if found >= 0:
                return self._turn_at(offset + found), b""
        if last < 0 or len(self.sought) >= _SOUGHT:
            return last, b""
        self.sought[needle] = -1
        return last, needle

    def _turn_at(self, offset: int) -> int:
        return bisect_right(self.offsets, offset) - 1

    def seek(self, window: _Window) -> None:
        """Look in a window for the parents that did not lie near their prompts."""
        for needle, offset in self.sought.items():
            if offset < 0 and (found := window.data.find(needle)) >= 0:
                self.sought[needle] = window.offset + found

    def ranges(self) -> list[tuple[int, int]]:
        """Return the byte ranges of the turns that do not lead to the last one."""
        for turn in self.turns:
            if (found := self.sought.get(turn.sought, -1)) >= 0 and found < turn.offset:
                turn.parent = self._turn_at(found)
        active: set[int] = set()
        number = len(self.turns) - 1
        while number >= 0:
            active.add(number)
            number = self.turns[number].parent
        off: set[int] = set()
        ranges: list[tuple[int, int]] = []
        for number, turn in enumerate(self.turns):
            if number in active or not (turn.human or turn.parent in off):
                continue
            off.add(number)
            end = self.offsets[number + 1]
            if ranges and ranges[-1][1] == turn.offset:
                ranges[-1] = (ranges[-1][0], end)
            else:
                ranges.append((turn.offset, end))
        return ranges


class Straight:
    """Follows a log while it is read for the first time, and raises `TakenBackError` where it may not be straight.

    Straight means that each prompt goes on from the turn before it: then `taken_back` finds nothing. `ids` are those of
    the rows since the last prompt, `ticks` the last rows that were not decoded. What cannot be told here counts as not
    straight.
    """

    def __init__(self) -> None:
        self.ids: set[str | None] = set()
        self.ticks: deque[bytes] = deque(maxlen=_TICKS)
        self.first: str | None = None
        """The first prompt's id while no row is known to go on from it, if it has no parent itself."""
        self._turns = 0
        self._chained = False
        self._rootless = False

    def row(self, row: Row) -> None:
        """Take a row."""
        if row.type == "user":
            self._user(row)
        if len(self.ids) >= _ROWS:
            self.ids.clear()
        self.ids.add(row.uuid)
        if self.first and row.parent_uuid == self.first:
            self._chain()

    def tick(self, data: bytes) -> None:
        """Take a row that is not decoded."""
        self.ticks.append(data)
        if self.first and self.first.encode() in data:
            self._chain()

    def broken(self, data: bytes) -> None:
        """Take a row that does not decode: a prompt it is all the same if it can be read as one."""
        try:
            _PROMPT.decode(data)
        except BAD:
            return
        raise TakenBackError

    def _chain(self) -> None:
        self.first, self._chained = None, True
        if self._rootless:
            raise TakenBackError

    def _user(self, row: Row) -> None:
        if row.is_sidechain or row.is_meta or row.is_compact_summary or not row.uuid:
            return
        content = row.message.content if row.message else None
        if isinstance(content, list):
            for block in content:
                if block.type == "tool_result":
                    return
        if not self._turns:
            self.first = None if row.parent_uuid else row.uuid
        elif not row.parent_uuid:
            if not (isinstance(content, str) and content.startswith(_NOT_A_PROMPT)):
                self._rootless = True
                if self._chained:
                    raise TakenBackError
        elif not self._goes_on(identifier(row.parent_uuid)):
            raise TakenBackError
        self._turns += 1
        self.ids.clear()
        self.ticks.clear()

    def _goes_on(self, parent: str) -> bool:
        if not parent or parent in self.ids:
            return True
        needle = f'"uuid":"{parent}"'.encode()
        return any(needle in data for data in self.ticks)
