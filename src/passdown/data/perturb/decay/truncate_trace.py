"""A log that ends too early: the last events were never written."""

from __future__ import annotations

import random

from msgspec import structs

from passdown.data.perturb.notes import entries, joined, notes_of, restated
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import decay


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:  # noqa: ARG001 - where it ends is no chance
    """Leave out the last share `strength` of a trace's events, at least one; the first stays."""
    if scene.view.name != "trace":
        raise InapplicableError("the view is no trace")
    found = entries(notes_of(scene.view))
    if len(found) < 2:
        raise InapplicableError("the trace is too short")
    gone = min(amount(len(found), strength), len(found) - 1)
    kept = found[:-gone]
    late = [fact for fact in scene.view.facts if fact.step > kept[-1].step]
    now, removed = restated(scene, joined(kept), late)
    elided = {**now.view.elided, "truncated": gone}
    now = structs.replace(now, view=structs.replace(now.view, elided=elided))
    params = {"events": str(gone), "of": str(len(found)), "last_step": str(kept[-1].step)}
    return decay(now, "truncate_trace", strength, params, removed=removed)
