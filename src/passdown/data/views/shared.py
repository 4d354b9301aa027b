"""What the cuts of one trajectory share: its redactors, and what was made of single steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from passdown.data.records import Step
from passdown.data.scrubber import Scrubber
from passdown.model.pattern import lazy_pattern

_HOME = lazy_pattern(r"(?:[A-Za-z]:)?/(?:home|Users)/[^/\s]{1,64}(?=/|\Z)")
_DRIVE = lazy_pattern(r"([A-Za-z]):(/.*)")
T = TypeVar("T")


def _spellings(folder: str) -> list[str]:
    """Return the ways in which a folder is written: one of Windows has several."""
    drive = _DRIVE.fullmatch(folder)
    if drive is None:
        return [folder] if folder else []
    letters, path = (drive[1].lower(), drive[1].upper()), drive[2]
    slashes = [f"{letter}:{path}" for letter in letters]
    return [
        *slashes,
        *(name.replace("/", "\\") for name in slashes),
        *(name.replace("/", "\\\\") for name in slashes),  # as JSON writes it
        f"/{letters[0]}{path}",
        f"/mnt/{letters[0]}{path}",
    ]


class Shared:
    """What the cuts of one trajectory share: its redactors, and what was made of single steps, by their number.

    `notes` writes paths relative to the workspace, `trace` leaves them as they were said. A person's own folder is `~`.
    """

    def __init__(self, root: str) -> None:
        home = _HOME.match(root)
        names = dict.fromkeys(_spellings(home.group()), "~") if home and home.group() != root else {}
        self.trace = Scrubber(names)
        self.notes = Scrubber(names | dict.fromkeys(_spellings(root), "."), self.trace)
        self._made: dict[tuple[str, int], Any] = {}

    def of_step(self, what: str, step: Step, make: Callable[[Step], T]) -> T:
        """Return what `make` makes of a step, made once."""
        key = what, step.idx
        if key not in self._made:
            self._made[key] = make(step)
        return cast("T", self._made[key])

    def of_steps(self, what: str, steps: Sequence[Step], make: Callable[[list[Step]], Iterable[T]]) -> list[T]:
        """Return what `make` makes of each step. It is given all steps that it has not made anything of, at once."""
        fresh = [step for step in steps if (what, step.idx) not in self._made]
        self._made.update(((what, step.idx), made) for step, made in zip(fresh, make(fresh), strict=True))
        return [cast("T", self._made[what, step.idx]) for step in steps]
