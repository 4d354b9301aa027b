"""How each agent is told of the server: the file, and what goes into it. Facts only; nothing is written."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from passdown.agents.table import row_called
from passdown.errors import UsageError

COMMAND = ("passdown", "mcp")


class Client(NamedTuple):
    """One agent: its id, the files of the user and of the project (empty for none), and the snippet's shape.

    `path` are the keys under which the server stands, `command` when its program and words are one list.
    """

    agent: str
    user: str
    project: str
    path: tuple[str, ...] = ("mcpServers", "passdown")
    extra: tuple[tuple[str, Any], ...] = ()
    one_list: bool = False
    toml: bool = False


CLIENTS: tuple[Client, ...] = (
    Client("claude_code", "~/.claude.json", ".mcp.json", extra=(("type", "stdio"),)),
    Client("codex", "~/.codex/config.toml", ".codex/config.toml", path=("mcp_servers", "passdown"), toml=True),
    Client("gemini", "~/.gemini/settings.json", ".gemini/settings.json"),
    Client("qwen", "~/.qwen/settings.json", ".qwen/settings.json"),
    Client("opencode", "~/.config/opencode/opencode.json", "opencode.json", path=("mcp", "passdown"),
           extra=(("type", "local"), ("enabled", True)), one_list=True),
    Client("copilot", "~/.copilot/mcp-config.json", "", extra=(("type", "local"), ("tools", ["*"]))),
    Client("openhands", "~/.openhands/mcp.json", ""),
)  # fmt: skip
"""The agents that speak the protocol. Pi does not."""


def snippet_for(agent: str, command: tuple[str, ...] = COMMAND) -> tuple[Client, str]:
    """Return an agent's row and what goes into its file. Raises `UsageError` for one that has no such file."""
    row = row_called(agent)
    client = next((client for client in CLIENTS if row is not None and client.agent == row.id), None)
    if client is None:
        known = ", ".join(client.agent for client in CLIENTS)
        what = "Pi has no MCP" if agent == "pi" else f"no agent {agent[:40]!r} is known here"
        raise UsageError(what, next_step=f"Known: {known}. Pi, and every other agent, runs `passdown take` and `wrap`.")
    if client.toml:
        words = json.dumps(list(command[1:]))
        return client, f"[{'.'.join(client.path)}]\ncommand = {json.dumps(command[0])}\nargs = {words}\n"
    program: dict[str, Any] = {"command": list(command)}
    if not client.one_list:
        program = {"command": command[0], "args": list(command[1:])}
    value: dict[str, Any] = dict(client.extra) | program
    for key in reversed(client.path):
        value = {key: value}
    return client, json.dumps(value, indent=2) + "\n"
