"""A shell line pulled apart just far enough to see which commands it runs and whose exit code counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from passdown.model.pattern import lazy_pattern

MAX_SCANNED = 16_384
"""Characters of a command that are looked at; what follows stays part of the last piece."""
MAX_PARTS = 64

_SPECIAL = lazy_pattern(r"""['"\\`|&;\n()#]|(?<!<)<<(?!<)-?[ \t]*(['"]?)([A-Za-z_]\w*)\1""")
_REDIRECTION = lazy_pattern(r"(?:\s+|(?<=\s))(?:[12&]?>{1,2}\s*(?:&[12-]|[^\s;|&<>()'\"]+))\s*$")
_WRAPPER_ARGV = lazy_pattern(r"^(?:/\S*/)?(?:ba|z|da)?sh$")


_WORD = lazy_pattern(r"""\s++|(?:[^\s'"\\]++|'[^']*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"|\\.)++""", re.DOTALL)
_PIECE = lazy_pattern(r"""'([^']*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)"|\\(.)|([^'"\\]++)""", re.DOTALL)
_IN_DOUBLE = lazy_pattern(r"""\\(["\\])""")


def split_words(text: str) -> list[str] | None:
    """Return the words of a command as a POSIX shell quotes them, None for an unclosed quote. Faster than `shlex`."""
    words = text.split()
    if not ("'" in text or '"' in text or "\\" in text):
        return words
    for index, word in enumerate(words):
        if "'" in word or '"' in word or "\\" in word:
            if not _is_one_quote(word):
                return _split_quoted(text)
            words[index] = word[1:-1]
    return words


def _split_quoted(text: str) -> list[str] | None:
    pieces = _WORD.findall(text)
    if sum(map(len, pieces)) != len(text):
        return None
    return [
        _unquoted(piece) if "'" in piece or '"' in piece or "\\" in piece else piece
        for piece in pieces
        if not piece.isspace()
    ]


def _is_one_quote(word: str) -> bool:
    mark = word[0]
    return mark in "'\"" and mark == word[-1] and word.count(mark) == 2 and (mark == "'" or "\\" not in word)


@lru_cache(maxsize=128)
def words_in(text: str) -> tuple[str, ...] | None:
    """Return what `split_words` does; each command is looked at several times."""
    words = split_words(text)
    return None if words is None else tuple(words)


def _unquoted(word: str) -> str:
    if _is_one_quote(word):
        return word[1:-1]
    pieces = []
    for single, double, escaped, plain in _PIECE.findall(word):
        pieces.append(_IN_DOUBLE.sub(r"\1", double) if double else single or escaped or plain)
    return "".join(pieces)


class Part(Struct, frozen=True, gc=False):
    """One simple command, and the operator before it: empty for the first, `&&`, `||`, `|` or `;`."""

    text: str
    before: str


_PLAIN = lazy_pattern(r"""(?:[^'"\\`|&;\n()#<]++|'[^']*'|"[^"\\]*")*+""")
"""A stretch of a command in which nothing has a meaning of its own: words and closed quotes."""


def split_shell(command: str) -> list[Part]:
    """Return the simple commands of a shell text. Quotes, subshells, here-documents and comments stay whole."""
    plain = _PLAIN.match(command, 0, MAX_SCANNED)
    end = plain.end() if plain else 0
    if end == len(command):
        text = command.strip()
        return [Part(text, "")] if text else []
    return _Splitter(command, end).split()


