"""Files that a script writes, when the run itself wrote the script: what an agent does who edits by `python fix.py`."""

from __future__ import annotations

import posixpath

from passdown.data.actions import scripts
from passdown.data.actions.operations import AnyOperation, Opaque
from passdown.data.records import Action
from passdown.model.pattern import lazy_pattern

_NAMED = lazy_pattern(r"^\s*(\w{1,60})\s*=\s*(?:Path\(\s*)?r?(['\"])([^'\"\n]{1,300})\2\s*\)?\s*$", 8)  # re.MULTILINE
_OPENED = lazy_pattern(r"\bopen\(\s*(?:r?(['\"])([^'\"\n]{1,300})\1|(\w{1,60}))\s*,\s*(?:mode\s*=\s*)?['\"][wax]")
_WROTE = lazy_pattern(r"(?:Path\(\s*r?(['\"])([^'\"\n]{1,300})\1\s*\)|\b(\w{1,60}))\.write_(?:text|bytes)\(")
_COPIED = lazy_pattern(r"\bshutil\.(?:copy2?|copyfile|move)\([^,\n]{1,300},\s*r?(['\"])([^'\"\n]{1,300})\1")
_MOST = 20
SCRIPT = (".py",)


def script_of(action: Action) -> str:
    """Return the script that an action runs, empty when it runs none that can be named."""
    if action.kind not in ("RUN", "TEST"):
        return ""
    return next((path for path in (*action.reads, action.target) if path.endswith(SCRIPT) and " " not in path), "")


def rewritten(code: str, root: str, *, ended: bool) -> tuple[AnyOperation, ...]:
    """Return what a script does to files. It is opaque where it is not plain, and where the script did not end well."""
    found: list[AnyOperation] = []
    for written in _written(code):
        path = _inside(written, root)
        plain = scripts.operations(code, written) if ended else ()
        if plain and all(operation.path == written for operation in plain):
            found += [_moved(operation, path) for operation in plain]
        else:
            found.append(Opaque(path=path, reason="a script of the run"))
    return tuple(found)


def _moved(operation: AnyOperation, path: str) -> AnyOperation:
    import msgspec

    return msgspec.structs.replace(operation, path=path)


def _written(code: str) -> list[str]:
    if len(code) > scripts.MAX_CODE or not ("open(" in code or "write_" in code or "shutil." in code):
        return []
    names = {name: text for name, _, text in _NAMED.findall(code)}
    found = [text or names.get(name, "") for _, text, name in (*_OPENED.findall(code), *_WROTE.findall(code))]
    found += [text for _, text in _COPIED.findall(code)]
    return list(dict.fromkeys(text for text in found if text))[:_MOST]


def _inside(path: str, root: str) -> str:
    """Return a path as actions name it. A script is taken to run where the workspace is."""
    path = posixpath.normpath(path)
    return path[len(root) + 1 :] if root and path.startswith(f"{root}/") else path
