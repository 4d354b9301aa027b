"""Whole sections that the notes no longer have."""

from __future__ import annotations

import random

from passdown.data.perturb.notes import notes_of, restated
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import decay
from passdown.model.pattern import lazy_pattern

_HEADING = lazy_pattern(r"(?m)^## (?P<title>.+)$")
_BULLET = lazy_pattern(r"(?m)^- (?P<title>[A-Z][^:\n]{0,60}):")


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Drop a share `strength` of the sections (headings, or the points of a summary), at least one, never all."""
    if scene.view.name == "trace":
        raise InapplicableError("a trace has no sections")
    notes = notes_of(scene.view)
    heads = list(_HEADING.finditer(notes)) or list(_BULLET.finditer(notes))
    if len(heads) < 2:
        raise InapplicableError("the notes have no sections")
    gone = sorted(dice.sample(range(len(heads)), min(amount(len(heads), strength), len(heads) - 1)))
    ends = [head.start() for head in heads[1:]] + [len(notes)]
    kept = notes[: heads[0].start()]
    kept += "".join(notes[heads[at].start() : ends[at]] for at in range(len(heads)) if at not in gone)
    titles = "; ".join(heads[at]["title"].strip() for at in gone)
    now, removed = restated(scene, kept)
    return decay(now, "drop_section", strength, {"sections": titles, "of": str(len(heads))}, removed=removed)
