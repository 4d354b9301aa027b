"""Reads everything, searches and looks into the past, edits late, and runs out of time with the last parts open."""

from __future__ import annotations

import shlex

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.skills.steps import overview, paths


def work(actor: Actor) -> None:
    """Do the task."""
    overview(actor)
    actor.bash("git log --stat --oneline | head -40", actor.pick("past"))
    for path, text in actor.world.files.items():
        if text and path != "README.md":
            actor.read(path, actor.pick("wonder", path=path))
    for path in paths(actor):
        actor.bash(f"git log --oneline -- {path}", actor.pick("blame", path=path))
        word = path.rpartition("/")[2].removesuffix(".py")
        actor.bash(f"grep -rn {shlex.quote(word)} --include=*.py . | sort | head -20", actor.pick("grep", word=word))
    actor.test(why=actor.pick("baseline"))
    parts = actor.world.subtasks
    reached = len(parts) // 2
    for part in parts[:reached]:
        actor.mend(part)
    actor.test()
    actor.bash("git diff --stat", actor.pick("diff"))
    actor.say(actor.pick("stop", what="; ".join(part.title for part in parts[reached:])))
