"""Paths of which the notes remember only the folder."""

from __future__ import annotations

import posixpath
import random

from passdown.data.perturb.notes import notes_of, path_pattern, restated, stated
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import decay
from passdown.model.pattern import lazy_pattern

_ADDED = lazy_pattern(r"(\bgit add -- )([^`&]+)")
_SEPARATORS = ("; ", " · ", ", ")


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Put the folder (`src/`, `./` at the top) for a share `strength` of the changed files that the notes name."""
    if scene.view.name == "trace":
        raise InapplicableError("a trace is a record, which names files exactly")
    notes = notes_of(scene.view)
    named = [fact for fact in stated(scene.view) if fact.type == "file_changed"]
    named = [fact for fact in named if path_pattern(fact.key).search(notes)]
    if not named:
        raise InapplicableError("the notes name no changed file")
    chosen = dice.sample(named, amount(len(named), strength))
    for fact in sorted(chosen, key=lambda fact: -len(fact.key)):
        folder = posixpath.dirname(fact.key)
        vague = f"{folder}/" if folder else "./"
        notes = path_pattern(fact.key).sub(vague.replace("\\", r"\\"), notes)
    now, removed = restated(scene, _said_once(notes, notes_of(scene.view)), chosen)
    return decay(now, "blur", strength, {"paths": "; ".join(sorted(fact.key for fact in chosen))}, removed=removed)


def _said_once(notes: str, before: str) -> str:
    """Return the notes with each folder once in a list, and each line once where several now say the same."""
    made: list[str] = []
    was = before.split("\n")
    for line, old in zip(notes.split("\n"), was, strict=True):
        if line == old:
            made.append(line)
            continue
        for part in _SEPARATORS:
            label, colon, rest = line.partition(": ") if line.startswith("- ") else ("", "", line)
            items = rest.split(part)
            line = label + colon + part.join(dict.fromkeys(items))
        line = _ADDED.sub(lambda found: found[1] + " ".join(dict.fromkeys(found[2].split(" "))), line)
        if not (line.startswith(("- ", "  - ")) and line in made):
            made.append(line)
    return "\n".join(made)
