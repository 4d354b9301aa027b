"""OpenHands' conversations: `<home>/conversations/<id>/events/event-<n>-<id>.json`, with `base_state.json` beside.

The file that stands for a conversation is its `base_state.json`, or any of its events. Older versions kept
`<home>/sessions/<id>/events/<n>.json`; a list of events in one file, and events one a line, are read as well. Offsets
count the bytes of the events before. OpenHands stores no branch and no commit. The results of an evaluation
(`output.jsonl`) are read as well, one run of them at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from passdown.agents.openhands.container import Piece, files_in, folder_of, is_state, pieces_of
from passdown.agents.openhands.meter import Meter
from passdown.agents.openhands.output import is_output, read_output
from passdown.agents.openhands.records import STATE, Event, State, decode, text_of
from passdown.agents.openhands.sdk import KINDS, SdkReader
from passdown.agents.openhands.v0 import V0Reader
from passdown.errors import PassdownError
from passdown.io.files import read_bounded
from passdown.io.jsonl import MAX_LINE, Line, open_log
from passdown.io.log import BAD, HEAD, ends_of, mended, milliseconds, not_understood, safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Unknown

_STATE_SIZE = 16 << 20
_OUTPUT_HEAD = 1 << 20
_OLDER = lazy_pattern(
    rb'\s*+\[?\s*+\{\s*"id"\s*:\s*-?\d{1,12}\s*,\s*"timestamp"\s*:\s*"[^"]{10,40}"\s*,\s*"source"\s*:\s*'
    rb'"(?:user|agent|environment)"\s*,\s*"message"\s*:'
)
_NEWER = lazy_pattern(
    rb'\s*+\[?\s*+\{\s*+(?:"_file"\s*:\s*"[^"]{1,200}"\s*,\s*"event"\s*:\s*\{\s*)?"id"\s*:\s*"[^"]{8,80}"\s*,\s*'
    rb'"timestamp"\s*:\s*"[^"]{10,40}"\s*,\s*"source"\s*:\s*"(?:user|agent|environment|hook)"'
)
_KIND = lazy_pattern(rb'"kind"\s*:\s*"(\w{4,60})"')


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is an event of an OpenHands conversation, several, or its state."""
    text = head.lstrip(b"\xef\xbb\xbf\x00 \t\r\n")
    if _OLDER.match(text):
        return b'"action"' in text or b'"observation"' in text
    if _NEWER.match(text):
        kinds = {kind.decode("ascii", "replace") for kind in _KIND.findall(text)}
        return bool(kinds & KINDS) or b'"system_prompt"' in text[:1000]
    return is_state(text) or is_output(text)


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the conversations under OpenHands' folder, newest first. Links and what cannot be read are left out.

    `OPENHANDS_CONVERSATIONS_DIR` and `OPENHANDS_PERSISTENCE_DIR` name other places.
    """
    found: list[tuple[float, Path]] = []
    for store in dict.fromkeys(_stores(home)):
        for events in store.glob("*/events"):
            try:
                if not events.is_symlink() and not events.parent.is_symlink() and events.is_dir():
                    found.append((events.stat().st_mtime, events))
            except OSError:
                continue
    for _, events in sorted(found, key=lambda item: (-item[0], str(item[1]))):
        ref = _refer_to_folder(events)
        if ref is not None:
            yield ref


def _stores(home: Path) -> Iterator[Path]:
    homes = [home]
    if moved := os.environ.get("OPENHANDS_PERSISTENCE_DIR"):
        homes.append(Path(moved).expanduser())
    if moved := os.environ.get("OPENHANDS_CONVERSATIONS_DIR"):
        yield Path(moved).expanduser()
    for place in homes:
        yield place / "conversations"
        yield place / "sessions"


def refer(path: Path) -> SessionRef | None:
    """Return what a conversation's state and first events say, None when the file is none of them."""
    folder = folder_of(path)
    if folder is not None:
        return _refer_to_folder(folder)
    ends = ends_of(path)
    if ends is None or path.is_symlink() or not recognise(ends.head, path.name) or is_output(ends.head):
        return None
    first = _first(pieces_of(path))
    return SessionRef(
        agent="openhands", path=str(path), session_id=_name_of(path), bytes=ends.size,
        started_at=milliseconds(first.timestamp) if first is not None else None,
        modified_at=ends.modified, cwd="",
    )  # fmt: skip


def _refer_to_folder(folder: Path) -> SessionRef | None:
    files = files_in(folder)
    state, path = _state_beside(folder)
    if not files:
        return None
    try:
        size = sum(file.stat().st_size for _, file in files)
        modified = int(max(folder.stat().st_mtime, files[-1][1].stat().st_mtime) * 1000)
    except OSError:
        return None
    first = _first(pieces_of(files[0][1]))
    if first is None:
        return None
    return SessionRef(
        agent="openhands",
        path=str(path or files[0][1]),
        session_id=_id_of(state, folder),
        bytes=size,
        started_at=milliseconds(first.timestamp),
        modified_at=modified,
        cwd=state.workspace.working_dir or "" if state.workspace is not None else "",
        branch=state.selected_branch or "",
        title=(state.title or _asked(files)).strip()[:200],
    )


