"""Gemini CLI's hooks, in `settings.json`.

Its PreCompress fires before every call of the model, compression or not, and is left alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passdown.agents.hook_command import HookCommand, OwnLine
from passdown.agents.hook_entries import Shape, install_entries, installed_entries, uninstall_entries

EVENTS = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}
"""The agent's name of an event → ours."""

_SHAPE = Shape("gemini")


def file(scope: str, root: Path, home: Path) -> Path:
    """Return the settings file that holds the hooks, of the user (`home` is the agent's folder) or of the project."""
    return (home if scope == "user" else root / ".gemini") / "settings.json"


def install(text: str | None, command: HookCommand, where: str = "") -> str:
    """Return the settings with our hooks, everything else to the byte as it was."""
    return install_entries(text, _SHAPE, {name: _hook(command, event) for name, event in EVENTS.items()}, where)


def uninstall(text: str, where: str = "", *, whole: bool = True) -> str:
    """Return the settings without our hooks; nothing is left of a file made for them, unless `whole` is False."""
    return uninstall_entries(text, _SHAPE, where, whole=whole)


def installed(text: str, where: str = "") -> list[OwnLine]:
    """Return the command lines of ours in the settings."""
    return installed_entries(text, _SHAPE, where)


def context_output(text: str, event: str) -> str:
    """Return what a hook prints so that the agent adds `text` to its context."""
    name = "BeforeAgent" if event == "prompt" else "SessionStart"
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def _hook(command: HookCommand, event: str) -> dict[str, Any]:
    # In milliseconds.
    return {"name": "passdown", "type": "command", "command": command.line("gemini", event), "timeout": 10_000}
