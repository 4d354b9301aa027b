"""Another agent wrote the same lines as the session before, to another effect; its version is in the tree."""

from __future__ import annotations

import random

from passdown.data.perturb.hunks import Changed, Hunk, exchanged, pick
from passdown.data.perturb.python_edits import otherwise
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import inconsistency


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Write a share `strength` of one Python file's changes otherwise, at least one: it parses and does not do the
    same.
    """
    file = pick(scene, dice, ".py")
    versions = [(hunk, other) for hunk in file.hunks if (other := other_version(file, hunk)) is not None]
    if not versions:
        raise InapplicableError("no change can be written otherwise")
    chosen = sorted(dice.sample(versions, amount(len(versions), strength)))
    text = exchanged(file.now, [(hunk.at, other) for hunk, other in chosen])
    now = scene.with_files({file.path: text.encode()})
    params = {
        f"lines {hunk.at[0] + 1}-{hunk.at[1]}": "".join(other)[:400] for hunk, other in chosen
    }  # fmt: skip
    return inconsistency(
        now, "conflict_hunk", strength, params, touched=[file.path],
        acceptable=("keep_predecessor", "write_anew_by_the_task"),
    )  # fmt: skip


def other_version(file: Changed, hunk: Hunk) -> list[str] | None:
    """Return the lines of a change with a small difference in what they do, None where none is known."""
    start, stop = hunk.at
    return otherwise(file.now[start:stop], "".join(file.now), start) if stop > start else None
