"""Which lines of Python a debugging statement fills, by the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from passdown.clean.content import Source
from passdown.clean.python_source import CONSOLES, DEBUGGERS, PRINTS, dotted, parse

_PURE = frozenset({
    "len", "str", "repr", "type", "list", "dict", "set", "tuple", "sorted", "sum", "min", "max", "round", "abs", "int",
    "float", "bool", "isinstance", "vars", "dir", "id", "locals", "globals", "hex", "format", "enumerate",
})  # fmt: skip
_METHODS = frozenset({"format", "join", "strip", "upper", "lower", "keys", "values", "items", "split", "hex", "decode"})


def python_lines(source: Source, line: int, names: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]] | None:
    """Return first and last line, and what must stand there instead: `pass` where a block would be empty.

    None when something else stands on these lines, or when its arguments may do something.
    """
    tree = source.tree
    assert tree is not None
    first = last = line
    while True:
        inside = [node for node in _statements(tree) if node.lineno <= last and _end(node) >= first]
        low = min((node.lineno for node in inside), default=first)
        high = max((_end(node) for node in inside), default=last)
        if (low, high) == (first, last):
            break
        first, last = low, high
    if not inside or not all(_is_debugging(node, names) for node in inside):
        return None
    begins = min(node.col_offset for node in inside if node.lineno == first)
    if source.lines[first - 1].encode()[:begins].strip():  # behind `if …:` or `else:`
        return None
    return _checked(source, first, last)


def _checked(source: Source, first: int, last: int) -> tuple[int, int, tuple[str, ...]] | None:
    line = source.lines[first - 1]
    margin = line[: len(line) - len(line.lstrip())]
    for new in ((), (f"{margin}pass",)):
        if parse("\n".join([*source.lines[: first - 1], *new, *source.lines[last:]])) is not None:
            return first, last, new
    return None


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that hold no other ones."""
    compound = ("body", "cases")
    yield from (n for n in ast.walk(tree) if isinstance(n, ast.stmt) and not any(hasattr(n, name) for name in compound))


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _is_debugging(node: ast.stmt, names: tuple[str, ...]) -> bool:
    if isinstance(node, ast.Import):
        return all(alias.name.partition(".")[0] in DEBUGGERS for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in DEBUGGERS and not node.level
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    name = dotted(node.value.func)
    known = name == "breakpoint" or name.rpartition(".")[2] == "set_trace" or name in CONSOLES | PRINTS
    return (known or name in names) and all(map(_is_harmless, (*node.value.args, *node.value.keywords)))


def _is_harmless(argument: ast.AST) -> bool:
    for node in ast.walk(argument):
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if isinstance(node, ast.Call):
            target = node.func
            plain = isinstance(target, ast.Name) and target.id in _PURE
            if not plain and not (isinstance(target, ast.Attribute) and target.attr in _METHODS):
                return False
    return True
