"""What the beginning of a JSON file shows of its shape: top-level keys, and the keys one level into them."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct, field

from passdown.model.pattern import lazy_pattern

_TOKEN = lazy_pattern(rb'"(?:[^"\\]|\\.)*+"|[{}\[\],]')
_BEFORE = b"\xef\xbb\xbf\x00 \t\r\n"
_SHOWN = 80
_DEEPEST = 200


class Outline(Struct, frozen=True):
    """The shape of a document, or of the first one where there is one a line; of a list, that of its first object.

    `shape` is `object`, `list`, or empty for what is no JSON. `keys` maps a top-level key to the beginning of its
    value; `inner` maps it to the keys of its value, or of the first object in it where it is a list.
    """

    shape: str = ""
    keys: dict[str, bytes] = field(default_factory=dict)
    inner: dict[str, set[str]] = field(default_factory=dict)

    def has(self, *names: str) -> bool:
        """Say whether all of these are top-level keys."""
        return all(name in self.keys for name in names)

    def within(self, name: str) -> set[str]:
        """Return the keys one level into a top-level key."""
        return self.inner.get(name, set())


class _Frame:
    __slots__ = ("index", "key", "named")

    def __init__(self, *, named: bool) -> None:
        self.named, self.key, self.index = named, "", 0


@lru_cache(maxsize=2)
def outline(head: bytes) -> Outline:
    """Return the shape of a document from its first bytes, which may end anywhere."""
    text = head.lstrip(_BEFORE)
    shape = {b"{": "object", b"[": "list"}.get(text[:1], "")
    found = Outline(shape, {}, {})
    base = 0 if shape == "object" else 1
    frames: list[_Frame] = []
    for match in _TOKEN.finditer(text) if shape else ():
        token = match[0]
        frame = frames[-1] if frames else None
        if token in b"{[":
            frames.append(_Frame(named=token == b"{"))
        elif token in b"}]":
            frames.pop()
            if not frames:
                break
        elif frame is None or len(frames) > _DEEPEST:
            break
        elif token == b",":
            frame.index, frame.key = frame.index + 1, ""
            if shape == "list" and len(frames) == 1:
                break
        elif frame.named and not frame.key:
            frame.key = token[1:-1].decode("utf-8", "replace") or "\0"
            _note(found, frames, base, text[match.end() : match.end() + _SHOWN])
    return found


def _note(found: Outline, frames: list[_Frame], base: int, behind: bytes) -> None:
    """Keep the key that was just read, where it is a top-level one or one level in."""
    depth, frame = len(frames) - 1, frames[-1]
    if depth < base or depth > base + 3 or not frames[base].named:
        return
    if depth == base:
        found.keys.setdefault(frame.key, behind.lstrip(b" \t\r\n:"))
    elif not any(between.named or between.index for between in frames[base + 1 : depth]):
        found.inner.setdefault(frames[base].key, set()).add(frame.key)
