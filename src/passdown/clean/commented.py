"""Code that was commented out, in the added lines of the diff."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from passdown.clean.content import Source
from passdown.clean.edits import Edits, FileEdit, LineEdit
from passdown.clean.lexer import Comment
from passdown.clean.looks import code_lines, is_code_line
from passdown.model.finding import Finding, Severity
from passdown.model.pattern import lazy_pattern

LONG = 3
"""A block of so many lines blocks; a shorter one is a warning."""

_LONGEST = 400
_MARK = lazy_pattern(r"^[ \t]*(?:\*+/[ \t]*$|(?://+!?|#+!?|/\*+!?|\*(?!\w*\())[ \t]?)|[ \t]*\*+/[ \t]*$")
_DOCUMENTATION = lazy_pattern(r"///|//!|/\*\*|/\*!|#!|##|#:")
_PRAGMA = lazy_pattern(
    r"(?i)^\s*(?:noqa|type:|pragma|pylint|pyright|mypy|ruff|flake8|fmt:|isort|nosec|yapf|coding[:=]|-\*-|vim:|eslint"
    r"|tslint|jshint|prettier|biome|@ts-|@flow|istanbul|c8 |v8 |go:|nolint|\+build|cgo|rustfmt|clippy|shellcheck"
    r"|rubocop|phpcs|phpstan|psalm|swiftlint|clang-format|lint:|region|endregion|#region|sourceMappingURL|frozen_string_literal"
    r"|language=|ktlint|noinspection|checkstyle|spell|cspell|=begin|=end|requires|usage|handoff:)"
)
_PROSE_MARK = lazy_pattern(
    r"https?://|::=|\b(?:TODO|FIXME|XXX|HACK|NOTE|WARNING|SPDX|Copyright|License)\b|@(?:param|return|see|since)"
)
_EXAMPLE = lazy_pattern(
    r"(?i)\b(?:e\.g\.|for example|for instance|example|usage|like this|such as|i\.e\.|equivalent)\b"
    r"|:\s*$|^\s*(?:>>>|\$ |```)"
)


class Block(NamedTuple):
    """Contiguous comment lines of one style, their marks taken off; `part`: the comment goes on before or after it."""

    first: int
    lines: tuple[str, ...]
    part: bool = False


def commented_findings(sources: Iterable[Source], edits: Edits) -> Iterator[Finding]:
    """Find code that was commented out rather than removed. `edits` learns what would take it out."""
    for source in sources:
        if source.language is None or not source.added:
            continue
        before = frozenset(line.strip() for line in source.removed)
        for block in _blocks(source):
            size = code_lines(block.lines, source.language.family)
            was_code = [line for line in block.lines if line.strip() in before and _is_telling(line, source)]
            if was_code:
                yield _finding(
                    source, block, "block", f"{len(block.lines)} lines that were code are a comment now", edits
                )
            elif size:
                noun = "line of code is" if size == 1 else "lines of code are"
                detail = f"{size} {noun} commented out"
                yield _finding(source, block, "block" if size >= LONG else "warn", detail, edits)


def _finding(source: Source, block: Block, severity: Severity, detail: str, edits: Edits) -> Finding:
    first = next((line.strip() for line in block.lines if line.strip()), "")
    last = block.first + len(block.lines) - 1
    fix, kind = "take it out, or say in words what it is for", "edit"
    if not block.part and not source.path.endswith(".ipynb") and _ends(source, last):
        line = LineEdit(block.first, last, tuple(source.lines[block.first - 1 : last]))
        fix, kind = edits.offer("temp.commented_code", FileEdit(source.path, (line,))), "command"
    return Finding(
        code="temp.commented_code", severity=severity, detail=f"{detail}: {first[:60]}", where=source.path,
        line=block.first, fix=fix, mend_kind="command" if kind == "command" else "edit",
    )  # fmt: skip


def _ends(source: Source, last: int) -> bool:
    """Say whether nothing stands behind the comment on its last line."""
    return not source.lexed.code.split("\n")[last - 1].strip()


def _is_telling(line: str, source: Source) -> bool:
    assert source.language is not None
    text = line.strip()
    if len(text) < 8 or _PROSE_MARK.search(text):
        return False
    return is_code_line(text, source.language.family)


# --- comments → blocks of plain text -----------------------------------------------------------------------------


def _blocks(source: Source) -> Iterator[Block]:
    """Return the blocks of added comments that may hold code: no documentation, licence, pragma or example."""
    run: list[Comment] = []
    for comment in source.comments():
        joins = run and comment.kind == "line" and run[-1].kind == "line" and comment.first == run[-1].last + 1
        if run and not (joins and comment.column == run[-1].column):
            yield from _block(run)
            run = []
        if comment.kind == "line" and _DOCUMENTATION.match(comment.text) and not comment.text.startswith("##"):
            continue
        if comment.kind == "block" and _DOCUMENTATION.match(comment.text):
            continue
        run.append(comment)
    if run:
        yield from _block(run)


def _block(comments: list[Comment]) -> Iterator[Block]:
    raw = [line for comment in comments for line in comment.text.split("\n")]
    lines = [_MARK.sub("", line.rstrip()) for line in raw[:_LONGEST]]
    first = comments[0].first
    opening = next((line for line in lines if line.strip()), "")
    if len(lines) > 1 and _EXAMPLE.search(opening) and not _is_plain_code(opening):
        return
    kept: list[str] = []
    start = first
    for number, line in enumerate([*lines, "TODO"], first):
        if number > first and _EXAMPLE.search(line) and not _is_plain_code(line):
            break  # what follows is shown, not switched off
        if _PRAGMA.match(line) or _PROSE_MARK.search(line):
            if any(text.strip() for text in kept):
                yield Block(start, tuple(kept), _is_part(comments[0], kept, raw))
            kept, start = [], number + 1
        else:
            kept.append(line)
    if any(text.strip() for text in kept):
        yield Block(start, tuple(kept), _is_part(comments[0], kept, raw))


def _is_part(comment: Comment, kept: list[str], raw: list[str]) -> bool:
    return len(raw) > _LONGEST or (comment.kind == "block" and len(kept) < len(raw))


def _is_plain_code(line: str) -> bool:
    text = line.strip()
    return bool(
        re.search(
            r"[;{}]$|^[\w.\[\]]+\s*=[^=]|^(?:async\s+)?(?:def|class|if|for|while|with|try|else|elif|case|except|finally)\b.*:$"
            r"|^(?:default|public|private|protected)\s*:$",
            text,
        )
    )
