"""Gemini CLI's hooks, in `settings.json`.

Its PreCompress fires before every call of the model, compression or not, and is left alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passdown.agents.hook_command import HookCommand
from passdown.agents.hook_entries import HookSettings, Shape

EVENTS = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}
"""The agent's name of an event → ours."""


def file(scope: str, root: Path, home: Path) -> Path:
    """Return the settings file that holds the hooks, of the user (`home` is the agent's folder) or of the project."""
    return (home if scope == "user" else root / ".gemini") / "settings.json"


def context_output(text: str, event: str) -> str:
    """Return what a hook prints so that the agent adds `text` to its context."""
    name = "BeforeAgent" if event == "prompt" else "SessionStart"
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def _hook(command: HookCommand, event: str) -> dict[str, Any]:
    # In milliseconds.
    return {"name": "passdown", "type": "command", "command": command.line("gemini", event), "timeout": 10_000}


_SETTINGS = HookSettings(Shape("gemini"), EVENTS, _hook)

install = _SETTINGS.install
uninstall = _SETTINGS.uninstall
installed = _SETTINGS.installed
