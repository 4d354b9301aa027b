"""Somebody else edited a file meanwhile, without harm: a local variable has another name, or the layout changed."""

from __future__ import annotations

import random

from passdown.data.perturb.python_edits import reformat, rename_local
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import inconsistency


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Edit a share `strength` of the changed Python files, at least one, so that each still does the same.

    Nothing has to be noticed: it is right to leave such an edit alone, and wrong to take it back.
    """
    paths = [path for path in scene.changed() if path.endswith(".py")]
    params: dict[str, str] = {}
    contents: dict[str, bytes | None] = {}
    wanted = amount(len(paths), strength)
    for path in dice.sample(paths, len(paths)):
        text = scene.text(path)
        if text is None or len(contents) >= wanted:
            continue
        renamed = rename_local(text, dice) if dice.random() < 0.7 else None
        made = renamed.text if renamed is not None else reformat(text, dice)
        if made is None:
            continue
        contents[path] = made.encode()
        params[path] = f"renamed {renamed.old} to {renamed.new} in {renamed.function}" if renamed else "laid out anew"
    if not contents:
        raise InapplicableError("no changed Python file can be edited without harm")
    now = scene.with_files(contents)
    return inconsistency(
        now, "parallel_edit", strength, params, touched=sorted(contents), acceptable=("keep_the_edit",),
        must_detect=False,
    )  # fmt: skip
