"""By-products of the session before (a script that shows the fault, notes on the side) that were cleaned away."""

from __future__ import annotations

import random

from passdown.data.perturb.decay.gone import deleted
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import decay
from passdown.data.views.changes import FileChange


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Delete a share `strength` of the by-products that are no part of the base commit."""
    scratch = [path for path in scene.changed() if _is_scratch(scene, path)]
    if not scratch:
        raise InapplicableError("no by-product was left")
    gone = sorted(dice.sample(scratch, amount(len(scratch), strength)))
    now, false = deleted(scene, gone)
    return decay(now, "clear_scratch", strength, {"deleted": "; ".join(gone)}, touched=gone, false=false)


def _is_scratch(scene: Scene, path: str) -> bool:
    if scene.base is not None and path in scene.base:
        return False
    return FileChange(path=path, status="A", step=0, new=scene.base is not None).scratch
