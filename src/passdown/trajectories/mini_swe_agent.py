"""mini-swe-agent's trajectories: `{info, messages, trajectory_format}` of 1.x and 2.x, and the bare list of before.

Calls stand in `tool_calls` (2.x), in a block of shell code in the text (1.x, and 2.x with text models), or in the items
of a Responses answer; a result is a tool's message, the next message of the user's role, or a `function_call_output`.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, Interruption, SessionRef, SessionStart
from passdown.trajectories.conversation import Conversation, Message, moment_of, text_of
from passdown.trajectories.document import Reading, Row, choose, decoded, items, open_rows
from passdown.trajectories.messages import name_of, told, within
from passdown.trajectories.outline import outline
from passdown.trajectories.tools import SUBMITS, arguments_of

_INFO = frozenset({"mini_version", "model_stats", "exit_status", "submission"})
_BLOCK = b"```mswea_bash_command"
_TASK = lazy_pattern(r"\{\{\s*task\s*\}\}")
_OTHER = lazy_pattern(r"\{\{|\{%")
_SUFFIXES = (".json", ".traj")
_LITERAL = 120


class Config(Struct, gc=False):
    """The run's settings, as far as they are used."""

    agent: Any = None
    model: Any = None
    environment: Any = None


class Info(Struct, gc=False):
    """How the run ended, and with what it was made."""

    exit_status: Any = None
    mini_version: Any = None
    config: Config | None = None


class Document(Struct, gc=False):
    """A trajectory, as far as it is used."""

    info: Info | None = None
    messages: Raw = Raw()
    trajectory_format: Any = None
    instance_id: Any = None


_DOCUMENT = msgspec.json.Decoder(Document)


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a trajectory of mini-swe-agent."""
    shape = outline(head)
    if shape.keys.get("trajectory_format", b"").startswith(b'"mini-swe-agent'):
        return True
    if shape.has("info", "messages"):
        return bool(shape.within("info") & _INFO)
    return shape.shape == "list" and "role" in shape.keys and (_BLOCK in head or SUBMITS.encode() in head)


def refer(path: Path) -> SessionRef | None:  # noqa: ARG001
    """Return None: what a file holds is told when it is read."""
    return None


def read(ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield a run's events, first a `SessionStart`, last a `SessionEnd`.

    Raises `FileNotFoundError` when the file is gone, `UsageError` when it holds several and none of them is named.
    """
    path = Path(ref.path)
    yield from read_row(choose(open_rows(path, listed=False), ref.inner, ref.path), path)


def read_row(row: Row, path: Path, inner: str = "") -> Iterator[AnyEvent]:  # noqa: ARG001 - as other formats have it
    """Yield the events of one trajectory that is at hand as bytes; `path` is only what it is called after."""
    data = row.data or b""
    listed = data.lstrip(b"\xef\xbb\xbf\x00 \t\r\n")[:1] == b"["
    document = None if listed else decoded(data, _DOCUMENT)
    header = document if document is not None else Document()
    run = _Run(header)
    yield run.start(row, path)
    reading = Reading(row)
    if row.data is None:
        yield reading.too_long()
    elif listed:
        yield from told(within(Raw(data), data, row.offset), run.add, reading, row.line)
    elif document is None:
        yield from told(items(data, None, "messages", row.offset), run.add, reading, row.line)
    else:
        yield from told(within(header.messages, data, row.offset), run.add, reading, row.line)
    yield from run.ended(row)
    yield reading.end(dict(run.conversation.ignored))


class _Run:
    """One run: its messages, and what its settings say about them."""

    def __init__(self, document: Document) -> None:
        self.info = document.info if document.info is not None else Info()
        config = self.info.config if self.info.config is not None else Config()
        self.model = _text(config.model, "model_name")
        self.cwd = _text(config.environment, "cwd")
        self.template = _text(config.agent, "instance_template")
        self.name = document.instance_id if isinstance(document.instance_id, str) else ""
        self.conversation = Conversation(model=self.model, cwd=self.cwd, blocks=True)
        self.at: int | None = None
        self.submitted = False

    def start(self, row: Row, path: Path) -> SessionStart:
        version = self.info.mini_version
        return SessionStart(
            session_id=name_of(self.name or row.name, path.name.removesuffix(".json").removesuffix(".traj")),
            agent="mini_swe_agent", agent_version=version if isinstance(version, str) else "", cwd=self.cwd,
            originator="mini-swe-agent",
        )  # fmt: skip

    def add(self, message: Message, place: dict[str, Any]) -> list[AnyEvent] | None:
        extra = message.extra if isinstance(message.extra, dict) else {}
        self.at = moment_of(extra.get("timestamp")) or self.at
        place = place | {"at": self.at}
        conversation = self.conversation
        if message.object == "response" and isinstance(message.output, list):
            return self._answered(message, place)
        if message.type == "function_call_output":
            conversation.begin(place)
            conversation.result(str(message.call_id or ""), text_of(message.output), extra=extra)
            return conversation.taken()
        if message.role == "exit":
            return self._exit(message, extra, place)
        if message.role == "user" and "interrupt_type" in extra:
            conversation.begin(place)
            conversation.user(text_of(message.content), origin="injected")
            return conversation.taken()
        if message.role == "user" and not conversation.asked:
            conversation.task = task_in(text_of(message.content), self.template)
        return conversation.add(message, place)

    def _answered(self, message: Message, place: dict[str, Any]) -> list[AnyEvent]:
        """Tell of an answer of the Responses interface: its items are reasoning, messages and calls."""
        conversation = self.conversation
        conversation.begin(place)
        response, model = conversation.spent(message.extra, message.usage, message.model, message.id)
        for item in message.output:
            kind = item.get("type") if isinstance(item, dict) else None
            if kind == "message":
                conversation.say(text_of(item.get("content")), model, response)
            elif kind == "reasoning":
                conversation.say(text_of(item.get("summary")), model, response, reasoning=True)
            elif kind == "function_call":
                arguments = arguments_of(item.get("arguments"))
                identifier = str(item.get("call_id") or item.get("id") or "")
                conversation.call(str(item.get("name") or ""), arguments, identifier=identifier, response=response)
        return conversation.taken()

    def _exit(self, message: Message, extra: dict[str, Any], place: dict[str, Any]) -> list[AnyEvent]:
        conversation = self.conversation
        conversation.begin(place)
        conversation.ignored["exit"] += 1
        self.submitted = extra.get("exit_status", "Submitted") == "Submitted"
        if self.submitted and conversation.left_open():
            conversation.result("", text_of(message.content), extra={"returncode": 0})
        return conversation.taken()

    def ended(self, row: Row) -> Iterator[AnyEvent]:
        status = self.info.exit_status
        if isinstance(status, str) and status and status != "Submitted" and not self.submitted:
            yield Interruption(
                reason=f"error: {status[:200]}", offset=row.offset + row.length, line=row.line, at=self.at
            )


def _text(record: Any, name: str) -> str:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def task_in(text: str, template: str) -> str:
    """Return the task in a first prompt that was made of a template, empty when it was not."""
    place = _TASK.search(template)
    if place is None:
        return ""
    before, after = template[: place.start()][-_LITERAL:], template[place.end() :]
    before = before[max(before.rfind("}}"), before.rfind("%}"), -2) + 2 :] if "}" in before else before
    cut = _OTHER.search(after)
    after = after[: cut.start() if cut else len(after)][:_LITERAL].rstrip("\n ")
    begin = text.find(before)
    end = text.find(after, begin + len(before)) if after.strip() else len(text)
    return text[begin + len(before) : end].strip() if 0 <= begin < end else ""
