"""The loop over a list of messages: each decoded by itself, what is not understood told with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Raw

from passdown.io.log import safe_id
from passdown.model.session import AnyEvent, Unknown
from passdown.trajectories.conversation import MESSAGE, Message
from passdown.trajectories.document import Part, Reading, decode_list, decoded, items

_TEXT = msgspec.json.Decoder(str)
Tell = Callable[[Message, dict[str, Any]], "list[AnyEvent] | None"]


def list_in(raw: Raw | None) -> tuple[bytes, list[Raw] | None]:
    """Return the items of a list in a document, which some data sets keep as JSON in a string."""
    data = bytes(raw or b"")
    if data[:1] == b'"':
        text = decoded(data, _TEXT)
        data = text.encode("utf-8", "replace") if isinstance(text, str) else b""
    return data, decode_list(data) if data[:1] == b"[" else []


def told(parts: Iterator[Part], tell: Tell, reading: Reading, line: int = 0) -> Iterator[AnyEvent]:
    """Yield what messages become; `tell` turns one into events, or returns None when it does not know it."""
    for part in parts:
        reading.records += 1
        if part.lost is not None:
            yield part.lost
            continue
        message = decoded(part.data, MESSAGE)
        events = tell(message, {"offset": part.offset, "line": line}) if message is not None else None
        if events is not None:
            yield from events
            continue
        role = message.role if message is not None and isinstance(message.role, str) else ""
        yield Unknown(
            record=role[:80], reason="unknown_type" if role else "bad_shape", length=len(part.data), offset=part.offset,
            line=line,
        )  # fmt: skip


def within(raw: Raw | None, data: bytes, base: int) -> Iterator[Part]:
    """Yield the items of a list out of a document in `data`, which begins at `base` of its file."""
    text, raws = list_in(raw)
    at = data.find(text) if text else -1
    yield from items(text, raws, "", base + max(at, 0))


def name_of(name: str, stem: str, suffixes: tuple[str, ...] = (".json", ".jsonl", ".traj")) -> str:
    """Return a session's id: the trajectory's own name, else the file's without its endings."""
    for suffix in suffixes:
        stem = stem.removesuffix(suffix)
    for candidate in (name, name.replace("/", "__").replace(" ", "_"), stem):
        if safe_id(candidate):
            return candidate
    return "trajectory"
