"""A change that was taken back while the notes say that it is there."""

from __future__ import annotations

import random

from passdown.data.perturb.hunks import pick, places, undone
from passdown.data.perturb.notes import append, notes_of
from passdown.data.perturb.scene import Applied, Scene
from passdown.data.perturb.truths import inconsistency
from passdown.data.records import Fact
from passdown.packet.escape import code


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Undo one change of one file, by size from the smallest (0) to the largest (1); the notes call it done."""
    notes_of(scene.view)
    file = pick(scene, dice)
    ordered = sorted(file.hunks, key=lambda hunk: (hunk.size, hunk))
    hunk = ordered[round((len(ordered) - 1) * strength)]
    text = undone(file, [hunk])
    now = scene.with_files({file.path: text.encode()})
    last = max(0, scene.view.k - 1)
    claim = Fact(type="todo", key=f"All edits to {file.path} are in the tree", value="completed", step=last,
                 status="stated")  # fmt: skip
    now = append(now, f"Done: all edits to {code(file.path)} are in the tree", [claim])
    false = [claim]
    if text == "".join(file.base):
        false += [fact for fact in scene.view.facts if fact.type == "file_changed" and fact.key == file.path]
    return inconsistency(
        now, "revert_one_hunk", strength, {"lines": places([hunk]), "of": str(len(file.hunks))},
        touched=[file.path], false=false, acceptable=("do_again", "do_otherwise"),
    )  # fmt: skip
