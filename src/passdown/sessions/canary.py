"""Whether a session was understood: what its reader did not know, and which fields it relies on came out empty.

An agent that changes its format leaves a reader that reads on and finds nothing. So what every session has is looked
for: a session in which none of many commands has a command was not read, whatever the reader says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from passdown.agents.table import TABLE
from passdown.model.finding import Finding
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    Unknown,
    UserMessage,
)
from passdown.redact.neutralise import one_line

SHARE = 50
"""One record in so many may be unknown before the format counts as not understood (2 %)."""
ENOUGH = 3
"""How many records of a kind must all lack a field before it counts as lost."""
MUTE = 10
"""How many calls without anybody's words in the user's role, or without a time, before those count as lost."""
DUMB = 50
"""How many calls without a word of the agent before its words count as lost; some say little."""
SILENT = 5
"""How many records of which nothing comes, and that are not known to hold nothing, make a log not understood."""
TIMED = frozenset((
    "claude_code", "codex", "opencode", "pi", "gemini", "qwen", "copilot", "openhands", "kimi", "goose", "crush",
))  # fmt: skip
"""The agents that put a time to everything."""
_OPEN = 512
_EDITS = frozenset({"edit", "write", "delete"})
_NAMED = 4
_TIMELESS = frozenset(row.id for row in TABLE if row.timeless)


class Lost:
    """One field that every record of its kind has: how many records were seen, how many had it, where the first lay."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.seen = 0
        self.had = 0
        self.first: AnyEvent | None = None

    def look(self, event: AnyEvent, has: object) -> None:
        """Count one record."""
        self.seen += 1
        if has:
            self.had += 1
        elif self.first is None:
            self.first = event

    @property
    def gone(self) -> bool:
        """Say whether the field was lost: there were enough records, and none of them had it."""
        return self.seen >= ENOUGH and not self.had


