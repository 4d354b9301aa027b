"""What several ways of working have in common."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.model.session import PlanStatus


def overview(actor: Actor) -> None:
    """Look at the files and the README."""
    actor.bash("git log --oneline | head -5 && git ls-files", actor.pick("look"))
    actor.read("README.md", actor.pick("readme"))


def read_sources(actor: Actor) -> None:
    """Read every file that the subtasks are about, as far as there is one."""
    for path in paths(actor):
        if path in actor.world.files:
            actor.read(path, actor.pick("read", path=path))


def paths(actor: Actor) -> tuple[str, ...]:
    """Return the files of the subtasks in their order."""
    return tuple(dict.fromkeys(swap.path for part in actor.world.subtasks for swap in part.swaps))


def titles(actor: Actor) -> str:
    """Return what was to do in one line."""
    return "; ".join(part.title for part in actor.world.subtasks)


def one_by_one(actor: Actor) -> None:
    """Do the subtasks in order, with tests after each and the list kept."""
    done: dict[str, PlanStatus] = {}
    for part in actor.world.subtasks:
        actor.plan({**done, part.id: "in_progress"})
        actor.mend(part)
        actor.test()
        done[part.id] = "completed"
    actor.plan(done)


def finish(actor: Actor) -> None:
    """Look at the change, commit it, and say so."""
    actor.bash("git status --short && git diff", actor.pick("diff"))
    actor.bash("git add -A && git commit -q -m 'Mend what was reported' && git log --oneline -1", actor.pick("commit"))
    actor.say(actor.pick("done", what=titles(actor)))
