"""The notes of a view as something that can be changed: taken apart, searched for a statement, and put together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from passdown.data.perturb.scene import InapplicableError, Scene
from passdown.data.records import Fact, View
from passdown.data.views.facts import stated_in
from passdown.data.views.preamble import NOTES, TASK, parts
from passdown.model.pattern import lazy_pattern
from passdown.packet.escape import code, inline

SHORTEST = 3
"""Characters of a statement that is searched for, at least: a shorter one is found everywhere."""

_CAPS = (200, 160, 120, 100, 80, 60)
"""The lengths to which views cut what they state."""

_HEADER = lazy_pattern(r"(?m)^\[(?P<step>\d+) \| (?P<source>[\w-]+) \| (?P<kind>[\w-]+)\]\n")
_GROUP = lazy_pattern(r"- [A-Z][\w ]{0,40}:\s*")
_SEPARATORS = ("; ", " · ", ", ")
_LAST_RUN, _SAID = "- Last validation: ", "- What it said: "


class Entry(Struct, frozen=True):
    """One event of a trace view, as it stands in the text."""

    step: int
    source: str
    kind: str
    text: str

    @property
    def shown(self) -> str:
        """Header and text."""
        return f"[{self.step} | {self.source} | {self.kind}]\n{self.text}"


def notes_of(view: View) -> str:
    """Return the notes of a view. Raises `InapplicableError` for a view without notes, or without its text."""
    notes = parts(view.text).notes
    if not notes.strip():
        raise InapplicableError("the view has no notes" if view.text else "the view has no text")
    return notes


def with_notes(view: View, notes: str) -> str:
    """Return the view's text with other notes."""
    before = parts(view.text)
    head = f"{before.preamble}\n\n{TASK}\n\n{before.task}\n"
    return f"{head}\n{NOTES}\n\n{notes.strip()}\n" if notes.strip() else head


def with_task(view: View, task: str, notes: str) -> str:
    """Return the view's text with other words for the task, and other notes where there are any."""
    head = f"{parts(view.text).preamble}\n\n{TASK}\n\n{task}\n"
    return f"{head}\n{NOTES}\n\n{notes.strip()}\n" if notes.strip() else head


def entries(notes: str) -> list[Entry]:
    """Return the events of a trace's notes."""
    heads = list(_HEADER.finditer(notes))
    ends = [head.start() for head in heads[1:]] + [len(notes)]
    return [
        Entry(int(head["step"]), head["source"], head["kind"], notes[head.end() : end].rstrip("\n"))
        for head, end in zip(heads, ends, strict=True)
    ]


def joined(found: Iterable[Entry]) -> str:
    """Return events as the notes of a trace."""
    return "\n\n".join(entry.shown for entry in found)


@lru_cache(maxsize=512)
def spellings(text: str) -> tuple[str, ...]:
    """Return the ways in which views write a statement, longest first: as it is, as Markdown, cut short."""
    ways = {text, *(inline(text, cap) for cap in _CAPS), *(code(text, cap) for cap in _CAPS)}
    return tuple(sorted((way for way in ways if len(way) >= SHORTEST), key=lambda way: (-len(way), way)))


def mentions(text: str, statement: str) -> bool:
    """Say whether a text holds a statement in any of its spellings."""
    ways = spellings(statement)
    if any(way in text for way in ways):
        return True
    flat = " ".join(text.split())
    return flat != text and any(way in flat for way in ways)


def stated(view: View) -> tuple[Fact, ...]:
    """Return the facts that the view's notes state in words and that can be told apart in them."""
    found = stated_in(view.facts, notes_of(view))
    return tuple(fact for fact in found if fact.type != "goal" and len(fact.key) >= SHORTEST)


def without(view: View, notes: str, statement: str) -> str:
    """Return the notes without every place that holds a statement: events of a trace, items of a list, lines."""
    if view.name == "trace":
        return joined(_other_entries(entries(notes), statement))
    before = notes.split("\n")
    lines = [kept for line in before for kept in _without_in(line, statement)]
    if len(lines) < len(before):
        lines = list(_without_orphans(lines, before))
    return "\n".join(_without_empty_sections(list(_without_empty_groups(lines))))


def _other_entries(found: list[Entry], statement: str) -> Iterator[Entry]:
    """Leave out the events that hold the statement, and what came back for a call that is left out."""
    after_call = False
    for entry in found:
        if mentions(entry.text, statement):
            after_call = entry.kind == "action"
        elif not (after_call and entry.kind == "observation"):
            after_call = False
            yield entry


