"""SWE-agent's `.traj`: what was said in `history`, and in `trajectory` each step's folder and time.

There are no times of day and no exit codes. What a step asked the model (`query`, `messages`) repeats the history, and
is passed over undecoded.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from passdown.io.log import whole
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, Interruption, SessionRef, SessionStart, ToolCall, WorkspaceChange
from passdown.trajectories.conversation import ASSISTANT, Conversation, Message, text_of
from passdown.trajectories.document import Part, Reading, Row, choose, decoded, items, open_rows
from passdown.trajectories.messages import name_of, told, within
from passdown.trajectories.outline import outline

OWN = frozenset({
    "open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "append", "search_dir", "search_file",
    "find_file", "filemap", "submit", "exit_cost", "exit_context", "exit_format", "skip", "exit_forfeit", "undo_edit",
})  # fmt: skip
"""Commands of SWE-agent's own shell interface; everything else is the shell's."""
_EDITORS = frozenset({"edit", "insert", "append", "undo_edit"})
_COMMIT = lazy_pattern(r"[0-9a-f]{40}")
_OPENS = ("open", "create")
_BASE = frozenset({"action", "observation"})


class Step(Struct, gc=False):
    """One step, as far as it adds to the history."""

    action: Any = None
    observation: Any = None
    thought: Any = None
    response: Any = None
    state: Any = None
    execution_time: Any = None


class Info(Struct, gc=False):
    """How the run ended, and by which version it was made."""

    exit_status: Any = None
    swe_agent_version: Any = None


class Document(Struct, gc=False):
    """A trajectory, as far as it is used."""

    history: Raw = Raw()
    trajectory: list[Step] = field(default_factory=list)
    info: Info | None = None
    replay_config: Any = None
    environment: Any = None


_DOCUMENT = msgspec.json.Decoder(Document)


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a trajectory of SWE-agent."""
    shape = outline(head)
    if shape.shape != "object" or shape.has("instruction"):
        return False
    if "trajectory" in shape.keys and shape.within("trajectory") >= _BASE:
        return True
    said = shape.within("history")
    return "role" in said and bool({"message_type", "agent"} & said)


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
    document = decoded(data, _DOCUMENT)
    run = _Run(document if document is not None else Document())
    yield run.start(row, path)
    reading = Reading(row)
    if row.data is None:
        yield reading.too_long()
    elif document is None:
        yield from told(_torn(data, row), run.add, reading, row.line)
    elif bytes(document.history)[:1] == b"[":
        yield from told(within(document.history, data, row.offset), run.add, reading, row.line)
    else:
        yield from run.steps_alone(reading, row)
    yield from run.ended(row)
    yield reading.end(dict(run.conversation.ignored))


def _torn(data: bytes, row: Row) -> Iterator[Part]:
    """Yield what is whole of a document that is cut off: its history, else its steps."""
    key = "history" if b'"history"' in data else "trajectory"
    yield from items(data, None, key, row.offset)


