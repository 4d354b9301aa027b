"""A task that no longer names what it is about: `slug()` became "that function"."""

from __future__ import annotations

import random
import re

from msgspec import structs

from passdown.data.perturb.notes import mentions, with_task
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
_CODE = lazy_pattern(
    r"\s*(?:\$ |>>> |\.\.\. |File \"|Traceback|import |from \S+ import|def |class |return |@|#include|\w+ = |\[)"
)
_SPAN = lazy_pattern(r"```[^\n]*?(?:```|$)|`[^`\n]*`")
_WORD = lazy_pattern(r"(?<![\w./])[A-Za-z]{2,}(?![\w(/])")
_PRODUCTS = frozenset({"GitHub", "GitLab", "JavaScript", "TypeScript", "MacOS", "OpenSSL", "YouTube", "LaTeX"})
_PHRASES = {"path": "that file", "call": "that function", "snake": "that name", "camel": "that class"}


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Put vague words for a share `strength` of the names in the task, wherever its words stand in the view.

    Each name is an acceptable reading. `still_named` says whether a name still stands in code of the task or
    elsewhere in the notes.
    """
    before = parts(scene.view.text)
    if not before.task.strip() or len(before.task) > LONGEST:
        raise InapplicableError("the view has no task" if not before.task.strip() else "the task is too long")
    prose = _prose(before.task)
    found = {
        match.group(): match.lastgroup or "snake"
        for at in prose for match in _SYMBOL.finditer(_told(before.task.split("\n")[at]))
        if not match.group().endswith(("Error", "Exception", "Warning")) and match.group() not in _PRODUCTS
    }  # fmt: skip
    if not found:
        raise InapplicableError("the task names nothing in prose")
    chosen = dice.sample(sorted(found), amount(len(found), strength))
    vague = {name: _PHRASES[found[name]] for name in chosen}
    words = before.task.split("\n")
    lines = {" ".join(words[at].split()) for at in prose if _vaguely(words[at], vague) != words[at]}
    task = "\n".join(_vaguely(line, vague) if at in prose else line for at, line in enumerate(words))
    goals = [fact.key for fact in scene.view.facts if fact.type == "goal"]
    notes = "\n".join(
        _vaguely(line, vague) if _repeats(line, lines) or any(mentions(line, goal) for goal in goals) else line
        for line in before.notes.split("\n")
    )
    swapped: list[Fact] = []
    removed: list[Fact] = []
    for fact in scene.view.facts:
        key = _vaguely(fact.key, vague) if fact.type == "goal" else fact.key
        swapped.append(structs.replace(fact, key=key))
        removed += [fact] if key != fact.key else []
    now = scene.with_view(with_task(scene.view, task, notes), swapped)
    params = {f"name_{number}": f"{name} became {vague[name]}" for number, name in enumerate(chosen, 1)}
    params["still_named"] = "yes" if any(name in notes or name in task for name in chosen) else "no"
    return ambiguity(
        now, "underspecified_symbol", strength, params, acceptable=[f"about: {name}" for name in chosen],
        removed=removed,
    )  # fmt: skip


def _prose(task: str) -> tuple[int, ...]:
    """Return the lines of a task that are sentences, by their number: code and what programs print stay exact."""
    found: list[int] = []
    fence = False
    for at, line in enumerate(task.split("\n")):
        fence ^= line.lstrip().startswith(("```", "~~~"))
        code_like = line.startswith(("    ", "\t")) or _CODE.match(line) or line.rstrip().endswith(("{", ";", ":)"))
        if not fence and not code_like and len(_WORD.findall(line)) >= 4:
            found.append(at)
    return tuple(found)


def _told(line: str) -> str:
    """Return a line without the pieces of code in it: a name that stands alone between ticks is none."""
    return _SPAN.sub(lambda span: span.group() if _SYMBOL.fullmatch(span.group().strip("` ")) else " ", line)


def _vaguely(text: str, vague: dict[str, str]) -> str:
    """Put vague words for the names; code stays exact."""
    pieces = _SPAN.split(text)
    spans = _SPAN.findall(text)
    made = [_swapped(pieces[0], vague)]
    for span, piece in zip(spans, pieces[1:], strict=True):
        made += [vague.get(span.strip("` "), span), _swapped(piece, vague)]
    return "".join(made)


def _swapped(text: str, vague: dict[str, str]) -> str:
    for name in sorted(vague, key=len, reverse=True):
        pattern = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/])")
        text = pattern.sub(vague[name], text)
    return text


def _repeats(line: str, said: set[str]) -> bool:
    """Say whether a line of the notes holds a line of the task."""
    flat = " ".join(line.replace("\\", "").split())
    return any(words in flat or words.replace("`", "") in flat.replace("`", "") for words in said if len(words) > 12)
