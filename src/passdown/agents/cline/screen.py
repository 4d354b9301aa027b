"""What the person saw (`ui_messages.json`): the time and tokens of each request, compactions, and the task's words."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from passdown.agents.cline.tools import ACTIONS
from passdown.agents.dialogue import Dialogue, arguments_of, decoded, moment, number, part_of, text_in
from passdown.agents.document import Document
from passdown.io.log import count, whole
from passdown.model.session import Action, AnyEvent

_TOOLS: dict[str, Action] = {
    "editedExistingFile": "edit", "appliedDiff": "edit", "newFileCreated": "write", "insertContent": "edit",
    "searchAndReplace": "edit", "fileDeleted": "delete", "deleteFile": "delete", "readFile": "read",
    "searchFiles": "search", "listFilesTopLevel": "search", "listFilesRecursive": "search",
    "listCodeDefinitionNames": "search", "codebaseSearch": "search", "newTask": "delegate", "webFetch": "web",
}  # fmt: skip
_FEEDBACK = ("user_feedback", "user_feedback_diff")


class Request(NamedTuple):
    """One request to a model: when it began, which model, and its tokens (empty when nothing came back)."""

    at: int | None
    model: str
    tokens: dict[str, Any]


class Condensed(NamedTuple):
    """A compaction: when, its summary, the tokens before and after."""

    at: int | None
    summary: str
    before: int | None
    after: int | None


class Screen(NamedTuple):
    """What `ui_messages.json` tells besides the words themselves."""

    requests: list[Request]
    condensed: list[Condensed]
    title: str
    began: int | None


def look_at(document: Document | None) -> Screen:
    """Return what the rows of `ui_messages.json` tell; nothing where there is no such file."""
    requests: list[Request] = []
    condensed: list[Condensed] = []
    title, began = "", None
    for item in document.items if document is not None else ():
        row = decoded(item.data) if item.data is not None else None
        if not isinstance(row, dict):
            continue
        at, say = moment(row.get("ts")), text_in(row, "say")
        began = began if began is not None else at
        if say in ("text", "task") and not title:
            title = text_in(row, "text").strip()
        elif say == "api_req_started":
            requests.append(_request(row, at))
        elif say in ("condense_context", "sliding_window_truncation") and row.get("partial") is not True:
            condensed.append(_condensed(row, at))
    return Screen(requests, condensed, title, began)


def _request(row: dict[str, Any], at: int | None) -> Request:
    told = decoded(text_in(row, "text"))
    tokens = told if isinstance(told, dict) else {}
    spent = any(count(number(tokens.get(name))) for name in ("tokensIn", "tokensOut", "cacheReads", "cacheWrites"))
    return Request(at, text_in(part_of(row, "modelInfo"), "modelId"), tokens if spent else {})


def _condensed(row: dict[str, Any], at: int | None) -> Condensed:
    held = part_of(row, "contextCondense") or part_of(row, "contextTruncation")
    before, after = whole(number(held.get("prevContextTokens"))), whole(number(held.get("newContextTokens")))
    return Condensed(at, text_in(held, "summary"), before, after)


def spend(talk: Dialogue, request: Request, response: str, model: str) -> None:
    """Add the tokens of a request, if any came back."""
    tokens = request.tokens
    if tokens:
        talk.usage(
            response, model or request.model, fresh=tokens.get("tokensIn"), read=tokens.get("cacheReads"),
            write=tokens.get("cacheWrites"), output=tokens.get("tokensOut"),
        )  # fmt: skip


class Rows:
    """Turns the rows themselves into events, where the conversation with the model is not there any more.

    They do not say how a call ended.
    """

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        self.talk = Dialogue()
        self._asked = False
        self._number = 0

    def add(self, row: dict[str, Any], offset: int, length: int) -> list[AnyEvent]:
        """Return the events of one row."""
        self._number += 1
        self.talk.place(moment(row.get("ts")), offset)
        kind, text = text_in(row, "say", "ask"), text_in(row, "text")
        if row.get("partial") is True:
            self.ignored["partial"] += 1
        elif kind in ("text", "task") and not self._asked:
            self._asked = True
            images = row.get("images")
            self.talk.user(text, images=len(images) if isinstance(images, list) else 0)
        elif kind in _FEEDBACK:
            self.talk.user(text)
        elif kind in ("text", "completion_result", "followup", "plan_mode_respond", "reasoning"):
            self.talk.said(text, reasoning=kind == "reasoning")
        elif kind in ("command", "tool"):
            self._call(kind, text)
        elif kind == "api_req_started":
            spend(self.talk, _request(row, moment(row.get("ts"))), f"request-{self._number}", "")
        elif kind in ("condense_context", "sliding_window_truncation"):
            made = _condensed(row, None)
            self.talk.compacted(made.summary, made.before, made.after)
        elif kind:
            self.ignored[kind[:80]] += 1
        else:
            self.talk.unknown("row", "bad_shape", length)
        return self.talk.take()

    def _call(self, kind: str, text: str) -> None:
        call_id = f"row-{self._number}"
        if kind == "command":
            self.talk.call(call_id, "execute_command", ACTIONS["execute_command"], {"command": text}, command=text)
        else:
            told = arguments_of(text)
            tool, path = text_in(told, "tool"), text_in(told, "path")
            self.talk.call(call_id, tool, _TOOLS.get(tool, "other"), told, paths=(path,) if path else ())
        self.talk.called(call_id)
