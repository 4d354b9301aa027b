"""The structured view: the packet that `wrap` would have written at this point, and the state by rule beside it."""

from __future__ import annotations

from passdown.data.records import Fact, FactType, View
from passdown.data.views.continuation import NONE, block
from passdown.data.views.facts import stated_in
from passdown.data.views.material import Material
from passdown.data.views.options import Options
from passdown.data.views.preamble import whole
from passdown.packet.escape import inline
from passdown.packet.render import render_markdown
from passdown.packet.tokens import estimate_tokens

HEADING = "## What is known, by the step that shows it"
_CATEGORIES: tuple[tuple[str, FactType, frozenset[str]], ...] = (
    ("Done", "todo", frozenset({"completed"})),
    ("In progress", "todo", frozenset({"in_progress"})),
    ("To do", "todo", frozenset({"pending"})),
    ("Changed", "file_changed", frozenset()),
    ("Tested", "test_result", frozenset()),
    ("Decisions", "decision", frozenset()),
    ("Asked since", "request", frozenset()),
    ("Comments of reviews", "review", frozenset()),
    ("Risks", "risk", frozenset()),
    ("Environment", "env", frozenset()),
    ("Next action", "next_action", frozenset()),
)
"""Titles in order; the type of the facts, and of a plan's items the states they are in."""
_ROOMS = ((6, 160), (5, 120), (3, 100), (2, 80), (1, 60), (0, 0))
"""Items of a category and characters of each, from the most detailed index to none."""


def build(material: Material, options: Options) -> View:
    """Return the structured view: packet, continuation state, and an index of what is known by which step."""
    packet = render_markdown(material.packet)
    state = block(material.continuation)
    facts = material.facts
    quoted = set(stated_in((fact for fact in facts if fact.type == "request"), packet))  # in the human's words
    indexed = tuple(fact for fact in facts if fact not in quoted)
    for items, chars in _ROOMS:
        index, shown, left = _index(indexed, items, chars)
        text = whole(material.task, "\n".join([packet, state, *index]))
        tokens = estimate_tokens(text)
        if options.budget is None or tokens <= options.budget:
            break
    seen = {*shown, *stated_in(facts, text)}
    stated = tuple(fact for fact in facts if fact in seen)
    return View(
        name="structured", trajectory_id=material.prefix.trajectory_id, k=material.prefix.k, text=text, facts=stated,
        tokens=tokens, writer="passdown", elided={"facts": left} if left else {},
    )  # fmt: skip


def _index(facts: tuple[Fact, ...], items: int, chars: int) -> tuple[list[str], list[Fact], int]:
    """Return the index as Markdown, the facts that it shows, and how many it leaves out."""
    if not items:
        return [], [], len(facts)
    lines, shown, left = ["", HEADING], [], 0
    for title, kind, states in _CATEGORIES:
        of_kind = [fact for fact in facts if fact.type == kind and (not states or fact.value in states)]
        kept = of_kind[-items:]
        left += len(of_kind) - len(kept)
        if not kept and kind in ("request", "review"):
            continue
        if not kept:
            lines.append(f"- {title}: {NONE}")
            continue
        lines.append(f"- {title}:")
        lines += [f"  - … {len(of_kind) - len(kept)} more"] if len(kept) < len(of_kind) else []
        lines += [f"  - {_line(fact, chars)}" for fact in kept]
        shown += kept
    lines.append("- Not known: running processes, variables of the environment, what was done outside of the log")
    return lines, shown, left


def _line(fact: Fact, chars: int) -> str:
    value = f" — {inline(fact.value, chars)}" if fact.value and fact.type != "todo" else ""
    return f"{inline(fact.key, chars)}{value} (step {fact.step} · {fact.status})"
