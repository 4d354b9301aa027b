"""Blames the wrong file first, sees in the tests that this was not it, takes it back, and then does it well."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.skills.steps import finish, one_by_one, overview, paths, read_sources


def work(actor: Actor) -> None:
    """Do the task."""
    overview(actor)
    about = set(paths(actor))
    sources = [
        path for path, text in actor.world.files.items() if text and path.endswith(".py") and path[:5] != "tests"
    ]
    wrong = next((path for path in sources if path not in about), actor.world.visible[0])
    text = actor.read(wrong, actor.pick("wrong", path=wrong))
    actor.write(wrong, text + "\n\nSTRICT = True\n", actor.pick("wrong", path=wrong))
    actor.test()
    actor.bash(f"git checkout -- {wrong} && git status --short", actor.pick("revert"))
    read_sources(actor)
    one_by_one(actor)
    finish(actor)