class _Splitter:
    """One pass over a shell text, from special character to special character."""

    def __init__(self, command: str, position: int) -> None:
        self.command = command
        self.end = min(len(command), MAX_SCANNED)
        self.parts: list[Part] = []
        self.start = 0
        self.position = position
        self.before = ""
        self.depth = 0
        self.heredocs: list[str] = []

    def split(self) -> list[Part]:
        command, end = self.command, self.end
        while len(self.parts) < MAX_PARTS:
            match = _SPECIAL.search(command, self.position, end)
            if match is None:
                break
            self.position = match.end()
            self.step(match)
            if plain := _PLAIN.match(command, self.position, end):
                self.position = plain.end()
        if tail := self.command[self.start :].strip():
            self.parts.append(Part(tail, self.before))
        return self.parts

    def step(self, match: re.Match[str]) -> None:
        at, mark = match.start(), match.group()[0]
        if mark == "\\":
            self.position = at + 2
        elif mark in "'\"`":
            self.position = _closing(self.command, at, mark, self.end)
        elif mark in "()":
            self.depth = max(0, self.depth + (1 if mark == "(" else -1))
        elif mark == "<":
            self.heredocs.append(match.group(2))
        elif mark == "#":
            self.comment(at)
        elif self.depth:
            return
        elif mark == "\n":
            self.line_end(at)
        else:
            operator, width = _operator(self.command, at)
            if operator:
                self.position = at + width
                self.cut(at, operator)

    def comment(self, at: int) -> None:
        if at and self.command[at - 1] not in " \t\n;&|":
            return
        self.position = _line_end(self.command, at, self.end)
        if not self.command[self.start : at].strip():
            self.start = self.position

    def line_end(self, at: int) -> None:
        stop = at
        if self.heredocs:
            self.position = stop = _after_heredocs(self.command, self.position, self.heredocs, self.end)
            self.heredocs = []
        self.cut(stop, ";")

    def cut(self, stop: int, operator: str) -> None:
        if text := self.command[self.start : stop].strip():
            self.parts.append(Part(text, self.before))
            self.before = operator
        elif operator == ";" and self.before not in {"&&", "||", "|"}:
            self.before = operator if self.parts else ""
        self.start = self.position


def _operator(command: str, at: int) -> tuple[str, int]:
    """Return the operator at a position and its width; an empty one where the character belongs to a redirection."""
    two = command[at : at + 2]
    if two in {"&&", "||", ";;", "|&"}:
        return {";;": ";", "|&": "|"}.get(two, two), 2
    if command[at] == "&":
        if two == "&>" or (at and command[at - 1] in "<>"):
            return "", 1
        return ";", 1
    return command[at], 1


def _closing(command: str, at: int, mark: str, end: int) -> int:
    position = at + 1
    while (position := command.find(mark, position, end)) >= 0:
        if mark == "'" or not _escaped(command, position):
            return position + 1
        position += 1
    return end


def _escaped(command: str, position: int) -> bool:
    count = 0
    while position - count - 1 >= 0 and command[position - count - 1] == "\\":
        count += 1
    return count % 2 == 1


def _line_end(command: str, at: int, end: int) -> int:
    found = command.find("\n", at, end)
    return end if found < 0 else found


def _after_heredocs(command: str, position: int, words: list[str], end: int) -> int:
    for word in words:
        closed = _line_of(word, command, position, end)
        if closed < 0:
            return end
        position = min(closed + 1, end)
    return position


def _line_of(word: str, command: str, position: int, end: int) -> int:
    """Return the end of the first line from a line's beginning on that holds nothing but the word; -1 for none."""
    at = command.find(word, position, end)
    while at >= 0:
        start = command.rfind("\n", position, at) + 1 or position
        stop = _line_end(command, at, end)
        if command[start:stop].strip(" \t") == word:
            return stop
        at = command.find(word, at + 1, end)
    return -1


def without_redirections(text: str) -> str:
    """Return a simple command without the redirections at its end (`2>&1`, `>/dev/null`)."""
    if text.rfind(">", -200) < 0:
        return text
    for _ in range(4):
        start = max(0, len(text) - 200)
        match = _REDIRECTION.search(text, start)
        if match is None:
            break
        text = text[: match.start()]
    return text


def has_pipefail(parts: Sequence[Part]) -> bool:
    """Say whether the text switches `pipefail` on, so that no stage of a pipe hides a failure."""
    return any(part.text.startswith("set ") and "pipefail" in part.text for part in parts[:3])


def unwrap_argv(argv: list[str] | tuple[str, ...]) -> str | None:
    """Return the script inside `bash -lc SCRIPT`, None for any other argument list."""
    if len(argv) == 3 and _WRAPPER_ARGV.match(argv[0]) and re.fullmatch(r"-[a-z]*c", argv[1]):
        return argv[2]
    return None
