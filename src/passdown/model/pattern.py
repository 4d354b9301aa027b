"""Regular expressions that are compiled when they are first used: most runs need few of them, and start-up is felt."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, AnyStr, cast

_METHODS = (
    "search", "match", "fullmatch", "sub", "subn", "split", "finditer", "findall", "pattern", "groupindex", "flags",
)  # fmt: skip


_Compile = Callable[[str | bytes, int], re.Pattern[Any]]
_compile: list[_Compile] = [re.compile]


def compile_with(how: _Compile) -> None:
    """Compile the expressions of the source code in another way than `re.compile`, say out of a cache."""
    _compile[0] = how


def compile_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Compile an expression that the source code holds; what is made of other text goes to `re.compile`."""
    return _compile[0](source, flags)


class _Lazy:
    def __init__(self, source: str | bytes | Callable[[], str | bytes], flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        source = self._source() if callable(self._source) else self._source
        compiled = _compile[0](source, self._flags)
        for method in _METHODS:  # from now on these are found on the instance, at no further cost
            setattr(self, method, getattr(compiled, method))
        return getattr(self, name)


def lazy_pattern(source: AnyStr | Callable[[], AnyStr], flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what stands for a compiled expression and compiles it on first use. Raises `re.error` then, not now.

    `source` may be a function that writes the expression, called then as well.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(source, flags))
