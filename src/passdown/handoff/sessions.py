"""Find one session, describe it, and write it in another format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from passdown.errors import UsageError
from passdown.io.files import write_files
from passdown.model.exported import Exported
from passdown.model.session import AnyEvent, SessionRef
from passdown.redact.neutralise import neutralise, one_line
from passdown.redact.scan import Redactor
from passdown.sessions.canary import Canary
from passdown.sessions.discover import all_sessions
from passdown.sessions.export import redacted_events, writer_of
from passdown.sessions.read import agent_called, names_a_file, read_ref, refer_to
from passdown.sessions.summary import summarize


def find_session(name: str, *, agent: str = "") -> SessionRef:
    """Return a session by file, id, or an id's unique beginning of at least 4 characters.

    Raises `UsageError` when none or several answer to it.
    """
    if names_a_file(name):
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


def describe(ref: SessionRef) -> dict[str, Any]:
    """Return every count of one session, with what was passed over and what was not understood.

    `not_understood` says, with the evidence, that the format is another than the one that is known.
    """
    canary = Canary(ref.agent)
    counts: dict[str, Any] = msgspec.to_builtins(summarize(_watched(read_ref(ref), canary)))
    found = canary.findings(ref.agent, str(counts.get("session_id", "")))
    counts["not_understood"] = [finding.detail for finding in found if finding.severity == "warn"]
    return {"schema_version": 1, **{name: _safe(value) for name, value in counts.items()}}


def _watched(events: Iterable[AnyEvent], canary: Canary) -> Iterator[AnyEvent]:
    for event in events:
        canary.look(event)
        yield event


def event_lines(ref: SessionRef) -> Iterator[str]:
    """Yield a session's canonical events as JSON lines. Texts are as the log has them: not redacted."""
    encoder = msgspec.json.Encoder(order="sorted")
    for event in read_ref(ref):
        yield encoder.encode(event).decode()


def export_session(name: str, form: str, *, agent: str = "") -> Exported:
    """Return a session in another format, its secrets replaced, with what did not survive, counted by kind.

    Raises `UsageError` for a format that nobody writes, and as `find_session` does.
    """
    write = writer_of(form)
    ref = find_session(name, agent=agent)
    return write(redacted_events(read_ref(ref), Redactor(os.environ)))


def save_export(path: Path, exported: Exported) -> None:
    """Write an export to a file that only its owner can read."""
    write_files([(path, exported.data)], mode=0o600)


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return neutralise(value)
    if isinstance(value, list | tuple):
        return [_safe(item) for item in value]
    return value
