"""Python, by its syntax tree: breakpoints, prints, focused and skipped tests."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from passdown.clean.prints import Hit, is_told
from passdown.model.pattern import lazy_pattern

DEBUGGERS = frozenset({"pdb", "ipdb", "pudb", "wdb", "remote_pdb"})
PRINTS = frozenset({"print", "pprint", "pp", "ic", "pprint.pprint", "pprint.pp"})
CONSOLES = frozenset({"code.interact", "IPython.embed", "embed", "sys.breakpointhook"})
"""What is called on a line that is nothing but debugging; imports of `DEBUGGERS` are, too."""

_TOOLS = frozenset({"Pdb", "post_mortem", "Restart", "find_function"})
"""What a program uses that is a debugger itself, or offers one."""

_SKIPS = ("skip", "skipif", "skipIf", "skipUnless", "xfail")


WORDS = lazy_pattern(
    r"\b(?:i?pdb|pudb|wdb|remote_pdb|p?print|pp|ic|breakpoint\w*|set_trace|interact|embed|only|[sS]kip\w*|xfail)\b"
)
"""A text without any of these words holds nothing that is looked for: it need not be parsed."""


def parse(text: str) -> ast.Module | None:
    """Return the syntax tree, None for what is no Python of this version."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def python_hits(tree: ast.Module, *, in_package: bool) -> Iterator[Hit]:
    """Find calls that look like debugging. In a package, a print at the top of a module without functions is one."""
    nodes = list(ast.walk(tree))
    own = frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    tool = any(isinstance(node, ast.Attribute) and node.attr in _TOOLS for node in nodes)
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and not tool:
            yield from _imported(node)
        elif isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in own):
            yield from _called(node, at_top=in_package and not own)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _decorated(node)


def is_script(tree: ast.Module) -> bool:
    """Say whether the module is run as a program: it has an `if __name__ == "__main__"`."""
    return any(
        isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))
        for node in tree.body
    )


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[Hit]:
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        names = [node.module or ""] if not _TOOLS & set(names) else []
    if any(name.partition(".")[0] in DEBUGGERS for name in names) and not getattr(node, "level", 0):
        yield Hit(node.lineno, "always", f"import {names[0]}")


def _called(node: ast.Call, *, at_top: bool) -> Iterator[Hit]:
    target = node.func
    if isinstance(target, ast.Name) and target.id == "breakpoint":
        yield Hit(node.lineno, "always", "breakpoint()")
    elif (
        isinstance(target, ast.Attribute) and target.attr == "set_trace" and not node.args
    ):  # a frame: a debugger's own
        yield Hit(node.lineno, "always", f"{dotted(target)}()"[:60])
    elif not _is_plain(target):
        return
    elif dotted(target) in CONSOLES and _looks_around(node):
        yield Hit(node.lineno, "always", f"{dotted(target)}()")
    elif dotted(target) in PRINTS and not _goes_elsewhere(node):
        tell = _told(node) or (at_top and node.col_offset == 0)
        yield Hit(node.lineno, "maybe", f"{dotted(target)}(…)", tell)
    elif isinstance(target, ast.Attribute) and dotted(target) in ("pytest.skip", "self.skipTest"):
        yield Hit(node.lineno, "skipped", f"{dotted(target)}()")


def _looks_around(node: ast.Call) -> bool:
    """Say whether a console is opened on whatever is there: a shell that a program offers is given what it shows."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return not given or any(isinstance(n, ast.Call) and dotted(n.func) in ("locals", "globals") for n in given)


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))


def _goes_elsewhere(node: ast.Call) -> bool:
    return any(keyword.arg in ("file", "stream") for keyword in node.keywords)


def _told(node: ast.Call) -> bool:
    if len(node.args) == 1 and isinstance(node.args[0], ast.Name):
        return True
    texts = (n.value for argument in node.args for n in ast.walk(argument) if isinstance(n, ast.Constant))
    return any(isinstance(text, str) and is_told(text) for text in texts)


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[Hit]:
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(target, ast.Attribute):
            continue
        name = dotted(target)
        if name == "pytest.mark.only":
            yield Hit(decorator.lineno, "focused", f"@{name}")
        elif target.attr in _SKIPS and name.startswith(("pytest.mark.", "unittest.")):
            yield Hit(decorator.lineno, "skipped", f"@{name}"[:60])


def dotted(node: ast.expr) -> str:
    """Return `a.b.c` of such a name; parts that are no plain names are left out."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))
