"""Codex sessions: find the rollouts under `~/.codex`, recognise one by its content, and read it into events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from passdown.agents.codex.find import find, refer, session_id_of
from passdown.agents.codex.store import lines_of, present
from passdown.io.jsonl import MAX_LINE, open_log
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionRef, Unread

__all__ = ["find", "read", "read_sparing", "recognise", "refer"]

_ROW = lazy_pattern(
    rb'"type"\s*:\s*"(?:session_meta|turn_context|response_item|event_msg|compacted|world_state|token_usage_record)"'
)
_ENVELOPE = lazy_pattern(rb'"payload"\s*:\s*\{')
_BARE_CALLS = frozenset({"function_call", "function_call_output", "local_shell_call"})
_ROLLBACK = b'"thread_rolled_back"'
_SCAN = 256 << 10


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001
    """Say whether a file that starts with `head` is a Codex rollout. The name is not looked at."""
    for line in head.split(b"\n", 20)[:20]:
        line = line.strip(b"\x00 \t\r").removeprefix(b"\xef\xbb\xbf")
        if not line.startswith(b"{"):
            continue
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            # Cut off by the head's end, glued or damaged: the envelope stands at its beginning.
            if _ROW.search(line, 0, 4096) and _ENVELOPE.search(line, 0, 4096):
                return True
            continue
        return isinstance(row, dict) and _is_row(row)
    return False


def _is_row(row: dict[str, object]) -> bool:
    kind = row.get("type")
    if isinstance(row.get("payload"), dict):
        return bool(_ROW.fullmatch(f'"type":"{kind}"'.encode("utf-8", "replace")))
    if kind is None:
        bare = "instructions" in row or "git" in row
        return row.get("record_type") == "state" or (bare and isinstance(row.get("id"), str) and "timestamp" in row)
    return (
        (kind == "message" and isinstance(row.get("content"), list) and isinstance(row.get("role"), str))
        or (kind == "reasoning" and isinstance(row.get("summary"), list))
        or (str(kind) in _BARE_CALLS and isinstance(row.get("call_id"), str))
    )


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`.

    A rollout that was compressed meanwhile is found under its other name. Raises `FileNotFoundError` when it is gone.
    """
    from passdown.agents.codex.reader import Reader

    path = Path(ref.path)
    session_id = ref.session_id or session_id_of(path.name)
    dropped: list[tuple[int, int]] = []
    if _rolls_back(path):
        scout = Reader(session_id, path)
        for _ in scout.read(lines_of(path, max_line=max_line)):
            pass
        dropped = scout.state.ranges
    yield from Reader(session_id, path, dropped).read(lines_of(path, max_line=max_line))


def read_sparing(ref: SessionRef, unread: Unread) -> Iterator[AnyEvent]:
    """Yield what `read` does, but without the text of results that nobody reads, and tokens summed up.

    The file is read once. Raises `TakenBackError` where it takes back what was read before.
    """
    from passdown.agents.codex.reader import Reader

    path = Path(ref.path)
    return Reader(ref.session_id or session_id_of(path.name), path, unread=unread).read(lines_of(path))


def _rolls_back(path: Path) -> bool:
    """Say whether the bytes of a rollback stand anywhere in the file: only then is it worth reading twice."""
    buffer = bytearray(_SCAN + len(_ROLLBACK))
    kept = len(_ROLLBACK)
    with open_log(present(path)) as stream, memoryview(buffer) as view:
        while count := stream.readinto(view[kept:]):  # type: ignore[attr-defined]  # both kinds of stream have it
            if buffer.find(_ROLLBACK, 0, kept + count) >= 0:
                return True
            view[:kept] = bytes(view[count : kept + count])
    return False
