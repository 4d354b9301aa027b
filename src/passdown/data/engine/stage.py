"""A stage: a pure function from a batch of rows to rows and rejects, named so that any process can build it again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from passdown.data.engine.shards import Row
from passdown.data.records import Reject
from passdown.errors import UsageError

Batch = list[Row]
Work = Callable[[Batch], Iterable[Row | Reject]]
"""Rows in, rows and rejects out, in order. Pure: a row gives the same answer whatever stands beside or before it."""

_ENCODE = msgspec.json.Encoder(order="deterministic")


class Stage(Struct, frozen=True, kw_only=True):
    """What is to be done to every batch: the maker's place (`module:function`), its parameters, the code's version.

    The maker is called once a process with the parameters and returns the `Work`. Raise `version` when the code gives
    other rows for the same input, so that nothing old is taken for finished. `places` are folders that the maker is
    given as well; where they lie does not change what is made. `check` is a function as well: given the parameters, it
    raises what would stop any of the work. It is called once before work is handed out, and not where all is finished.
    `transient` are reasons for rejects that another try may not give.
    """

    name: str
    maker: str
    version: int = 1
    parameters: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    check: str = ""
    transient: tuple[str, ...] = ()

    def key(self, shard_hash: str) -> str:
        """Return what a finished shard is recognised by."""
        from passdown import __version__

        own = _ENCODE.encode([__version__, self.name, self.maker, self.version, self.parameters, shard_hash])
        return hashlib.sha256(own).hexdigest()

    def begin(self) -> None:
        """Call `check`, where there is one."""
        if self.check:
            _called(self.check)(**self.parameters)

    def work(self) -> Work:
        """Return the function itself, made once in this process."""
        return _work(self.maker, _ENCODE.encode({**self.parameters, **self.places}))


@lru_cache(maxsize=8)
def _work(maker: str, parameters: bytes) -> Work:
    made: Work = _called(maker)(**msgspec.json.decode(parameters))
    return made


def _called(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    if not module.startswith("passdown."):
        raise UsageError(f"{place!r} is no stage of passdown", next_step="Name a stage of the table.")
    return cast("Callable[..., Any]", getattr(import_module(module), name))