def _asked(files: list[tuple[int, Path]]) -> str:
    """Return the beginning of the first request, from the first few events."""
    for _, path in files[:8]:
        try:
            if path.stat().st_size > HEAD:
                continue
            event = decode(read_bounded(path, HEAD))
        except (OSError, PassdownError, *BAD):
            continue
        if event.kind == "MessageEvent" and event.source == "user" and event.llm_message is not None:
            return text_of(event.llm_message.content).strip().split("\n")[0]
    return ""


def _state_of(path: Path) -> State | None:
    """Return the state that a file holds by its content, whatever it is called."""
    ends = ends_of(path)
    if ends is None or not is_state(ends.head.lstrip(b"\xef\xbb\xbf \t\r\n")):
        return None
    try:
        return STATE.decode(read_bounded(path, _STATE_SIZE))
    except (OSError, PassdownError, *BAD):
        return None


def _state_beside(folder: Path) -> tuple[State, Path | None]:
    """Return the state of the conversation whose events lie in `folder`, and its file."""
    for name in ("base_state.json", "metadata.json"):
        path = folder.parent / name
        try:
            return STATE.decode(read_bounded(path, _STATE_SIZE)), path if name == "base_state.json" else None
        except (OSError, PassdownError, *BAD):
            continue
    return State(), None


def _first(pieces: Iterator[Piece]) -> Event | None:
    try:
        piece = next(pieces, None)
        return decode(piece.data) if piece is not None and piece.data else None
    except (OSError, PassdownError, *BAD):
        return None


def _id_of(state: State, folder: Path) -> str:
    name = folder.parent.name if folder.name == "events" else folder.name
    return safe_id(state.id) or safe_id(state.conversation_id) or safe_id(name)


def _name_of(path: Path) -> str:
    return safe_id(path.name.removesuffix(".jsonl").removesuffix(".json").removesuffix(".session"))


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the conversation's events in their order, first a `SessionStart`, last a `SessionEnd`.

    An event longer than `max_line` bytes is passed over. Raises `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    folder = folder_of(path)
    if folder is None and _is_output(path):
        yield from read_output(ref)
        return
    state = _state_of(path) or (_state_beside(folder)[0] if folder is not None else State())
    cwd = (state.workspace.working_dir if state.workspace is not None else None) or ""
    pieces = pieces_of(path, max_line)
    piece = next(pieces, None)
    identity = _id_of(state, folder) if folder is not None else safe_id(state.id)
    yield SessionStart(
        session_id=identity or ref.session_id or _name_of(path),
        agent="openhands", cwd=cwd, branch=state.selected_branch or "", at=_started(piece),
    )  # fmt: skip
    model = state.agent.llm.model if state.agent is not None and state.agent.llm is not None else None
    meter = Meter(state.stats)
    reader, older = SdkReader(meter, cwd, model or ""), V0Reader(cwd)
    records = size = 0
    while piece is not None:
        place = {"offset": piece.offset, "line": piece.line}
        size = piece.offset + piece.length + (0 if piece.torn or not piece.line else 1)
        items = _decoded(piece)
        records += bool(items)
        for item in items:
            if isinstance(item, Unknown):
                yield item
                continue
            told = (reader.add if item.kind else older.add)(item, place)
            yield from _unknown_kind(item, piece) if told is None else told
        piece = next(pieces, None)
    yield from meter.rest()
    yield SessionEnd(records=records, bytes=size, offset=size, ignored=dict(reader.ignored + older.ignored))


def _is_output(path: Path) -> bool:
    with open_log(path) as stream:
        return is_output(stream.read(_OUTPUT_HEAD))


def _started(piece: Piece | None) -> int | None:
    first = _first(iter([piece])) if piece is not None else None
    return milliseconds(first.timestamp) if first is not None else None


def _unknown_kind(event: Event, piece: Piece) -> list[AnyEvent]:
    named = event.kind or event.action or event.observation
    reason: Any = "unknown_type" if isinstance(named, str) and named else "bad_shape"
    record = named[:80] if isinstance(named, str) else ""
    return [Unknown(record=record, reason=reason, length=piece.length, offset=piece.offset, line=piece.line)]


def _decoded(piece: Piece) -> list[Event | Unknown]:
    line = Line(piece.offset, piece.line, piece.data, piece.length, not piece.torn)
    if piece.data is None:
        return [not_understood(line, "torn_line" if piece.broken else "line_too_long")]
    try:
        return [decode(piece.data)]
    except BAD:
        return mended(line, decode)
