"""A JSON document from outside: decoded within bounds, or refused with the reason and the byte offset."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from msgspec import structs

from passdown.model.finding import Finding, Severity

MAX_BYTES = 4 << 20
"""Largest JSON artifact that is read, in bytes."""

MAX_DEPTH = 64
"""Deepest nesting of arrays and objects that is accepted."""

MAX_PER_CODE = 10
"""Most different findings of one code that are kept about one artifact; the rest are counted."""


class MalformedError(Exception):
    """An artifact that is not what it should be; `load_workbench` turns it into a finding."""

    def __init__(self, code: str, detail: str, *, offset: int = -1, fix: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.offset = offset
        self.fix = fix


class Notes:
    """Collects findings about one artifact while it is being read.

    The same finding again is counted, not repeated, and of one code at most `MAX_PER_CODE` are kept apart.
    """

    def __init__(self, path: str = "") -> None:
        self.path = path
        self._first: dict[tuple[str, str, str], Finding] = {}
        self._times: dict[tuple[str, str, str], int] = {}
        self._distinct: dict[str, int] = {}

    @property
    def findings(self) -> list[Finding]:
        """The findings, in the order in which they first came."""
        return [
            structs.replace(first, detail=f"{first.detail} ({self._times[key]} times)")
            if self._times[key] > 1
            else first
            for key, first in self._first.items()
        ]

    def add(self, severity: Severity, code: str, detail: str, *, offset: int = -1, fix: str = "") -> None:
        """Record one finding about this artifact."""
        self.take([Finding(code=code, severity=severity, detail=detail, where=self.path, offset=offset, fix=fix)])

    def take(self, findings: Iterable[Finding]) -> None:
        """Record findings made elsewhere, about this artifact or a file that belongs to it."""
        for finding in findings:
            key = (finding.code, finding.where, finding.detail)
            if key not in self._first and self._distinct.get(finding.code, 0) >= MAX_PER_CODE:
                key = (finding.code, finding.where, "")
                finding = structs.replace(finding, detail="and more of this kind", offset=-1)
            if key not in self._first:
                self._first[key] = finding
                self._distinct[finding.code] = self._distinct.get(finding.code, 0) + 1
            self._times[key] = self._times.get(key, 0) + 1

    def warn(self, code: str, detail: str, *, offset: int = -1) -> None:
        """Record a finding that does not stop the artifact from being used."""
        self.add("warn", code, detail, offset=offset)

    def refuse(self, error: MalformedError) -> None:
        """Record why the artifact is not used."""
        self.add("block", error.code, error.detail, offset=error.offset, fix=error.fix or "Mend or remove the file.")


def quoted(value: object) -> str:
    """Return a value from outside as one short printable ASCII line."""
    text = ascii(value) if isinstance(value, str | int | float | bool | None) else kind_of(value)
    return text if len(text) <= 60 else text[:57] + "..."


def kind_of(value: object) -> str:
    """Return what JSON calls a value's type, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "an array"
        case _:
            return "an object"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise MalformedError("artifact.duplicate_key", f"the key {quoted(twice)} stands twice in one object")
    return record


def _too_deep() -> NoReturn:
    raise MalformedError("artifact.too_deep", f"is nested deeper than {MAX_DEPTH} levels")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    _too_deep()


def decode_text(data: bytes) -> str:
    """Return the bytes as UTF-8 text without a byte order mark. Raises `MalformedError` when they are not."""
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise MalformedError("artifact.bad_encoding", "is not UTF-8", offset=error.start) from error


def decode_json(data: bytes) -> Any:
    """Return the JSON value. Raises `MalformedError` for anything else, a key twice in one object, or deep nesting."""
    import json  # most projects have no such file

    text = decode_text(data)
    if not text.strip():
        raise MalformedError("artifact.empty", "is empty", offset=0)
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        mark = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        offset = mark + len(text[: error.pos].encode())
        raise MalformedError("artifact.bad_json", f"is not JSON: {error.msg}", offset=offset) from error
    except ValueError as error:
        raise MalformedError("artifact.bad_json", "holds a number with too many digits") from error
    except RecursionError:
        _too_deep()
    if isinstance(value, dict | list):
        _check_depth(value)
    return value
