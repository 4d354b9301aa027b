"""The events of a commit: the message, reads of what was not shown yet, the edits as calls, and the commit."""

from __future__ import annotations

import shlex
from typing import Any

from passdown.data.sources.commit_edits import Hunk, edits_between
from passdown.data.sources.commit_log import Change, Commit
from passdown.model.session import Action, AnyEvent, AssistantMessage, ToolCall, ToolResult

_EDITOR = "str_replace_editor"
_SHOWN = 64 << 10
"""Characters of a file that is shown whole."""


class Steps:
    """Makes the events of commits in their order, and remembers which contents they have shown."""

    def __init__(
        self, root: str, texts: dict[str, str], hunks: dict[tuple[str, str], list[Hunk]], *, by_file: bool = False
    ) -> None:
        self.root, self.texts, self.hunks, self.by_file = root, texts, hunks, by_file
        self.size = 0
        self.edits = 0
        self._shown: dict[str, str] = {}
        self._made = 0
        self._place: dict[str, Any] = {}
        self._response = ""
        self._events: list[AnyEvent] = []

    def of(self, commit: Commit) -> list[AnyEvent]:
        """Return the events of a commit."""
        self._events = []
        self._place = {"at": commit.at or None}
        self._response = commit.id[:16]
        if not self.by_file:
            self._say(commit)
        moved = _moved(commit.changes)
        for number, change in enumerate(commit.changes):
            if self.by_file:
                self._response = f"{commit.id[:16]}-{number}"
            self._change(commit, change, moved)
        if self.by_file:
            self._response = commit.id[:16]
            self._say(commit)
        self._commit(commit)
        return self._events

    def _say(self, commit: Commit) -> None:
        if commit.message:
            self._events.append(AssistantMessage(text=commit.message, response_id=self._response, **self._place))
            self.size += len(commit.message)

    def _change(self, commit: Commit, change: Change, moved: dict[str, str]) -> None:
        path = f"{self.root}/{change.path}"
        if not change.is_file or not is_plain(change.path):
            return
        if change.path in moved:
            source = moved[change.path]
            self._run(f"git mv {shlex.quote(source)} {shlex.quote(change.path)}")
            if self._shown.pop(source, "") == change.new:
                self._shown[change.path] = change.new
        elif change.status == "D":
            if change.path not in moved.values():
                self._run(f"git rm -q -- {shlex.quote(change.path)}")
                self._shown.pop(change.path, None)
        elif change.status == "A" and change.new in self.texts:
            self._write(change, path, "create")
        elif change.status == "M" and change.old != change.new and {change.old, change.new} <= self.texts.keys():
            self._edit(commit, change, path)
        else:
            self._shown.pop(change.path, None)

    def _write(self, change: Change, path: str, how: str) -> None:
        text = self.texts[change.new]
        if how == "create":
            arguments = {"command": "create", "path": path, "file_text": text}
            self._call(_EDITOR, "write", arguments, f"File created successfully at: {path}", path)
        else:
            self._call(
                "write_file", "write", {"path": path, "content": text}, f"The file {path} has been written.", path
            )
        self._shown[change.path] = change.new
        self.edits += 1

    def _edit(self, commit: Commit, change: Change, path: str) -> None:
        old, new = self.texts[change.old], self.texts[change.new]
        pairs = edits_between(old, new, self.hunks.get((commit.id, change.path), []))
        if pairs is None:
            self._write(change, path, "write")
            return
        known = self._shown.get(change.path) == change.old
        if not known and len(old) <= _SHOWN:
            self._view(path, old)
            known = True
        for before, after in pairs:
            arguments = {"command": "str_replace", "path": path, "old_str": before, "new_str": after}
            self._call(_EDITOR, "edit", arguments, f"The file {path} has been edited.", path)
        if known:
            self._shown[change.path] = change.new
        self.edits += 1

    def _view(self, path: str, text: str) -> None:
        lines = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), 1))
        told = f"Here's the result of running `cat -n` on {path}:\n{lines}\n"
        self._call(_EDITOR, "read", {"command": "view", "path": path}, told, path)

    def _commit(self, commit: Commit) -> None:
        files = len(commit.changes)
        told = f"[main {commit.id[:7]}] {commit.subject}\n {files} file{'s' * (files != 1)} changed"
        self._run(f"git add -A && git commit -m {shlex.quote(commit.subject)}", told)

    def _run(self, command: str, told: str = "") -> None:
        self._call("bash", "run", {"command": command}, told, command=command)

    def _call(
        self, tool: str, action: Action, arguments: dict[str, Any], told: str, path: str = "", command: str = ""
    ) -> None:
        self._made += 1
        identifier = f"call-{self._made}"
        self._events.append(
            ToolCall(
                call_id=identifier, tool=tool, action=action, command=command, cwd=self.root if command else "",
                paths=(path,) if path else (), arguments=arguments, response_id=self._response, **self._place,
            )
        )  # fmt: skip
        code = 0 if command else None
        self._events.append(ToolResult(call_id=identifier, outcome="ok", exit_code=code, text=told, **self._place))
        self.size += len(told) + sum(len(value) for value in arguments.values() if isinstance(value, str))


def is_plain(path: str) -> bool:
    """Say whether a path is text without control characters that stays in its folder."""
    return path.isprintable() and ".." not in path.split("/") and not path.startswith("/") and _utf8(path)


def _utf8(path: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in path)


def _moved(changes: tuple[Change, ...]) -> dict[str, str]:
    """Return the files that only got another name: the new one by the old one."""
    gone = {change.old: change.path for change in changes if change.status == "D" and change.is_file}
    found: dict[str, str] = {}
    for change in changes:
        if change.status == "A" and change.is_file and (source := gone.pop(change.new, "")) and is_plain(source):
            found[change.path] = source
    return found
