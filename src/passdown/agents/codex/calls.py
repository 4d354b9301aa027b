"""What a Codex tool call does: action, command, folder, paths."""

from __future__ import annotations

import re
import shlex
from typing import Any

import msgspec
from msgspec import Struct, field

from passdown.io.jsonl import salvage
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action

_ACTIONS: dict[str, Action] = {
    "exec_command": "run", "shell": "run", "shell_command": "run", "local_shell": "run", "local_shell_call": "run",
    "container.exec": "run", "unified_exec": "run", "write_stdin": "run", "apply_patch": "edit",
    "update_plan": "plan", "view_image": "read", "read_file": "read", "read_mcp_resource": "read",
    "list_dir": "search", "grep_files": "search", "list_mcp_resources": "search", "web_search": "web",
    "spawn_agent": "delegate", "spawn_agents_on_csv": "delegate", "wait_agent": "delegate", "send_input": "delegate",
    "close_agent": "delegate", "resume_agent": "delegate", "followup_task": "delegate", "send_message": "delegate",
    "interrupt_agent": "delegate", "list_agents": "delegate", "assign_task": "delegate", "request_user_input": "ask",
    "request_user_input_async": "ask", "request_permissions": "ask",
}  # fmt: skip

_PATCHED = lazy_pattern(r"\*\*\* (?:(Add|Update|Delete) File|(Move) to): (.+)")
_HEREDOC = lazy_pattern(r"\A\s*(?:cd [^\n&;]+&&\s*)?(?:apply_patch|applypatch)\b[\s\S]{0,200}?\*\*\* Begin Patch")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "powershell", "pwsh", "powershell.exe", "pwsh.exe"})
_SCRIPTED = lazy_pattern(
    r"""\bexec_command\(\s*\{[^{}]{0,400}?\bcmd\s*:\s*
    (?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|`(?P<tick>(?:[^`\\$]|\\.)*)`)""",
    re.VERBOSE,
)
_ESCAPE = lazy_pattern(r"\\(.)", re.DOTALL)
_MAX_PATHS = 500
_JSON = msgspec.json.Decoder()


class Called(Struct, frozen=True, gc=False):
    """A call as it is kept until its result comes."""

    tool: str
    action: Action
    command: str = ""
    cwd: str = ""
    paths: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)


def read_call(name: str, namespace: str | None, given: Any) -> Called:
    """Return what a call does. `given` is its arguments as JSON text, its free text, or an object."""
    tool = name if namespace in (None, "", "functions") or name in _ACTIONS else f"{namespace}.{name.lstrip('_')}"
    action = _ACTIONS.get(name, "other")
    if name == "apply_patch" and isinstance(given, str) and not given.lstrip().startswith("{"):
        return patch_call(tool, given, {"input": given})
    arguments = _arguments(given)
    if name == "apply_patch":
        text = arguments.get("input", arguments.get("patch"))
        return patch_call(tool, text if isinstance(text, str) else "", arguments)
    if action == "run":
        return _run(tool, arguments)
    path = arguments.get("path", arguments.get("file_path"))
    return Called(tool, action, "", "", (path,) if isinstance(path, str) and path else (), arguments)


def patch_call(tool: str, patch: str, arguments: dict[str, Any], cwd: str = "") -> Called:
    """Return the call that applies `patch`: an edit, or a write or a delete when it does nothing else."""
    kinds: set[str] = set()
    paths: dict[str, None] = {}
    for match in _PATCHED.finditer(patch):
        if match.start() and patch[match.start() - 1] != "\n":
            continue
        kinds.add(match[1] or match[2])
        paths[match[3].rstrip()] = None
        if len(paths) >= _MAX_PATHS:
            break
    action: Action = "write" if kinds == {"Add"} else "delete" if kinds == {"Delete"} else "edit"
    return Called(tool, action, "", cwd, tuple(paths), arguments)


def changes_call(tool: str, changes: dict[str, msgspec.Raw], arguments: dict[str, Any]) -> Called:
    """Return the call behind a map of changed files (`{path: {"type": "add"|"update"|"delete", …}}`)."""
    kinds = {kind for raw in list(changes.values())[:_MAX_PATHS] for kind in _KINDS.findall(bytes(raw)[:4096])}
    action: Action = "write" if kinds == {b"add"} else "delete" if kinds == {b"delete"} else "edit"
    return Called(tool, action, "", "", tuple(list(changes)[:_MAX_PATHS]), arguments)


_KINDS = lazy_pattern(rb'"type"\s*:\s*"(add|update|delete)"')


def _run(tool: str, arguments: dict[str, Any]) -> Called:
    command = command_text(arguments.get("cmd", arguments.get("command")))
    folder = arguments.get("workdir", arguments.get("working_directory"))
    cwd = folder if isinstance(folder, str) else ""
    if "*** Begin Patch" in command and (command.startswith("*** Begin") or _HEREDOC.match(command)):
        return patch_call(tool, command, arguments, cwd)
    return Called(tool, "run", command, cwd, (), arguments)


def command_text(command: Any) -> str:
    """Return the shell text of a command given as text or as an argument list (`["bash", "-lc", TEXT]`)."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(part, str) for part in command):
        return ""
    if len(command) == 3 and command[1] in ("-lc", "-c", "-Command") and re.split(r"[/\\]", command[0])[-1] in _SHELLS:
        return str(command[2])
    return command[1] if len(command) == 2 and command[0] == "apply_patch" else shlex.join(command)


def _arguments(given: Any) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    if not isinstance(given, str):
        return {}
    try:
        decoded = _JSON.decode(given)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        decoded = _mended(given)
    return decoded if isinstance(decoded, dict) else {"input": given}


def _mended(given: str) -> Any:
    try:
        documents = salvage(given.encode("utf-8", "replace"))
        return msgspec.json.decode(documents[0]) if len(documents) == 1 else None
    except (msgspec.DecodeError, RecursionError):
        return None


def scripted_commands(source: str) -> list[str]:
    """Return the commands that stand as literals in a code-mode script, in order; built-up ones cannot be read."""
    found = []
    for match in _SCRIPTED.finditer(source[: 256 << 10]):
        text = match["double"] if match["double"] is not None else match["single"]
        if text is None:
            text = match["tick"]
        found.append(_ESCAPE.sub(_unescape, text))
    return found[:100]


def _unescape(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1])
