"""Stashes: local to this clone, shared by its worktrees, told by object id because an index moves."""

from __future__ import annotations

import re
from pathlib import Path

from passdown.io.git import run_git
from passdown.model.evidence import Stash

KEPT = 100
"""Most stashes that are listed, newest first."""

_VAGUE = frozenset({"wip", "tmp", "temp", "stash", "save", "test", "backup"})
_LEAST = 10
_SUBJECT = 1000


def read_stashes(root: Path) -> tuple[Stash, ...]:
    """List the stashes, newest first."""
    form = "--format=%H %ct %P%x00%gs"
    output = run_git(root, "log", "-z", f"-{KEPT}", "--walk-reflogs", "--encoding=UTF-8", form, "refs/stash", "--")
    if not output:  # the reflog is gone, the stash itself is not
        output = run_git(root, "log", "-z", "-1", "--encoding=UTF-8", "--format=%H %ct %P%x00%s", "refs/stash", "--")
    fields = output.split(b"\0")
    return tuple(_stash(head, subject) for head, subject in zip(fields[::2], fields[1::2], strict=False))


def is_noted(subject: str) -> bool:
    """Say whether a person named the stash: `On <branch>: <message>` with a message that says something.

    A message under 10 characters, or made of words such as wip and temp, does not.
    """
    if not subject.startswith("On "):
        return False
    message = subject.partition(": ")[2].strip()
    words = re.findall(r"\w+", message.lower())
    return len(message) >= _LEAST and any(word not in _VAGUE and not word.isdigit() for word in words)


def _stash(head: bytes, subject: bytes) -> Stash:
    this, at, *parents = head.decode().split()
    text = subject[: 4 * _SUBJECT].decode("utf-8", "replace")[:_SUBJECT]
    return Stash(
        id=this,
        subject=text,
        noted=is_noted(text),
        base=parents[0] if parents else "",
        untracked=len(parents) > 2,
        at=int(at) * 1000,
    )
