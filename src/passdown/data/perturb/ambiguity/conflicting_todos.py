"""Open items that contradict each other: to do it, and to leave it."""

from __future__ import annotations

import random

from passdown.data.perturb.notes import append, stated
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import ambiguity
from passdown.data.records import Fact
from passdown.model.pattern import lazy_pattern
from passdown.packet.escape import inline

_BEGINNING = lazy_pattern(
    r"(?i)^(?:(?:now|next|then|so|first|finally|ok(?:ay)?),? )*(?:let(?:'|’)?s |let me |i(?:'|’)ll |i will |we should )"
    r"(?:now |next |also )?"
)

_SHORT = 80
"""Characters of an announcement that can be put as an item, at most."""


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Contradict a share `strength` of the open items, at least one, by another item of the same notes.

    What the task says decides; where it does not say, asking is right.
    """
    known = stated(scene.view)
    items = [fact for fact in known if fact.type == "todo" and fact.value != "completed"]
    items = items or [fact for fact in known if _is_step(fact)]
    if not items:
        raise InapplicableError("the notes state no open item")
    chosen = dice.sample(items, amount(len(items), strength))
    now, step = scene, max(0, scene.view.k - 1)
    params: dict[str, str] = {}
    for number, fact in enumerate(chosen, 1):
        what = _BEGINNING.sub("", fact.key).rstrip(" :.") or fact.key
        against = Fact(type="todo", key=f"Leave out: {what}", value="pending", step=step, status="stated")
        now = append(now, f"To do: Leave out: {inline(what)}", [against])
        params[f"item_{number}"] = fact.key
    return ambiguity(
        now, "conflicting_todos", strength, params, acceptable=("follow_the_task",), must_detect=True
    )  # fmt: skip


def _is_step(fact: Fact) -> bool:
    """Say whether a fact is a next step that the agent itself announced, in few words."""
    return fact.type == "next_action" and fact.status == "stated" and len(fact.key) <= _SHORT
