"""The decision that settled which way the work goes is in the notes no longer."""

from __future__ import annotations

import random

from passdown.data.perturb.notes import drop, stated
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import ambiguity
from passdown.model.pattern import lazy_pattern

_OVER = lazy_pattern(r"(?i)(?P<one>.+?)\b(?:instead of|rather than|and not)\b (?P<other>[^,.;]+)")


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Drop a share `strength` of the stated decisions, at least one. Both ways count, and so does asking.

    Where a decision names what it was made against, that is the other way.
    """
    decisions = [fact for fact in stated(scene.view) if fact.type == "decision"]
    if not decisions:
        raise InapplicableError("the notes state no decision")
    chosen = dice.sample(decisions, amount(len(decisions), strength))
    now, removed = drop(scene, chosen)
    ways: list[str] = []
    for fact in chosen:
        ways.append(f"as_decided: {fact.key}")
        over = _OVER.search(fact.key)
        if over is not None:
            ways.append(f"otherwise: {over['other'].strip()}")
    params = {f"decision_{number}": fact.key for number, fact in enumerate(chosen, 1)}
    return ambiguity(now, "drop_deciding_decision", strength, params, acceptable=ways, removed=removed)
