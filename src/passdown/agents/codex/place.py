"""Where in the file the reader is: what the events of one row have in common."""

from __future__ import annotations

from typing import Any

from passdown.io.log import milliseconds

_SECONDS = {f"{second:02}.": second * 1000 for second in range(60)}
_REST = {f"{rest:03}Z": rest for rest in range(1000)}
"""The milliseconds of a time, and what it ends with: to look them up is quicker than to make a number of them."""


class Place:
    """The present row: its `offset`, `line`, `length`, and timestamp as written, and whose history it is.

    `complete` says that it ends with a line feed.
    """

    __slots__ = ("_base", "_minute", "active", "complete", "copied", "length", "line", "offset", "when")

    def __init__(self) -> None:
        self.offset = 0
        self.line = 0
        self.length = 0
        self.complete = False
        self.when: Any = None
        self.active = True
        self.copied = False
        self._minute, self._base = "", 0

    def stamp(self) -> dict[str, Any]:
        """Return the fields that every event of this row carries."""
        return {
            "at": self.at(),
            "offset": self.offset,
            "line": self.line,
            "active": self.active,
            "copied": self.copied,
        }

    def at(self) -> int | None:
        """Return the row's time in milliseconds; rows of the same minute are cheap. None when it has none."""
        text = self.when
        try:
            if text[:17] == self._minute:
                return self._base + _SECONDS[text[17:20]] + _REST[text[20:]]
        except (KeyError, TypeError):  # no text, or no time that is written as Codex does
            pass
        return self.parse(text)

    def parse(self, text: Any) -> int | None:
        """Return a time in milliseconds; None when it is none."""
        whole = milliseconds(text) if isinstance(text, (str, int, float)) else None
        if whole is not None and isinstance(text, str) and len(text) == 24 and text[23] == "Z":
            self._minute, self._base = text[:17], whole // 60_000 * 60_000
        return whole
