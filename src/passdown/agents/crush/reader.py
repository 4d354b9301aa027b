"""From Crush's messages (`internal/message/content.go`) to passdown's events: a row is a role and a list of parts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.crush.tools import ACTIONS, PATHS, ending
from passdown.agents.dialogue import Dialogue, arguments_of, decoded, moment, part_of, paths_in, plan_in, text_in
from passdown.agents.tables import Row, text
from passdown.io.log import whole
from passdown.model.session import AnyEvent, Outcome

_STOPS = {"error": "error: ", "content_filter": "refused: "}


class Reader:
    """Turns rows into events, in their order."""

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        self.talk = Dialogue()
        self.planned = False
        self._ordinal = 0

    def add(self, row: Row, ordinal: int) -> list[AnyEvent]:
        """Return the events of one row."""
        self.talk.place(moment(row.get("created_at")), ordinal)
        self._ordinal, length = ordinal, row.get("parts_length") or 0
        parts = decoded(row.get("parts"))
        role = text(row, "role")
        if row.get("parts") is None:
            self.talk.unknown(role or "message", "line_too_long", length)
        elif not isinstance(parts, list):
            self.talk.unknown(role or "message", "bad_json" if parts is None else "bad_shape", length)
        elif role not in ("user", "assistant", "tool", "system"):
            self.talk.unknown(role or "message", "unknown_type", length)
        elif row.get("is_summary_message") in (1, True):
            self.talk.compacted("\n".join(text_in(_data(part), "text") for part in parts if _kind(part) == "text"))
        elif role == "user":
            self._user(parts, length)
        else:
            self._answer(parts, text(row, "model"), text(row, "id"), length)
        return self.talk.take()

    def _user(self, parts: list[Any], length: int) -> None:
        texts = [text_in(_data(part), "text") for part in parts if _kind(part) == "text"]
        hidden = any(_data(part).get("hidden") is True for part in parts if _kind(part) == "text")
        images = sum(_kind(part) in ("binary", "image_url") for part in parts)
        if any(texts) or images:
            self.talk.user("\n".join(texts), "injected" if hidden else "human", images)
        for number, part in enumerate(parts):
            if _kind(part) == "shell_command":
                self._typed(_data(part), number)
            elif _kind(part) not in ("text", "binary", "image_url", "finish"):
                self.talk.unknown(_kind(part) or "part", "unknown_type", length)

    def _typed(self, shell: dict[str, Any], number: int) -> None:
        """A person's own `!command`."""
        command, code = text_in(shell, "command"), shell.get("exit_code")
        code = whole(code) if isinstance(code, int) else None
        self.talk.user(command, "shell")
        call_id = f"shell-{self._ordinal}-{number}"
        self.talk.call(call_id, "!", "run", {"command": command}, command=command)
        self.talk.called(call_id)
        outcome: Outcome = "unknown" if code is None else "failed" if code else "ok"
        self.talk.result(call_id, outcome, text_in(shell, "output"), exit_code=code)

    def _answer(self, parts: list[Any], model: str, response: str, length: int) -> None:
        self.talk.answers(model)
        for part in parts:
            kind, data = _kind(part), _data(part)
            if kind == "text":
                self.talk.said(text_in(data, "text"), model, response)
            elif kind == "reasoning":
                self.talk.said(text_in(data, "thinking"), model, response, reasoning=True)
            elif kind == "tool_call":
                self._call(data, response)
            elif kind == "tool_result":
                self._result(data)
            elif kind == "finish":
                self._finish(data)
            elif kind in ("binary", "image_url"):
                self.ignored[kind] += 1
            else:
                self.talk.unknown(kind or "part", "unknown_type", length)

    def _call(self, data: dict[str, Any], response: str) -> None:
        call_id, tool = text_in(data, "id"), text_in(data, "name")
        arguments, action = arguments_of(data.get("input")), ACTIONS.get(tool, "other")
        added = self.talk.call(
            call_id, tool, action, arguments, command=text_in(arguments, "command") if action == "run" else "",
            cwd=text_in(arguments, "working_dir"), paths=paths_in(arguments, *PATHS), response=response,
        )  # fmt: skip
        if added and tool == "agent":
            self.talk.delegated(call_id, "", text_in(arguments, "prompt"), f"{response}$${call_id}"[:200])

    def _result(self, data: dict[str, Any]) -> None:
        call_id = text_in(data, "tool_call_id")
        tool, arguments = self.talk.called(call_id)
        end = ending(tool or text_in(data, "name"), data)
        self.talk.result(call_id, end.outcome, text_in(data, "content"), exit_code=end.exit_code)
        if tool == "todos" and end.outcome == "ok" and (items := plan_in(arguments.get("todos"))):
            self.planned = True
            self.talk.plan(items)

    def _finish(self, data: dict[str, Any]) -> None:
        reason = text_in(data, "reason")
        if reason in ("canceled", "cancelled"):
            self.talk.stopped(during_tool=self.talk.waiting)
        elif reason in _STOPS:
            self.talk.stopped(_STOPS[reason] + text_in(data, "message", "details"))


def _kind(part: Any) -> str:
    return text_in(part, "type")


def _data(part: Any) -> dict[str, Any]:
    return part_of(part, "data")
