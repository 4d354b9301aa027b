"""Whether Codex will run our hooks. It runs a hook only when its user has trusted exactly that hook, and says nothing.

Trust lies in `config.toml`: `[hooks.state."<file>:<event>:<group>:<hook>"]` with `trusted_hash`, the digest of the hook
as Codex understands it (canonical JSON of event, matcher and handler). A project's hooks need the project's trust, too.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any, Literal

from passdown.agents.hook_command import read_line
from passdown.agents.json_text import parse_text
from passdown.model.pattern import lazy_pattern

Trust = Literal["trusted", "not trusted", "unknown", "off"]

_CAPITAL = lazy_pattern(r"(?<!^)(?=[A-Z])")


def codex_trust(config: str | None, settings: str, path: Path, project: Path | None = None) -> Trust:
    """Say whether Codex trusts every hook of ours in `settings`, the text of the hooks file at `path`.

    `config` is the text of the user's `config.toml`; `project` is the project's root when the hooks are a project's.
    """
    try:
        read = tomllib.loads(config or "")
    except tomllib.TOMLDecodeError:
        return "unknown"
    if _part(read, "features").get("hooks") is False:
        return "off"
    if project is not None and _part(read, "projects", str(project)).get("trust_level") != "trusted":
        return "not trusted"
    states = {_place(key): value for key, value in _part(read, "hooks", "state").items() if isinstance(value, dict)}
    verdict: Trust = "trusted"
    for event, group, index, hook, matcher in _own_hooks(settings):
        state = states.get((str(path.resolve()), f"{event}:{group}:{index}"), {})
        if state.get("enabled") is False:
            return "off"
        if state.get("trusted_hash") not in {hook_hash(event, hook, None), hook_hash(event, hook, matcher)}:
            verdict = "not trusted"
    return verdict


def hook_hash(event: str, hook: dict[str, Any], matcher: str | None) -> str:
    """Return the digest by which Codex knows a command hook. `event` is written as in `session_start`."""
    known = {
        "type": "command",
        "command": hook.get("command"),
        "timeout": hook.get("timeout", 600),
        "async": hook.get("async", False),
    }
    if hook.get("statusMessage"):
        known["statusMessage"] = hook["statusMessage"]
    whole = {"event_name": event, "hooks": [known], **({"matcher": matcher} if matcher is not None else {})}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def trust_entries(settings: str, path: Path) -> dict[str, str]:
    """Return what `config.toml` says where its user trusts our hooks: key → digest."""
    return {
        f"{path}:{event}:{group}:{index}": hook_hash(event, hook, matcher)
        for event, group, index, hook, matcher in _own_hooks(settings)
    }


def _own_hooks(settings: str) -> list[tuple[str, int, int, dict[str, Any], str | None]]:
    root = parse_text(settings).root
    whole = root.plain() if root else {}
    found: list[tuple[str, int, int, dict[str, Any], str | None]] = []
    events = whole.get("hooks") if isinstance(whole, dict) else None
    for name, groups in events.items() if isinstance(events, dict) else ():
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for index, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if isinstance(hook, dict) and read_line(hook.get("command")):
                    found.append((_CAPITAL.sub("_", str(name)).lower(), at, index, hook, group.get("matcher")))
    return found


def _part(value: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        value = value.get(key, {}) if isinstance(value, dict) else {}
    return value if isinstance(value, dict) else {}


def _place(key: str) -> tuple[str, str]:
    parts = key.rsplit(":", 3)
    return (str(Path(parts[0]).resolve()), ":".join(parts[1:])) if len(parts) == 4 else (key, "")
