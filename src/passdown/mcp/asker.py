"""Which agent asks. An agent marks the shells it starts with a variable, but few mark the servers they start."""

from __future__ import annotations

from collections.abc import MutableMapping

from passdown.agents.nested import MARKERS
from passdown.agents.table import TABLE

_NAMES: tuple[tuple[str, str], ...] = (
    ("claude", "claude_code"), ("codex", "codex"), ("opencode", "opencode"), ("qwen", "qwen"), ("gemini", "gemini"),
    ("copilot", "copilot"), ("cursor", "cursor"), ("openhands", "openhands"),
)  # fmt: skip
"""What the name by which an agent introduces itself holds, in lower case, and the agent's id. The first one counts."""


def agent_called(name: str) -> str:
    """Return the id of the agent that introduces itself so; empty for one that is not known."""
    return next((agent for part, agent in _NAMES if part in name[:80].lower()), "")


def mark(name: str, environ: MutableMapping[str, str]) -> None:
    """Mark this process as run by the agent that introduced itself so, as the agent marks its shells.

    Whoever asks over this protocol is an agent, never a person. What names a session goes: it was right when the
    server was started, and an agent may have begun another session since.
    """
    agent = agent_called(name)
    named = {row.own for row in TABLE if row.own}
    marked = any(environ.get(variable) for variable, _ in MARKERS if variable not in named)
    for variable in named:
        environ.pop(variable, None)
    if not agent:
        if not marked:
            environ["AI_AGENT"] = "1"
        return
    for variable, _ in MARKERS:
        environ.pop(variable, None)
    environ[next((v for v, of in MARKERS if of == agent and v not in named), "AI_AGENT")] = "1"
