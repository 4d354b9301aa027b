"""Breaks what worked while tidying up, sees it in the tests, and repairs it."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.model import Swap
from passdown.data.worlds.skills.steps import finish, overview, paths, read_sources


def work(actor: Actor) -> None:
    """Do the task."""
    overview(actor)
    read_sources(actor)
    first, *others = actor.world.subtasks
    actor.mend(first)
    trap = _trap(actor)
    actor.edit(trap.path, trap.good, trap.bad, actor.pick("broke", path=trap.path))
    actor.test()
    for part in others:
        actor.mend(part)
    actor.test()
    actor.bash("git diff", actor.pick("diff"))
    actor.edit(trap.path, trap.bad, trap.good, actor.pick("repair"))
    actor.test()
    finish(actor)


def _trap(actor: Actor) -> Swap:
    """Return a hunk that breaks something and can be told apart from the tasks': else a slip of the keyboard."""
    about = set(paths(actor))
    for trap in actor.world.traps:
        text = actor.world.files[trap.path]
        if trap.path not in about and text.replace(trap.good, trap.bad).count(trap.bad) == 1 == text.count(trap.good):
            return trap
    path = paths(actor)[0]
    text = (actor.place.folder / path).read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith(("def ", "class ")) and text.count(line) == 1)
    return Swap(path, line.rstrip(":"), line)
