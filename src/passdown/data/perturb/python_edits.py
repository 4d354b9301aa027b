"""Edits of Python text that are known to keep its meaning, and small ones that are known to change it."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from passdown.data.perturb.scene import lines_of
from passdown.model.pattern import lazy_pattern

_UNSAFE = frozenset({"locals", "vars", "eval", "exec", "globals", "dir"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SWAPS: tuple[tuple[str, str], ...] = (
    (r"==", "!="), (r"!=", "=="), (r"<=", "<"), (r">=", ">"), (r"(?<![<>=-])<(?![<=])", "<="),
    (r"(?<![<>=-])>(?![>=])", ">="), (r"\bTrue\b", "False"), (r"\bFalse\b", "True"), (r"\bmin\b", "max"),
    (r"\bmax\b", "min"), (r" \+ ", " - "), (r" - ", " + "), (r"\band\b", "or"), (r"\bor\b", "and"),
    (r" \* ", " + "), (r"\blower\b", "upper"), (r"\bnot ", ""),
)  # fmt: skip
_NUMBER = lazy_pattern(r"(?<![\w.])\d{1,6}(?![\w.])")
_RETURN = lazy_pattern(r"\breturn (?P<value>[^\n#]+)")


class Renamed(NamedTuple):
    """A local variable that has another name now."""

    text: str
    function: str
    old: str
    new: str


def parsed(text: str) -> ast.Module | None:
    """Return the tree of a module, None when it is none."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def same_meaning(one: str, other: str) -> bool:
    """Say whether two modules have the same tree."""
    first, second = parsed(one), parsed(other)
    return first is not None and second is not None and _same(first, second)


def _same(one: ast.AST, other: ast.AST) -> bool:
    """Say whether two trees are the same but for where they stand: as `ast.dump` would tell, in a third of the time."""
    waiting: list[tuple[object, object]] = [(one, other)]
    while waiting:
        first, second = waiting.pop()
        if type(first) is not type(second):
            return False
        if isinstance(first, ast.AST):
            waiting += [(getattr(first, name, None), getattr(second, name, None)) for name in first._fields]
        elif isinstance(first, list) and isinstance(second, list):
            if len(first) != len(second):
                return False
            waiting += zip(first, second, strict=True)
        elif first != second:
            return False
    return True


@lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module | None:
    """Return a module's tree, which nobody may change: the same file is edited in many ways, one after the other."""
    return parsed(text)


@lru_cache(maxsize=8)
def _options(text: str) -> tuple[tuple[_Function, str], ...]:
    """Return every local variable that can be renamed for certain, with its function."""
    tree = _tree(text)
    return tuple((function, name) for function in functions(tree) for name in _locals_of(function)) if tree else ()


def functions(tree: ast.AST) -> Iterator[_Function]:
    """Yield every function in the order of the text."""
    found = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))


def rename_local(text: str, dice: random.Random) -> Renamed | None:
    """Rename one local variable of one function; None where there is none that can be renamed for certain."""
    tree = _tree(text)
    if tree is None or not text.isascii():
        return None
    names, options = set(re.findall(r"\w+", text)), list(_options(text))
    for function, old in dice.sample(options, len(options)):
        free = [name for end in ("value", "found", "local", "here") if (name := f"{old}_{end}") not in names]
        if not free:
            continue
        new = free[0]
        made = _renamed(text, function, old, new)
        back = parsed(made)
        if back is None:
            continue
        for node in ast.walk(back):
            if isinstance(node, ast.Name) and node.id == new:
                node.id = old
        if _same(back, tree) and made.count(new) == _uses(function, old):
            return Renamed(made, function.name, old, new)
    return None


def _uses(function: _Function, name: str) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(function))


def _locals_of(function: _Function) -> list[str]:
    """Return the variables that are plainly this function's own and nobody else's."""
    nodes = [node for node in ast.walk(function) if node is not function]
    if any(isinstance(node, _Function | ast.Lambda | ast.ClassDef | ast.Global | ast.Nonlocal) for node in nodes):
        return []
    if any(isinstance(node, ast.Name) and node.id in _UNSAFE for node in nodes):
        return []
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    given = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    odd = {name for node in nodes for name in _bound_otherwise(node)}
    return sorted(name for name in stored - given - odd if not name.startswith("_"))


def _bound_otherwise(node: ast.AST) -> Iterator[str]:
    """Yield names that stand in a place which has no position of its own: handlers, imports, patterns, f-strings."""
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.JoinedStr):
        yield from (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _renamed(text: str, function: _Function, old: str, new: str) -> str:
    lines = lines_of(text)
    spots = sorted(
        {(node.lineno, node.col_offset) for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == old}
    )
    for line, column in reversed(spots):
        was = lines[line - 1]
        lines[line - 1] = was[:column] + new + was[column + len(old) :]
    return "".join(lines)


def reformat(text: str, dice: random.Random) -> str | None:
    """Lay a module out differently: a blank line less or more between functions, a comment. None when it cannot be."""
    tree = _tree(text)
    if tree is None:
        return None
    lines = lines_of(text)
    tops = [node.lineno for node in tree.body if isinstance(node, _Function | ast.ClassDef) and not node.decorator_list]
    if not tops:
        made = text.rstrip("\n") + "\n\n# end of module\n"
    else:
        at = dice.choice(tops) - 1
        lines.insert(at, "# reviewed: no change in behaviour\n")
        made = "".join(lines)
    back = parsed(made)
    return made if made != text and back is not None and _same(back, tree) else None


def otherwise(lines: list[str], whole: str, start: int) -> list[str] | None:
    """Write lines so that they do something else, one small difference, in a module that still parses.

    `whole` is the module, `start` the index of the first line in it. None where no such difference is known.
    """
    for number, line in enumerate(lines):
        code_part, mark, comment = line.partition("#")
        for changed in _differences(code_part):
            made = [*lines[:number], changed + mark + comment, *lines[number + 1 :]]
            every = lines_of(whole)
            every[start : start + len(lines)] = made
            text = "".join(every)
            if parsed(text) is not None and not same_meaning(text, whole):
                return made
    return None


def _differences(line: str) -> Iterator[str]:
    if line.lstrip().startswith(("import ", "from ", "@", "def ", "class ")):
        return
    for pattern, other in _SWAPS:
        changed = re.sub(pattern, other, line, count=1)
        if changed != line:
            yield changed
    number = _NUMBER.search(line)
    if number is not None:
        yield line[: number.start()] + str(int(number.group()) + 1) + line[number.end() :]
    found = _RETURN.search(line)
    if found is not None:
        yield line[: found.start()] + f"return not ({found['value'].rstrip()})" + line[found.end() :]
    elif line.strip() and line.strip() not in ("pass", "..."):
        yield line[: len(line) - len(line.lstrip())] + "pass" + line[len(line.rstrip()) :]
