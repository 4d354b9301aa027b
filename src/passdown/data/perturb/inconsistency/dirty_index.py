"""An index that holds something else than the tree: a commit as it is would not be the work."""

from __future__ import annotations

import random

from passdown.data.perturb.hunks import changed_files, undone
from passdown.data.perturb.scene import Applied, Scene, amount
from passdown.data.perturb.truths import inconsistency
from passdown.data.records import Volatile


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Stage an older version (some of the changes missing) of a share `strength` of the changed files.

    The tree stays as it is: only what git's index holds is told, as `index:PATH` with the sha256 of the content.
    """
    files = changed_files(scene)
    chosen = sorted(dice.sample(files, amount(len(files), strength)))
    step = max(0, scene.view.k - 1)
    assert scene.blobs is not None
    staged: list[Volatile] = []
    for file in chosen:
        missing = dice.sample(file.hunks, dice.randint(1, len(file.hunks)))
        blob = scene.blobs.put(undone(file, missing).encode())
        staged.append(Volatile(kind="git", key=f"index:{file.path}", value=blob, step=step))
    now = scene.with_files({}, staged)
    return inconsistency(
        now, "dirty_index", strength, {state.key: state.value for state in staged},
        touched=[file.path for file in chosen], acceptable=("stage_the_tree", "empty_the_index"),
    )  # fmt: skip
