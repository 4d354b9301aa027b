"""Facts that the notes no longer tell; the tree still shows them, or a run does."""

from __future__ import annotations

import random

from passdown.data.perturb.notes import drop, mentions, notes_of, stated
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import decay


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Drop a share `strength` of the facts that the notes state, at least one, wherever they stand."""
    facts = stated(scene.view)
    if not facts:
        raise InapplicableError("the notes state no fact")
    wanted = amount(len(facts), strength)
    gone: list[str] = []
    removed: set[object] = set()
    now, every = scene, scene.view.facts
    for fact in dice.sample(facts, len(facts)):
        if len(gone) >= wanted:
            break
        if fact in removed or not mentions(notes_of(now.view), fact.key):
            continue
        try:
            now, more = drop(now, [fact])
        except InapplicableError:
            continue
        gone.append(fact.key)
        removed.update(more)
    if not gone:
        raise InapplicableError("no statement can be taken out")
    return decay(
        now, "drop_fact", strength, {"dropped": str(len(gone)), "of": str(len(facts))},
        removed=[fact for fact in every if fact in removed],
    )  # fmt: skip
