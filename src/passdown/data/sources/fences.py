"""SWE-agent's text interface: the block of code that ends an answer, and what an observation's last lines tell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from passdown.model.pattern import lazy_pattern
from passdown.trajectories.said_calls import SaidCall

OPEN = lazy_pattern(r"\(Open file: ([^\n]{1,500})\)\n\(Current directory: ([^\n]{1,500})\)\n\S*\$\s*\Z")
OPEN_TAIL = 1200

_OPTIONS = frozenset({"file_text", "view_range", "old_str", "new_str", "insert_line"})
_EDITOR = "str_replace_editor"


def last_block(text: str) -> tuple[str, str]:
    """Return an answer without its last fenced block, and what the block holds; empty where there is none."""
    begin, found = -1, (-1, -1, -1, -1)
    at = 0
    for line in text.splitlines(keepends=True):
        end = at + len(line)
        if line.startswith("```"):
            if begin < 0:
                begin, inside = at, end
            elif line[3:].strip() == "":
                found, begin = (begin, inside, at, end), -1
        at = end
    if found[0] < 0:
        return text.strip(), ""
    said = (text[: found[0]].rstrip() + "\n" + text[found[3] :].rstrip()).strip()
    return said.removeprefix("DISCUSSION\n").strip(), text[found[1] : found[2]].strip("\n")


def typed_call(command: str) -> SaidCall:
    """Return the call that a typed command is: SWE-agent's editor by its arguments, everything else the shell's."""
    command = command.strip()
    if command == "submit":
        return SaidCall("submit", {})
    if not command.startswith(f"{_EDITOR} "):
        return SaidCall("bash", {"command": command})
    try:
        words = shlex.split(command)
    except ValueError:
        return SaidCall("bash", {"command": command})
    arguments: dict[str, object] = dict(zip(("command", "path"), words[1:3], strict=False))
    rest = iter(words[3:])
    for word in rest:
        name = word.removeprefix("--")
        if name in _OPTIONS and word.startswith("--"):
            arguments[name] = _argument(name, rest)
    return SaidCall(_EDITOR, arguments)


def _argument(name: str, words: Iterator[str]) -> object:
    value = next(words, "")
    if name == "insert_line" and value.isdigit():
        return int(value)
    if name == "view_range":
        return [int(word) for word in (value, next(words, "")) if word.lstrip("-").isdigit()]
    return value
