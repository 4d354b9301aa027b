"""What is said of a trajectory beside its events: where its row lies, whose task it was, and how it ended."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.data.records import Provenance, Reject
from passdown.io.log import BAD
from passdown.model.pattern import lazy_pattern

STAGE = "ingest"
_SYNTHETIC = lazy_pattern(r"([\w.-]{1,100}?)__([\w.-]{1,100})\.([0-9a-f]{8})\.[\w.-]{1,200}")
_REAL = lazy_pattern(r"([A-Za-z0-9][\w.-]{0,99}?)__([\w.-]{1,100})-(\d{1,7})")
_SAMPLED = lazy_pattern(r"_\d{1,4}$")
_ANY = msgspec.json.Decoder()


class Origin(Struct, frozen=True, kw_only=True):
    """A file that is being read: the source's id, its licence, and the name that is told (never a path)."""

    source: str
    licence: str = ""
    file: str = ""

    def at(self, row: int) -> Provenance:
        """Return the provenance of one row, counted from 1."""
        return Provenance(source=self.source, licence=self.licence, file=self.file, row=row)

    def reject(self, reason: str, row: int = 0, detail: str = "") -> Reject:
        """Return the note that a row was not read, and why."""
        return Reject(stage=STAGE, reason=reason, detail=detail[:300], provenance=self.at(row))


class Task(Struct, frozen=True):
    """What an instance's id says: the instance itself, its repository, and the commit it starts from."""

    instance_id: str = ""
    repo: str = ""
    base_commit: str = ""


def task_of(instance_id: Any) -> Task:
    """Return what an instance's id says, as SWE-bench (`owner__name-12`) and SWE-smith have it.

    The number that a set of samples puts behind it (`_0`) is taken off.
    """
    if not isinstance(instance_id, str):
        return Task()
    text = instance_id.strip()[:300]
    if (match := _SYNTHETIC.fullmatch(text)) is not None:
        return Task(text, f"{match[1]}/{match[2]}", match[3])
    plain = _SAMPLED.sub("", text)
    if (match := _REAL.fullmatch(plain)) is not None:
        return Task(plain, f"{match[1]}/{match[2]}")
    return Task(text)


def decided(value: Any) -> bool | None:
    """Return a verdict that sets hold as a truth value, a number, or a word."""
    if isinstance(value, str):
        return {"true": True, "1": True, "false": False, "0": False}.get(value.strip().lower())
    return bool(value) if isinstance(value, int | float) and value in (0, 1) else None


def text_in(value: Any) -> str:
    """Return a column's text, empty where it holds none."""
    return value if isinstance(value, str) else ""


def named_tests(value: Any) -> tuple[str, ...]:
    """Return test ids, which some sets hold as a list and others as JSON in a string."""
    listed = loaded(value)
    return tuple(item for item in listed if isinstance(item, str)) if isinstance(listed, list) else ()


def loaded(value: Any) -> Any:
    """Return a value that may be JSON in a string; None where it is not."""
    if isinstance(value, Raw):
        value = _decoded(bytes(value))
    if isinstance(value, str):
        value = _decoded(value.encode("utf-8", "replace"))
    return value


def _decoded(data: bytes) -> Any:
    try:
        return _ANY.decode(data) if data else None
    except BAD:
        return None


def json_text(value: Any) -> str:
    """Return a column as JSON text without the empty fields that Parquet puts into it; empty where it says nothing."""
    kept = _pruned(loaded(value))
    return msgspec.json.encode(kept).decode() if kept not in (None, [], {}, "") else ""


def _pruned(value: Any, depth: int = 0) -> Any:
    if isinstance(value, dict) and depth < 40:
        return {key: _pruned(item, depth + 1) for key, item in value.items() if item is not None}
    if isinstance(value, list) and depth < 40:
        return [_pruned(item, depth + 1) for item in value]
    return value


def extras_of(**values: Any) -> str:
    """Return what else a row says as JSON, without what is empty; empty where there is nothing."""
    kept = {key: value for key, value in sorted(values.items()) if value not in (None, "", [], {}, ())}
    return msgspec.json.encode(kept).decode() if kept else ""
