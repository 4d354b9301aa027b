"""Code that was commented out, in the added lines of the diff."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from passdown.clean.content import Source
from passdown.clean.lexer import Comment
from passdown.clean.python_source import parse
from passdown.model.finding import Finding

LONG = 3
"""A block of so many lines blocks; a shorter one is a warning."""

_LONGEST = 400
_MARK = re.compile(r"^[ \t]*(?://+!?|#+!?|/\*+!?|\*(?!\w*\())[ \t]?|[ \t]*\*+/[ \t]*$")
_DOCUMENTATION = re.compile(r"///|//!|/\*\*|/\*!|#!|##|#:")
_PRAGMA = re.compile(
    r"(?i)^\s*(?:noqa|type:|pragma|pylint|pyright|mypy|ruff|flake8|fmt:|isort|nosec|yapf|coding[:=]|-\*-|vim:|eslint"
    r"|tslint|jshint|prettier|biome|@ts-|@flow|istanbul|c8 |v8 |go:|nolint|\+build|cgo|rustfmt|clippy|shellcheck"
    r"|rubocop|phpcs|phpstan|psalm|swiftlint|clang-format|lint:|region|endregion|#region|sourceMappingURL|frozen_string_literal"
    r"|language=|ktlint|noinspection|checkstyle|spell|cspell|=begin|=end|requires|usage|handoff:)"
)
_PROSE_MARK = re.compile(
    r"https?://|\b(?:TODO|FIXME|XXX|HACK|NOTE|WARNING|SPDX|Copyright|License)\b|@(?:param|return|see|since)"
)
_EXAMPLE = re.compile(
    r"(?i)\b(?:e\.g\.|for example|for instance|example|usage|like this|such as|i\.e\.|equivalent)\b"
    r"|:\s*$|^\s*(?:>>>|\$ |```)"
)
_STRONG = (
    ast.Assign, ast.AugAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.Return, ast.Raise, ast.With, ast.For, ast.While, ast.If, ast.Try, ast.AsyncFor, ast.AsyncWith, ast.Match,
)  # fmt: skip
_KEYWORD = re.compile(
    r"""^(?:
    (?:if|for|while|switch|catch|foreach|elseif|guard|match)\s*\(
    | \}?\s*else\b.*\{$
    | (?:if|for|while|match|unless|switch|guard)\b.*\{$
    | (?:return|throw|raise|await|yield)\b.*;$
    | (?:return|raise)\s+\S+\s+(?:if|unless)\s
    | (?:const|let|var|val|auto|static|final)\s+(?:mut\s+)?[\w{\[*&:<>]+.*=
    | (?:import|package|using|use|require|include|from)\s+[\w"'<{.*@:/\\]+.*[;"'>]$
    | \#\s*(?:include|define|ifdef|ifndef|if|endif)\b
    | (?:public|private|protected|internal|export|async|pub|func|fn|fun|def|class|struct|enum|interface|impl|type|void
        |int)\s+\w+.*[{(:;=]
    | (?:def|class|module|end|elsif|unless)\b[^,.]*$
    | \w+\s*:=\s*\S
    | (?:if|elif|while|for)\b.*(?:;\ ?(?:then|do)|\bthen|\bdo)$
    | (?:fi|done|esac)$
    )""",
    re.VERBOSE,
)
_SHAPE = re.compile(
    r"""^[\w$.\[\]>:@*&-]+\s*(?:[-+*/|&%]?=(?!=)|:=)\s*\S
    | ^[\w$.:>@!-]*\w!?\([^)]*\)?.{0,80}[;{),]?$
    | ^\w+(?:\.\w+)+\(""",
    re.VERBOSE,
)
_OPERATOR = re.compile(r"[=;{}()\[\]<>]|->|::|&&|\|\|")


class Block(NamedTuple):
    """Contiguous comment lines of one style, their marks taken off."""

    first: int
    lines: tuple[str, ...]


def commented_findings(sources: Iterable[Source]) -> Iterator[Finding]:
    """Find code that was commented out rather than removed."""
    for source in sources:
        if source.language is None or not source.added:
            continue
        before = frozenset(line.strip() for line in source.removed)
        for block in _blocks(source):
            size = code_lines(block.lines, source.language.family == "python")
            was_code = [line for line in block.lines if line.strip() in before and _is_telling(line, source)]
            if was_code:
                yield _finding(source, block, "block", f"{len(block.lines)} lines that were code are a comment now")
            elif size:
                noun = "line of code is" if size == 1 else "lines of code are"
                yield _finding(source, block, "block" if size >= LONG else "warn", f"{size} {noun} commented out")


def _finding(source: Source, block: Block, severity: str, detail: str) -> Finding:
    first = next((line.strip() for line in block.lines if line.strip()), "")
    return Finding(
        code="temp.commented_code",
        severity="block" if severity == "block" else "warn",
        detail=f"{detail}: {first[:60]}",
        where=source.path,
        line=block.first,
        fix="remove it (git keeps it), or say in words what it is for",
    )


def _is_telling(line: str, source: Source) -> bool:
    assert source.language is not None
    text = line.strip()
    if len(text) < 8 or _PROSE_MARK.search(text):
        return False
    if source.language.family == "python":
        return _strength(text if not text.endswith(":") else f"{text} pass") == 1.0
    return _score(text) >= 1


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
    if len(lines) > 1 and _EXAMPLE.search(opening) and not _is_code_line(opening):
        return
    kept: list[str] = []
    start = first
    for number, line in enumerate([*lines, "TODO"], first):
        if _PRAGMA.match(line) or _PROSE_MARK.search(line):
            if any(text.strip() for text in kept):
                yield Block(start, tuple(kept))
            kept, start = [], number + 1
        else:
            kept.append(line)


def _is_code_line(line: str) -> bool:
    text = line.strip()
    return bool(re.search(r"[;{}]$|^[\w.\[\]]+\s*=[^=]|^(?:def|class|if|for|while|with|try|else|elif)\b.*:$", text))


# --- is it code? -------------------------------------------------------------------------------------------------


def code_lines(lines: Iterable[str], python: bool) -> int:
    """Return how many lines of code a comment holds, 0 when it is prose."""
    text = textwrap.dedent("\n".join(lines)).strip("\n")
    filled = [line for line in text.split("\n") if line.strip()]
    if not filled:
        return 0
    if python:
        return len(filled) if _strength(text) >= 0.5 else 0
    scores = [_score(line.strip()) for line in filled]
    if len(scores) == 1:
        return 1 if scores[0] >= 2 else 0
    good = sum(score >= 1 for score in scores)
    return good if good >= 2 and sum(scores) >= len(scores) else 0


def _strength(text: str) -> float:
    """Return which share of a text's statements nobody writes in prose; 0 when it is no Python."""
    tree = parse(text)
    if tree is None and re.match(r"(?:else|elif\b.*)\s*:", text):
        tree = parse("if x:\n    pass\n" + text)
    if tree is None or not tree.body:
        return 0.0
    return sum(_is_strong(node) for node in tree.body) / len(tree.body)


def _is_strong(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return):  # "return early" is prose
        return node.value is not None and not isinstance(node.value, ast.Name)
    if isinstance(node, ast.AnnAssign):
        return node.value is not None and isinstance(node.annotation, ast.Name | ast.Subscript | ast.BinOp)
    if isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        return isinstance(value, ast.Call)
    return isinstance(node, _STRONG)


def _score(line: str) -> int:
    """Return how much a line looks like code: 0 or less is prose."""
    line = line[:500]
    score = 0
    if line.endswith((";", "{", "}", "),")):
        score += 1
    if _KEYWORD.match(line):
        score += 1
    if _SHAPE.match(line):
        score += 1
    letters = sum(character.isalpha() or character == " " for character in line)
    if letters >= 0.6 * len(line) and len(line.split()) >= 5 and not _OPERATOR.search(line):
        score -= 2
    return score
