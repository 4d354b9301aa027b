"""What is made once for a whole trajectory: a text that was cleaned need not be looked at again at the next cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from passdown.data.records import Step
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import neutralise
from passdown.redact.scan import KEY_MARKS, Redactor

_HOME = lazy_pattern(r"(?:[A-Za-z]:)?/(?:home|Users)/[^/\s]{1,64}(?=/|\Z)")
_DRIVE = lazy_pattern(r"([A-Za-z]):(/.*)")
T = TypeVar("T")

_APART = "\n\n"
_ROOM = 32 << 20
"""Characters that are remembered before all is forgotten."""


def paragraphs(text: str) -> list[str]:
    """Return a text's paragraphs. A first line in brackets stands alone: below it a trace shows what was said."""
    parts: list[str] = []
    for part in text.split(_APART):
        if part.startswith("["):
            head, _, rest = part.partition("\n")
            parts += (head, rest)
        else:
            parts.append(part)
    return parts


class Grown:
    """The longest text so far: the trace of a later cut begins with that of an earlier one, only the rest is new."""

    def __init__(self) -> None:
        self._text = ""

    def new_from(self, text: str) -> int:
        """Return where what is new in a text begins: at the end of a line of it, or 0."""
        end = len(self._text)
        return end if text.startswith(self._text) and text.startswith("\n", end) else 0

    def keep(self, text: str) -> bool:
        """Remember a text if it is longer than any before; say whether it is."""
        longer = len(text) > len(self._text) + 1
        if longer:
            self._text = text.rstrip("\n")
        return longer


class Scrubber(Redactor):
    """A redactor that remembers its answers by paragraph and by line: the same files are shown again and again.

    No environment: nothing of the machine that builds a view counts. `counts` are those of lines seen for the first
    time. `other` replaces the same but for some of the folders: it is asked about lines that hold none of them.
    """

    def __init__(self, folders: dict[str, str], other: Scrubber | None = None) -> None:
        super().__init__({}, folders, many=True)
        self._parts: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self._same: set[str] = set()
        self._left = Grown()
        self._held = 0
        self._other = other
        self._spelt = {spelt for folder in folders if len(spelt := folder.rstrip("/")) > 1}
        self._own = self._spelt - (other._spelt if other is not None else set())

    def text(self, value: str) -> str:
        """Return the text with every secret replaced, and every known folder."""
        known = self._parts.get(value)
        if known is not None:
            return known
        if "\n" in value and not any(mark in value for mark in KEY_MARKS):
            parts = value.split(_APART)
            self._learn(parts)
            return _APART.join([self._parts[part] for part in parts])
        known = self._lines.get(value)
        if known is None:
            other = self._other
            apart = other is not None and not any(folder in value for folder in self._own)
            known = other.text(value) if other is not None and apart else super().text(value)
        self._forget()
        self._parts[value] = known
        self._held += len(value)
        return known

    def leaves(self, value: str) -> bool:
        """Say whether `text` would return the text as it is."""
        if any(mark in value for mark in KEY_MARKS):
            return self.text(value) == value
        fresh = set(paragraphs(value[self._left.new_from(value) :])) - self._same
        self._learn(fresh)
        same = {part for part in fresh if self._parts[part] == part}
        self._same |= same
        if len(same) < len(fresh):
            return False
        self._left.keep(value)
        return True

    def learn(self, values: Iterable[str]) -> None:
        """Redact many texts at once, which takes less time than one after the other, and remember them."""
        self._learn([
            part for value in values if not any(mark in value for mark in KEY_MARKS) for part in value.split(_APART)
        ])  # fmt: skip

    def _learn(self, parts: Iterable[str]) -> None:
        self._forget()
        fresh = [(part, part.split("\n")) for part in dict.fromkeys(parts) if part not in self._parts]
        if not fresh:
            return
        self._learn_lines(dict.fromkeys(line for _, lines in fresh for line in lines))
        for part, lines in fresh:
            clean = "\n".join([self._lines[line] for line in lines])
            self._parts[part] = part if clean == part else clean
            self._held += len(part)

    def _forget(self) -> None:
        if self._held > _ROOM:
            self._parts.clear()
            self._lines.clear()
            self._same.clear()
            self._held = 0

    def _learn_lines(self, lines: Iterable[str]) -> None:
        fresh = [line for line in lines if line not in self._lines]
        if self._other is not None:
            elsewhere = [line for line in fresh if not any(folder in line for folder in self._own)]
            self._other.learn(elsewhere)
            self._lines.update((line, self._other.text(line)) for line in elsewhere)
            fresh = [line for line in fresh if line not in self._lines]
        if fresh:
            joined = "\n".join(fresh)
            clean = super().text(joined)
            cleaned = fresh if clean == joined else clean.split("\n")
            if len(cleaned) != len(fresh):
                cleaned = [super(Scrubber, self).text(line) for line in fresh]
            self._lines.update(zip(fresh, cleaned, strict=True))

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
