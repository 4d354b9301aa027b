"""Absolute folders of this machine, made relative: they mean nothing elsewhere, and they name the person here."""

from __future__ import annotations

import re
from collections.abc import Mapping


class Folders:
    """Replaces absolute folders by what they stand for: `/home/me/project/src/x.py` becomes `src/x.py`.

    Given as folder → replacement; `.` stands for the repository itself and leaves its paths bare. A folder is replaced
    only as a whole name, never as the beginning of a longer one.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = {folder.rstrip("/"): name for folder, name in names.items() if len(folder.rstrip("/")) > 1}
        longest_first = sorted(self._names, key=len, reverse=True)
        alternatives = "|".join(re.escape(folder) for folder in longest_first)
        pattern = rf"(?<![\w./-])({alternatives})(?:(/+)(?=[\w.@+-])|(?![\w-]|\.\w))"
        self._pattern = re.compile(pattern) if alternatives else None

    def text(self, value: str) -> str:
        """Return the text with every known folder replaced."""
        if self._pattern is None or not any(folder in value for folder in self._names):
            return value
        return self._pattern.sub(self._replace, value)

    def _replace(self, found: re.Match[str]) -> str:
        name, slash = self._names[found[1]], found[2]
        if name == "." and slash:
            return ""
        return name + ("/" if slash else "")
