"""What is kept of a session's cost, so that sums over thousands of sessions need none of their logs."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from passdown.agents.nested import NAMED
from passdown.model.session import AnyEvent, Compaction, SessionStart, ToolCall, ToolResult, Usage
from passdown.usage.calls import WORDS, Call
from passdown.usage.switches import Change, Effect, Turn, effect_of, find_changes
from passdown.usage.totals import contradiction, day_number

LONGEST_COMMAND = 16_384
"""Characters of a command that are kept: no more of it is taken apart when an agent is looked for in it."""

_COMMANDS = 1_000
_NAME = 400
_UNASKED: Effect = 0


class Candidate(Struct, frozen=True, array_like=True):
    """A command in which some agent's name stands: whether it starts one is for the rules to say."""

    command: str
    call_id: str = ""
    at: int | None = None
    until: int | None = None


class Slice(Struct, frozen=True, array_like=True):
    """The sums over the calls of one day, model and subagent (places in the tally's lists), measured or not."""

    day: int
    model: int
    subagent: int
    measured: bool
    calls: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int


class Tally(Struct, frozen=True, kw_only=True, array_like=True):
    """One session's cost. `contradicts` says why its numbers cannot be right, `first` and `last` bound its calls.

    `calls` counts them, `timeless` those without a time, `nameless` those whose response has no id: a copy
    of such a one cannot be told. `compactions` are the main agent's, by their times.
    """

    session_id: str = ""
    agent: str = ""
    parent_kind: str = ""
    contradicts: str = ""
    calls: int = 0
    tool_calls: int = 0
    copied: int = 0
    timeless: int = 0
    nameless: int = 0
    first: int | None = None
    last: int | None = None
    compactions: list[int | None] = []
    models: list[str] = []
    subagents: list[str] = []
    slices: list[Slice] = []
    changes: list[Change] = []
    commands: list[Candidate] = []


class Kept(NamedTuple):
    """A tally as it is stored, the keys by which copies of its calls are known, and each call's numbers."""

    tally: bytes
    keys: bytes
    calls: bytes


class Line(Struct, frozen=True, array_like=True):
    """One call's numbers. `model` and `subagent` are places in the tally's lists, `steps` the tools it called."""

    at: int | None
    model: int
    subagent: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int
    steps: int

    def call(self, tally: Tally) -> Call:
        """Return it as a call, without its place in the log and its tools."""
        return Call(
            number=0, at=self.at, agent_id=tally.subagents[self.subagent], model=tally.models[self.model],
            input=self.input, cache_read=self.cache_read, cache_write=self.cache_write, output=self.output,
            reasoning=self.reasoning,
        )  # fmt: skip


_encode = msgspec.msgpack.encode
_tally = msgspec.msgpack.Decoder(Tally)
_lines = msgspec.msgpack.Decoder(list[Line])


def tally_of(stored: bytes) -> Tally | None:
    """Return a stored tally, None for bytes that are none."""
    try:
        return _tally.decode(stored)
    except msgspec.MsgspecError:
        return None


def keys_of(stored: bytes) -> array[int]:
    """Return the keys of a session's calls in their order; 0 stands for none."""
    keys = array("q")
    keys.frombytes(stored)
    return keys


def lines_of(stored: bytes) -> list[Line]:
    """Return each call's numbers."""
    return _lines.decode(stored)


