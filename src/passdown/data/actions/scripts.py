"""Small Python scripts that edit a file: replacements of plain text, as agents write them on the command line."""

from __future__ import annotations

import ast
import re
from typing import Any

from passdown.data.actions.operations import AnyOperation, Replace, Write
from passdown.model.pattern import lazy_pattern

_EDITOR = lazy_pattern(r"file_editor\(\*\*(\{.*\})\)", re.DOTALL)
MAX_CODE = 60_000


def code_of(name: str, words: tuple[str, ...], stdin: str | None) -> str | None:
    """Return the Python code that a command runs, None when it is none."""
    if name != "python":
        return None
    if "-c" in words[:4]:
        at = words.index("-c")
        return words[at + 1] if at + 1 < len(words) else None
    return stdin if not [word for word in words if word != "-"] else None


def operations(code: str, target: str) -> tuple[AnyOperation, ...]:
    """Return what a script plainly does to one file: it writes plain text, or it replaces plain text in what it read.

    Empty when anything else can happen: a loop, a condition, a regular expression, text from elsewhere. Asserts and
    prints do not matter.
    """
    if len(code) > MAX_CODE:
        return ()
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    script = _Script(target)
    return tuple(script.done) if all(script.takes(statement) for statement in tree.body) and script.wrote else ()


class _Script:
    """Follows the statements of a script as long as each is one of a few plain ones."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.texts: dict[str, str] = {}
        self.paths: dict[str, str] = {}
        self.read: dict[str, list[AnyOperation]] = {}
        self.handles: dict[str, str] = {}
        self.done: list[AnyOperation] = []
        self.wrote = False

    def takes(self, statement: ast.stmt) -> bool:
        """Follow one statement; False when it is none of the plain ones."""
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert | ast.Pass):
            return True
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return self._assigns(statement.targets[0], statement.value)
        if isinstance(statement, ast.With) and len(statement.items) == 1:
            item = statement.items[0]
            path = self._opened(item.context_expr)
            if path is None or not isinstance(item.optional_vars, ast.Name):
                return False
            self.handles[item.optional_vars.id] = path
            return all(self.takes(inner) for inner in statement.body)
        return isinstance(statement, ast.Expr) and self._calls(statement.value)

    def _assigns(self, target: ast.expr, value: ast.expr) -> bool:
        if not isinstance(target, ast.Name):
            return False
        name = target.id
        if (text := self._text(value)) is not None:
            self.texts[name] = text
            return True
        if (path := self._path(value)) is not None:
            self.paths[name] = path
            return True
        changed = self._content(value)
        if changed is None:
            return False
        self.read[name] = changed
        return True

    def _text(self, value: ast.expr) -> str | None:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
        return self.texts.get(value.id) if isinstance(value, ast.Name) else None

    def _path(self, value: ast.expr) -> str | None:
        """Return the path of `Path("x")`, or of a name or text that is one."""
        if isinstance(value, ast.Call) and _last_name(value.func) == "Path" and len(value.args) == 1:
            return self._text(value.args[0])
        if isinstance(value, ast.Name) and value.id in self.paths:
            return self.paths[value.id]
        return None

    def _opened(self, value: ast.expr) -> str | None:
        if isinstance(value, ast.Call) and _last_name(value.func) == "open" and value.args:
            first = value.args[0]
            return self._text(first) if (path := self._path(first)) is None else path
        return None

    def _content(self, value: ast.expr) -> list[AnyOperation] | None:
        """Return the replacements in the file's own content that an expression stands for."""
        if isinstance(value, ast.Name):
            return self.read.get(value.id)
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return None
        owner, method = value.func.value, value.func.attr
        if method in ("read", "read_text"):
            path = self._path(owner) if method == "read_text" else self._opened(owner)
            if path is None and isinstance(owner, ast.Name):
                path = self.handles.get(owner.id)
            return [] if path is not None and _ends_alike(path, self.target) else None
        if method != "replace" or not 2 <= len(value.args) <= 3:
            return None
        before, old, new = self._content(owner), self._text(value.args[0]), self._text(value.args[1])
        if before is None or not old or new is None:
            return None
        once = len(value.args) == 3
        if once and not (isinstance(value.args[2], ast.Constant) and value.args[2].value == 1):
            return None
        return [*before, Replace(path=self.target, old=old, new=new, which="first" if once else "all")]

    def _calls(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Constant):
            return True
        if not isinstance(value, ast.Call):
            return False
        if _last_name(value.func) == "print":
            return True
        if not isinstance(value.func, ast.Attribute) or value.func.attr not in ("write", "write_text", "close"):
            return False
        owner = value.func.value
        if value.func.attr == "close":
            return True
        path = self._path(owner) if value.func.attr == "write_text" else self._opened(owner)
        if path is None and isinstance(owner, ast.Name):
            path = self.handles.get(owner.id)
        return path is not None and bool(value.args) and self._writes(path, value.args[0])

    def _writes(self, path: str, value: ast.expr) -> bool:
        if not _ends_alike(path, self.target):
            return True
        if (text := self._text(value)) is not None:
            self.done.append(Write(path=self.target, content=text))
        elif (changes := self._content(value)) is not None:
            self.done += changes
        else:
            return False
        first, self.wrote = not self.wrote, True
        return first


def _ends_alike(path: str, target: str) -> bool:
    clean = path.removeprefix("./")
    return clean == target or clean.endswith(f"/{target}") or target.endswith(f"/{clean}")


def _last_name(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def editor_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an editor call, which some runs of OpenHands keep as a line of Python."""
    code = arguments.get("translated_ipython_code")
    found = _EDITOR.search(code) if isinstance(code, str) and len(code) <= MAX_CODE else None
    if found is None:
        return arguments
    try:
        said = ast.literal_eval(found[1])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return arguments
    return said if isinstance(said, dict) else arguments
