"""What the tools may be given: bounded, typed, and nothing that names a place outside of the repository."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from passdown.errors import UnsafeError, UsageError
from passdown.redact.neutralise import neutralise, one_line

_T = TypeVar("_T", bound=Struct)

Kind = Literal["decision", "preference", "question", "clue", "assumption", "risk", "attempt", "next"]

_Word = Annotated[str, Meta(max_length=64)]
_Line = Annotated[str, Meta(max_length=600)]
_Place = Annotated[str, Meta(max_length=300)]


class _Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What no argument may go beyond."""


class TakeArguments(_Strict, frozen=True, kw_only=True):
    """Which packet to take, how long the brief may be, and whether the takeover is recorded."""

    packet: Annotated[
        str, Meta(pattern="^([0-9a-f]{4,64})?$", description="Id or its beginning; default: the branch's active packet")
    ] = ""
    tokens: Annotated[int, Meta(ge=200, le=4000, description="Most tokens of the brief")] = 1200
    look_only: Annotated[bool, Meta(description="Record no takeover")] = False


class StatusArguments(_Strict, frozen=True, kw_only=True):
    """Nothing."""


class NoteArguments(_Strict, frozen=True, kw_only=True):
    """One note: its kind, its line, and what goes with that kind."""

    kind: Kind
    text: Annotated[_Line, Meta(description="One line")]
    why: Annotated[_Line, Meta(description="decision, question: reason; attempt: why it failed")] = ""
    rejected: Annotated[
        tuple[_Line, ...], Meta(max_length=8, description="decision: what was considered and not chosen")
    ] = ()
    options: Annotated[tuple[_Line, ...], Meta(max_length=8, description="question: possible answers")] = ()
    default: Annotated[_Line, Meta(description="question: what happens unanswered")] = ""
    irreversible: Annotated[bool, Meta(description="question: what depends on it cannot be taken back")] = False
    anchors: Annotated[
        tuple[_Place, ...],
        Meta(max_length=8, description="clue, decision: path[:line] inside the repository, or a commit"),
    ] = ()
    tags: Annotated[tuple[_Word, ...], Meta(max_length=8, description="clue: words to find it by")] = ()
    severity: Annotated[Literal["block", "warn", "info"], Meta(description="risk")] = "warn"
    check: Annotated[_Line, Meta(description="assumption: command that would tell; never run")] = ""
    pin: Annotated[bool, Meta(description="No packet leaves it out")] = False


class CheckArguments(_Strict, frozen=True, kw_only=True):
    """How to judge."""

    strict: Annotated[bool, Meta(description="What could not be looked at blocks")] = False
    portable: Annotated[bool, Meta(description="What another device would lack blocks")] = False
    name_failures: Annotated[bool, Meta(description="Failing tests count as named")] = False


class WrapArguments(_Strict, frozen=True, kw_only=True):
    """What the packet is about, and which kind of it is wanted."""

    next: Annotated[_Line, Meta(description="Next step: one concrete line; default: found in the evidence")] = ""
    topic: Annotated[_Word, Meta(description="Default: the task's id, else the branch")] = ""
    session: Annotated[
        str,
        Meta(pattern="^([A-Za-z0-9][A-Za-z0-9_-]{7,79})?$", description="Session id, where several are live"),
    ] = ""
    interim: Annotated[bool, Meta(description="Write it though something blocks; it leads with that")] = False
    strict: bool = False
    portable: bool = False
    name_failures: Annotated[bool, Meta(description="Failing tests count as named; they become risks")] = False
    local: Annotated[bool, Meta(description="Keep it in .git, on this device")] = False


def read_arguments(kind: type[_T], given: Mapping[str, Any]) -> _T:
    """Return the arguments as a record.

    Raises `UsageError` for what is unknown, of another type, too long, or not to be seen; `UnsafeError` for an anchor
    that leaves the repository or an id that names a file.
    """
    try:
        arguments = msgspec.convert(given, kind, strict=True)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the arguments are not as the tool's schema has them: {one_line(str(error), 300)}",
            next_step="Call it again as the schema says.",
        ) from None
    for name, text in _texts(arguments):
        _require_seen(name, text)
        if name == "anchors":
            _require_inside(text)
    for name in ("packet", "session"):
        if (value := getattr(arguments, name, "")) and os.path.lexists(value):
            raise UnsafeError(f"{name} is an id, and this names a file", where=value)
    return arguments


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, as short as it can be said."""
    _, components = msgspec.json.schema_components([kind])
    schema: dict[str, Any] = components[kind.__name__]
    properties = {name: _short(part) for name, part in schema["properties"].items()}
    required = {"required": schema["required"]} if schema["required"] else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _short(part: dict[str, Any]) -> dict[str, Any]:
    """Return a property without defaults that say nothing, and with the type that some agents ask of a choice."""
    kept = {name: value for name, value in part.items() if name != "default" or value not in ("", [], False)}
    return {"type": "string", **kept} if "enum" in part else kept


def _texts(arguments: Struct) -> Iterator[tuple[str, str]]:
    for name in arguments.__struct_fields__:
        value = getattr(arguments, name)
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, tuple):
            yield from ((name, text) for text in value)


def _require_seen(name: str, text: str) -> None:
    """Refuse what a reader would not see: controls, direction marks, zero-width characters, broken ones."""
    plain = text.replace("\r\n", "\n")
    if neutralise(plain) == plain:
        return
    shown = neutralise(plain)
    at = next((at for at, (a, b) in enumerate(zip(plain, shown, strict=False)) if a != b), len(shown))
    raise UsageError(
        f"{name} holds a character that cannot be seen: U+{ord(plain[at]):04X} at {at}",
        next_step="Leave it out and call again.",
    )


def _require_inside(anchor: str) -> None:
    parts = anchor.replace("\\", "/").split("/")
    if anchor.startswith(("/", "~", "\\")) or ".." in parts or ":" in parts[0][:2]:
        raise UnsafeError(
            "an anchor is a path inside the repository, or a commit",
            where=one_line(anchor, 120),
            next_step="Name it relative to the repository's root.",
        )
