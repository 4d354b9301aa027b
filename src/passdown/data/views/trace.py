"""The raw trace: every event of the prefix as `[step | source | type]` and its text, under a budget on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from passdown.data.records import Prefix, Step, View
from passdown.data.scrubber import Scrubber
from passdown.data.views.facts import stated_in
from passdown.data.views.material import Material
from passdown.data.views.options import Options
from passdown.data.views.preamble import whole
from passdown.data.views.shared import Shared
from passdown.evidence.words import cut_middle
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    PlanUpdate,
    ToolCall,
    ToolResult,
    UserMessage,
)  # fmt: skip
from passdown.packet.tokens import estimate_tokens
from passdown.redact.neutralise import neutralise

_LIMITS = (8000, 4000, 2000, 1000, 500, 250)
"""Characters of one observation, from the first try to the last."""
_MARK = 24
"""Tokens that the line about what is left out may cost."""
_ENCODE = msgspec.json.Encoder(order="deterministic")


class Entry(NamedTuple):
    """One event as it is shown."""

    step: int
    source: str
    kind: str
    text: str

    @property
    def shown(self) -> str:
        """Header and text."""
        return f"[{self.step} | {self.source} | {self.kind}]\n{self.text}"


class Elided(NamedTuple):
    """Entries that fit, and what was left out."""

    entries: list[Entry]
    counts: dict[str, int]


def build(material: Material, options: Options) -> View:
    """Return the trace of the prefix. Without `keep_text` it is only measured: export makes it again."""
    prefix = material.prefix
    entries = entries_of(material, material.shared.trace)
    room = None
    if options.budget is not None:
        room = options.budget - estimate_tokens(whole(material.task, "x"))
    kept, counts = _fitted(entries, room, options.policy)
    text = _text(material.task, kept)
    steps = {entry.step for entry in kept}
    facts = tuple(fact for fact in material.facts if fact.step in steps)
    if counts:
        facts = stated_in(facts, text)
    return View(
        name="trace", trajectory_id=prefix.trajectory_id, k=prefix.k, text=text if options.keep_text else "",
        facts=facts, tokens=estimate_tokens(text), elided=counts,
    )  # fmt: skip


def text_of(prefix: Prefix, shared: Shared) -> str:
    """Return the text of the trace alone, with no budget: what was not kept of the view."""
    return _text(shared.trace.clean(prefix.task_text), _entries(prefix, shared, shared.trace))


def _text(task: str, entries: Sequence[Entry]) -> str:
    return whole(task, "\n\n".join(entry.shown for entry in entries))


def entries_of(material: Material, scrubber: Scrubber) -> list[Entry]:
    """Return what is shown of a prefix, event by event, cleaned by one of the material's redactors."""
    return _entries(material.prefix, material.shared, scrubber)


def _entries(prefix: Prefix, shared: Shared, scrubber: Scrubber) -> list[Entry]:
    task = prefix.task_text
    what = f"entries{'' if scrubber is shared.trace else ' in notes'} below {task}"
    made = shared.of_steps(what, prefix.steps, lambda steps: _of_steps(steps, task, scrubber))
    return [entry for entries in made for entry in entries]


def _of_steps(steps: Iterable[Step], task: str, scrubber: Scrubber) -> Iterator[list[Entry]]:
    shown = [[entry._replace(text=neutralise(entry.text)) for entry in _of_step(step, task)] for step in steps]
    scrubber.learn(entry.text for entries in shown for entry in entries)
    for entries in shown:
        yield [entry._replace(text=scrubber.text(entry.text).rstrip()) for entry in entries]


def _of_step(step: Step, task: str) -> Iterator[Entry]:
    said = ""
    for event in step.events:
        entry = _entry(event, task, said)
        if isinstance(event, AssistantMessage):
            said += event.text
        if entry is not None and entry[2].strip():
            yield Entry(step.idx, *entry)


