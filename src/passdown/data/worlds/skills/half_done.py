"""Does all subtasks but the last well, begins that one, and stops with a tree that is not committed."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.skills.steps import overview, read_sources
from passdown.model.session import PlanStatus


def work(actor: Actor) -> None:
    """Do the task."""
    overview(actor)
    read_sources(actor)
    *first, last = actor.world.subtasks
    actor.plan({})
    for part in first:
        actor.mend(part)
    actor.test()
    statuses: dict[str, PlanStatus] = {part.id: "completed" for part in first}
    actor.plan({**statuses, last.id: "in_progress"})
    path = last.swaps[0].path
    actor.mend(last, last.swaps[:-1])
    actor.write("notes.txt", f"next: {last.title} in {path}\n", "A note of where I am.")
    actor.say(actor.pick("stop", what=last.title))
