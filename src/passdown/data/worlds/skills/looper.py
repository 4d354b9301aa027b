"""Runs the same things over and over and tries an edit that cannot take; does half of the work in all."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.skills.steps import overview, paths


def work(actor: Actor) -> None:
    """Do the task."""
    overview(actor)
    for _ in range(3):
        actor.test(why=actor.pick("again"))
    path = next(path for path in (*paths(actor), "README.md") if path in actor.world.files)
    text = actor.read(path, actor.pick("read", path=path))
    line = next(line for line in text.splitlines() if line.strip())
    for _ in range(3):
        actor.edit(path, f"{line}  # as it was", line, actor.pick("again"))
        actor.bash(f"cat {path}", actor.pick("again"))
    parts = actor.world.subtasks
    for part in parts[: (len(parts) + 1) // 2]:
        actor.mend(part)
        for _ in range(2):
            actor.test(why=actor.pick("again"))
    actor.say(actor.pick("stop", what="; ".join(part.title for part in parts[(len(parts) + 1) // 2 :]) or "a check"))
