"""What a call says about the content of files, as operations that a replay applies in order."""

from __future__ import annotations

from typing import Any, Literal

from passdown.data.actions import agent_skills, changing, patches, scripts, swe_agent
from passdown.data.actions.dispatch import destination, said
from passdown.data.actions.lexer import Simple
from passdown.data.actions.operations import (
    AnyOperation,
    Copy,
    Delete,
    Diff,
    Insert,
    Mode,
    Opaque,
    Operation,
    Replace,
    ReplaceLines,
    Restore,
    Sed,
    Undo,
    Write,
)  # fmt: skip
from passdown.data.actions.programs import ALIASES, SAYS
from passdown.data.actions.quoting import UnlexedError
from passdown.data.actions.running import program_name
from passdown.data.actions.shell import simples
from passdown.data.actions.tools import shell_text
from passdown.data.records import Action
from passdown.model.session import ToolCall

CHANGING = frozenset({"EDIT", "CREATE", "DELETE", "VCS", "RUN", "BUILD", "INSTALL", "TEST"})
_MODES = {"+x": True, "a+x": True, "u+x": True, "755": True, "0755": True, "777": True, "-x": False, "644": False,
          "0644": False}  # fmt: skip


def file_operations(call: ToolCall, action: Action) -> tuple[Operation, ...]:
    """Return what one action of a call does to the content of files, in order; empty when it changes none.

    What cannot be known without running it is `Opaque`. Whether it went well is the action's `ok`.
    """
    if action.kind not in CHANGING or (not action.writes and action.kind not in ("EDIT", "CREATE", "DELETE")):
        return ()
    text = shell_text(call)
    if not text:
        return _by_tool(call, action)
    try:
        found = simples(text, "powershell" in call.tool.lower())
    except UnlexedError:
        return _opaque(action, "unparsable")
    if action.part >= len(found):
        return _opaque(action, "unparsable")
    return _by_command(_fed(found, action.part), action)


def _opaque(action: Action, reason: str) -> tuple[AnyOperation, ...]:
    elsewhere = (action.target,) if action.target[:1] in tuple("/~$") else (".",)
    return tuple(Opaque(path=path, reason=reason) for path in action.writes or elsewhere)


def _fed(found: tuple[Simple, ...], part: int) -> Simple:
    """Return a simple command, with what the one before it in the pipe says on its input."""
    simple = found[part]
    if simple.stdin is not None or simple.before != "|" or part == 0:
        return simple
    feeder = found[part - 1]
    name = program_name(feeder.words[0]) if feeder.words else ""
    if name == "cat" and len(feeder.words) == 1 and feeder.stdin is not None:
        return simple._replace(stdin=feeder.stdin, expands=feeder.expands)
    if name in SAYS and feeder.before != "|":
        text, unknown = said(feeder)
        return simple._replace(stdin=text, expands=unknown)
    return simple


def _by_command(simple: Simple, action: Action) -> tuple[AnyOperation, ...]:
    words = simple.words
    raw = program_name(words[0]) if words else ""
    name = ALIASES.get(raw, raw)
    written = destination(simple)
    if written is not None and action.kind in ("EDIT", "CREATE") and name in ("", "cat", "tee", *SAYS):
        return (_written(simple, name, action, written[1]),)
    rest = words[1:]
    if name == "sed" and written is None:
        expressions, _, flags = changing.sed_parts(rest)
        known = "f" not in flags and "z" not in flags and "s" not in flags
        sed = Sed(path=action.target, expressions=expressions, extended=bool(flags & {"E", "r"}), quiet="n" in flags)
        return (sed,) if known and action.target != "." else _opaque(action, "sed")
    if name == "edit" and (lines := swe_agent.lines_of_edit(words)) is not None:
        return (ReplaceLines(path=action.target, first=lines[0], last=lines[1], text=_ended(simple.stdin or "")),)
    if name == "create" and len(words) == 2:
        return (Write(path=action.target, content="\n"),)
    if action.kind == "VCS":
        return _restored(rest, action)
    return _of_file_program(name, rest, simple, action)


