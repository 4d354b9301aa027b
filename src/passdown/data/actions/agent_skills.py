"""The functions that OpenHands gave its agents in a Python session: a viewer, an editor, searches."""

from __future__ import annotations

import ast

from passdown.data.actions import swe_agent
from passdown.data.actions.draft import Draft, marked
from passdown.data.actions.looking import search
from passdown.data.actions.operations import AnyOperation, Insert, Replace, Write
from passdown.data.actions.running import python_calls

_PARAMETERS: dict[str, tuple[str, ...]] = {
    "open_file": ("path", "line_number", "context_lines"),
    "goto_line": ("line_number",),
    "scroll_down": (),
    "scroll_up": (),
    "create_file": ("filename",),
    "edit_file_by_replace": ("file_name", "to_replace", "new_content"),
    "insert_content_at_line": ("file_name", "line_number", "content"),
    "edit_file_by_line": ("file_name", "start", "end", "new_content"),
    "append_file": ("file_name", "content"),
    "search_dir": ("search_term", "dir_path"),
    "search_file": ("search_term", "file_path"),
    "find_file": ("file_name", "dir_path"),
}
_EDITS = frozenset(("edit_file_by_replace", "insert_content_at_line", "edit_file_by_line", "append_file"))
_MAX_CODE = 200_000


def drafts(code: str) -> tuple[Draft, ...]:
    """Return what a script does that is made of calls of these functions alone; empty when it is anything else."""
    return tuple(draft for name, values in _calls(code) for draft in _draft(name, values))


def operations(code: str, target: str) -> tuple[AnyOperation, ...]:
    """Return what a script does to one file; empty when that cannot be told from its words."""
    found: list[AnyOperation] = []
    for name, values in _calls(code):
        path = str(values.get("file_name", values.get("filename", "")))
        if name != "create_file" and name not in _EDITS:
            continue
        one = _operation(name, values, target) if _same(path, target) else None
        if one is None:
            return ()
        found.append(one)
    return tuple(found)


def _operation(name: str, values: dict[str, str | int], path: str) -> AnyOperation | None:
    content, line = values.get("content"), values.get("line_number")
    if name == "create_file":
        return Write(path=path, content="\n")
    if name == "edit_file_by_replace":
        old, new = values.get("to_replace"), values.get("new_content")
        return Replace(path=path, old=old, new=new) if isinstance(old, str) and isinstance(new, str) and old else None
    if name == "append_file" and isinstance(content, str):
        return Write(path=path, content=content, append=True)
    if name == "insert_content_at_line" and isinstance(content, str) and isinstance(line, int) and line > 0:
        return Insert(path=path, line=line - 1, text=content)
    return None


def _same(name: str, target: str) -> bool:
    return name == target or name.endswith(f"/{target}")


def _calls(code: str) -> list[tuple[str, dict[str, str | int]]]:
    if len(code) > _MAX_CODE or not any(name in code for name in _PARAMETERS):
        return []
    tree = python_calls(code)
    found: list[tuple[str, dict[str, str | int]]] = []
    for statement in tree.body if tree is not None else ():
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in _PARAMETERS:
            return []
        values = _values(call)
        if values is None:
            return []
        found.append((call.func.id, values))
    return found


def _values(call: ast.Call) -> dict[str, str | int] | None:
    """Return the arguments by name, None when one is no plain text or number."""
    assert isinstance(call.func, ast.Name)
    named = list(zip(_PARAMETERS[call.func.id], call.args, strict=False))
    named += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    found: dict[str, str | int] = {}
    for name, value in named:
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str | int | None):
            return None
        if value.value is not None:
            found[name] = value.value
    return found


def _draft(name: str, values: dict[str, str | int]) -> tuple[Draft, ...]:
    path = next((str(values[key]) for key in ("path", "file_name", "filename", "file_path") if key in values), "")
    line = values.get("line_number", 1)
    detail = "\n".join(str(value) for key, value in sorted(values.items()) if key not in ("file_name", "filename"))
    if name == "open_file" and path:
        return swe_agent.view(path, line if isinstance(line, int) else 1)
    if name in _EDITS and path:
        return (Draft("EDIT", marked(path), f"{name}\n{detail}", (path,), (path,)),)
    if name == "create_file" and path:
        return (Draft("CREATE", marked(path), f"{name} {marked(path)}", (), (path,)),)
    if name in ("search_dir", "search_file", "find_file"):
        place = str(values.get("dir_path", "")) or (path if name == "search_file" else "")
        pattern = str(values.get("search_term", path))
        return (search(pattern, (place,) if place else (), f"{name} {detail}"),)
    return (Draft("READ", "env:viewer", f"{name} {detail}"),)
