"""What the scripted model says, and when: a script is JSON, `{"steps": [STEP, …], "side": "…", "summary": "…"}`.

    STEP: {"text": "…", "tool": {"name": "bash", "args": {…}}}    `tools` for several calls at once; {"name", "input"} for a
                                                                  custom tool, whose input is text
          {"status": 429, "error": "rate_limit_error", "retry_after": 1}
          "sleep": seconds before the answer; "cut": true breaks the stream off half way
          "usage": {"input": 900, "cached": 800, "output": 20}; "usage_in": N is short for the first of them

Which step a request gets: the one after as many steps as the conversation in it holds tool results, so that a session that
goes on, or is tried again, is where it was; with `"mode": "sequence"`, the one after as many requests as there were, which is
what a compaction needs: it takes the results away. After the last step the last step stands. A request for the summary of
a compaction gets `summary`, one that offers no tools (a title) gets `side`; neither counts.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from typing import Any, Protocol

Body = dict[str, Any]
Event = tuple[str, Any]
"""A name, which may be empty, and the data of one server-sent event."""

SUMMARY = "The helpers in src/slug.py are half mended: slugify is done, truncate is not. Next: cut to n-1 in truncate."
SIDE = "Mend two helpers"
_COMPACTION = re.compile(
    r"create a detailed summary of the conversation|CONTEXT CHECKPOINT COMPACTION|context summarization assistant|"
    r"anchored summary|<state_snapshot>",
)
"""What Claude Code, Codex, Pi, OpenCode, and Gemini CLI and its kin say when they want a conversation summed up."""


@dataclass(frozen=True)
class Call:
    """One tool call; `source` is the text that a custom tool takes instead of arguments, `namespace` groups tools."""

    name: str
    args: dict[str, Any]
    source: str | None = None
    namespace: str = ""


@dataclass(frozen=True)
class Reply:
    """What the model says to one request, whatever the protocol."""

    text: str
    calls: tuple[Call, ...]
    input: int
    cached: int
    output: int


class Dialect(Protocol):
    """One protocol: a module of this folder."""

    def is_for(self, path: str) -> bool: ...
    def is_streamed(self, path: str, body: Body) -> bool: ...
    def results(self, body: Body) -> int: ...
    def offers_tools(self, body: Body) -> bool: ...
    def last_words(self, body: Body) -> Any: ...
    def whole(self, body: Body, reply: Reply) -> Body: ...
    def events(self, body: Body, reply: Reply) -> list[Event]: ...
    def refusal(self, status: int, kind: str, message: str) -> Body: ...


class Script:
    """A script, and where in it we are."""

    def __init__(self, data: Body) -> None:
        self.steps: list[Body] = data["steps"]
        self.side, self.summary = data.get("side", SIDE), data.get("summary", SUMMARY)
        self.models: list[str] = data.get("models", ["mock-model"])
        self.in_sequence = data.get("mode") == "sequence"
        if not self.steps:
            raise ValueError("a script needs a step")
        self._asked, self._lock = 0, threading.Lock()

    def choose(self, dialect: Dialect, body: Body) -> tuple[int | str, Body]:
        """Return the step's number, or the name of what is no step, and the step."""
        offers_tools = dialect.offers_tools(body)
        if _COMPACTION.search(json.dumps(dialect.last_words(body) if offers_tools else body)):
            return "summary", {"text": self.summary}
        if not offers_tools:
            return "side", {"text": json.dumps({"title": self.side}) if wants_title(body) else self.side}
        with self._lock:
            at = self._asked if self.in_sequence else dialect.results(body)
            self._asked += 1
        at = min(at, len(self.steps) - 1)
        return at, self.steps[at]


def reply_of(step: Body, body: Body) -> Reply:
    """Return what a step says, with the numbers of tokens it names or likely ones."""
    wanted = step.get("tools") or ([step["tool"]] if step.get("tool") else [])
    calls = tuple(
        Call(call["name"], call.get("args", {}), call.get("input"), call.get("namespace", "")) for call in wanted
    )
    usage = {"input": step.get("usage_in") or tokens(body), **step.get("usage", {})}
    said = tokens([step.get("text", ""), wanted])
    return Reply(step.get("text", ""), calls, usage["input"], usage.get("cached", usage["input"] // 2), usage.get("output", said))  # fmt: skip


def wants_title(body: Body) -> bool:
    """Say whether a request wants its answer as JSON with a title."""
    forms = [
        body.get(name) for name in ("response_format", "output_config", "output_format", "text", "generationConfig")
    ]
    return '"title"' in json.dumps(forms)


def tokens(value: Any) -> int:
    """Return about as many tokens as the value has as JSON."""
    return max(1, len(json.dumps(value)) // 4)


def pieces(text: str, size: int = 24) -> list[str]:
    """Cut a text as a stream brings it."""
    return [text[at : at + size] for at in range(0, len(text), size)]
