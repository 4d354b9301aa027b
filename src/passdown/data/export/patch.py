"""Changes of text files as a patch that `git apply` takes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from passdown.model.pattern import lazy_pattern

_PLAIN = lazy_pattern(r"[\w.@+=,~-]+(?:/[\w.@+=,~-]+)*")
"""Paths that git writes as they are: no blanks, no quotes."""


def patch_of(before: Mapping[str, bytes], changes: Mapping[str, bytes | None]) -> str | None:
    """Return the patch that makes these changes (None: deleted), or None where a file is no text or has an odd name."""
    parts: list[str] = []
    for path, now in sorted(changes.items()):
        was = before.get(path)
        if was == now:
            continue
        try:
            old, new = ("" if one is None else one.decode() for one in (was, now))
        except UnicodeDecodeError:
            return None
        if _PLAIN.fullmatch(path) is None or "\x00" in old + new:
            return None
        parts.extend(_file(path, None if was is None else old, None if now is None else new))
    return "".join(parts)


def _file(path: str, old: str | None, new: str | None) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}\n"
    if old is None:
        yield "new file mode 100644\n"
    if new is None:
        yield "deleted file mode 100644\n"
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    for line in difflib.unified_diff(_lines(old or ""), _lines(new or ""), *names):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """Split at line feeds alone, as git does."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
