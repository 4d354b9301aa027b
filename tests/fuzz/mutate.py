"""Changes to JSON lines and documents that a reader gets past the decoder with; plain byte changes are made by others."""

from __future__ import annotations

import json
import random
from typing import Any

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, -(2**63), 1e308, 0.1, "", "x", "\x00", "\ud800", "\u2028", "\u202e", "0",
    "2026-03-01T10:00:00Z", "9999-99-99T99:99:99Z", [], {}, [[]], [{}], {"": ""}, {"type": "text", "text": "x"},
    "../../etc/passwd", "x" * 5000, 1772359200000, "exit code: 1",
)  # fmt: skip


def mutate(data: bytes, largest: int, seed: int) -> bytes:
    """Return the data with a few records or values changed; the same seed makes the same change."""
    chance = random.Random(seed)
    lines = data.split(b"\n")
    for _ in range(chance.randint(1, 4)):
        lines = _change(lines, chance)
    return b"\n".join(lines)[:largest]


def _change(lines: list[bytes], chance: random.Random) -> list[bytes]:
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(10):
        case 0:
            return [*lines[:at], *lines[at + 1 :]] or [b""]
        case 1:
            return [*lines[:at], lines[other], *lines[at:]]
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = lines[at][: chance.randint(0, len(lines[at]))]
        case 4:
            lines[at] += lines[other]
        case _:
            lines[at] = _changed(lines[at], chance)
    return lines


def _changed(line: bytes, chance: random.Random) -> bytes:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        cut = chance.randint(0, len(line))
        return line[:cut] + bytes([chance.randrange(256)]) + line[cut:]
    places = list(_places(document, 0))
    if places:
        holder, key = chance.choice(places)
        _alter(holder, key, places, chance)
    else:
        document = chance.choice(_VALUES)
    return json.dumps(document, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def _alter(holder: Any, key: Any, places: list[tuple[Any, Any]], chance: random.Random) -> None:
    match chance.randrange(4):
        case 0:
            del holder[key]
        case 1:
            other, name = chance.choice(places)
            copied = json.loads(json.dumps(other[name]))
            holder[key] = copied
        case _:
            holder[key] = chance.choice(_VALUES)


def _places(value: Any, depth: int) -> Any:
    if depth > 40:
        return
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key], depth + 1)
