"""One redactor for a whole trajectory: what was cleaned once need not be looked at again at the next cut."""

from __future__ import annotations

from passdown.data.records import Prefix
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import neutralise
from passdown.redact.scan import Redactor

_HOME = lazy_pattern(r"/(?:home|Users)/[^/\s]{1,64}(?=/|\Z)")
_ROOM = 32 << 20
"""Characters that are remembered before all is forgotten."""


class Scrubber(Redactor):
    """A redactor that remembers its answers. No environment: nothing of the machine that builds a view counts."""

    def __init__(self, folders: dict[str, str]) -> None:
        super().__init__({}, folders)
        self._remembered: dict[str, str] = {}
        self._held = 0

    def text(self, value: str) -> str:
        """Return the text with every secret replaced, and every known folder."""
        known = self._remembered.get(value)
        if known is None:
            known = super().text(value)
            self._held += len(value)
            if self._held > _ROOM:
                self._remembered.clear()
                self._held = len(value)
            self._remembered[value] = known
        return known

    def clean(self, value: str) -> str:
        """Return the text as it may be shown: neutralised as well."""
        return self.text(neutralise(value))


class Scrubbers:
    """The redactors of one trajectory: `notes` writes paths relative to the workspace, `trace` leaves them as said."""

    def __init__(self, root: str) -> None:
        home = _HOME.match(root)
        names = {home.group(): "~"} if home and home.group() != root else {}
        self.trace = Scrubber(names)
        self.notes = Scrubber(names | ({root: "."} if root else {}))


def scrubbers(prefix: Prefix) -> Scrubbers:
    """Return the redactors for a prefix: the person's own folder is named `~`, the workspace `.`."""
    return Scrubbers(prefix.root)
