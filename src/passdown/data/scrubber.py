"""A redactor that remembers its answers: what was cleaned once need not be looked at again."""

from __future__ import annotations

from collections.abc import Iterable

from passdown.redact.neutralise import neutralise
from passdown.redact.scan import KEY_MARKS, Redactor

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
