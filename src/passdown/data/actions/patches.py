"""A codex patch (`*** Begin Patch`) as the files it changes."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from passdown.data.actions.draft import Draft, marked
from passdown.model.pattern import lazy_pattern

MAX_SECTIONS = 200
_HEAD = lazy_pattern(r"\*\*\* (Add|Update|Delete) File: (.+?)[ \t\r]*")
_MOVE = lazy_pattern(r"\*\*\* Move to: (.+?)[ \t\r]*")


class Section(NamedTuple):
    """What a patch does to one file; `moved` is its new name."""

    what: Literal["add", "update", "delete"]
    path: str
    body: str
    moved: str = ""


@lru_cache(maxsize=16)
def sections(text: str) -> tuple[Section, ...]:
    """Return the files of a patch, in order."""
    found: list[Section] = []
    what, path, moved = "", "", ""
    lines: list[str] = []

    def end() -> None:
        if what == "Add":
            found.append(Section("add", path, "".join(f"{line[1:]}\n" for line in lines if line[:1] == "+")))
        elif what == "Update":
            found.append(Section("update", path, "\n".join(lines), moved))
        elif what == "Delete":
            found.append(Section("delete", path, ""))

    for line in text.split("\n"):
        if head := _HEAD.fullmatch(line):
            end()
            what, path, moved = head[1], head[2].strip(), ""
            lines = []
        elif line.startswith("*** End Patch") or len(found) >= MAX_SECTIONS:
            break
        elif move := _MOVE.fullmatch(line):
            moved = move[1].strip()
        elif what and not line.startswith("*** End of File"):
            lines.append(line)
    end()
    return tuple(found)


def codex_drafts(text: str) -> tuple[Draft, ...]:
    """Return an edit, a creation or a deletion for each file of a patch."""
    drafts: list[Draft] = []
    for section in sections(text):
        path, body = section.path, section.body
        if section.what == "add":
            drafts.append(Draft("CREATE", marked(path), body, (), (path,)))
        elif section.what == "delete":
            drafts.append(Draft("DELETE", marked(path), "", (), (path,)))
        elif section.moved:
            new = section.moved
            drafts.append(Draft("CREATE", marked(new), body, (path,), (new, path)))
            drafts.append(Draft("DELETE", marked(path), "", (), (path,)))
        else:
            drafts.append(Draft("EDIT", marked(path), body, (path,), (path,)))
    return tuple(drafts) or (Draft("EDIT", "patch", text),)


@lru_cache(maxsize=16)
def unified(text: str) -> tuple[tuple[str, str, bool], ...]:
    """Return each file of a unified diff: its path, its hunks, and whether the diff makes it."""
    found: list[tuple[str, str, bool]] = []
    old = path = ""
    hunks: list[str] = []
    inside = False

    def end() -> None:
        if path and hunks:
            name = old if path == "/dev/null" else path
            found.append((_bare(name), "".join(f"{line}\n" for line in hunks), old == "/dev/null"))

    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            end()
            old, path, inside = line[4:].partition("\t")[0].strip(), "", False
            hunks = []
        elif line.startswith("+++ ") and not path and old:
            path = line[4:].partition("\t")[0].strip()
        elif line.startswith("@@"):
            inside = True
            hunks.append(line)
        elif line.startswith(("diff --git ", "index ")):
            inside = False
        elif inside and (line[:1] in ("+", "-", " ", "\\") or (not line and at + 1 < len(lines))):
            hunks.append(line)
    end()
    return tuple(found)


def _bare(name: str) -> str:
    return name[2:] if name.startswith(("a/", "b/")) else name
