"""The past of a world as git keeps it: what to import, and the id of its last commit without asking git."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from passdown.data.worlds.model import Commit

_BEGAN, _DAY = 1_706_778_000, 86_400
_FILE, _FOLDER = b"100644", b"40000"


def imported(history: Sequence[Commit]) -> bytes:
    """Return commits as `git fast-import` reads them."""
    return b"".join(_one(commit, day) for day, commit in enumerate(history))


def _one(commit: Commit, day: int) -> bytes:
    """Return a commit; its id depends on nothing but its content, its day, and what came before."""
    message = commit.message.encode()
    head = f"commit refs/heads/main\nauthor {_who(day)}\ncommitter {_who(day)}\ndata {len(message)}\n".encode()
    files = [
        f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n".encode() for path, text in commit.files.items()
    ]
    return head + message + b"\n" + b"".join(files)


def _who(day: int) -> str:
    return f"Dev <dev@example.org> {_BEGAN + day * _DAY} +0000"


def commit_id(history: Sequence[Commit]) -> str:
    """Return the id of the last commit, empty without one."""
    files: dict[str, str] = {}
    parent = ""
    for day, commit in enumerate(history):
        files.update(commit.files)
        lines = [f"tree {_tree(_nested(files)).hex()}", *([f"parent {parent}"] if parent else [])]
        lines += [f"author {_who(day)}", f"committer {_who(day)}", "", commit.message]
        parent = _object("commit", "\n".join(lines).encode()).hex()
    return parent


def _object(kind: str, content: bytes) -> bytes:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).digest()


def _nested(files: Mapping[str, str]) -> dict[str, Any]:
    top: dict[str, Any] = {}
    for path, text in files.items():
        *folders, name = path.split("/")
        place = top
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = text
    return top


def _tree(folder: Mapping[str, Any]) -> bytes:
    entries = []
    for name, held in folder.items():
        inner = isinstance(held, dict)
        own = _tree(held) if inner else _object("blob", held.encode())
        entries.append((f"{name}/" if inner else name, (_FOLDER if inner else _FILE) + f" {name}\0".encode() + own))
    return _object("tree", b"".join(entry for _, entry in sorted(entries)))