def _entry(event: AnyEvent, task: str, said: str) -> tuple[str, str, str] | None:
    """Return source, type and text of an event; None for one that nobody said or saw."""
    if isinstance(event, UserMessage):
        same = event.text.strip() == task.strip() != ""
        source = "user" if event.origin in ("human", "queued", "command", "shell", "plan") else "harness"
        return source, "message", "(the task, as it stands above)" if same else event.text
    if isinstance(event, AssistantMessage):
        return "agent", "thought" if event.reasoning else "message", event.text
    if isinstance(event, ToolCall):
        text = _call(event)
        return None if len(text) > 3 and text in said else ("agent", "action", text)
    if isinstance(event, ToolResult):
        return "environment", "observation", _result(event)
    if isinstance(event, PlanUpdate):
        lines = [f"- [{'x' if item.status == 'completed' else ' '}] {item.text}" for item in event.items]
        return "agent", "plan", "\n".join(lines) or event.text
    if isinstance(event, Compaction):
        return "harness", "summary", event.summary
    if isinstance(event, Interruption):
        return "user", "interruption", event.reason or "(interrupted)"
    return None


def _call(event: ToolCall) -> str:
    if event.action == "run" and event.command:
        return event.command
    return "\n".join([event.tool, *(_argument(name, value) for name, value in event.arguments.items())])


def _argument(name: str, value: Any) -> str:
    """Return an argument as text: a line of its own, more of them below its name."""
    text = value if isinstance(value, str) else _ENCODE.encode(value).decode()
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def _result(event: ToolResult) -> str:
    failed = event.outcome not in ("ok", "unknown")
    ended = f"(exit {event.exit_code})" if event.exit_code else f"({event.outcome})" if failed else ""
    return "\n".join(part for part in (event.text.rstrip(), ended) if part) or "(no output)"


def _fitted(entries: list[Entry], room: int | None, policy: str | None) -> Elided:
    if policy is None:
        policy = "none" if room is None else "elide"
    if policy == "none" or room is None or _cost(entries) <= room:
        return Elided(entries, {})
    if policy == "tail":
        return _ends(entries, room, 0.0)
    if policy == "head_tail":
        return _ends(entries, room, 1 / 3)
    shortened = Elided(entries, {})
    for limit in _LIMITS:
        shortened = _shortened(entries, limit)
        if _cost(shortened.entries) <= room:
            return shortened
    ends = _ends(shortened.entries, room, 1 / 3)
    return Elided(ends.entries, shortened.counts | ends.counts)


def _cost(entries: Sequence[Entry]) -> int:
    return sum(estimate_tokens(entry.shown) + 1 for entry in entries)


def _shortened(entries: list[Entry], limit: int) -> Elided:
    """Cut long observations in their middle, and say by how much."""
    kept: list[Entry] = []
    observations = characters = 0
    for entry in entries:
        if entry.kind == "observation" and len(entry.text) > limit:
            text, cut = cut_middle(entry.text, limit)
            entry = entry._replace(text=text.replace("[…]", f"[… {cut} characters left out …]", 1))
            observations, characters = observations + 1, characters + cut
        kept.append(entry)
    return Elided(kept, {"observations": observations, "characters": characters} if observations else {})


def _ends(entries: list[Entry], room: int, head: float) -> Elided:
    """Keep the first entries up to a share of the room, and the last ones that fit in the rest. One always stays."""
    costs = [estimate_tokens(entry.shown) + 1 for entry in entries]
    room -= _MARK
    first, spent = 0, 0
    while first < len(entries) and spent + costs[first] <= room * head:
        spent += costs[first]
        first += 1
    last = len(entries)
    while last > first and spent + costs[last - 1] <= room:
        last -= 1
        spent += costs[last]
    if last == len(entries) and entries:
        return _last_alone(entries, first, max(40, 3 * (room - spent)))
    gone = entries[first:last]
    if not gone:
        return Elided(entries, {})
    mark = _mark(gone, sum(costs[first:last]))
    return Elided([*entries[:first], mark, *entries[last:]], {"entries": len(gone), "tokens": sum(costs[first:last])})


def _last_alone(entries: list[Entry], first: int, characters: int) -> Elided:
    """The last entry alone has more than there is room for: its middle goes as well."""
    text, cut = cut_middle(entries[-1].text, characters)
    gone = entries[first:-1]
    mark = [_mark(gone, _cost(gone))] if gone else []
    counts = {"entries": len(gone), "tokens": _cost(gone), "characters": cut}
    return Elided([*entries[:first], *mark, entries[-1]._replace(text=text)], counts)


def _mark(gone: list[Entry], tokens: int) -> Entry:
    steps = f"{gone[0].step}-{gone[-1].step}" if gone[0].step != gone[-1].step else str(gone[0].step)
    return Entry(
        gone[0].step, "harness", "left out", f"[… {len(gone)} entries of steps {steps}, about {tokens} tokens …]"
    )