def _of_file_program(name: str, rest: tuple[str, ...], simple: Simple, action: Action) -> tuple[AnyOperation, ...]:
    if action.kind == "DELETE":
        moved = name in ("mv", "git") and "mv" in (name, *rest[:3])
        return () if moved else (Delete(path=action.target),)
    if name in ("cp", "mv") or (name == "git" and "mv" in rest[:3]):
        return _copied(name, rest, action)
    if name == "touch" and action.kind in ("CREATE", "EDIT"):
        return (Write(path=action.target, content="", append=True),)
    if name == "mkdir":
        return ()
    if name == "tee" and simple.stdin is not None and not simple.expands:
        return (Write(path=action.target, content=simple.stdin, append=action.kind == "EDIT" and "-a" in rest),)
    if name in ("chmod", "chown", "chgrp"):
        return (Mode(path=action.target, executable=_MODES.get(rest[0]) if rest else None),)
    if (text := _patch_text(rest, simple)) and name in ("patch", "git", "apply_patch", "applypatch"):
        return patch_operations(text, action)
    code = scripts.code_of(name, rest, simple.stdin)
    if code is not None and action.kind in ("EDIT", "CREATE") and not simple.expands:
        return scripts.operations(code, action.target) or _opaque(action, name)
    return _opaque(action, name or "shell")


def _copied(name: str, rest: tuple[str, ...], action: Action) -> tuple[AnyOperation, ...]:
    outside = [word for word in rest if word[:1] == "/"]
    source = (
        action.reads[0] if action.reads else outside[0] if len(outside) == 1 and outside[0] != action.target else ""
    )
    if not source or any(mark in source + action.target for mark in "*?[$"):
        return _opaque(action, name)
    return (Copy(path=action.target, source=source, move=name != "cp"),)


def _patch_text(rest: tuple[str, ...], simple: Simple) -> str:
    if simple.expands:
        return ""
    return simple.stdin or next((word for word in rest if "*** Begin Patch" in word or "\n+++ " in word), "")


def _written(simple: Simple, name: str, action: Action, appends: bool) -> AnyOperation:
    path = action.target
    if name in SAYS:
        text, unknown = said(simple)
        return Opaque(path=path, reason=name) if unknown else Write(path=path, content=text, append=appends)
    files = [word for word in simple.words[1:] if word[:1] != "-"]
    if name in ("cat", "tee") and files and simple.stdin is None:
        if len(action.reads) == 1 and not appends and len(files) == 1:
            return Copy(path=path, source=action.reads[0])
        return Opaque(path=path, reason=name)
    if simple.expands or files:
        return Opaque(path=path, reason="the shell puts values in")
    if simple.stdin is None:
        return Opaque(path=path, reason=name) if name or appends else Write(path=path, content="")
    return Write(path=path, content=simple.stdin, append=appends)


def _restored(rest: tuple[str, ...], action: Action) -> tuple[AnyOperation, ...]:
    """Return what git puts back. A checkout of files names the revision; everything else is not known."""
    if not action.writes:
        return ()
    words = [word for word in rest if word[:1] != "-"]
    if action.target == "checkout" and action.writes != (".",):
        named = words[1] if len(words) > 2 or (len(words) == 2 and "--" in rest and rest[-1] != words[1]) else ""
        revision = named if "--" in rest and named and named not in rest[rest.index("--") :] else ""
        return tuple(Restore(path=path, revision=revision) for path in action.writes)
    if action.target == "checkout" and words[1:] == ["."]:
        return (Restore(path="."),)
    if action.target == "restore":
        source = next((rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("-s", "--source")), "")
        return tuple(Restore(path=path, revision=source) for path in action.writes)
    if action.target == "reset" and len(words) <= 2:
        return (Restore(path=".", revision=words[1] if len(words) == 2 else "HEAD"),)
    return tuple(Opaque(path=path, reason=f"git {action.target}") for path in action.writes)


def patch_operations(text: str, action: Action) -> tuple[AnyOperation, ...]:
    """Return the operations of a patch for the one file that the action is about."""
    if "*** Begin Patch" in text:
        for section in patches.sections(text):
            if _same(section.moved or section.path, action.target) or _same(section.path, action.target):
                return _section(section, action)
        return _opaque(action, "patch")
    for path, hunks, new in patches.unified(text):
        if _same(path, action.target):
            if action.kind == "DELETE":
                return (Delete(path=action.target),)
            return (Diff(path=action.target, hunks=hunks, new=new),)
    return _opaque(action, "patch")