class Canary:
    """Looks at a session's events as they go by; `findings` says what it made of them."""

    def __init__(self, agent: str = "") -> None:
        self.agent = agent
        self.records = 0
        self.ignored = 0
        self.understood = 0
        self.unknown = 0
        self.kinds: Counter[str] = Counter()
        self.first: Unknown | None = None
        self._calls: set[str] = set()
        self._before: set[str] = set()
        self._timed = agent in TIMED
        self._asked = False
        self._said = False
        self._acted: ToolCall | None = None
        self.tool = Lost("tool calls has the tool's name")
        self.command = Lost("commands has its text")
        self.path = Lost("edits has its file")
        self.call = Lost("results belongs to a call")
        self.text = Lost("messages has a text")
        self.time = Lost("messages and calls has a time, which the session itself has")

    def look(self, event: AnyEvent) -> None:
        """Take note of one event, in the session's order."""
        look = LOOKS.get(type(event))
        if look is not None:
            look(self, event)

    def _unknown(self, event: Unknown) -> None:
        self.unknown += 1
        self.kinds[(event.record or "?") if event.reason == "unknown_type" else event.reason] += 1
        self.first = self.first or event

    def _start(self, event: SessionStart) -> None:
        self._timed = self._timed or (event.at is not None and event.agent not in _TIMELESS)

    def _end(self, event: SessionEnd) -> None:
        self.records += event.records
        self.ignored += sum(event.ignored.values())

    def _call(self, event: ToolCall) -> None:
        self.understood += 1
        calls = self._calls
        calls.add(event.call_id)
        if len(calls) > _OPEN:
            self._calls, self._before = set(), calls
        if self._acted is None:
            self._acted = event
        tool, time = self.tool, self.time
        if event.tool and event.at is not None:  # counted here, as nearly all are
            tool.seen += 1
            tool.had += 1
            time.seen += 1
            time.had += 1
        else:
            tool.look(event, event.tool)
            time.look(event, event.at is not None)
        action = event.action
        if action == "run":
            command = self.command
            if event.command:
                command.seen += 1
                command.had += 1
            else:
                command.look(event, False)
        elif action in _EDITS:
            self.path.look(event, event.paths)

    def _result(self, event: ToolResult) -> None:
        self.understood += 1
        call = self.call
        if call.had:  # one that belongs shows that they are told apart; most results come past here
            call.seen += 1
        else:
            call.look(event, event.call_id in self._calls or event.call_id in self._before)
        if event.paths:
            self.path.had += 1

    def _user(self, event: UserMessage) -> None:
        self.understood += 1
        self._asked = True
        if event.origin == "human":
            self.text.look(event, event.text or event.images)
        self.time.look(event, event.at is not None)

    def _assistant(self, event: AssistantMessage) -> None:
        self.understood += 1
        self._said = self._said or not event.reasoning
        self.time.look(event, event.at is not None)

    def _compaction(self, _: Compaction) -> None:
        self._asked = True  # its summary stands for what was asked

    @property
    def strange(self) -> bool:
        """Say whether too many records are in no known form. What a crash or the cap cut off is no sign of another."""
        odd = self.unknown - self.kinds["torn_line"] - self.kinds["line_too_long"]
        return odd * SHARE > max(self.records, 1)

    @property
    def nothing(self) -> bool:
        """Say whether nothing at all of a log that is not empty was understood."""
        return not self.understood and (bool(self.unknown) or self.records - self.ignored >= SILENT)

    @property
    def misread(self) -> bool:
        """Say whether the format was not understood: too much is unknown, or a field that is relied on is gone."""
        return self.strange or self.nothing or bool(self._words()) or any(lost.gone for lost in self._fields())

    def _fields(self) -> Iterable[Lost]:
        yield from (self.tool, self.command, self.path, self.call, self.text)
        if self._timed and self.time.seen >= MUTE:
            yield self.time

    def _words(self) -> list[str]:
        """Return whose words are missing beside all the calls that were made."""
        calls = self.tool.seen
        missing = [] if self._asked or calls < MUTE else ["nobody's request"]
        return missing + ([] if self._said or calls < DUMB else ["no word of the agent"])

    def findings(self, agent: str, session: str) -> list[Finding]:
        """Return what was not understood, with the evidence: which records, how many, where the first of them lies."""
        found = [self._unread(agent, session)] if self.unknown or self.nothing else []
        lost = [
            (f"none of {lost.seen} {lost.what}", lost.first)
            for lost in self._fields()
            if lost.gone and lost.first is not None
        ]
        lost += [(f"{what} beside {self.tool.seen} tool calls", self._acted) for what in self._words() if self._acted]
        for what, first in lost:
            detail = f"format not understood ({agent}): {what}; the first lies at {_place(first)}"
            found.append(
                Finding(
                    code="session.lost_fields", severity="warn", where=session, detail=detail,
                    offset=first.offset, line=first.line,
                )
            )  # fmt: skip
        return found

    def _unread(self, agent: str, session: str) -> Finding:
        misread = self.strange or self.nothing
        if not self.unknown:
            idle = self.records - self.ignored
            detail = f"format not understood: nothing comes of {idle} of {self.records} records of {agent}"
            return Finding(code="session.unread_records", severity="warn", where=session, detail=detail)
        first = self.first or Unknown()
        kinds = ", ".join(f"{one_line(kind, 60)} {count}" for kind, count in self.kinds.most_common(_NAMED))
        more = ", …" if len(self.kinds) > _NAMED else ""
        what = f"{self.unknown} of {self.records} records are in no form that is known of {agent}"
        return Finding(
            code="session.unread_records", severity="warn" if misread else "info", where=session,
            offset=first.offset, line=first.line,
            detail=f"{'format not understood: ' * misread}{what}: {kinds}{more}; the first lies at {_place(first)}",
        )  # fmt: skip


def _place(event: AnyEvent) -> str:
    return f"line {event.line} (byte {event.offset})" if event.line else f"offset {event.offset}"


LOOKS: dict[type, Callable[[Canary, Any], None]] = {
    Unknown: Canary._unknown,
    SessionStart: Canary._start,
    SessionEnd: Canary._end,
    ToolCall: Canary._call,
    ToolResult: Canary._result,
    UserMessage: Canary._user,
    AssistantMessage: Canary._assistant,
    Compaction: Canary._compaction,
}
"""What `look` does with an event of each type, for who looks at many."""
