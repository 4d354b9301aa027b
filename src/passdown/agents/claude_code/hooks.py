"""Claude Code's hooks: `settings.json` of the user, `settings.local.json` of a project.

A project's own `settings.json` is shared by its people, our command line holds this machine's paths: so the local one.
"""

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
    "StopFailure": "error",
    "PreCompact": "compact",
    "PostCompact": "compacted",
    "SessionEnd": "end",
}
"""The agent's name of an event → ours."""


def file(scope: str, root: Path, home: Path) -> Path:
    """Return the settings file that holds the hooks, of the user (`home` is the agent's folder) or of the project."""
    return home / "settings.json" if scope == "user" else root / ".claude" / "settings.local.json"


def context_output(text: str, event: str) -> str:
    """Return what a hook prints so that the agent adds `text` to its context."""
    name = "UserPromptSubmit" if event == "prompt" else "SessionStart"
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def _hook(command: HookCommand, event: str) -> dict[str, Any]:
    # In seconds. Without one, Claude Code gives a session's end 1.5 s, which a busy machine may need for Python alone.
    return {"type": "command", "command": command.line("claude_code", event), "timeout": 10}


_SETTINGS = HookSettings(Shape("claude_code"), EVENTS, _hook)

install = _SETTINGS.install
uninstall = _SETTINGS.uninstall
installed = _SETTINGS.installed
