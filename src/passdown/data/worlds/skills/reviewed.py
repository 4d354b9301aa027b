"""Hands in a first version that lacks something, is told so by a person, and then does that part well."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.model import Part
from passdown.data.worlds.skills.steps import finish, overview, read_sources, titles


def work(actor: Actor) -> None:
    """Do the task."""
    overview(actor)
    read_sources(actor)
    *first, last = actor.world.subtasks
    for part in first:
        actor.mend(part)
    actor.mend(last, last.wrong or last.swaps[:-1])
    actor.test()
    actor.say(actor.pick("claim", what=titles(actor)))
    actor.hear(f'Review: the part "{last.title}" is not right yet. {last.ask} Please change that; the rest is fine.')
    _again(actor, last)
    actor.test()
    finish(actor)


def _again(actor: Actor, part: Part) -> None:
    """Put the hunks of a part where its first version has others, or none."""
    for number, swap in enumerate(part.swaps):
        if number < len(part.wrong):
            actor.edit(swap.path, part.wrong[number].good, swap.good, actor.pick("answer", what=part.title))
        elif part.wrong or number == len(part.swaps) - 1:
            actor.mend(part, [swap])
