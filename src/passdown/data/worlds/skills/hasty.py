"""Skips the tests: takes the first design that comes to mind, forgets a hunk of the last subtask, says it is done."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.skills.steps import paths, titles


def work(actor: Actor) -> None:
    """Do the task."""
    actor.bash("git ls-files", actor.pick("look"))
    for path in paths(actor):
        actor.bash(f"cat {path}", actor.pick("read", path=path))
    *first, last = actor.world.subtasks
    for part in first:
        actor.mend(part, part.wrong or part.swaps)
    actor.mend(last, last.wrong or (last.swaps[:-1] if len(last.swaps) > 1 or first else last.swaps))
    actor.say(actor.pick("hasty", what=titles(actor)))
