"""Breaks what worked while tidying up, sees it in the tests, and repairs it."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.model import Swap
from passdown.data.worlds.skills.steps import finish, overview, paths, read_sources
from passdown.model.pattern import lazy_pattern

_DEFINED = lazy_pattern(r"(?m)^(?:def|class) (\w+)\(")


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
    """Return the hunk that breaks a visible test: the world's own, else a name that is written in another way."""
    for trap in actor.world.traps:
        if _text(actor, trap.path).count(trap.good) == 1 and trap.bad not in _text(actor, trap.path):
            return trap
    tests = "".join(actor.world.files[path] for path in actor.world.visible)
    for path in (path for path in paths(actor) if path in actor.world.files):
        text = _text(actor, path)
        for found in _DEFINED.finditer(text):
            if found[1] in tests and text.count(found[0]) == 1:
                return Swap(path, found[0].replace(found[1], f"{found[1]}_"), found[0])
    raise ValueError(f"nothing to break in {actor.world.id}")


def _text(actor: Actor, path: str) -> str:
    return (actor.place.folder / path).read_text("utf-8")
