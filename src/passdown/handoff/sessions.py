"""List sessions and describe one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from passdown.errors import UsageError
from passdown.handoff.gather import find_root
from passdown.model.session import SessionRef, UserMessage
from passdown.redact.neutralise import neutralise, one_line
from passdown.redact.scan import Redactor
from passdown.repository.snapshot import snapshot
from passdown.sessions.discover import Discovery, all_sessions, find_sessions
from passdown.sessions.read import agent_called, read_ref, refer_to
from passdown.sessions.summary import summarize


def list_sessions(folder: Path, *, agent: str = "", everywhere: bool = False) -> Discovery:
    """Return the sessions of the repository around `folder`, or of all, newest first, without reading them whole."""
    agents = {agent_called(agent).id} if agent else None
    if everywhere:
        return all_sessions(agents=agents)
    return find_sessions(snapshot(find_root(folder)), agents=agents)


def find_session(name: str, *, agent: str = "") -> SessionRef:
    """Return a session by file, id, or an id's unique beginning of at least 4 characters.

    Raises `UsageError` when none or several answer to it.
    """
    if Path(name).is_file():
        return refer_to(name, agent=agent)
    refs = all_sessions(agents={agent_called(agent).id} if agent else None).refs
    exact = [ref for ref in refs if ref.session_id == name]
    found = exact or [ref for ref in refs if len(name) >= 4 and ref.session_id.startswith(name)]
    if len(found) != 1:
        what = "several sessions begin with" if found else "no session is called"
        raise UsageError(
            f"{what} {one_line(name, 80)!r}",
            next_step="`passdown sessions --all` lists them; 4 characters or more of an id are enough.",
        )
    return found[0]


def overview(ref: SessionRef) -> dict[str, Any]:
    """Return the columns of the list for one session, reading it through."""
    counts = summarize(read_ref(ref))
    return {
        "agent": ref.agent,
        "session_id": counts.session_id or ref.session_id,
        "path": ref.path,
        "bytes": ref.bytes,
        "started_at": counts.started_at,
        "ended_at": counts.ended_at or ref.modified_at,
        "branch": one_line(counts.branches[-1], 60) if counts.branches else one_line(ref.branch, 60),
        "title": one_line(counts.title or ref.title or _first_words(ref), 80),
        "tokens": counts.tokens_input + counts.tokens_cache_read + counts.tokens_cache_write + counts.tokens_output,
        "human_messages": counts.human_messages,
        "last_exit": counts.last_exit,
    }


def _first_words(ref: SessionRef) -> str:
    """Return what the person asked for first, for a session that nobody gave a title."""
    for event in read_ref(ref):
        if isinstance(event, UserMessage) and event.origin == "human" and not event.agent_id and event.text.strip():
            return Redactor().text(event.text[:2000])
    return ""


def describe(ref: SessionRef) -> dict[str, Any]:
    """Return every count of one session, with what was passed over and what was not understood."""
    counts: dict[str, Any] = msgspec.to_builtins(summarize(read_ref(ref)))
    return {"schema_version": 1, **{name: _safe(value) for name, value in counts.items()}}


def event_lines(ref: SessionRef) -> Iterator[str]:
    """Yield a session's canonical events as JSON lines. Texts are as the log has them: not redacted."""
    encoder = msgspec.json.Encoder(order="sorted")
    for event in read_ref(ref):
        yield encoder.encode(event).decode()


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return neutralise(value)
    if isinstance(value, list | tuple):
        return [_safe(item) for item in value]
    return value
