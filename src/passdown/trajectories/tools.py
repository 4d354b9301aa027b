"""Tools by the names that agents give them in trajectories: what a call does, and what it does it to."""

from __future__ import annotations

import shlex
from typing import Any

import msgspec

from passdown.io.log import BAD
from passdown.model.session import Action, PlanItem, PlanStatus

_ACTIONS: dict[Action, str] = {
    "run": (
        "bash execute_bash terminal shell run run_command bash_command run_shell_command execute_command exec_command "
        "local_shell container.exec powershell execute_powershell run_ipython execute_ipython_cell ipython python "
        "run_terminal_cmd run_in_terminal execute"
    ),
    "edit": (
        "edit multiedit insert str_replace apply_patch edit_file replace search_replace patch replace_in_file "
        "str_replace_based_edit edit_anthropic append undo_edit notebookedit edit_block"
    ),
    "write": "write create write_file create_file write_to_file save_file new_file",
    "delete": "delete delete_file remove_file",
    "read": "read open view read_file goto scroll_up scroll_down open_file cat view_file read_many_files view_image",
    "search": (
        "grep glob search search_dir search_file find_file ls list_dir list_directory find_files search_files "
        "grep_search file_search codebase_search search_file_content filemap list_files"
    ),
    "plan": "todowrite todo_write update_plan task_tracker task_tracking todo write_todos update_todo_list",
    "delegate": "task agent delegate spawn_agent subagent dispatch_agent delegate_task",
    "ask": "ask_user ask_user_question askuserquestion ask_followup_question request_user_input",
    "web": "web_search websearch webfetch web_fetch fetch browser browse goto_url google_web_search browse_interactive",
}
_BY_NAME: dict[str, Action] = {name: action for action, names in _ACTIONS.items() for name in names.split()}
_EDITORS = frozenset({
    "str_replace_editor", "file_editor", "str_replace_based_edit_tool", "planning_file_editor", "editor",
    "text_editor",
})  # fmt: skip
_EDITS: dict[str, Action] = {
    "view": "read", "create": "write", "str_replace": "edit", "insert": "edit", "undo_edit": "edit",
}  # fmt: skip
_PLANS = ("todos", "plan", "task_list", "items", "tasks")
_TITLES = ("content", "step", "title", "text", "description")
_STATUS: dict[str, PlanStatus] = {
    "todo": "pending", "pending": "pending", "in_progress": "in_progress", "active": "in_progress",
    "done": "completed", "completed": "completed", "complete": "completed", "cancelled": "cancelled",
}  # fmt: skip
SUBMITS = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What mini-swe-agent's model echoes to be done. The harness takes it; no exit code is written down."""
_HANDS_IN = frozenset({"submit", "finish", "mark_task_complete", "task_complete", "complete_task", "done"})
_COMMANDS = ("command", "cmd", "keystrokes", "code", "script", "input")
_PATHS = (
    "path",
    "file_path",
    "filename",
    "file_name",
    "file",
    "filepath",
    "target_file",
    "absolute_path",
    "TargetFile",
)


def action_of(tool: str, arguments: dict[str, Any]) -> Action:
    """Return what a call does, by its tool's name and, for editors, its command."""
    name = tool.rpartition("__")[2].rpartition("functions.")[2].lower().replace("-", "_")
    if name in _EDITORS:
        return _EDITS.get(str(arguments.get("command")), "edit")
    if name.startswith(("browser_", "tavily_")):
        return "web"
    return _BY_NAME.get(name, "other")


def command_of(action: Action, arguments: dict[str, Any]) -> str:
    """Return the shell text of a call that runs one; what is typed into a running command is none."""
    if action != "run" or arguments.get("is_input") in (True, "true"):
        return ""
    for name in _COMMANDS:
        value = arguments.get(name)
        if isinstance(value, str):
            return value.rstrip("\n") if name == "keystrokes" else value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            words = value[2:] if len(value) == 3 and value[1] in ("-c", "-lc") else value
            return words[0] if len(words) == 1 else shlex.join(words)
    return ""


def paths_of(action: Action, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the path a call names, as the agent wrote it."""
    if action in ("run", "plan", "delegate", "ask", "web"):
        return ()
    return next(((value,) for name in _PATHS if isinstance(value := arguments.get(name), str) and value), ())


def arguments_of(written: Any) -> dict[str, Any]:
    """Return a call's arguments, which many formats hold as JSON in a string."""
    if isinstance(written, str):
        if not written.strip():
            return {}
        try:
            read = msgspec.json.decode(written)
        except BAD:
            return {"input": written}
        return read if isinstance(read, dict) else {"input": written}
    if isinstance(written, dict):
        return {str(key): value for key, value in written.items()}
    return {} if written is None else {"input": written}


def ends_run(tool: str, command: str) -> bool:
    """Say whether a call hands the work in, as a harness wants it, and does nothing else."""
    return tool in _HANDS_IN or SUBMITS in command


def plan_of(action: Action, arguments: dict[str, Any]) -> tuple[PlanItem, ...]:
    """Return the plan that a call sets, empty when it sets none."""
    rows = (
        next((arguments[name] for name in _PLANS if isinstance(arguments.get(name), list)), ())
        if action == "plan"
        else ()
    )
    found = []
    for row in rows[:500]:
        text = (
            next((row[name] for name in _TITLES if isinstance(row.get(name), str)), "") if isinstance(row, dict) else ""
        )
        if text:
            found.append(PlanItem(text=text, status=_STATUS.get(str(row.get("status")).lower(), "pending")))
    return tuple(found)
