"""Logs that the session before wrote into the tree, and that somebody cleaned away."""

from __future__ import annotations

import random

from passdown.data.perturb.decay.gone import deleted
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import decay
from passdown.model.pattern import lazy_pattern

_LOG = lazy_pattern(
    r"(?i)(?:.*/)?(?:[^/]*\.(?:log|out|err|trace|traj)(?:\.\d+)?|nohup\.out|[^/]*(?:output|results?)\.txt"
    r"|logs?/[^/]+|junit[^/]*\.xml|\.coverage)"
)


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Delete a share `strength` of the logs among the files that the session before wrote."""
    logs = [path for path in scene.changed() if _LOG.fullmatch(path)]
    if not logs:
        raise InapplicableError("no log was written")
    gone = sorted(dice.sample(logs, amount(len(logs), strength)))
    now, false = deleted(scene, gone)
    return decay(now, "delete_log", strength, {"deleted": "; ".join(gone)}, touched=gone, false=false)
