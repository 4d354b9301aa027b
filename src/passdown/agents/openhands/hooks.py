"""OpenHands' hooks, in `hooks.json`. It reads one file only: a project's hides the user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passdown.agents.hook_command import HookCommand
from passdown.agents.hook_entries import HookSettings, Shape

EVENTS = {
    "session_start": "start",
    "user_prompt_submit": "prompt",
    "stop": "stop",
    "session_end": "end",
}
"""The agent's name of an event → ours."""

_ALIASES = {"session_start": "SessionStart", "user_prompt_submit": "UserPromptSubmit", "stop": "Stop",
            "session_end": "SessionEnd"}  # fmt: skip


def file(scope: str, root: Path, home: Path) -> Path:
    """Return the settings file that holds the hooks, of the user (`home` is the agent's folder) or of the project."""
    return (home if scope == "user" else root / ".openhands") / "hooks.json"


def context_output(text: str, event: str) -> str:
    """Return what a hook prints so that the agent adds `text` to its context."""
    del event
    return json.dumps({"additionalContext": text})


def _hook(command: HookCommand, event: str) -> dict[str, Any]:
    return {"type": "command", "command": command.line("openhands", event), "timeout": 10}


_SETTINGS = HookSettings(Shape("openhands", inside="", aliases=_ALIASES), EVENTS, _hook)

install = _SETTINGS.install
uninstall = _SETTINGS.uninstall
installed = _SETTINGS.installed
