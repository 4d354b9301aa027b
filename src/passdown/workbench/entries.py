"""The three append-only logs that passdown itself defines: later rows with the same id amend earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from passdown.model.identifier import content_id
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import Author
from passdown.workbench.aliases import ALIASES, pick
from passdown.workbench.document import Notes, quoted
from passdown.workbench.rows import rows_of
from passdown.workbench.shapes import clean

_ID = lazy_pattern(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
_RENAMED = ("choice", "why", "rejected")
"""The fields of these logs that go by more than one name."""


class Entry:
    """One entry with its id, the merged fields and the line of its newest row."""

    def __init__(self, name: str, line: int, record: dict[str, Any]) -> None:
        self.id = name
        self.line = line
        self.record = record


def entries_of(
    data: bytes, role: str, prefix: str | Callable[[dict[str, Any]], str], text_field: str, notes: Notes
) -> list[Entry]:
    """Return the entries in order of first appearance. A row without an id gets one from its text.

    The text may also stand under `text`, or another name of its field. `prefix` begins an id made here; a function
    chooses it for each row.

    A row with neither, or one that amends an id that was never given a text, is reported and left out; unless it closes
    that id, which an earlier packet may still carry: it is kept, without a text.
    """
    entries: dict[str, Entry] = {}
    for row in rows_of(data, role, notes):
        record = row.record
        if text_field not in record and (text_name := _named(record, text_field)):
            record = {**record, text_field: record[text_name]}
        name, text = record.get("id"), record.get(text_field)
        if not isinstance(name, str) or not _ID.fullmatch(name):
            start = prefix if isinstance(prefix, str) else prefix(record)
            name = content_id(start, clean(text)) if isinstance(text, str) and text.strip() else ""
        earlier = entries.get(name)
        if not name or (earlier is None and not (isinstance(text, str) and text.strip()) and not _closes(record)):
            notes.warn(f"{role}.no_text", f"line {row.line} has no {text_field} and is left out", offset=row.offset)
            continue
        merged = _amended(earlier.record, record) if earlier else record
        if earlier and not (isinstance(text, str) and text.strip()):
            merged[text_field] = earlier.record[text_field]
        entries[name] = Entry(name, row.line, merged)
    return list(entries.values())


def _amended(earlier: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of both, the row's first: what it says under one name takes the place of every other name."""
    said = {alias for name in _RENAMED if pick(row, name)[0] for alias in ALIASES[name]}
    return {name: value for name, value in earlier.items() if name not in said} | row


def _named(record: dict[str, Any], text_field: str) -> str:
    return pick(record, text_field)[0] or ("text" if "text" in record else "")


def _closes(record: dict[str, Any]) -> bool:
    """Say whether a row takes something back: withdraws it, answers it, or takes its pin away."""
    closed = any(record.get(name) in ("withdrawn", "answered") for name in ("state", "status"))
    return closed or record.get("withdrawn") is True or record.get("pinned") is False


def choice_of(entry: Entry, name: str, allowed: tuple[str, ...], role: str, notes: Notes) -> str:
    """Return a field out of a closed set, its first value when absent; another value is reported."""
    value = entry.record.get(name)
    if isinstance(value, str) and value in allowed:
        return value
    if value is not None:
        notes.warn(f"{role}.unknown_{name}", f"line {entry.line}: {name} must be one of {', '.join(allowed)}")
    return allowed[0]


def author_of(entry: Entry, name: str, role: str, notes: Notes) -> Author:
    """Return who a field names, `human` or `agent`; empty when it is absent, or (reported) anything else."""
    value = entry.record.get(name)
    match value:
        case "human":
            return "human"
        case "agent":
            return "agent"
        case None | "":
            return ""
    notes.warn(f"{role}.unknown_{name}", f"line {entry.line}: {name} must be human or agent, but is {quoted(value)}")
    return ""
