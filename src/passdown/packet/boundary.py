"""The one boundary: every string of a packet is normalised, neutralised, redacted and cut here, before it has an id."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct, structs

from passdown.model.pattern import lazy_pattern
from passdown.packet.caps import CODE, MAPS, PATH, TEXTS, Text
from passdown.packet.plain import hints_of
from passdown.redact.neutralise import neutralise, one_line
from passdown.redact.scan import Redactor

_HEX = lazy_pattern(r"[0-9a-f]{7,64}")
_MARKER = lazy_pattern(r"\[redacted:([a-z0-9_]+)\]")
_FEWEST_OPAQUE = 257
_OPAQUE = lazy_pattern(rf"[A-Za-z0-9+/=_-]{{{_FEWEST_OPAQUE},}}")
_OPAQUE_PATH = lazy_pattern(rf"[A-Za-z0-9+=_-]{{{_FEWEST_OPAQUE},}}")
_CLOSED = (int, bool, float, type(None))
_MAP_KEYS = {"changed_elsewhere": PATH}


def clean_packet(packet: Any, redactor: Redactor) -> Any:
    """Return the record with every text field fit to leave the process: see `caps.TEXTS` for what each one holds."""
    return _clean(packet, redactor)


def count_redactions(packet: Struct) -> dict[str, int]:
    """Count the secrets that are masked in a cleaned record, by kind."""
    counts: dict[str, int] = {}
    if b"[redacted:" not in msgspec.json.encode(packet):
        return counts
    for text in strings_of(structs.asdict(packet)):
        for kind in _MARKER.findall(text):
            counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items()))


def strings_of(value: Any) -> Iterator[str]:
    """Yield every string inside a value, keys of mappings included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Struct):
        yield from strings_of([getattr(value, name) for name in value.__struct_fields__])
    elif isinstance(value, dict):
        yield from strings_of([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings_of(item)


def clean_text(text: str, rule: Text, redactor: Redactor) -> str:
    """Return one text as its field may hold it: safe to look at, without secrets, not longer than its cap."""
    if rule.kind == "hash":
        return text if _HEX.fullmatch(text) else ""
    if rule.kind == "exact":
        return _shorten(_without_opaque(redactor.text(_visible(text)), _OPAQUE_PATH), rule.cap)
    masked = redactor.text(unicodedata.normalize("NFC", neutralise(text)))
    masked = _without_opaque(masked, _OPAQUE)
    if rule.kind == "block":
        return _shorten(masked.strip("\n"), rule.cap)
    return one_line(masked, rule.cap)


def branch_in_packet(branch: str, redactor: Redactor) -> str:
    """Return a branch's name as a packet holds it: without secrets, visible, cut."""
    return clean_text(branch, TEXTS["GitFacts"]["branch"], redactor)


def _clean(record: Struct, redactor: Redactor) -> Struct:
    changes = {}
    for name, rule in _open_fields(type(record)):
        value = getattr(record, name)
        cleaned = _value(value, rule, name, redactor)
        if cleaned is not value:
            changes[name] = cleaned
    return structs.replace(record, **changes) if changes else record


def _value(value: Any, rule: Text | None, name: str, redactor: Redactor) -> Any:
    if isinstance(value, str):
        cleaned = clean_text(value, rule or CODE, redactor)
        return value if cleaned == value else cleaned
    if isinstance(value, Struct):
        return _clean(value, redactor)
    if isinstance(value, list):
        return [_value(item, rule, name, redactor) for item in value]
    if isinstance(value, dict):
        return _mapping(value, rule, name, redactor)
    return value


def _mapping(value: dict[str, Any], rule: Text | None, name: str, redactor: Redactor) -> dict[str, Any]:
    key_rule = _MAP_KEYS.get(name, CODE)
    cleaned: dict[str, Any] = {}
    for key, item in sorted(value.items())[: MAPS.get(name, max(MAPS.values()))]:
        new_key = clean_text(key, key_rule, redactor)
        if isinstance(item, int) and isinstance(cleaned.get(new_key), int):
            cleaned[new_key] += item
        else:
            cleaned[new_key] = _value(item, rule, name, redactor)
    return cleaned


def _visible(text: str) -> str:
    """Return a path or name with every control and invisible character written as an escape; the rest is exact."""
    if neutralise(text) == text and "\n" not in text and "\t" not in text:
        return text
    return "".join(_escape(c) if neutralise(c) != c or c in "\n\t" else c for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _without_opaque(text: str, opaque: re.Pattern[str]) -> str:
    return (
        text
        if len(text) < _FEWEST_OPAQUE
        else opaque.sub(lambda run: f"({len(run[0])} characters of opaque data)", text)
    )


def _shorten(text: str, cap: int) -> str:
    return text if len(text) <= cap else text[: cap - 1] + "…"


@cache
def _open_fields(record: type[Struct]) -> tuple[tuple[str, Text | None], ...]:
    """Return the fields that something from outside can be in, each with the rule for its texts.

    In one that holds one of a fixed set of words, or a number, there can be nothing.
    """
    rules = TEXTS.get(record.__name__, {})
    closed = {name for name, hint in hints_of(record).items() if _is_closed(hint)}
    return tuple((name, rules.get(name)) for name in record.__struct_fields__ if name not in closed)


def _is_closed(hint: Any) -> bool:
    return all(one in _CLOSED or get_origin(one) is Literal for one in _alternatives(hint))


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
