"""A lexer that knows strings and comments and nothing else: what is code, what is said about it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

from passdown.clean.languages import Language, token_pattern
from passdown.model.pattern import lazy_pattern

MAX_HEREDOCS = 500
"""Here-documents without an end that are looked for in one file; after so many, none is looked for."""

_NOT_NEWLINE = lazy_pattern(r"[^\n]")
_NESTING = lazy_pattern(r"/\*|\*/")


class Comment(NamedTuple):
    """A comment with its marks: first and last line (1-based), and whether nothing else stands before it."""

    text: str
    first: int
    last: int
    kind: Literal["line", "block"]
    alone: bool
    column: int


class Lexed(NamedTuple):
    """A file's text; `code` is the same with comments and strings blanked, character by character; its comments."""

    text: str
    code: str
    comments: tuple[Comment, ...]
    starts: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        """Return the 1-based line an offset lies in."""
        return bisect_right(self.starts, offset)


def lex(text: str, language: Language) -> Lexed:
    """Tell code, strings and comments apart. A string or comment without an end goes on to the end of the file."""
    starts = (0, *(found.end() for found in re.finditer("\n", text)))
    code: list[str] = []
    comments: list[Comment] = []
    pattern = token_pattern(language)
    position, dangling = 0, 0
    while found := pattern.search(text, position):
        kind = found.lastgroup if found.lastgroup in _KINDS else _kind(found)
        start, end = found.span()
        if kind == "nested":
            end = _nested_end(text, start)
        elif kind == "heredoc":
            body = _heredoc_end(text, found) if dangling < MAX_HEREDOCS else -1
            dangling += body < 0
            code.append(text[position:end])
            if body >= 0:
                stop = text.find("\n", end)
                code += [text[end:stop], _blank(text[stop:body])]
                end = body
            position = end
            continue
        code.append(text[position:start])
        whole = text[start:end]
        code.append(whole if kind == "escape" else _blank(whole))
        if kind in ("line", "hash", "block", "nested"):
            comments.append(_comment(text, starts, start, end, "line" if kind in ("line", "hash") else "block"))
        position = end
    code.append(text[position:])
    return Lexed(text, "".join(code), tuple(comments), starts)


_KINDS = frozenset({"line", "hash", "block", "nested", "string", "escape", "heredoc"})


def _kind(found: re.Match[str]) -> str:
    return next(name for name in _KINDS if name in found.re.groupindex and found[name] is not None)


def _blank(text: str) -> str:
    return _NOT_NEWLINE.sub(" ", text)


def _comment(text: str, starts: tuple[int, ...], start: int, end: int, kind: Literal["line", "block"]) -> Comment:
    first = bisect_right(starts, start)
    column = start - starts[first - 1]
    last = bisect_right(starts, max(start, end - 1))
    return Comment(text[start:end], first, last, kind, not text[starts[first - 1] : start].strip(), column)


def _nested_end(text: str, start: int) -> int:
    depth = 0
    for found in _NESTING.finditer(text, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


def _heredoc_end(text: str, found: re.Match[str]) -> int:
    """Return where the line with the end word begins, -1 when there is none."""
    word = found["word"] or found["word2"]
    stop = text.find("\n", found.end())
    if stop < 0:
        return -1
    ended = re.compile(rf"^[ \t]*{re.escape(word)}\b", re.MULTILINE).search(text, stop + 1)
    return ended.start() if ended else -1
