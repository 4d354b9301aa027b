"""What is made once for a whole trajectory: a text that was cleaned need not be looked at again at the next cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from passdown.data.records import Step
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import neutralise
from passdown.redact.scan import KEY_MARKS, Redactor

_HOME = lazy_pattern(r"(?:[A-Za-z]:)?/(?:home|Users)/[^/\s]{1,64}(?=/|\Z)")
_DRIVE = lazy_pattern(r"([A-Za-z]):(/.*)")
T = TypeVar("T")

_LONG = 256
"""Characters from which a text is worth taking apart."""
_ROOM = 32 << 20
"""Characters that are remembered before all is forgotten."""


class Scrubber(Redactor):
    """A redactor that remembers its answers, for texts and for lines: the same files are shown again and again.

    No environment: nothing of the machine that builds a view counts. `counts` are those of lines seen for the first
    time.
    """

    def __init__(self, folders: dict[str, str]) -> None:
        super().__init__({}, folders, many=True)
        self._remembered: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self._held = 0

    def text(self, value: str) -> str:
        """Return the text with every secret replaced, and every known folder."""
        known = self._remembered.get(value)
        if known is None:
            by_lines = len(value) > _LONG and "\n" in value and not any(mark in value for mark in KEY_MARKS)
            known = self._by_lines(value) if by_lines else super().text(value)
            self._held += len(value)
            if self._held > _ROOM:
                self._remembered.clear()
                self._lines.clear()
                self._held = len(value)
            self._remembered[value] = known
        return known

    def _by_lines(self, value: str) -> str:
        """Redact the lines that were not met before, all at once, and put the text together again."""
        lines = value.split("\n")
        fresh = [line for line in dict.fromkeys(lines) if line not in self._lines]
        if fresh:
            joined = "\n".join(fresh)
            clean = super().text(joined)
            cleaned = fresh if clean == joined else clean.split("\n")
            if len(cleaned) != len(fresh):
                return super().text(value)
            self._lines.update(zip(fresh, cleaned, strict=True))
        return "\n".join([self._lines[line] for line in lines])

    def clean(self, value: str) -> str:
        """Return the text as it may be shown: neutralised as well."""
        return self.text(neutralise(value))


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
        self.notes = Scrubber(names | dict.fromkeys(_spellings(root), "."))
        self._made: dict[tuple[str, int], Any] = {}

    def of_step(self, what: str, step: Step, make: Callable[[Step], T]) -> T:
        """Return what `make` makes of a step, made once."""
        key = what, step.idx
        if key not in self._made:
            self._made[key] = make(step)
        return cast("T", self._made[key])
