"""Tool calls that are no shell text: what an agent's own tools for files, searches, plans and the rest do."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.data.actions import agent_skills, patches, swe_agent
from passdown.data.actions.draft import MAX_FILES, Draft, bucket, marked
from passdown.data.actions.looking import search
from passdown.data.actions.programs import table
from passdown.data.actions.running import inline, short
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall
from passdown.trajectories.tools import SUBMITS

_ENCODE = msgspec.json.Encoder(order="deterministic", enc_hook=str)
_NAME = lazy_pattern(r"[A-Za-z][\w.:/-]{0,120}")
_CODE = table("ipython run_ipython execute_ipython_cell python execute_ipython python_interpreter execute_code")
_SUBMIT = table(
    "submit finish done complete attempt_completion mark_task_complete task_complete final_answer "
    "complete_task task_done exit_cost exit_format exit_context exit_forfeit yield_result"
)
_NOTE = table(
    "think thought report_intent sendmessage send_message message notify reply say comment log_note reason "
    "scratchpad save_memory memory remember sequentialthinking"
)
_PROCESS = table(
    "bashoutput taskoutput read_bash read_powershell write_stdin write_bash write_powershell read_agent wait "
    "await_shell get_output tasklist list_bash command_status read_terminal get_terminal_output "
    "list_powershell"
)
_STOP = table("killbash killshell taskstop stop_bash stop_powershell kill_shell kill stop close_agent kill_bash")
_READING = table(
    "get read fetch view show list resolve describe inspect open download screenshot snapshot check status "
    "diagnostics query lookup current getdiagnostics wait watch"
)
_SEARCHING = frozenset(["search", "find", "grep", "lookup"])
_PARTS = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WHOLE = lazy_pattern(r"-?\d{1,9}")
_PATTERNS = ("pattern", "query", "regex", "search_term", "file_name", "pattern_regex", "search", "glob", "patterns",
             "Query", "regexPattern", "include", "input")  # fmt: skip
_PLACES = ("path", "dir", "directory", "dir_path", "paths", "file", "target_directories", "include_pattern", "folder")
_URLS = ("url", "urls", "query", "uri", "prompt")
_BY_ACTION = frozenset({"read", "search", "edit", "write", "delete", "plan", "delegate", "ask", "web"})


def shell_text(call: ToolCall) -> str:
    """Return the shell text that a call runs, empty when it runs none."""
    if call.action == "run" and call.command and _last(call.tool) not in _CODE:
        return call.command
    text = call.arguments.get("command")
    if call.tool in swe_agent.COMMANDS and isinstance(text, str) and text.lstrip().startswith(call.tool):
        return text
    return ""


def _last(tool: str) -> str:
    """Return the tool's own name, without the server's and the namespace."""
    return tool.rpartition("__")[2].rpartition("functions.")[2].lower().replace("-", "_")


def drafts_of(call: ToolCall, answer: str) -> tuple[Draft, ...]:
    """Return what a tool call does. `answer` is the beginning of its result: it tells a folder from a file."""
    name = _last(call.tool)
    if name in _SUBMIT or (call.tool == "bash" and SUBMITS in call.command):
        return (Draft("SUBMIT", "", _written(call)),)
    if name in _PROCESS:
        return (Draft("READ", "env:process", _written(call)),)
    if name in _CODE and (code := call.command or _first(call.arguments, ("code", "command", "input", "script"))):
        return agent_skills.drafts(code) or inline("python", code)
    if call.action == "run":
        return _run(call)
    if call.action not in _BY_ACTION:
        return _named(call, name)
    if call.action == "read":
        return _read(call, answer)
    if call.action == "search":
        return (_search(call),)
    if call.action in ("edit", "write", "delete"):
        return _change(call)
    if call.action == "plan":
        return (Draft("PLAN", "", _written(call)),)
    if call.action == "ask":
        return (Draft("NOTE", "ask", _written(call)),)
    return (_web(call),) if call.action == "web" else (_delegate(call),)


def _written(call: ToolCall) -> str:
    try:
        return f"{call.tool} {_ENCODE.encode(call.arguments).decode('utf-8', 'replace')}"
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError):
        return call.tool


def _run(call: ToolCall) -> tuple[Draft, ...]:
    if call.arguments.get("is_input") in (True, "true") or not call.command:
        return (Draft("RUN" if call.arguments.get("is_input") else "READ", "env:process", _written(call)),)
    return ()


def _named(call: ToolCall, name: str) -> tuple[Draft, ...]:
    """Return what a tool with no known action does, as far as its name says it."""
    if name in _NOTE:
        return (Draft("NOTE", name, _written(call)),)
    if name in _STOP:
        return (Draft("RUN", "kill", _written(call)),)
    if name == "exec":
        code = _first(call.arguments, ("input", "code", "script"))
        return (Draft("RUN", f"exec#{short(code)}", code),)
    if name == "skill":
        return (Draft("READ", f"skill:{_first(call.arguments, ('skill', 'name', 'command'))}", _written(call)),)
    if not _NAME.fullmatch(call.tool):
        return (Draft("OTHER", "", _written(call)),)
    words = {word.lower() for word in _PARTS.findall(call.tool)}
    subject = _first(call.arguments, ("query", "pattern"))
    if words & _SEARCHING:
        return (Draft("SEARCH", f"{subject[:200]} @ tool:{call.tool}", _written(call)),)
    return (Draft("READ" if words & _READING else "RUN", f"tool:{call.tool}", _written(call)),)


def _first(arguments: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return " ".join(value[:MAX_FILES])
    return ""


def _number(arguments: dict[str, Any], *names: str) -> int | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float) and abs(value) < 10**9:
            return int(value)
        if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 10:
            return int(value)
    return None


def _pair(value: Any) -> tuple[int, int | None] | None:
    """Return a `view_range`: a list, or a list in a string; its end may be -1."""
    if isinstance(value, str):
        numbers = [int(part) for part in _WHOLE.findall(value[:40])[:2]]
    elif isinstance(value, list):
        numbers = [part for part in value[:2] if isinstance(part, int) and abs(part) < 10**9]
    else:
        return None
    if not numbers:
        return None
    return numbers[0], numbers[1] if len(numbers) == 2 and numbers[1] >= numbers[0] else None


def lines_of(arguments: dict[str, Any], tool: str = "") -> str:
    """Return the bucket of lines that a reading tool is asked for."""
    if (pair := _pair(arguments.get("view_range"))) is not None:
        return bucket(*pair)
    first = _number(arguments, "offset", "start_line", "startLine", "start", "line_start", "start_line_one_indexed",
                    "line_number", "StartLine")  # fmt: skip
    if (
        tool in ("read_file", "view_file")
        and "offset" in arguments
        and "start_line" not in arguments
        and first is not None
    ):
        first += 0 if arguments.get("limit") is None else 1
    last = _number(arguments, "end_line", "endLine", "end", "line_end", "end_line_one_indexed_inclusive", "EndLine")
    count = _number(arguments, "limit", "max_lines", "n_lines")
    if tool in ("open", "goto"):
        return swe_agent.view("", first or 1)[0].target.rpartition("\x00")[2]
    if first is None and last is None and count is None:
        return ""
    first = max(1, first or 1)
    if (last is None or last < first) and count is not None and count > 0:
        last = first + count - 1
    return bucket(first, last if last is not None and last >= first else None)


def _read(call: ToolCall, answer: str) -> tuple[Draft, ...]:
    paths = call.paths or (swe_agent.OPEN_FILE,)
    if not call.paths and _last(call.tool) not in ("goto", "scroll_up", "scroll_down"):
        return (Draft("READ", f"tool:{call.tool}", _written(call)),)
    if len(paths) == 1 and _is_folder(paths[0], answer):
        return (search("", paths, f"{call.tool} {marked(paths[0])}"),)
    part = lines_of(call.arguments, _last(call.tool))
    return tuple(Draft("READ", marked(path) + part, f"{marked(path)}{part}", (path,)) for path in paths[:MAX_FILES])


def _is_folder(path: str, answer: str) -> bool:
    return answer.startswith(("Here's the files and directories up to", "Files and directories in")) or path.endswith(
        "/"
    )


def _search(call: ToolCall) -> Draft:
    name = _last(call.tool)
    arguments = call.arguments
    pattern = "" if name in ("ls", "list_dir", "list_directory", "list_files") else _first(arguments, _PATTERNS)
    places = () if name in ("find_file", "find_files") else call.paths
    if not places:
        place = next((arguments[key] for key in _PLACES if isinstance(arguments.get(key), str) and arguments[key]), "")
        places = (place,) if place else ()
    if not places and name == "search_file":
        places = (swe_agent.OPEN_FILE,)
    return search(pattern, places, f"{name} {_ENCODE.encode(arguments).decode('utf-8', 'replace')}")


def _change(call: ToolCall) -> tuple[Draft, ...]:
    name = _last(call.tool)
    if name in ("apply_patch", "applypatch"):
        text = _first(call.arguments, ("input", "patchText", "patch", "diff"))
        if "*** Begin Patch" in text:
            return patches.codex_drafts(text)
    paths = call.paths or ((swe_agent.OPEN_FILE,) if name in swe_agent.COMMANDS else ())
    detail = _content(call.arguments)
    kind = call.action
    if not paths:
        return (Draft("EDIT", "", detail),)
    if kind == "delete":
        return tuple(Draft("DELETE", marked(path), "", (), (path,)) for path in paths[:MAX_FILES])
    if kind == "write" and call.arguments.get("append") is not True:
        return tuple(Draft("CREATE", marked(path), detail, (), (path,)) for path in paths[:MAX_FILES])
    return tuple(Draft("EDIT", marked(path), detail, (path,), (path,)) for path in paths[:MAX_FILES])


_ABOUT = frozenset({"path", "file_path", "filePath", "filename", "file", "security_risk", "description", "instruction",
                    "explanation", "toolSummary", "toolAction"})  # fmt: skip


def _content(arguments: dict[str, Any]) -> str:
    """Return what an edit says, without the path and the words about it: the same edit has the same text."""
    kept = {key: value for key, value in arguments.items() if key not in _ABOUT and value not in (None, False, "")}
    try:
        return "\n".join(value if isinstance(value, str) else _ENCODE.encode(value).decode("utf-8", "replace")
                         for _, value in sorted(kept.items()))  # fmt: skip
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError):
        return ""


def _web(call: ToolCall) -> Draft:
    words = {word.lower() for word in _PARTS.findall(call.tool)}
    subject = _first(call.arguments, _URLS)
    if words & _SEARCHING:
        query = _first(call.arguments, ("query", "q", "search_query"))
        return Draft("SEARCH", f"{query[:200]} @ web", _written(call))
    return Draft("READ", f"url:{subject[:300]}" if subject else "url", _written(call))


def _delegate(call: ToolCall) -> Draft:
    kind = _first(call.arguments, ("subagent_type", "agent_type", "agent", "name", "type"))
    return Draft("RUN", f"agent:{kind or 'task'}", _written(call))
