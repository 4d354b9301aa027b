"""The words around every view: how to take over, what the task is, where the notes of the session before begin."""

from __future__ import annotations

from typing import NamedTuple

TASK = "# Task"
NOTES = "# Notes of the session before"

PREAMBLE = """\
You take over work that somebody else began. Their session has ended; the working tree is as they left it.

- The task may be solved, solved in part, not begun, or attempted in a wrong way. Find out before you change anything:
  look at what is changed in the tree and what it does.
- The task below says what is wanted. Notes, where there are any, tell what was claimed and seen at the time. They may
  be wrong or out of date: what the files and a fresh run say comes first.
- Keep what is right, mend what is wrong, and do not begin again without a reason.
- Run what proves the task before you call it done."""


class Parts(NamedTuple):
    """A view's text taken apart again."""

    preamble: str
    task: str
    notes: str


def whole(task: str, notes: str = "") -> str:
    """Return the text of a view: the preamble, the task, and the notes where there are any."""
    text = f"{PREAMBLE}\n\n{TASK}\n\n{task.strip() or '(the task was not recorded)'}\n"
    return f"{text}\n{NOTES}\n\n{notes.strip()}\n" if notes.strip() else text


def parts(text: str) -> Parts:
    """Take the text of a view apart: the inverse of `whole`, where the task does not hold the headings itself."""
    preamble, _, rest = text.partition(f"\n\n{TASK}\n\n")
    task, _, notes = rest.partition(f"\n\n{NOTES}\n\n")
    return Parts(preamble, task.rstrip("\n"), notes.rstrip("\n"))
