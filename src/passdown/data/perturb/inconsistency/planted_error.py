"""One statement of the notes that is not so: a wrong path, a wrong exit code, an edit that is denied."""

from __future__ import annotations

import posixpath
import random
from typing import NamedTuple

from msgspec import structs

from passdown.data.perturb.notes import append, mentions, notes_of, path_pattern, rewritten, spellings, stated
from passdown.data.perturb.scene import Applied, InapplicableError, Scene
from passdown.data.perturb.truths import inconsistency
from passdown.data.records import Fact
from passdown.data.views.changes import FileChange
from passdown.model.pattern import lazy_pattern
from passdown.packet.escape import code

FLAGGED_BELOW = 0.5
WARNING = "One of these statements may be wrong; nobody has checked them"

_EXIT = lazy_pattern(r"\bexit (?P<code>\d+)\b")
_ONLY_EXIT = lazy_pattern(r"exit (?P<code>\d+)")


class Planted(NamedTuple):
    """The scene with the error in it, what was true, and what the notes say instead."""

    scene: Scene
    true: Fact
    false: Fact


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Make one stated fact wrong wherever the notes state it. Below a strength of .5 the notes warn of it."""
    notes_of(scene.view)
    for fact in dice.sample(options := _options(scene), len(options)):
        planted = _plant(scene, fact, dice)
        if planted is not None:
            break
    else:
        raise InapplicableError("the notes state nothing that can be made wrong")
    now, flagged = planted.scene, strength < FLAGGED_BELOW
    if flagged:
        now = append(now, WARNING)
    kept = set(now.view.facts)
    removed = [planted.true] if planted.true not in kept else []
    params = {
        "true": f"{planted.true.key} — {planted.true.value}", "stated": f"{planted.false.key} — {planted.false.value}",
        "flagged": "yes" if flagged else "no",
    }  # fmt: skip
    return inconsistency(
        now, "planted_error", strength, params, false=[planted.false], removed=removed,
        acceptable=("find_out_and_go_on", "correct_the_notes"),
    )  # fmt: skip


def _options(scene: Scene) -> list[Fact]:
    """Return what can be made wrong: changed files, before by-products, and how commands ended."""
    known = scene.view.facts if scene.view.name == "trace" else stated(scene.view)
    files = [fact for fact in known if fact.type == "file_changed"]
    sources = [fact for fact in files if not FileChange(path=fact.key, status="A", step=0, new=True).scratch]
    ran = [] if scene.view.name == "trace" else [fact for fact in known if fact.type == "cmd"]
    return [*(sources or files), *ran]


def _plant(scene: Scene, fact: Fact, dice: random.Random) -> Planted | None:
    if fact.type == "cmd":
        return _other_exit(scene, fact)
    return _denied(scene, fact) if scene.view.name == "trace" else _other_path(scene, fact, dice)


def _denied(scene: Scene, fact: Fact) -> Planted:
    """A trace shows what happened, so that its last word is what can be wrong."""
    false = structs.replace(fact, value="not touched", step=max(0, scene.view.k - 1), status="stated")
    now = append(scene, f"I have not touched {code(fact.key)} so far.", [false])
    return Planted(now, fact, false)


def _other_path(scene: Scene, fact: Fact, dice: random.Random) -> Planted | None:
    """Name a file beside it that was not changed, or one that is not there."""
    pattern, notes = path_pattern(fact.key), notes_of(scene.view)
    if not pattern.search(notes):
        return None
    folder, name = posixpath.split(fact.key)
    stem, dot, end = name[1:].partition(".")
    stem, end = name[:1] + stem, dot + end
    changed = {known.key for known in scene.view.facts if known.type == "file_changed"}
    known = scene.paths() if scene.snapshot is not None else ()
    touched = set(scene.files) if scene.snapshot is not None else set()
    beside = [
        path for path in known
        if posixpath.dirname(path) == folder and path.endswith(end) and path not in changed | touched
    ]  # fmt: skip
    other = dice.choice(beside) if beside else posixpath.join(folder, f"{stem}_base{end}")
    if other in changed or path_pattern(other).search(notes):
        return None
    false = structs.replace(fact, key=other)
    spoken = {
        kept: structs.replace(kept, key=pattern.sub(lambda _: other, kept.key))
        for kept in scene.view.facts if kept.type in ("cmd", "next_action", "risk") and pattern.search(kept.key)
    }  # fmt: skip
    now = rewritten(scene, lambda text: pattern.sub(lambda _: other, text), {**spoken, fact: false}.items())
    return Planted(now, fact, false)


def _other_exit(scene: Scene, fact: Fact) -> Planted | None:
    """Say that a command ended in another way."""
    found = _ONLY_EXIT.fullmatch(fact.value)
    if found is None:
        return None
    other = "exit 1" if found["code"] == "0" else "exit 0"
    ways = spellings(fact.key)

    def change(text: str) -> str:
        return "\n".join(_with_exit(line, ways, other) for line in text.split("\n"))

    notes = notes_of(scene.view)
    if change(notes) == notes or not mentions(notes, fact.key):
        return None
    false = structs.replace(fact, value=other)
    return Planted(rewritten(scene, change, [(fact, false)]), fact, false)


def _with_exit(line: str, ways: tuple[str, ...], other: str) -> str:
    """Exchange the exit code that follows the command in a line."""
    for way in ways:
        at = line.find(way)
        found = _EXIT.search(line, at + len(way), at + len(way) + 40) if at >= 0 else None
        if found is not None:
            return line[: found.start()] + other + line[found.end() :]
    return line
