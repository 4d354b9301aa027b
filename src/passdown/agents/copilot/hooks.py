"""Copilot CLI's hooks: a file of our own in its folder of hook files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passdown.agents.hook_command import HookCommand
from passdown.agents.hook_entries import HookSettings, Shape

EVENTS = {
    "sessionStart": "start",
    "userPromptSubmitted": "prompt",
    "agentStop": "stop",
    "preCompact": "compact",
    "errorOccurred": "error",
    "sessionEnd": "end",
}
"""The agent's name of an event → ours."""


def file(scope: str, root: Path, home: Path) -> Path:
    """Return the settings file that holds the hooks, of the user (`home` is the agent's folder) or of the project."""
    return (home / "hooks" if scope == "user" else root / ".github" / "hooks") / "passdown.json"


def context_output(text: str, event: str) -> str:
    """Return what a hook prints so that the agent adds `text` to its context."""
    del event
    return json.dumps({"additionalContext": text})


def _hook(command: HookCommand, event: str) -> dict[str, Any]:
    return {"type": "command", "bash": command.line("copilot", event), "timeoutSec": 10}


_SETTINGS = HookSettings(Shape("copilot", grouped=False, command="bash", opening={"version": 1}), EVENTS, _hook)

install = _SETTINGS.install
uninstall = _SETTINGS.uninstall
installed = _SETTINGS.installed
