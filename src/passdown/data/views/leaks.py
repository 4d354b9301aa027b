"""Texts to look for leaks in: everything a prefix says, and the lines that only the rest of a run adds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from passdown.data.records import Prefix, Step, Trajectory
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall

GRAM = 8
MAX_LINES = 2000
_TOKEN = lazy_pattern(r"\w+|[^\w\s`\\*]")
"""Words and signs, without those that Markdown and JSON put in and take out."""
_OLD = frozenset({"old_str", "old_string", "old", "oldText", "oldString", "search", "view_range"})
_CHANGING = ("EDIT", "CREATE")


def words_in(text: str) -> list[str]:
    """Return a text's tokens: words and single signs."""
    return _TOKEN.findall(text)


def tokens_of(text: str) -> str:
    """Return a text as its tokens with one space between, and one at each end."""
    return f" {' '.join(words_in(text))} "


def grams(line: str) -> Iterator[str]:
    """Yield every eight tokens in a row of a line."""
    tokens = _TOKEN.findall(line)
    for at in range(len(tokens) - GRAM + 1):
        yield f" {' '.join(tokens[at : at + GRAM])} "


def grams_in(tokens: str, wanted: Collection[str]) -> set[str]:
    """Return which of the wanted grams a text holds, given as its tokens: one walk, however many are wanted."""
    first = {gram.split(" ", 2)[1] for gram in wanted}
    words = tokens.split(" ")
    starts = (at for at, word in enumerate(words) if word in first)
    return {gram for at in starts if (gram := f" {' '.join(words[at : at + GRAM])} ") in wanted}


def bare(gram: str) -> str:
    """Return a gram without the signs at its ends: what stands around a quoted path or name says nothing."""
    tokens = gram.split()
    while tokens and not tokens[0][0].isalnum() and tokens[0][0] != "_":
        del tokens[0]
    while tokens and not tokens[-1][0].isalnum() and tokens[-1][0] != "_":
        del tokens[-1]
    return f" {' '.join(tokens)} "


def added_lines(trajectory: Trajectory, k: int) -> tuple[str, ...]:
    """Return the lines that the final patch and the edits after the cut add, each once, long enough to be telling."""
    found: dict[str, None] = {}
    for line in _candidates(trajectory, k):
        if len(found) >= MAX_LINES:
            break
        if len(line) >= 2 * GRAM - 1 and line not in found:
            found[line] = None
    return tuple(found)


def _candidates(trajectory: Trajectory, k: int) -> Iterator[str]:
    for line in trajectory.outcome.patch.splitlines():
        if line.startswith("+") and not line.startswith("+++"):
            yield line[1:].strip()
    for step in trajectory.steps[k:]:
        changing = {action.call_id for action in step.actions if action.kind in _CHANGING}
        for event in step.events:
            if isinstance(event, ToolCall) and event.call_id in changing:
                for text in [event.command] if event.command else _new_texts(event.arguments, 0):
                    for line in text.splitlines():
                        yield line.lstrip("+").strip()


def _new_texts(value: Any, depth: int) -> Iterator[str]:
    """Yield the texts inside a call's arguments, but those that an edit takes away."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < 6:
        for name, item in value.items():
            if name not in _OLD:
                yield from _new_texts(item, depth + 1)
    elif isinstance(value, list | tuple) and depth < 6:
        for item in value:
            yield from _new_texts(item, depth + 1)


def said_in(prefix: Prefix) -> str:
    """Return everything that a prefix holds as one text: task, words, calls with their arguments, results."""
    return "\n".join([prefix.task_text, *map(said_in_step, prefix.steps)])


def said_in_step(step: Step) -> str:
    """Return everything that one step holds as one text."""
    parts: list[str] = []
    for event in step.events:
        for name in ("text", "command", "summary", "reason", "prompt", "title"):
            value = getattr(event, name, "")
            if isinstance(value, str) and value:
                parts.append(value)
        if isinstance(event, ToolCall):
            parts += event.paths
            parts += _texts(event.arguments, 0)
        parts += [item.text for item in getattr(event, "items", ())]
    return "\n".join(parts)


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < 6:
        for name, item in value.items():
            yield str(name)
            yield from _texts(item, depth + 1)
    elif isinstance(value, list | tuple) and depth < 6:
        for item in value:
            yield from _texts(item, depth + 1)
