"""Subagents: whether one that was sent off has come back within the step, and what it gave back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolResult

_LAUNCHED = lazy_pattern(
    r"(?i)\b(?:launched|started|running|spawned)\b[^\n]{0,40}\b(?:successfully|in (?:the )?background|async\w*)"
)
_WRAPPED = lazy_pattern(r"\s*(?:<task [^<>\n]*>|task_id: [^\n]*)?\s*<task_result>([\s\S]*?)(?:</task_result>|\Z)")
_LOOKED = lazy_pattern(
    r"Agent (?:completed|is idle)\b[^\n]{0,60}?\bagent_id: (?P<agent>[^,\n]{1,200}), "
    r"agent_type: (?P<type>[^,\n]{0,200}), status: \w+, description: (?P<description>[^\n]{0,500}?), elapsed: "
    r"[^\n]*?(?:total_turns: (?P<turns>\d+)[^\n]*)?\n"
    r"\s*(?:\[Turn \d+\])?"
)
_HANDED = lazy_pattern(
    r"\s*(?:Another Claude session sent a message:\s*)?"
    r"(?:<agent-message from=\"(?P<agent>[^\"\n]{0,200})\"[^<>\n]*>\s*)?"
    r"\[Subagent hand-back\] [^\n]*\n"
)


class Look(NamedTuple):
    """A look at a subagent that is done or waits: its name, its turns so far, what it is for, what it said."""

    agent: str
    turns: str
    about: Mapping[str, str]
    told: str


class HandBack(NamedTuple):
    """The message by which a subagent's last words come back: its id, empty where the result of a call holds them."""

    agent: str
    told: str


def is_away(results: Sequence[ToolResult]) -> bool:
    """Say whether a subagent is still at work when the step ends."""
    return not results or results[-1].outcome == "running" or _LAUNCHED.search(results[-1].text[:400]) is not None


def looked_at(text: str) -> Look | None:
    """Read what a look at a subagent shows (Copilot CLI 1.0's `read_agent`); None for another text, or if it works."""
    found = _LOOKED.match(text)
    if found is None:
        return None
    about = {"agent_type": found["type"], "description": found["description"]}
    return Look(found["agent"], found["turns"] or "", about, text[found.end() :].strip())


def handed_back(text: str) -> HandBack | None:
    """Read a hand-back (Claude Code 2.1.288 frames a report so, and indents its lines); None for another text."""
    found = _HANDED.match(text)
    if found is None:
        return None
    lines = []
    for line in text[found.end() :].split("\n"):
        if line and not line.startswith("  "):
            break
        lines.append(line[2:])
    return HandBack(found["agent"] or "", "\n".join(lines).strip())


def unwrapped(text: str) -> str:
    """Return what a subagent said, without what its program puts around it (OpenCode's `task_result`, hand-backs)."""
    if wrapped := _WRAPPED.match(text):
        return wrapped.group(1).strip()
    handed = handed_back(text)
    return handed.told if handed else text
