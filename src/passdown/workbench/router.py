"""The router (AGENTS.md and its other names): the rules files it links and the verification command it names."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from passdown.config import Config
from passdown.model.pattern import lazy_pattern
from passdown.workbench.document import MalformedError, Notes, decode_text
from passdown.workbench.locate import File, existing, exists, own_output, read_file, resolve

MAX_RULES = 20
"""Most rules files that are taken from one router."""

_LINK = lazy_pattern(r"\]\(<?([^)>\s#]{1,300})|`([^`\n]{1,300})`|(?:^|\s)@([\w./-]{1,300})")
_COMMAND_LINE = lazy_pattern(
    r"[-*#>\s]*(?:\*\*|__)?verification command(?:\*\*|__)?\s*(?:[:：]\s*(?:\*\*|__)?(.*))?$", re.IGNORECASE
)
_SPAN = lazy_pattern(r"(?:run\s+)?(`+)([^`]+)\1[.。]?", re.IGNORECASE)
_PROSE = {"see", "run", "the", "use", "check", "look", "read", "all", "as", "whatever", "none", "tbd", "n/a"}


def read_router(root: Path, config: Config, notes: Notes) -> File | None:
    """Return the first router that exists, a link to another file inside as that file. None when there is none."""
    for path in existing(root, "router", config, "", notes):
        own = Notes(path)
        try:
            target = resolve(root, path).relative_to(root.resolve()).as_posix()
            return read_file(root, target)
        except MalformedError as error:
            own.refuse(error)
            notes.take(own.findings)
    return None


def rules_paths(text: str, folder: str, root: Path, config: Config) -> list[str]:
    """Return the existing Markdown files with rules that a router links, in its order.

    Those are files whose name holds "rule", or that lie in a folder called rules.
    """
    found: list[str] = []
    for match in _LINK.finditer(text):
        link = match[1] or match[2] or match[3]
        path = posixpath.normpath(posixpath.join(folder, link))
        folders, _, name = path.rpartition("/")
        named = "rule" in name.lower() or "rules" in folders.lower().split("/")
        inside = not path.startswith(("/", "..")) and not own_output(path, config)
        if named and inside and name.endswith((".md", ".mdc")) and path not in found and exists(root, path):
            found.append(path)
    return found[:MAX_RULES]


def router_text(file: File) -> str:
    """Return the router's text. Raises `MalformedError` when it is not UTF-8."""
    return decode_text(file.data)


def verification_command(text: str) -> str:
    """Return the command of a `Verification command:` line, or of the line or code block under such a heading.

    Empty when the line is prose: only a code span or something that reads as a command counts.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines):
        match = _COMMAND_LINE.fullmatch(line) if len(line) < 500 else None
        if match is None:
            continue
        value = (match[1] or "").strip()
        if not value:
            below = [other.strip() for other in lines[number + 1 : number + 6] if other.strip()]
            fenced = len(below) > 1 and below[0].startswith(("```", "~~~"))
            value = f"`{below[1].removeprefix('$ ')}`" if fenced else below[0] if below else ""
        command = _as_command(value)
        if command:
            return command
    return ""


def _as_command(value: str) -> str:
    span = _SPAN.fullmatch(value)
    if span:
        return span[2].strip()
    words = value.split()
    plain = bool(words) and "`" not in value and value.isascii() and len(value) <= 200 and not value.endswith(".")
    return value if plain and words[0].lower() not in _PROSE and not words[0][0].isupper() else ""