class _Run:
    """One run: its messages, with the steps they belong to."""

    def __init__(self, document: Document) -> None:
        self.info = document.info if document.info is not None else Info()
        self.steps = document.trajectory
        self.replay = _tree(document.replay_config)
        self.name = document.environment if isinstance(document.environment, str) else ""
        problem = self.replay.get("problem_statement")
        self.task = _text(problem, "text")
        self.identifier = _text(problem, "id")
        model = self.replay.get("agent")
        self.model = _text(model.get("model") if isinstance(model, dict) else None, "name")
        self.conversation = Conversation(task=self.task, model=self.model)
        self.number = -1

    def start(self, row: Row, path: Path) -> SessionStart:
        env = self.replay.get("env")
        commit = _text(env.get("repo") if isinstance(env, dict) else None, "base_commit")
        version = self.info.swe_agent_version
        generic = self.name in ("", "main", "swe_main", "primary")
        self.conversation.cwd = self._folder(0)
        return SessionStart(
            session_id=name_of(self.identifier or ("" if generic else self.name) or row.name, path.name),
            agent="swe_agent", agent_version=version if isinstance(version, str) else "", cwd=self.conversation.cwd,
            commit=commit if _COMMIT.fullmatch(commit) else "", originator="SWE-agent",
        )  # fmt: skip

    def _folder(self, number: int) -> str:
        """Return the folder a step was in: that of the state before it, else of the one after."""
        states = (self._before(number), _tree(self._state(number)))
        return next((folder for state in states if (folder := _text(state, "working_dir"))), "")

    def _file(self, number: int) -> str:
        file = _text(self._before(number), "open_file")
        return "" if file == "n/a" else file

    def _before(self, number: int) -> dict[str, Any]:
        """Return the state before a step: its own before 1.0, where it is text; since then that of the step before."""
        own = self._state(number)
        return _tree(own if isinstance(own, str) else self._state(number - 1))

    def _state(self, number: int) -> Any:
        return self.steps[number].state if 0 <= number < len(self.steps) else None

    def add(self, message: Message, place: dict[str, Any]) -> list[AnyEvent] | None:
        conversation = self.conversation
        if message.role is None and isinstance(message.action, str):  # a step of a file that is cut off
            return self._step(Step(action=message.action, thought=message.thought), place)
        if message.is_demo is True:
            conversation.ignored["demonstration"] += 1
            return []
        if isinstance(message.role, str) and message.role in ASSISTANT:
            return self._acted(message, place)
        took = self._took()
        if message.role == "tool" or (message.role == "user" and conversation.left_open()):
            conversation.begin(place)
            named = message.tool_call_ids if isinstance(message.tool_call_ids, list) else []
            text = _observed(text_of(message.content))
            conversation.result(str(named[0]) if named else "", text, took=took)
            return conversation.taken()
        return conversation.add(message, place)

    def _took(self) -> int | None:
        step = self.steps[self.number] if 0 <= self.number < len(self.steps) else None
        seconds = step.execution_time if step is not None else None
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
            return None
        return whole(seconds * 1000)

    def _acted(self, message: Message, place: dict[str, Any]) -> list[AnyEvent] | None:
        conversation = self.conversation
        self.number += 1
        folder = self._folder(self.number)
        moved: list[AnyEvent] = []
        if folder and folder != conversation.cwd:
            moved = [WorkspaceChange(cwd=folder, **place)]
        conversation.cwd = folder or conversation.cwd
        conversation.open_file = self._file(self.number) or conversation.open_file
        if message.tool_calls or not isinstance(message.action, str):
            events = conversation.add(message, place) or []
            opened = [
                event.paths[0]
                for event in events
                if isinstance(event, ToolCall) and event.tool in _OPENS and event.paths
            ]
            conversation.open_file = opened[-1] if opened else conversation.open_file
            return [*moved, *events]
        conversation.begin(place)
        said = message.thought if isinstance(message.thought, str) else text_of(message.content)
        conversation.say(said.strip())
        self._call(message.action)
        return [*moved, *conversation.taken()]

    def _call(self, action: str) -> None:
        action = action.strip()
        if not action:
            return
        words = action.split(None, 2)
        own = words[0] in OWN
        paths: tuple[str, ...] = ()
        if words[0] in _EDITORS and (file := self._file(self.number)):
            paths = (file,)
        elif words[0] in _OPENS and len(words) > 1:
            paths = (words[1].strip("\"'"),)
        self.conversation.call(words[0] if own else "bash", {"command": action}, said=True, paths=paths)

    def _step(self, step: Step, place: dict[str, Any]) -> list[AnyEvent]:
        conversation = self.conversation
        self.number += 1
        conversation.begin(place)
        conversation.say(step.thought.strip() if isinstance(step.thought, str) else "")
        self._call(step.action if isinstance(step.action, str) else "")
        if conversation.left_open() and isinstance(step.observation, str):
            conversation.result("", step.observation, took=self._took())
        return conversation.taken()

    def steps_alone(self, reading: Reading, row: Row) -> Iterator[AnyEvent]:
        """Yield the events of a document that has no history."""
        place = {"offset": row.offset, "line": row.line}
        if self.task:
            self.conversation.begin(place)
            self.conversation.user(self.task)
            yield from self.conversation.taken()
        for step in self.steps:
            reading.records += 1
            yield from self._step(step, place)

    def ended(self, row: Row) -> Iterator[AnyEvent]:
        last = self.steps[self.number] if 0 <= self.number == len(self.steps) - 1 else None
        if self.conversation.left_open() and last is not None and isinstance(last.observation, str):
            # The history ends with the call that ended the run; what came of it stands in its step alone.
            self.conversation.begin({"offset": row.offset + row.length, "line": row.line})
            self.conversation.result("", last.observation, took=self._took())
            yield from self.conversation.taken()
        status = self.info.exit_status
        if isinstance(status, str) and status and not status.startswith("submitted"):
            yield Interruption(reason=f"error: {status[:200]}", offset=row.offset + row.length, line=row.line)


def _tree(value: Any) -> dict[str, Any]:
    """Return an object that some versions keep as JSON in a string."""
    if isinstance(value, str):
        value = decoded(value.encode("utf-8", "replace"), _ANY)
    return value if isinstance(value, dict) else {}


_ANY = msgspec.json.Decoder()


def _text(record: Any, name: str) -> str:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def _observed(text: str) -> str:
    """Return an observation without the lines that the interface puts under it."""
    text = text.removeprefix("OBSERVATION:\n")
    head, found, tail = text.rpartition("\n(Open file: ")
    return head if found and tail.rstrip().endswith("bash-$") else text
