"""Writes the plan into a file, ticks off each part there and on its list, and removes the file at the end."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.skills.steps import finish, overview, read_sources
from passdown.model.session import PlanStatus

PLAN = "PLAN.md"


def work(actor: Actor) -> None:
    """Do the task."""
    overview(actor)
    actor.plan({})
    read_sources(actor)
    parts = actor.world.subtasks
    lines = [f"- [ ] {part.title}" for part in parts]
    actor.write(PLAN, "# Plan\n\n" + "\n".join(lines) + "\n- [ ] run all tests\n", actor.pick("plan"))
    done: dict[str, PlanStatus] = {}
    for part, line in zip(parts, lines, strict=True):
        actor.plan({**done, part.id: "in_progress"})
        actor.mend(part)
        actor.test()
        done[part.id] = "completed"
        actor.edit(PLAN, line, line.replace("[ ]", "[x]"), actor.pick("plan"))
    actor.plan(done)
    actor.bash(f"rm {PLAN} && git status --short", "The plan has done its service.")
    finish(actor)
