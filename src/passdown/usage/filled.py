"""What filled a session's context: in characters, for a log says how many tokens a call had, and not of what."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from passdown.model.pattern import lazy_pattern
from passdown.model.session import AssistantMessage, Compaction, ToolCall, ToolResult, UserMessage

_DATA_URL = lazy_pattern(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=]{64,}")
_PATHS = 20_000
_MOST = 10


class Repeat(Struct, frozen=True, kw_only=True):
    """A file that was read more than once: how often, and the characters of all readings but the first."""

    path: str
    times: int
    size: int


class Filled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Characters by where they came from: tool results by tool, what people wrote, what programs put in, and so on.

    `repeats` are the files read more than once, the largest first; `data_urls` the characters of images and the like
    that came as text. `summaries` are those of compactions.
    """

    tools: dict[str, int] = field(default_factory=dict)
    people: int = 0
    put_in: int = 0
    answers: int = 0
    summaries: int = 0
    data_urls: int = 0
    repeats: tuple[Repeat, ...] = ()


class Filling:
    """The counts under way, of the main agent alone: what a subagent reads fills another context."""

    def __init__(self) -> None:
        self.tools: Counter[str] = Counter()
        self.people = self.put_in = self.answers = self.summaries = self.data_urls = 0
        self.reading: dict[str, str] = {}
        self.readings: dict[str, list[int]] = {}

    def call(self, event: ToolCall) -> None:
        """Take note of which file a call reads."""
        if event.action == "read" and event.paths and not event.agent_id and len(self.readings) < _PATHS:
            self.reading[event.call_id] = event.paths[0]

    def result(self, event: ToolResult, tool: str) -> None:
        """Count what a tool gave back."""
        if event.agent_id:
            return
        size = len(event.text)
        self.tools[tool] += size
        if ";base64," in event.text:
            self.data_urls += sum(len(found.group()) for found in _DATA_URL.finditer(event.text))
        path = self.reading.pop(event.call_id, "")
        if path:
            self.readings.setdefault(path, []).append(size)

    def user(self, event: UserMessage) -> None:
        """Count a message in the user's role."""
        if event.agent_id:
            return
        if event.origin in ("human", "plan"):
            self.people += len(event.text)
        elif event.origin != "queued":
            self.put_in += len(event.text)

    def said(self, event: AssistantMessage) -> None:
        """Count what the model said, its visible thinking included."""
        if not event.agent_id:
            self.answers += len(event.text)

    def summary(self, event: Compaction) -> None:
        """Count a compaction's summary."""
        if not event.agent_id:
            self.summaries += len(event.summary)

    def finish(self) -> Filled:
        """Return the counts."""
        repeats = [
            Repeat(path=path, times=len(sizes), size=sum(sizes[1:]))
            for path, sizes in self.readings.items()
            if len(sizes) > 1
        ]
        repeats.sort(key=lambda repeat: (-repeat.size, -repeat.times, repeat.path))
        return Filled(
            tools=dict(sorted(self.tools.items(), key=lambda item: (-item[1], item[0]))), people=self.people,
            put_in=self.put_in, answers=self.answers, summaries=self.summaries, data_urls=self.data_urls,
            repeats=tuple(repeats[:_MOST]),
        )  # fmt: skip