class TallyReader:
    """Makes a tally of a session's events as they go by. `clean` is what every text passes before it is kept."""

    # A tool goes with its call as in `calls`; here how many there were, and whether they made a packet, is enough.

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._start: SessionStart | None = None
        self._calls: list[Usage] = []
        self._named: dict[tuple[str, str], tuple[int, Effect]] = {}
        self._loose: dict[str, tuple[int, Effect]] = {}
        self._nameless: dict[int, tuple[int, Effect]] = {}
        self._commands: list[Candidate] = []
        self._open: dict[str, int] = {}
        self._compactions: list[int | None] = []
        self._tool_calls = self._copied = 0

    def add(self, event: AnyEvent) -> None:
        """Take note of one event."""
        handler = _HANDLERS.get(type(event))
        if handler is None:
            return
        if event.copied and not isinstance(event, SessionStart):
            self._copied += isinstance(event, Usage)
            return
        handler(self, event)

    def _begin(self, event: SessionStart) -> None:
        self._start = self._start or event

    def _call(self, event: ToolCall) -> None:
        self._tool_calls += 1
        effect: Effect = 2
        if event.action == "run" and event.command:
            effect = effect_of(event.command[:WORDS])
            if NAMED.search(event.command) and len(self._commands) < _COMMANDS:
                self._open[event.call_id] = len(self._commands)
                self._commands.append(Candidate(event.command, event.call_id, event.at))
        if event.response_id:
            _count(self._named, (event.agent_id, event.response_id), effect)
        else:
            _count(self._loose, event.agent_id, effect)

    def _result(self, event: ToolResult) -> None:
        if self._open and (place := self._open.pop(event.call_id, None)) is not None:
            self._commands[place] = msgspec.structs.replace(self._commands[place], until=event.at)

    def _usage(self, event: Usage) -> None:
        loose = self._loose.pop(event.agent_id, None)
        if loose is not None and (event.agent_id, event.response_id) not in self._named:
            self._nameless[len(self._calls)] = loose
        self._calls.append(event)

    def _compaction(self, event: Compaction) -> None:
        if not (event.micro or event.agent_id):
            self._compactions.append(event.at)

    def _steps(self, index: int, call: Usage) -> tuple[int, Effect]:
        named = self._named.get((call.agent_id, call.response_id)) if call.response_id else None
        return named or self._nameless.get(index) or (0, _UNASKED)

    def finish(self) -> Kept | None:
        """Return what is to be stored; None for numbers beyond all that can be written down."""
        try:
            return self._finish()
        except OverflowError:
            return None

    def _finish(self) -> Kept:
        steps = [self._steps(index, call) for index, call in enumerate(self._calls)]
        start = self._start or SessionStart(session_id="", agent="")
        names = _Names(self._clean, start)
        lines = [names.line(call, count) for call, (count, _) in zip(self._calls, steps, strict=True)]
        keys = array("q", (key_of(start.agent, call) for call in self._calls))
        times = [call.at for call in self._calls if call.at is not None]
        nameless = sum(not key for key in keys)
        tally = Tally(
            session_id=self._clean(start.session_id), agent=start.agent, parent_kind=start.parent_kind,
            contradicts=contradiction(self._calls), calls=len(lines), tool_calls=self._tool_calls, copied=self._copied,
            compactions=self._compactions, timeless=len(lines) - len(times), nameless=nameless,
            first=min(times, default=None), last=max(times, default=None), models=list(names.models),
            subagents=list(names.subagents), slices=_slices(lines),
            changes=[names.named(change) for change in find_changes(_turns(self._calls, steps))],
            commands=[
                msgspec.structs.replace(one, command=self._clean(one.command[:LONGEST_COMMAND]),
                                        call_id=self._clean(one.call_id))
                for one in self._commands
            ],
        )  # fmt: skip
        return Kept(_encode(tally), keys.tobytes() if nameless < len(keys) else b"", _encode(lines))


class _Names:
    """The models and subagents of a session, each written once."""

    def __init__(self, clean: Callable[[str], str], start: SessionStart) -> None:
        self._clean = clean
        self._apart = start.session_id if start.parent_kind == "subagent" else ""
        self.models: dict[str, int] = {}
        self.subagents: dict[str, int] = {}
        self._known: dict[str, str] = {}

    def line(self, call: Usage, steps: int) -> Line:
        """Return a call's numbers."""
        model = self._name(call.model)
        subagent = self._name(call.agent_id or self._apart)
        return Line(
            call.at, self.models.setdefault(model, len(self.models)),
            self.subagents.setdefault(subagent, len(self.subagents)),
            call.input, call.cache_read, call.cache_write, call.output, call.reasoning, steps,
        )  # fmt: skip

    def named(self, change: Change) -> Change:
        """Return a change of model with the models' names as they are kept."""
        return msgspec.structs.replace(change, before=self._name(change.before), after=self._name(change.after))

    def _name(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = self._clean(name[:_NAME])
        return self._known[name]


def key_of(agent: str, call: Usage | Call) -> int:
    """Return a number by which copies of a call in other logs are known, 0 when its response has no id."""
    if not call.response_id:
        return 0
    from hashlib import blake2b

    prompt = call.input + call.cache_read + call.cache_write
    text = f"{agent}\0{call.response_id}\0{prompt}\0{call.output}\0{call.cache_read}"
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def _count(counts: dict[Any, tuple[int, Effect]], key: object, effect: Effect) -> None:
    count, before = counts.get(key, (0, _UNASKED))
    counts[key] = count + 1, effect or before


def _turns(calls: list[Usage], steps: list[tuple[int, Effect]]) -> Iterator[Turn]:
    for index, call in enumerate(calls):
        if call.context and not call.agent_id:
            yield Turn(
                index + 1, call.at, call.model, call.context, call.input + call.cache_write, call.window,
                steps[index][1],
            )  # fmt: skip


def _slices(lines: list[Line]) -> list[Slice]:
    sums: dict[tuple[int, int, int, bool], list[int]] = {}
    for line in lines:
        prompt = line.input + line.cache_read + line.cache_write
        key = (day_number(line.at), line.model, line.subagent, bool(prompt))
        found = sums.get(key)
        if found is None:
            found = sums[key] = [0, 0, 0, 0, 0, 0]
        found[0] += 1
        found[1] += line.input
        found[2] += line.cache_read
        found[3] += line.cache_write
        found[4] += line.output
        found[5] += line.reasoning
    return [Slice(*key, *numbers) for key, numbers in sums.items()]


_HANDLERS: dict[type, Callable[[TallyReader, Any], None]] = {
    SessionStart: TallyReader._begin,
    ToolCall: TallyReader._call,
    ToolResult: TallyReader._result,
    Usage: TallyReader._usage,
    Compaction: TallyReader._compaction,
}
