"""Writers of sessions in other formats: a table of them, and what each one gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import cast

import msgspec

from passdown.errors import UsageError
from passdown.model.exported import Exported
from passdown.model.session import AnyEvent, SessionEnd
from passdown.redact.scan import Redactor
from passdown.sessions.summary import Fold

WRITERS: Mapping[str, str] = MappingProxyType(
    {
        "atif": "passdown.trajectories.atif_writer:write_atif",
        "chat": "passdown.trajectories.chat_writer:write_chat",
        "json": "passdown.sessions.export:write_json",
    }
)
"""Format → `module:function`. The function takes a session's events, without secrets, and returns an `Exported`."""

Writer = Callable[[Iterable[AnyEvent]], Exported]


def writer_of(form: str) -> Writer:
    """Import and return a format's writer. Raises `UsageError` naming the known ones."""
    if form not in WRITERS:
        raise UsageError(f"no format called {form!r}", next_step=f"Known: {', '.join(sorted(WRITERS))}.")
    module, _, name = WRITERS[form].partition(":")
    return cast("Writer", getattr(import_module(module), name))


def redacted_events(events: Iterable[AnyEvent], redactor: Redactor) -> Iterator[AnyEvent]:
    """Yield the events with every secret in them replaced."""
    for event in events:
        if isinstance(event, SessionEnd):
            yield event
            continue
        clean = redactor.tree(msgspec.to_builtins(event))
        yield msgspec.convert(clean, type=type(event))


def write_json(events: Iterable[AnyEvent]) -> Exported:
    """Write one document: the session's counts and all its events. It loses nothing."""
    fold = Fold()
    kept: list[AnyEvent] = []
    for event in events:
        fold.add(event)
        kept.append(event)
    document = {"schema_version": 1, "session": fold.finish(), "events": kept}
    return Exported(data=msgspec.json.encode(document, order="sorted") + b"\n")
