"""Facts that the notes no longer tell; the tree still shows them, or a run does."""

from __future__ import annotations

import random

from passdown.data.perturb.notes import mentions, notes_of, restated, stated, without
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import decay
from passdown.data.records import Fact


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Drop a share `strength` of the facts that the notes state, at least one, wherever they stand."""
    facts = stated(scene.view)
    if not facts:
        raise InapplicableError("the notes state no fact")
    wanted = amount(len(facts), strength)
    notes = notes_of(scene.view)
    gone: list[Fact] = []
    for fact in dice.sample(facts, len(facts)):
        if len(gone) >= wanted:
            break
        shorter = without(scene.view, notes, fact.key)
        if shorter != notes and shorter.strip() and not mentions(shorter, fact.key):
            notes = shorter
            gone.append(fact)
    if not gone:
        raise InapplicableError("no statement can be taken out")
    now, removed = restated(scene, notes, gone)
    return decay(now, "drop_fact", strength, {"dropped": str(len(gone)), "of": str(len(facts))}, removed=removed)
