"""A task that no longer names what it is about: `slug()` became "that function"."""

from __future__ import annotations

import random
import re

from msgspec import structs

from passdown.data.perturb.notes import with_task
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import ambiguity
from passdown.data.records import Fact
from passdown.data.views.preamble import parts
from passdown.model.pattern import lazy_pattern

LONGEST = 20_000
_SYMBOL = lazy_pattern(
    r"(?P<path>(?<![\w./-])(?:[\w-]+/)+[\w.-]*\w|(?<![\w./-])[\w-]+\.(?:py|js|ts|go|rs|rb|java|c|h|cpp|toml|json)\b)"
    r"|(?P<call>(?<![\w.])[A-Za-z_][\w.]*\w?\((?:[^()\n]{0,40})\))"
    r"|(?P<snake>(?<![\w./-])[a-z]\w*_\w+(?![\w./-]))"
    r"|(?P<camel>(?<![\w./-])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?![\w./-]))"
)
_PHRASES = {"path": "that file", "call": "that function", "snake": "that name", "camel": "that class"}


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Put vague words for a share `strength` of the names in the task, wherever its words stand in the view.

    Each name is an acceptable reading. `still_named` says whether the notes tell the name elsewhere.
    """
    before = parts(scene.view.text)
    if not before.task.strip() or len(before.task) > LONGEST:
        raise InapplicableError("the view has no task" if not before.task.strip() else "the task is too long")
    found = {match.group(): match.lastgroup or "snake" for match in _SYMBOL.finditer(before.task)}
    if not found:
        raise InapplicableError("the task names nothing")
    chosen = dice.sample(sorted(found), amount(len(found), strength))
    vague = {name: _PHRASES[found[name]] for name in chosen}
    task = _vaguely(before.task, vague)
    lines = {" ".join(line.split()) for line in before.task.split("\n") if _vaguely(line, vague) != line}
    notes = "\n".join(_vaguely(line, vague) if _repeats(line, lines) else line for line in before.notes.split("\n"))
    swapped: list[Fact] = []
    removed: list[Fact] = []
    for fact in scene.view.facts:
        key = _vaguely(fact.key, vague) if fact.type == "goal" else fact.key
        swapped.append(structs.replace(fact, key=key))
        removed += [fact] if key != fact.key else []
    now = scene.with_view(with_task(scene.view, task, notes), swapped)
    params = {f"name_{number}": f"{name} became {vague[name]}" for number, name in enumerate(chosen, 1)}
    params["still_named"] = "yes" if any(name in notes for name in chosen) else "no"
    return ambiguity(
        now, "underspecified_symbol", strength, params, acceptable=[f"about: {name}" for name in chosen],
        removed=removed,
    )  # fmt: skip


def _vaguely(text: str, vague: dict[str, str]) -> str:
    for name in sorted(vague, key=len, reverse=True):
        pattern = re.compile(rf"`*(?<![\w./-]){re.escape(name)}(?![\w/])`*")
        text = pattern.sub(vague[name], text)
    return text


def _repeats(line: str, said: set[str]) -> bool:
    """Say whether a line of the notes holds a line of the task."""
    flat = " ".join(line.replace("\\", "").split())
    return any(words in flat or words.replace("`", "") in flat.replace("`", "") for words in said if len(words) > 12)
