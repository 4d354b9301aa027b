"""Compiled regular expressions, kept beside Python's own byte code.

Compiling the same hundred expressions took a fifth of a small packet's time. What CPython compiles one to is a list of
numbers, good for one build of the interpreter, as byte code is; it is kept like byte code, in `__pycache__`, and made
anew whenever anything about it is not as expected. (CPython 3.11 to 3.13, `Lib/re/_compiler.py`; no other interpreter.)
"""

from __future__ import annotations

import contextlib
import marshal
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from passdown.model import pattern

_KNOWN = {(3, 11), (3, 12), (3, 13)}
_LARGEST = 2_000_000
"""Bytes of the file. Larger than it can grow: only the expressions of the source code are kept."""

_Key = tuple[str | bytes, int]
_Code = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]


class PatternCache:
    """The expressions of this installation that were compiled before. Lost, foreign or damaged, it is made again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._build = f"{sys.version} {_magic()}"
        self._known: dict[_Key, _Code] = self._load()
        self._grown = False

    def _load(self) -> dict[_Key, _Code]:
        try:
            with self._path.open("rb") as stream:
                if os.fstat(stream.fileno()).st_size > _LARGEST:
                    return {}
                # As trusted as the byte code it lies beside; out of a stream each number would be read by itself.
                build, known = marshal.loads(stream.read())  # noqa: S302
        except (OSError, ValueError, EOFError, TypeError):
            return {}
        return known if build == self._build and isinstance(known, dict) else {}

    def compile(self, source: str | bytes, flags: int) -> re.Pattern[Any]:
        """Return the compiled expression, out of the cache when it is there. Raises `re.error` as `re.compile` does."""
        flags = int(flags)
        kept = self._known.get((source, flags))
        if kept is not None:
            with contextlib.suppress(RuntimeError, TypeError, ValueError, OverflowError):
                return _revive(source, kept)
        self._known[source, flags] = kept = _compiled(source, flags)
        self._grown = True
        return _revive(source, kept)

    def save(self) -> None:
        """Write what was compiled anew, so that a crash leaves old or new; quietly where it may not write."""
        if not self._grown:
            return
        staged = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(exist_ok=True)
            staged.write_bytes(marshal.dumps((self._build, self._known)))
            staged.replace(self._path)
        except (OSError, ValueError):
            with contextlib.suppress(OSError):
                staged.unlink(missing_ok=True)


def _magic() -> int:
    import _sre  # type: ignore[import-not-found]

    return int(_sre.MAGIC)


def _compiled(source: str | bytes, flags: int) -> _Code:
    from array import array
    from re import _compiler, _parser  # type: ignore[attr-defined]

    parsed = _parser.parse(source, flags)
    code = _compiler._code(parsed, flags)
    names: list[str | None] = [None] * parsed.state.groups
    for name, number in parsed.state.groupdict.items():
        names[number] = name
    numbers = array("I", code).tobytes()
    return int(flags | parsed.state.flags), numbers, parsed.state.groups - 1, parsed.state.groupdict, tuple(names)


def _revive(source: str | bytes, kept: _Code) -> re.Pattern[Any]:
    import _sre

    flags, numbers, groups, names, order = kept
    found: re.Pattern[Any] = _sre.compile(source, flags, memoryview(numbers).cast("I").tolist(), groups, names, order)
    return found


def _place() -> Path:
    folder = Path(__file__).parent
    if sys.pycache_prefix:
        folder = Path(sys.pycache_prefix, *folder.parts[1:])
    return folder / "__pycache__" / f"patterns.{sys.implementation.cache_tag}.bin"


def use_pattern_cache() -> Callable[[], None]:
    """Let the expressions of the source code come out of the cache; returns what saves it. Not on unknown Pythons."""
    if sys.implementation.name != "cpython" or sys.version_info[:2] not in _KNOWN:
        return lambda: None
    cache = PatternCache(_place())
    pattern.compile_with(cache.compile)
    return (lambda: None) if sys.dont_write_bytecode else cache.save