def _section(section: patches.Section, action: Action) -> tuple[AnyOperation, ...]:
    path = action.target
    if section.what == "add":
        return (Write(path=path, content=section.body),)
    if section.what == "delete":
        return (Delete(path=path),)
    if section.moved:
        if action.kind == "DELETE" or not action.reads:
            return ()
        return (Copy(path=path, source=action.reads[0], move=True), Diff(path=path, hunks=section.body, form="codex"))
    return (Diff(path=path, hunks=section.body, form="codex"),)


def _same(written: str, target: str) -> bool:
    """Say whether a path of a patch (absolute, with `a/` before it, or as it is) is the action's."""
    written = written.replace("\\", "/")
    return written == target or written.endswith(f"/{target}") or target.endswith(f"/{written.removeprefix('./')}")


def _by_tool(call: ToolCall, action: Action) -> tuple[Operation, ...]:
    arguments = scripts.editor_arguments(call.arguments)
    if action.kind == "DELETE" and call.action == "delete":
        return (Delete(path=action.target),)
    if (patch := _text(arguments, "input", "patchText", "patch", "diff")) and (
        "*** Begin" in patch or "\n+++ " in patch
    ):
        return patch_operations(patch, action)
    code = call.command or _text(arguments, "code") or ""
    if found := agent_skills.operations(code, action.target) or scripts.operations(code, action.target):
        return found
    if call.action == "run":
        return _opaque(action, call.tool)
    content = _text(arguments, "file_text", "content", "contents", "file_content", "new_content", "text_content")
    if (call.action == "write" or arguments.get("command") == "create") and content is not None:
        return (Write(path=action.target, content=content, append=arguments.get("append") is True),)
    if call.tool == "create":
        return (Write(path=action.target, content="\n"),)
    return _edited(call, arguments, action) or _opaque(action, call.tool)


def _edited(call: ToolCall, arguments: dict[str, Any], action: Action) -> tuple[AnyOperation, ...]:
    path = action.target
    command = arguments.get("command")
    if command == "undo_edit" or call.tool == "undo_edit":
        return (Undo(path=path),)
    if command == "insert" or call.tool in ("insert", "append"):
        return _inserted(arguments, path, call.tool)
    if isinstance(several := arguments.get("edits"), list):
        found = [_replaced(one, path, call.tool) for one in several[:500] if isinstance(one, dict)]
        return tuple(one for one in found if one) if all(found) else ()
    if (one := _replaced(arguments, path, call.tool)) is not None:
        return (one,)
    first, last = _whole(arguments, "start_line", "start"), _whole(arguments, "end_line", "end")
    text = _text(arguments, "replacement_text", "new_content", "content", "new_str", "text")
    if first is not None and last is not None and text is not None:
        return (ReplaceLines(path=path, first=first, last=last, text=_ended(text)),)
    return ()


def _replaced(arguments: dict[str, Any], path: str, tool: str) -> Replace | None:
    old = _text(arguments, "old_str", "old_string", "oldString", "oldText", "old_text", "search", "old")
    new = _text(arguments, "new_str", "new_string", "newString", "newText", "new_text", "replace", "new")
    if old is None:
        return None
    every = any(arguments.get(name) in (True, "true", "True") for name in _ALL)
    expected = arguments.get("expected_replacements")
    which: Literal["unique", "first", "all"] = (
        "all" if every or (isinstance(expected, int) and expected > 1) else "unique"
    )
    if which == "unique" and tool == "edit" and "search" in arguments:
        which = "first"
    return Replace(path=path, old=old, new=new or "", which=which, lenient=tool in ("edit", "replace"))


_ALL = ("replace_all", "replaceAll", "allow_multiple", "replace-all")


def _inserted(arguments: dict[str, Any], path: str, tool: str) -> tuple[AnyOperation, ...]:
    text = _text(arguments, "new_str", "text", "insert_text", "content", "new_text")
    line = _whole(arguments, "insert_line", "line", "line_number")
    if text is None or (line is None and tool == "insert" and "command" in arguments):
        return ()
    return (Insert(path=path, line=-1 if line is None else line, text=_ended(text)),)


def _text(arguments: dict[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), None)


def _whole(arguments: dict[str, Any], *names: str) -> int | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 10:
            return int(value)
    return None


def _ended(text: str) -> str:
    """Return a text of whole lines."""
    return text if not text or text.endswith("\n") else f"{text}\n"
