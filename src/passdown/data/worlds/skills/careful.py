"""Reads first, keeps a list, works one subtask at a time, and runs the tests after each."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.skills.steps import finish, one_by_one, overview, read_sources


def work(actor: Actor) -> None:
    """Do the task."""
    overview(actor)
    actor.test(why=actor.pick("baseline"))
    read_sources(actor)
    one_by_one(actor)
    finish(actor)
