"""Agent Data Protocol: `{id, content, details}`, whose content is actions and observations in turn.

Actions are `message_action`, `code_action` and `api_action`, observations `text_observation` and `web_observation`
(`class_` names them, in either spelling). An observation belongs to the action its `tool_call_id` names, else to the
last one.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.conversing import acted
from passdown.data.sources.fences import OPEN, OPEN_TAIL
from passdown.data.sources.origin import Origin, decided, extras_of, json_text, loaded, named_tests, task_of, text_in
from passdown.data.trajectory import assemble
from passdown.io.log import safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionStart, Unknown
from passdown.trajectories.conversation import Conversation
from passdown.trajectories.document import Row, decoded
from passdown.trajectories.swe_agent import OWN

_SHELLS = frozenset({"bash", "sh", "shell", "commandline", "cmd", "console"})
_PYTHONS = frozenset({"python", "py", "python3"})
_NAMES = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")
_CODE = lazy_pattern(r"_\d{1,4}$")
_WEB = 20_000
_TYPED = frozenset({
    "path", "filename", "file_name", "line_number", "search_term", "dir", "file", "start_line", "end_line",
    "replacement_text",
})  # fmt: skip
_FINISH = ("<finish>", "</finish>")


class Columns(Struct, gc=False):
    """A trajectory, as far as it is used."""

    id: Any = None
    content: Raw = Raw()
    details: Any = None
    available_custom_tools: Any = None
    available_apis: Any = None
    schema_version: Any = None


class Item(Struct, gc=False):
    """One action or observation. Only what is used is named."""

    class_: Any = None
    content: Any = None
    message: Any = None
    text: Any = None
    description: Any = None
    thoughts: Any = None
    reasoning_content: Any = None
    function: Any = None
    kwargs: Any = None
    language: Any = None
    source: Any = None
    tool_call_id: Any = None
    html: Any = None
    axtree: Any = None
    url: Any = None


_COLUMNS = msgspec.json.Decoder(Columns)
_ITEMS = msgspec.json.Decoder(list[Item])


def read_row(row: Row, origin: Origin) -> Trajectory | Reject:
    """Return the trajectory of a row, or why it is none."""
    columns = decoded(row.data or b"", _COLUMNS)
    items = decoded(bytes(columns.content), _ITEMS) if columns is not None else None
    if columns is None or items is None:
        return origin.reject("unreadable", row.line, "not a trajectory of the Agent Data Protocol")
    details = loaded(columns.details)
    details = details if isinstance(details, dict) else {}
    name = text_in(columns.id)
    told = _Told(row.line, text_in(details.get("model_name")) or text_in(details.get("model")))
    events: list[AnyEvent] = [
        SessionStart(session_id=safe_id(name) or f"row-{row.line}", agent="adp", line=row.line),
        *(event for item in items for event in told.add(item)),
        SessionEnd(records=len(items), bytes=row.length, line=row.line),
    ]
    if not acted(events):
        return origin.reject("empty", row.line)
    task = task_of(text_in(details.get("instance_id")) or _CODE.sub("", name))
    return assemble(
        events, origin.at(row.line), instance_id=task.instance_id, repo=text_in(details.get("repo")) or task.repo,
        base_commit=text_in(details.get("base_commit")) or task.base_commit, outcome=_outcome(details),
        tools=json_text(details.get("tools") or columns.available_custom_tools or columns.available_apis),
        extras=extras_of(source_id=name, dataset=details.get("dataset"), schema=columns.schema_version),
    )  # fmt: skip


def _outcome(details: dict[str, Any]) -> Outcome:
    patch = next(
        (text for key in ("generated_patch", "model_patch", "patch") if (text := text_in(details.get(key)))), ""
    )
    resolved = details.get("resolved", details.get("target"))
    return Outcome(
        resolved=decided(resolved), exit=text_in(details.get("exit_status")), patch=patch,
        fail_to_pass=named_tests(details.get("FAIL_TO_PASS")), pass_to_pass=named_tests(details.get("PASS_TO_PASS")),
    )  # fmt: skip


class _Told:
    """Turns items into events."""

    def __init__(self, line: int, model: str) -> None:
        self.place: dict[str, Any] = {"offset": 0, "line": line}
        self.conversation = Conversation(model=model)
        self.open_file = ""

    def add(self, item: Item) -> list[AnyEvent]:
        """Return the events that an item becomes."""
        conversation = self.conversation
        conversation.begin(self.place)
        kind = _NAMES.sub("_", text_in(item.class_)).lower()
        if kind.endswith("_action"):
            self._acts(kind, item)
        elif kind == "text_observation":
            self._observed(item, text_in(item.content) or text_in(item.text))
        elif kind == "web_observation":
            page = text_in(item.axtree) or text_in(item.html)
            self._observed(item, "\n".join(part for part in (text_in(item.url), page[:_WEB]) if part))
        elif kind == "image_observation":
            conversation.ignored["image"] += 1
        else:
            return [Unknown(record=kind[:80], reason="unknown_type" if kind else "bad_shape", **self.place)]
        return conversation.taken()

    def _acts(self, kind: str, item: Item) -> None:
        conversation = self.conversation
        if thought := text_in(item.reasoning_content):
            conversation.say(thought, reasoning=True)
        conversation.say(text_in(item.description) or text_in(item.thoughts))
        identifier, body = text_in(item.tool_call_id), text_in(item.content) or text_in(item.message)
        if kind == "message_action":
            for mark in _FINISH:
                body = body.replace(mark, "")
            conversation.say(body.strip())
        elif kind == "code_action":
            tool, arguments = _code(text_in(item.language).lower(), body)
            conversation.call(tool, arguments, identifier=identifier, said=True)
        else:
            self._calls(text_in(item.function), loaded(item.kwargs), identifier)

    def _calls(self, function: str, kwargs: Any, identifier: str) -> None:
        arguments = {str(key): value for key, value in kwargs.items()} if isinstance(kwargs, dict) else {}
        paths: tuple[str, ...] = ()
        if function == "goto" and "url" in arguments:  # a browser's, and no line of a file
            function = "goto_url"
        elif function in OWN and arguments.keys() <= _TYPED:
            named = _unquoted(arguments.get("path") or arguments.get("filename"))
            named = self.open_file if function == "edit" else named if function in ("open", "create") else ""
            paths = (named,) if isinstance(named, str) and named else ()
            arguments = _typed(function, arguments)
        self.conversation.call(function, arguments, identifier=identifier, said=True, paths=paths)

    def _observed(self, item: Item, text: str) -> None:
        conversation = self.conversation
        if (match := OPEN.search(text[-OPEN_TAIL:])) is not None:
            self.open_file, conversation.cwd = match[1].replace("n/a", ""), match[2]
        identifier = text_in(item.tool_call_id)
        source = text_in(item.source)
        if identifier or (conversation.left_open() and source != "system"):
            conversation.result(identifier or conversation.left_open()[-1], text)
        elif source in ("assistant", "agent"):
            conversation.say(text)
        elif source == "system":
            conversation.ignored["system"] += 1
        else:
            conversation.user(text, origin="injected" if source == "environment" and conversation.asked else None)


def _code(language: str, code: str) -> tuple[str, dict[str, Any]]:
    if language in _SHELLS or not language:
        return "bash", {"command": code}
    if language in _PYTHONS:
        return "ipython", {"command": code}
    return "code", {"language": language, "code": code}


def _typed(function: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a command of SWE-agent's own interface as it was typed, from the arguments it was taken apart into."""
    values = {key: _unquoted(value) for key, value in kwargs.items()}
    if function == "edit" and "start_line" in values:
        text = str(values.get("replacement_text", "")).removesuffix("\n")
        return {"command": f"edit {values['start_line']}:{values.get('end_line', '')}\n{text}\nend_of_edit"}
    return {"command": " ".join([function, *(str(value) for value in values.values())])}


def _unquoted(value: Any) -> Any:
    quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"'
    return value[1:-1] if quoted else value
