"""Does a text look like code? Python is parsed; other languages are scored line by line."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable

from passdown.clean.python_source import parse
from passdown.model.pattern import lazy_pattern

_STRONG = (
    ast.Assign, ast.AugAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.Return, ast.Raise, ast.With, ast.For, ast.While, ast.If, ast.Try, ast.AsyncFor, ast.AsyncWith, ast.Match,
)  # fmt: skip
_KEYWORD = lazy_pattern(
    r"""^(?:
    (?:if|for|while|switch|catch|foreach|elseif|guard|match)\s*\(
    | \}?\s*else\b.*\{$ | \}?\s*else$
    | (?:if|for|while|match|unless|switch|guard)\b.*\{$
    | guard\s+(?:let|var|case)\b.*\belse\s*\{
    | (?:return|throw|raise|await|yield)\b.*;$
    | (?:return|await|throw)\s+(?:new\s+)?[\w$@&*]+(?:[.\[(]|->|::).*[\w)\]?]$
    | return\s+-?\d+$ | return\s+[\w.]+,\s+[\w.()]+$
    | (?:return|raise)\s+\S+\s+(?:if|unless)\s | (?:return|next|break)\s+(?:if|unless)\s+[\w.@!?]+$
    | (?:defer|go|new|delete|await)\s+[\w.]+\s*[({]
    | (?:const|let|var|val|auto|static|final)\s+(?:mut\s+)?[\w{\[*&:<>,\s]+.*=
    | var\s+\w+\s+[\w.*\[\]]+$
    | (?:case\b.{1,60}|default)\s*(?::|=>|->)$ | (?:public|private|protected)\s*:$
    | (?:import|package|using|use|require|require_relative|include|from)\s+[\w"'<{.*@:/\\]+.*[;"'>]$
    | \#\s*(?:include|define|ifdef|ifndef|if|endif)\b | include\s+<[\w./]+>$ | define\s+[A-Z_]+\s+\S+$
    | template\s*<.*>$ | \#?\[(?:derive|cfg|test|allow)\b.*\]$ | @\w+(?:\([^)]*\))?(?:\s+\w+(?:\s*[:=(].*|))?;?$
    | (?:(?:public|private|protected|internal|export|async|pub|override|open|static|final|readonly|abstract
        |suspend)\s+)*(?:func|fn|fun|def|function|class|struct|enum|interface|impl|type|void|int|char|double|bool|string|String)
        \s+\w+.*[{(:;=]
    | (?:public|private|protected|internal|override|readonly|pub)\s+\w+.*[{(;=].*$
    | (?:def|class|module|end|elsif|unless)\b[^,.]*$
    | .*\bdo(?:\s*\|[^|]*\|)?$
    | \w+\s*:=\s*\S
    | (?:if|elif|while|for)\b.*(?:;\ ?(?:then|do)|\bthen|\bdo)$
    | (?:fi|done|esac)$ | export\s+[A-Z_]+= | puts\s+\S | attr_\w+\s+: | exit\s+\$?\w+;?$
    )""",
    re.VERBOSE,
)
_SHAPE = lazy_pattern(
    r"""^(?:[\w$.]+,\s*)*[\w$.\[\]>:@*&()'"-]+\s*(?:[-+*/|&%?]?=(?!=)|:=)\s*\S
    | ^(?:[A-Z]\w*(?:<[^=]*>)?(?:\[\])?|int|char|long|float|double|bool|string|auto|size_t)[*&\s]+\w+\s*=\s*\S
    | ^(?:std::)?\w+<[\w:<>,\s*&]+>\s+\w+\s*[=({]
    | ^[\w$.:>@!-]*\w!?\((?:.{0,160}[;{}),\]>]|[^)]*)$
    | ^&?\w+(?:(?:\.|::|->)\w+)+[!?]?(?:<[^()]*>)?(?:\(|\s*\{|\s+(?:do|:\w)|$)
    | ^\??\.\w+(?:<[^()]*>)?\(
    | ^['"]?[\w-]+['"]?:\s*(?:['"\d\[{]|true\b|false\b|null\b|\w+[.(]).*,$
    | ^[a-z]\w*\s+:\w+(?:,\s*\S+)*$ | ^before_\w+\s""",
    re.VERBOSE,
)
_SHELL = lazy_pattern(
    r"""^(?!(?:the|a|an|use|see|note|this|if|for|when|as|with|run|pass|give)\s)[\w./-]+\s(?:.*\s)?
        (?:--?[a-zA-Z][\w-]*|"?\$[({]?\w|\|\s|>>?\s|&&\s)
    | "\$\w+" | \$\( | ^export\s+\w+= | ^\w+\+?=\S*$""",
    re.VERBOSE,
)
_PYTHON = lazy_pattern(r"[=(:\[]|\b(?:import|return|raise|await|assert)\b")
"""A text without any of these is no code, and need not be parsed."""

_OPERATOR = lazy_pattern(r"[=;{}()\[\]<>$]|->|::|&&|\|\|")
_LONE = lazy_pattern(r"[\w.()\[\]{}&*?!;]+$")


def code_lines(lines: Iterable[str], family: str) -> int:
    """Return how many lines of code a comment holds, 0 when it is prose. `family` is that of its language."""
    text = textwrap.dedent("\n".join(lines)).strip("\n")
    filled = [line for line in text.split("\n") if line.strip()]
    if not filled:
        return 0
    if family == "python":
        return len(filled) if _PYTHON.search(text) and _strength(text) >= 0.5 else 0
    scores = [_score(line.strip(), family) for line in filled]
    if len(scores) == 1:
        return 1 if scores[0] >= 2 else 0
    if len(scores) == 2 and max(scores) >= 2:
        other = filled[scores.index(min(scores))].strip()
        return 2 if min(scores) >= 1 or _LONE.match(other) else 0
    good = sum(score >= 1 for score in scores)
    return good if good >= 2 and sum(scores) >= len(scores) else 0


def is_code_line(text: str, family: str) -> bool:
    """Say whether one line alone may be code: enough where it is known to have been code before."""
    if family == "python":
        return _strength(text if not text.endswith(":") else f"{text} pass") == 1.0
    return _score(text, family) >= 1


def _strength(text: str) -> float:
    """Return which share of a text's statements nobody writes in prose; 0 when it is no Python."""
    tree = parse(text)
    if tree is None and re.match(r"(?:else|elif\b.*|except\b.*|finally)\s*:", text):
        opening = "try" if text.startswith(("except", "finally")) else "if x"
        tree = parse(f"{opening}:\n    pass\n{text}")
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
    if isinstance(node, ast.Assert):  # "assert nothing" is prose
        return isinstance(node.test, ast.Compare | ast.Call)
    return isinstance(node, _STRONG)


def _score(line: str, family: str) -> int:
    """Return how much a line looks like code: 0 or less is prose."""
    line = line[:500]
    score = 0
    if line.endswith((";", "{", "}", "),", "},")):
        score += 1
    if _KEYWORD.match(line):
        score += 1
    if _SHAPE.match(line):
        score += 1
    if family == "shell" and _SHELL.search(line):
        score += 1
    letters = sum(character.isalpha() or character == " " for character in line)
    if letters >= 0.6 * len(line) and len(line.split()) >= 5 and not _OPERATOR.search(line.replace("()", "")):
        score -= 2
    return score
