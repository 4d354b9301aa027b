"""Fields out of a decoded record: text, lists of text, numbers, times and paths, each with its bounds."""

from __future__ import annotations

import math
import posixpath
import re
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal

from passdown.model.finding import Finding, Severity
from passdown.model.pattern import lazy_pattern
from passdown.workbench.aliases import SEVERITIES, pick
from passdown.workbench.document import MalformedError, Notes, kind_of, quoted

_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_COMMIT = lazy_pattern(r"[0-9a-fA-F]{7,64}")
_DATE = lazy_pattern(r"\d{4}-\d\d-\d\d(?:[Tt ]|$)")
_LATEST = 7_258_118_400  # the year 2200, in seconds


def record_of(value: Any) -> dict[str, Any]:
    """Return the value when it is an object. Raises `MalformedError` otherwise."""
    if not isinstance(value, dict):
        raise MalformedError("artifact.bad_shape", f"must be an object, but is {kind_of(value)}")
    return value


def clean(text: str) -> str:
    """Return the text with lone surrogates replaced, so that it can be written as UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def text_of(record: dict[str, Any], name: str, notes: Notes) -> str:
    """Return a text field, empty when it is absent or null; anything but a string is reported."""
    alias, value = pick(record, name)
    if value is None:
        return ""
    if not isinstance(value, str):
        notes.warn("artifact.bad_field", f"{alias} must be a string, but is {kind_of(value)}")
        return ""
    cleaned = clean(value)
    if cleaned != value:
        notes.warn("artifact.bad_text", f"{alias} holds half a surrogate pair, which was replaced")
    return cleaned


def texts_of(
    record: dict[str, Any], name: str, notes: Notes, *, null: Literal["refuse", "warn"] = "warn"
) -> tuple[str, ...]:
    """Return a list of texts; one string counts as a list of one, an object as its `text`.

    A null where a list belongs is refused with `MalformedError` or reported, as `null` says.
    """
    alias, value = pick(record, name)
    if not alias:
        return ()
    if value is None:
        detail = f"{alias} is null; an empty list is written []"
        if null == "refuse":
            raise MalformedError("artifact.null_array", detail, fix=f"Write {alias} as [].")
        notes.warn("artifact.null_array", detail)
        return ()
    if isinstance(value, str):
        value = [value] if value else []
    if not isinstance(value, list):
        raise MalformedError("artifact.bad_shape", f"{alias} must be a list of strings, but is {kind_of(value)}")
    return _items(alias, value, notes)


def _items(alias: str, values: list[Any], notes: Notes) -> tuple[str, ...]:
    kept: list[str] = []
    bad = 0
    for item in values:
        text = item.get("text") if isinstance(item, dict) else item
        if isinstance(text, str):
            kept.append(clean(text))
            bad += kept[-1] != text
        else:
            bad += 1
    if bad:
        notes.warn("artifact.bad_item", f"{bad} of {len(values)} items of {alias} are not plain text")
    return tuple(kept)


def integer(value: Any) -> int | None:
    """Return a whole number of at most 53 bits, also when written as a float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value) if abs(value) < 1 << 53 else None


def scaled(value: Any, factor: int) -> int | None:
    """Return a number (or one in a string) times `factor`, rounded half up; None when it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return None
    try:
        number = Decimal(str(value).strip()[:40])
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number) > 1_000_000 or number.as_tuple().exponent < -40:  # type: ignore[operator]
        return None
    return int((number * factor).to_integral_value(ROUND_HALF_UP))


def flag(record: dict[str, Any], name: str, notes: Notes) -> bool | None:
    """Return a boolean field, None when it is absent, null or something else (which is reported)."""
    alias, value = pick(record, name)
    if value is None or isinstance(value, bool):
        return value
    notes.warn("artifact.bad_field", f"{alias} must be true or false, but is {quoted(value)}")
    return None


def milliseconds(value: Any) -> int | None:
    """Return a time as milliseconds since 1970: an epoch number in seconds (or milliseconds), or RFC 3339 text.

    Text without a zone counts as UTC. None when it is neither, or outside 1970 to 2200.
    """
    if isinstance(value, str):
        seconds = _seconds(value.strip())
    elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    else:
        seconds = value / 1000 if value > _LATEST else float(value)
    return round(seconds * 1000) if seconds is not None and 0 < seconds < _LATEST else None


def _seconds(text: str) -> float | None:
    try:
        if not _DATE.match(text):
            number = float(text[:40])
            return number if math.isfinite(number) else None
        moment = datetime.fromisoformat(text[:40])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def commit_of(record: dict[str, Any], name: str, notes: Notes) -> str:
    """Return a commit id in lower case; empty when absent, or (reported) when it is none."""
    text = text_of(record, name, notes)
    if text and not _COMMIT.fullmatch(text):
        notes.warn("artifact.bad_commit", f"{name} is no commit id: {quoted(text)}")
        return ""
    return text.lower()


def relative_path(root: Path, text: str) -> str | None:
    """Return a path as repository-relative POSIX text (`.` for the root); None when it lies outside. Lexical only."""
    if text.startswith("/"):
        for base in (str(root), str(root.resolve())):
            if text == base or text.startswith(base.rstrip("/") + "/"):
                text = text[len(base) :].lstrip("/") or "."
                break
        else:
            return None
    elif re.match(r"[A-Za-z]:[\\/]", text) or text.startswith("\\\\"):
        return None
    path = posixpath.normpath(text)
    return None if path == ".." or path.startswith("../") else path


def paths_of(
    record: dict[str, Any], name: str, notes: Notes, root: Path, *, null: Literal["refuse", "warn"] = "warn"
) -> tuple[str, ...]:
    """Return a list of repository-relative paths; those that lie outside the repository are left out and reported."""
    given = [text for text in texts_of(record, name, notes, null=null) if text.strip()]
    kept = [path for text in given if (path := relative_path(root, text)) is not None]
    if len(kept) < len(given):
        notes.warn("artifact.foreign_path", f"{len(given) - len(kept)} paths of {name} lie outside the repository")
    return tuple(dict.fromkeys(kept))


def findings_of(record: dict[str, Any], notes: Notes) -> tuple[Finding, ...]:
    """Return a report's own findings, with severities of other tools mapped to block, warn and info."""
    value = record.get("findings")
    if value is None:
        if "findings" in record:
            notes.warn("artifact.null_array", "findings is null; an empty list is written []")
        return ()
    if not isinstance(value, list):
        raise MalformedError("artifact.bad_shape", f"findings must be a list, but is {kind_of(value)}")
    found: list[Finding] = []
    for item in value:
        if isinstance(item, str):
            item = {"detail": item}
        if not isinstance(item, dict):
            notes.warn("artifact.bad_item", f"a finding must be an object, but is {kind_of(item)}")
            continue
        severity = _severity(item, notes)
        if severity is not None:
            code = text_of(item, "code", notes) or "unnamed"
            detail = text_of(item, "detail", notes)
            found.append(Finding(code=code, severity=severity, detail=detail, where=notes.path))
    return tuple(found)


def _severity(item: dict[str, Any], notes: Notes) -> Severity | None:
    alias, value = pick(item, "severity")
    word = SEVERITIES.get(value.strip().lower()) if isinstance(value, str) else None
    if word is None and alias:
        notes.warn("artifact.unknown_severity", f"{alias} {quoted(value)} is unknown; taken as warn")
    match word:
        case "block":
            return "block"
        case "info":
            return "info"
        case "":
            return None
        case _:
            return "warn"
