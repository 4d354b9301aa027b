"""Notes that were written some steps ago and never brought up to date."""

from __future__ import annotations

import random

from msgspec import structs

from passdown.data.perturb.scene import Applied, InapplicableError, Scene
from passdown.data.perturb.truths import decay
from passdown.data.records import Fact, View
from passdown.data.views.table import NAMES, build_view


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:  # noqa: ARG001 - when it was is no chance
    """Give the view of `strength` of the steps ago, at least one. Comes before what else changes the view."""
    prefix, view = scene.prefix, scene.view
    if prefix is None:
        raise InapplicableError("no prefix")
    if scene.rewritten:
        raise InapplicableError("the notes were changed before")
    if view.name not in NAMES or view.writer not in ("", "passdown", "extractive"):
        raise InapplicableError("the view cannot be made again")
    if view.name == "repo":
        raise InapplicableError("the view has no notes")
    back = max(1, round((prefix.k - 1) * strength))
    at = prefix.k - back
    if at < 1:
        raise InapplicableError("there is no earlier step")
    old = build_view(view.name, structs.replace(prefix, k=at, steps=prefix.steps[:at]))
    if old.text == view.text:
        raise InapplicableError("nothing was noted since")
    removed, false = _difference(view, old)
    now = scene.with_view(old.text, old.facts)
    params = {"as_of": str(at), "steps_back": str(back)}
    return decay(now, "stale_note", strength, params, removed=removed, false=false)


def _difference(view: View, old: View) -> tuple[list[Fact], list[Fact]]:
    """Return what the old notes lack, and what they state that has another value by now."""
    before = {(fact.type, fact.key, fact.value) for fact in old.facts}
    values = {(fact.type, fact.key): fact.value for fact in view.facts}
    removed = [fact for fact in view.facts if (fact.type, fact.key, fact.value) not in before]
    false = [fact for fact in old.facts if values.get((fact.type, fact.key), fact.value) != fact.value]
    return removed, false
