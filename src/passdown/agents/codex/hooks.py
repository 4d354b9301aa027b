"""Codex's hooks: `hooks.json` beside its configuration. It runs none that its user has not trusted (see `trust.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passdown.agents.hook_command import HookCommand
from passdown.agents.hook_entries import HookSettings, Shape

EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "PreCompact": "compact",
    "PostCompact": "compacted",
    "SessionEnd": "end",
    "Interrupt": "interrupt",
}
"""The agent's name of an event → ours."""


def file(scope: str, root: Path, home: Path) -> Path:
    """Return the settings file that holds the hooks, of the user (`home` is the agent's folder) or of the project."""
    return home / "hooks.json" if scope == "user" else root / ".codex" / "hooks.json"


def context_output(text: str, event: str) -> str:
    """Return what a hook prints so that the agent adds `text` to its context."""
    name = "UserPromptSubmit" if event == "prompt" else "SessionStart"
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def _hook(command: HookCommand, event: str) -> dict[str, Any]:
    # In seconds. Codex gives a session's end and an interrupt 3 at most, and complains of more at every start.
    timeout = 3 if event in ("end", "interrupt") else 10
    return {"type": "command", "command": command.line("codex", event), "timeout": timeout}


_SETTINGS = HookSettings(Shape("codex"), EVENTS, _hook)

install = _SETTINGS.install
uninstall = _SETTINGS.uninstall
installed = _SETTINGS.installed
