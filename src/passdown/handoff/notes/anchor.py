"""Anchors of a note: `path`, `path:line`, `path::name` or a commit, checked against the repository."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from passdown.errors import PassdownError
from passdown.io.files import is_inside, read_bounded
from passdown.io.git import try_git
from passdown.model.pattern import lazy_pattern
from passdown.workbench.shapes import relative_path

LARGEST = 16 << 20
"""Largest file whose lines are counted, in bytes."""

_LINE = lazy_pattern(r":(\d{1,9})(?:-(\d{1,9}))?$")
_REVISION = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._/@{}^~-]{0,199}")


class Anchor(NamedTuple):
    """An anchor as it is kept (repository-relative, commits with their whole id), and why it leads nowhere."""

    text: str
    broken: str = ""


def resolve_anchor(root: Path, folder: Path, text: str) -> Anchor:
    """Return an anchor as the repository knows it. A path may be relative to `folder` or to the root.

    One that leads nowhere is kept as it was given, with the reason.
    """
    text = text.strip()
    path, line = _split(text)
    for place in _places(root, folder, path):
        found = _look(root, place, line)
        if found is not None:
            return Anchor(place + text[len(path) :], found)
    if path == text and _REVISION.fullmatch(text) and (commit := _commit(root, text)):
        return Anchor(commit)
    places = _places(root, folder, path)
    if not places:
        return Anchor(text, "lies outside the repository")
    return Anchor(places[0] + text[len(path) :], "there is no such path and no such commit")


def _split(text: str) -> tuple[str, int]:
    """Return the path of an anchor, and the last line it names (0 for none)."""
    path = text.split("::", maxsplit=1)[0]
    found = _LINE.search(path)
    return (path[: found.start()], int(found[2] or found[1])) if found else (path, 0)


def _places(root: Path, folder: Path, path: str) -> list[str]:
    """Return the repository-relative paths an anchor may mean."""
    places = []
    if not path.startswith("/"):
        here = relative_path(root, str(folder.resolve() / path))
        places += [here] if here else []
    plain = relative_path(root, path)
    return list(dict.fromkeys([*places, plain] if plain else places))


def _look(root: Path, path: str, line: int) -> str | None:
    """Return None when nothing lies at the path, else why the anchor is broken, or an empty string."""
    place = root / path
    try:
        if path in ("", ".") or not place.exists():
            return None
        if not is_inside(root, place):
            return "leads outside the repository"
        if not line:
            return ""
        if not place.is_file():
            return "is a folder and has no lines"
        data = read_bounded(place.resolve(), LARGEST)
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
    except (OSError, ValueError, PassdownError):
        return "cannot be read"
    return "" if line <= lines else f"has only {lines} lines"


def head_of(root: Path) -> str:
    """Return the commit that is checked out, empty when there is none yet."""
    return _commit(root, "HEAD")


def _commit(root: Path, text: str) -> str:
    code, output, _ = try_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}")
    return output.decode("ascii", "replace").strip() if code == 0 else ""
