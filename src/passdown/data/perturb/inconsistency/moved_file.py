"""A file that somebody moved: the notes, and whoever uses it, still name the old place."""

from __future__ import annotations

import posixpath
import random

from passdown.data.perturb.scene import Applied, Scene, amount
from passdown.data.perturb.truths import inconsistency

_FOLDERS = ("impl", "core", "internal", "moved")


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Move a share `strength` of the changed files into a folder below their own, at least one."""
    paths = scene.changed()
    taken = set(scene.paths())
    moves: dict[str, str] = {}
    for path in sorted(dice.sample(paths, amount(len(paths), strength))):
        folder, name = posixpath.split(path)
        names = [posixpath.join(folder, below, name) for below in dice.sample(_FOLDERS, len(_FOLDERS))]
        free = [to for to in names if to not in taken]
        if free:
            moves[path] = free[0]
            taken.add(free[0])
    contents: dict[str, bytes | None] = {to: scene.content(path) for path, to in moves.items()}
    now = scene.with_files({**contents, **dict.fromkeys(moves)})
    false = [
        fact for fact in scene.view.facts
        if fact.type == "file_changed" and fact.key in moves and not fact.value.startswith("deleted")
    ]  # fmt: skip
    return inconsistency(
        now, "moved_file", strength, moves, touched=sorted({*moves, *moves.values()}), false=false,
        acceptable=("move_it_back", "name_the_new_place_everywhere"),
    )  # fmt: skip
