"""Which lines of Python a debugging statement fills, by the syntax tree."""

from __future__ import annotations

import ast
from functools import lru_cache

from passdown.clean.content import Source
from passdown.clean.python_source import CONSOLES, DEBUGGERS, PRINTS, dotted

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
    blocks = _blocks(tree)
    first = last = line
    while True:
        inside = [node for block in blocks for node in block if node.lineno <= last and _end(node) >= first]
        inside = [node for node in inside if not _is_compound(node)]
        low = min((node.lineno for node in inside), default=first)
        high = max((_end(node) for node in inside), default=last)
        if (low, high) == (first, last):
            break
        first, last = low, high
    if not inside or not all(_is_debugging(node, names) for node in inside):
        return None
    text = source.lines[first - 1]
    begins = min(node.col_offset for node in inside if node.lineno == first)
    if text.encode()[:begins].strip():  # behind `if …:` or `else:`
        return None
    gone = set(map(id, inside))
    empties = any(all(id(node) in gone for node in block) for block in blocks if block is not tree.body)
    return first, last, (f"{text[: len(text) - len(text.lstrip())]}pass",) if empties else ()


@lru_cache(maxsize=1)
def _blocks(tree: ast.Module) -> list[list[ast.stmt]]:
    """Return the lists of statements: those of the module, and of everything that has a body."""
    found: list[list[ast.stmt]] = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                found.append(block)
    return found


def _is_compound(node: ast.stmt) -> bool:
    return hasattr(node, "body") or hasattr(node, "cases")


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
