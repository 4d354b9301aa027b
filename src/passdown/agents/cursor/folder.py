"""Which folder Cursor's name for a project means: the path, with everything but letters and digits a hyphen."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from passdown.model.pattern import lazy_pattern

_OTHER = lazy_pattern(r"[^A-Za-z0-9]+")
_MOST = 2000
"""Folders that are looked into for one name."""


@lru_cache(maxsize=512)
def folder_called(slug: str) -> str:
    """Return the folder that is there and has this name, empty where there is none, or more than one could be it."""
    if not slug or len(slug) > 1024:
        return ""
    budget = [_MOST]
    found = _below("/", slug, budget, 0)
    return found[0] if len(found) == 1 else ""


def _below(folder: str, rest: str, budget: list[int], depth: int) -> list[str]:
    if budget[0] <= 0 or depth > 64:
        return []
    budget[0] -= 1
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []
    found: list[str] = []
    for name in names:
        slug = _slug(name)
        if slug and rest == slug:
            found.append(str(Path(folder, name)))
        elif slug and rest.startswith(f"{slug}-"):
            found += _below(str(Path(folder, name)), rest[len(slug) + 1 :], budget, depth + 1)
    return found[:5]


def _slug(name: str) -> str:
    return _OTHER.sub("-", name).strip("-")
