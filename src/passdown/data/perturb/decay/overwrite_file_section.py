"""Changes of the session before that were overwritten: an older section of the file stands there again."""

from __future__ import annotations

import random

from passdown.data.perturb.hunks import pick, places, undone
from passdown.data.perturb.scene import Applied, Scene, amount
from passdown.data.perturb.truths import decay


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Put back the base commit's lines for a share `strength` of one file's changes, at least one."""
    file = pick(scene, dice)
    lost = sorted(dice.sample(file.hunks, amount(len(file.hunks), strength)))
    text = undone(file, lost)
    now = scene.with_files({file.path: text.encode()})
    whole = text == "".join(file.base)
    false = [fact for fact in scene.view.facts if whole and fact.type == "file_changed" and fact.key == file.path]
    params = {"lines": places(lost), "of": str(len(file.hunks)), "whole_file": "yes" if whole else "no"}
    return decay(
        now, "overwrite_file_section", strength, params, touched=[file.path], false=false,
        acceptable=("do_again", "do_otherwise"),
    )  # fmt: skip
