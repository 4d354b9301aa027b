"""A merge that nobody finished: conflict markers in the file, and git still in the middle of it."""

from __future__ import annotations

import random

from passdown.data.perturb.hunks import exchanged, pick
from passdown.data.perturb.inconsistency.conflict_hunk import other_version
from passdown.data.perturb.scene import Applied, Scene, amount
from passdown.data.perturb.truths import inconsistency
from passdown.data.records import Volatile

BRANCH = "other-work"


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Put a share `strength` of one file's changes between conflict markers, at least one. The other side is a small
    difference where one is known, else the base commit's lines.
    """
    file = pick(scene, dice)
    chosen = sorted(dice.sample(file.hunks, amount(len(file.hunks), strength)))
    parts: list[tuple[tuple[int, int], list[str]]] = []
    for hunk in chosen:
        ours = file.now[hunk.at[0] : hunk.at[1]]
        theirs = other_version(file, hunk) if file.path.endswith(".py") else None
        if theirs is None:
            theirs = file.base[hunk.was[0] : hunk.was[1]]
        parts.append((hunk.at, ["<<<<<<< HEAD\n", *_ended(ours), "=======\n", *_ended(theirs), f">>>>>>> {BRANCH}\n"]))
    head = f"{dice.getrandbits(160):040x}"
    step = max(0, scene.view.k - 1)
    state = (
        Volatile(kind="git", key="MERGE_HEAD", value=head, step=step),
        Volatile(kind="git", key="MERGE_MSG", value=f"Merge branch '{BRANCH}'", step=step),
        Volatile(kind="git", key=f"unmerged:{file.path}", value="UU", step=step),
    )
    now = scene.with_files({file.path: exchanged(file.now, parts).encode()}, state)
    return inconsistency(
        now, "half_merge", strength, {"merge_head": head, "conflicts": str(len(chosen))}, touched=[file.path],
        acceptable=("keep_ours", "resolve_by_the_task", "abort_the_merge"),
    )  # fmt: skip


def _ended(lines: list[str]) -> list[str]:
    """Give the last line an end, so that a marker begins a line of its own."""
    return [line if line.endswith("\n") else line + "\n" for line in lines]
