"""The tools of Cline, Roo and Kilo: what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.agents.dialogue import decoded, text_in
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome

ACTIONS: dict[str, Action] = {
    "execute_command": "run", "run_commands": "run", "bash": "run", "write_to_file": "write", "new_file": "write",
    "replace_in_file": "edit", "apply_diff": "edit", "insert_content": "edit", "search_and_replace": "edit",
    "search_replace": "edit", "edit_file": "edit", "edit": "edit", "editor": "edit", "apply_patch": "edit",
    "delete_file": "delete", "read_file": "read", "read_files": "read", "fetch_instructions": "read",
    "search_files": "search", "list_files": "search", "list_code_definition_names": "search",
    "codebase_search": "search", "search_codebase": "search", "ask_followup_question": "ask", "ask_question": "ask",
    "update_todo_list": "plan", "new_task": "delegate", "use_subagents": "delegate", "spawn_agent": "delegate",
    "web_fetch": "web", "web_search": "web", "browser_action": "web", "fetch_web_content": "web",
}  # fmt: skip
TOOLS = frozenset({
    *ACTIONS, "attempt_completion", "plan_mode_respond", "act_mode_respond", "use_mcp_tool", "access_mcp_resource",
    "switch_mode", "condense", "summarize_task", "load_mcp_documentation", "generate_image", "run_slash_command",
    "report_bug", "new_rule", "use_skill", "skill",
})  # fmt: skip
"""Names that count as calls where they stand as XML in an answer."""
SPOKEN = {"attempt_completion": "result", "plan_mode_respond": "response", "act_mode_respond": "response",
          "ask_followup_question": "question"}  # fmt: skip
"""Tools whose argument is what the model says to the person."""
PATHS = ("path", "file_path", "paths", "files", "target_file")

_EXIT = lazy_pattern(r"(?i)\bexit(?:ed with)? code:? (-?\d{1,10})\b")
_DENIED = lazy_pattern(r"(?i)\bthe user (?:denied|rejected) this (?:operation|tool)|\A\s*user (?:denied|rejected)\b")
_FEEDBACK = lazy_pattern(r"(?s)<feedback>\n?(.*?)\n?</feedback>")
_RUNNING = lazy_pattern(r"(?i)\bcommand is still running\b")
_TIMEOUT = lazy_pattern(r"(?i)\b(?:command|execution) timed out\b|\btimed out after \d")
_STOPPED = lazy_pattern(r"(?i)\bcommand (?:was )?(?:interrupted|cancelled|canceled|aborted)\b|Task was interrupted")
_FAILED = lazy_pattern(r"(?i)\A\s*(?:the tool execution failed|\[error\]|error:|<error>)")


class Ending(NamedTuple):
    """How a call ended; `reason` is what a person said when they refused it."""

    outcome: Outcome
    exit_code: int | None = None
    reason: str = ""


def ending(tool: str, text: str, *, failed: bool) -> Ending:
    """Return how a call ended. `failed` is what the result itself says."""
    told: Any = decoded(text) if text.lstrip()[:1] in ("{", "[") else None
    status = text_in(told, "status")
    head = text[:2000]
    if status == "denied" or _DENIED.search(head[:400]):
        feedback = _FEEDBACK.search(text[:100_000])
        return Ending("rejected", None, text_in(told, "feedback") or (feedback[1].strip() if feedback else ""))
    if _STOPPED.search(head[:400]):
        return Ending("interrupted")
    failed = failed or status == "error" or _FAILED.search(head) is not None or _unsuccessful(told)
    if ACTIONS.get(tool) == "run":
        return _command(head, text[-300:], failed=failed, listed=isinstance(told, list))
    return Ending("failed" if failed else "ok")


def _unsuccessful(told: Any) -> bool:
    return isinstance(told, list) and any(isinstance(item, dict) and item.get("success") is False for item in told)


def _command(head: str, tail: str, *, failed: bool, listed: bool) -> Ending:
    if _RUNNING.search(head[:600]):
        return Ending("running")
    match = _EXIT.search(head[:600]) or _EXIT.search(tail)
    code = int(match[1]) if match else None
    if _TIMEOUT.search(head[:600]) and (failed or code is None):
        return Ending("timeout", code)
    if code is None:
        return Ending("failed" if failed else "ok" if listed else "unknown")
    return Ending("failed" if code else "ok", code)


def command_of(arguments: dict[str, Any]) -> str:
    """Return the shell text of a call; several commands of one call stand one below the other."""
    commands = arguments.get("commands")
    if isinstance(commands, list):
        return "\n".join(item if isinstance(item, str) else text_in(item, "command") for item in commands[:100])
    return text_in(arguments, "command") or (commands if isinstance(commands, str) else "")