def _without_in(line: str, statement: str) -> Iterator[str]:
    if not mentions(line, statement):
        yield line
        return
    for separator in _SEPARATORS:
        label, colon, rest = line.partition(": ") if line.startswith("- ") else ("", "", line)
        items = rest.split(separator)
        kept = [item for item in items if not mentions(item, statement)]
        if len(items) > 1 and kept and len(kept) < len(items) and _is_list(items, separator, colon):
            shorter = label + colon + separator.join(kept)
            if not mentions(shorter, statement):
                yield shorter
                return


def _is_list(items: list[str], separator: str, colon: str) -> bool:
    """Say whether a separator parts items here: elsewhere a comma or a dot is part of a sentence."""
    if separator == "; ":
        return bool(colon)
    return all(item.startswith("`") for item in items) and bool(colon or separator == " · ")


def _without_empty_groups(lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if not (_GROUP.fullmatch(line) and not after.startswith("  ")):
            yield line


def _without_orphans(lines: list[str], before: list[str]) -> Iterator[str]:
    """Leave out what a run said when the notes no longer tell of which run."""
    gone = any(line.startswith(_LAST_RUN) for line in before) and not any(line.startswith(_LAST_RUN) for line in lines)
    return (line for line in lines if not (gone and line.startswith(_SAID)))


def _without_empty_sections(lines: list[str]) -> Iterator[str]:
    """Leave out a heading over nothing: what is known to be empty says `none`."""
    number = 0
    while number < len(lines):
        after = number + 1
        while after < len(lines) and not lines[after].strip():
            after += 1
        ends = after == len(lines) or lines[after].startswith(("## ", "<!--"))
        if not (lines[number].startswith("## ") and ends):
            yield lines[number]
            after = number + 1
        number = after


def drop(scene: Scene, gone: Iterable[Fact]) -> tuple[Scene, tuple[Fact, ...]]:
    """Return the scene whose notes no longer state these facts, and every fact that went with them.

    Raises `InapplicableError` when a statement cannot be taken out, or nothing would be left of the notes.
    """
    before = notes_of(scene.view)
    chosen = tuple(gone)
    notes = before
    for fact in chosen:
        notes = without(scene.view, notes, fact.key)
        if mentions(notes, fact.key):
            raise InapplicableError("the statement cannot be taken out", fact.key[:120])
    if not notes.strip():
        raise InapplicableError("nothing would be left of the notes")
    return restated(scene, notes, chosen)


def restated(scene: Scene, notes: str, chosen: Iterable[Fact] = ()) -> tuple[Scene, tuple[Fact, ...]]:
    """Return the scene with these notes and without the facts that they no longer state, and those facts."""
    view = scene.view
    was, still = set(stated_in(view.facts, notes_of(view))), set(stated_in(view.facts, notes))
    named = set(chosen)
    removed = tuple(fact for fact in view.facts if fact in named or (fact in was and fact not in still))
    gone = set(removed)
    kept = (fact for fact in view.facts if fact not in gone)
    return scene.with_view(with_notes(view, notes), kept), removed


def append(scene: Scene, line: str, facts: Iterable[Fact] = ()) -> Scene:
    """Return the scene with one more statement of the session before at the end of its notes."""
    view, notes = scene.view, notes_of(scene.view)
    if view.name == "trace":
        last = entries(notes)
        step = last[-1].step if last else max(0, view.k - 1)
        notes = joined([*last, Entry(step, "agent", "message", line)])
    else:
        notes = f"{notes}\n- {line}"
    return scene.with_view(with_notes(view, notes), (*view.facts, *facts))


def path_pattern(path: str) -> re.Pattern[str]:
    """Return what finds a path where it stands as a path, whatever folder it is written under."""
    return re.compile(rf"(?<![\w.-]){re.escape(path)}(?![\w/-]|\.\w)")


def rewritten(scene: Scene, change: Callable[[str], str], replaced: Iterable[tuple[Fact, Fact | None]]) -> Scene:
    """Return the scene whose notes went through `change`, with facts replaced (None: taken out)."""
    swap = dict(replaced)
    facts = [new for fact in scene.view.facts if (new := swap.get(fact, fact)) is not None]
    return scene.with_view(with_notes(scene.view, change(notes_of(scene.view))), facts)
