"""The table of trajectory formats: facts only. A format's module is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from msgspec import Struct

from passdown.model.session import AnyEvent, SessionRef

if TYPE_CHECKING:
    from passdown.trajectories.document import Row


class Format(Struct, frozen=True, gc=False):
    """One row: the format's id, its name as people write it, and the module that reads it."""

    id: str
    title: str
    module: str


class Trajectories(Protocol):
    """What a format's module offers."""

    def recognise(self, head: bytes, name: str) -> bool:
        """Say whether a file that starts with `head` (up to 1 MB) is in this format, whatever its name is."""

    def refer(self, path: Path) -> SessionRef | None:
        """Return what a file's first bytes say of its one trajectory, None when they do not say it."""

    def read(self, ref: SessionRef) -> Iterator[AnyEvent]:
        """Yield a trajectory's events in file order, first a `SessionStart`, last a `SessionEnd`.

        Raises `UsageError` when the file holds several and `ref.inner` names none of them.
        """

    def read_row(self, row: Row, path: Path, inner: str = "") -> Iterator[AnyEvent]:
        """Yield the events of one trajectory that is at hand as bytes; `path` is only what it is called after."""


FORMATS: tuple[Format, ...] = (
    Format("atif", "ATIF", "passdown.trajectories.atif"),
    Format("swe_agent", "SWE-agent", "passdown.trajectories.swe_agent"),
    Format("mini_swe_agent", "mini-swe-agent", "passdown.trajectories.mini_swe_agent"),
    Format("chat", "chat messages", "passdown.trajectories.chat"),
)
"""Every format, in the order in which a file is tried. The runs of OpenHands are read by `agents.openhands`."""


def reader_of(form: Format) -> Trajectories:
    """Import and return the module that reads a format."""
    return cast("Trajectories", import_module(form.module))
