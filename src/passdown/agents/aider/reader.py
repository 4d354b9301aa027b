"""From the lines of a run to events. What the model wrote stands bare: where it ends is told by the lines around it."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple

from passdown.agents.aider.notes import (
    APPLIED,
    DRY,
    FAILED_TESTS,
    FOLDER,
    GOES_ON,
    MISSED,
    MODEL,
    OTHERS,
    OWN,
    PASSED_TESTS,
    REFUSED,
    RUNNING,
    TEST_COMMAND,
    tokens_of,
    typed,
)
from passdown.io.jsonl import Line
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Interruption,
    ModelChange,
    Outcome,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    WorkspaceChange,
)

_SEARCH = lazy_pattern(r"<{5,9} SEARCH>?\s*\Z")
_DIVIDER = lazy_pattern(r"={5,9}\s*\Z")
_REPLACE = lazy_pattern(r">{5,9} REPLACE\s*\Z")
_FENCE = lazy_pattern(r"\s*(?:```|~~~|<source>|</source>|<code>|</code>)")
_PATH = lazy_pattern(r"[^\s<>|\"?*](?:[^<>|\"?*\n]{0,400}[^\s<>|\"?*])?\Z")
_LONGEST = 4 << 20
"""Most characters of one answer that are kept."""
_MOST_OUTPUT = 400
_MOST_EDITS = 2000


class Edit(NamedTuple):
    """A SEARCH/REPLACE block that waits for word of how it went."""

    call_id: str
    path: str


class Reader:
    """Turns lines into events. `add` takes one line, `finish` what is left when there are no more."""

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._model = ""
        self._answering = ""
        self._cwd = ""
        self._said: list[str] = []
        self._said_at: dict[str, Any] = {}
        self._size = 0
        self._asked: list[str] = []
        self._asked_at: dict[str, Any] = {}
        self._calls: list[ToolCall] = []
        self._open: list[Edit] = []
        self._block: tuple[list[str], list[str], dict[str, Any]] | None = None
        self._in_replace = False
        self._path = ""
        self._after_note = False
        self._awaiting = False
        self._working = False
        self._offered = False
        self._tests = ""
        self._testing = False
        self._output: deque[str] = deque(maxlen=_MOST_OUTPUT)
        self._echo = ""
        self._closes = False
        self._cut = ""

    def add(self, line: Line) -> list[AnyEvent]:
        """Return the events that a line completes."""
        self._events = []
        self._base = {"offset": line.offset, "line": line.number}
        text = (line.data or b"").decode("utf-8", "replace").rstrip("\r")
        if self._block is not None and not self._breaks_off(text):
            self._in_block(text)
        elif text.startswith("####") and self._is_typed(text):
            self._end_answer()
            if not self._asked:
                self._end_tests()
                self._asked_at = self._base
            self._asked.append(text[4:].strip())
        elif text.startswith(">") and self._is_note(text):
            self._end_asked()
            self._end_answer()
            self._after_note = True
            # What failed is told a second time, line by line, and then to the model.
            self._awaiting = self._awaiting or (self._testing and text.endswith("  "))
            self._note(text[1:20_000].strip())
        elif not text.strip():
            self._end_asked()
            self._after_note = False
            if self._said:
                self._said.append("")
        elif self._after_note or not self._awaiting:
            self._end_asked()
            self._put_out(text)
        else:
            self._end_asked()
            self._answer(text)
        return self._events

    def finish(self) -> list[AnyEvent]:
        """Return the events of what was still under way."""
        self._events = []
        self._end_asked()
        self._end_answer()
        self._end_tests()
        return self._events

    def _breaks_off(self, text: str) -> bool:
        """Say whether an edit ends here that was not written to its end: somebody else speaks."""
        broken = text.startswith(("> Tokens: ", "> ^C")) or (text.startswith(("> ", "#### ")) and text.endswith("  "))
        if broken:
            self._end_block(whole=False)
        return broken

    def _is_typed(self, text: str) -> bool:
        """A person's lines end with two blanks. The model's headings of the fourth rank do not."""
        return text == "####" or (text.startswith("#### ") and (text.endswith("  ") or not self._said))

    def _is_note(self, text: str) -> bool:
        """Aider's lines end with two blanks, too, unless a text has several. The model quotes, and writes diffs."""
        return text.endswith("  ") or not self._said or text.startswith("> Tokens: ")

    def _end_asked(self) -> None:
        if not self._asked:
            return
        text, self._asked = "\n".join(self._asked).strip(), []
        said = typed(text)
        self._awaiting = self._working = said.asks
        self._testing = said.tests
        echo, self._echo = self._echo, said.text if said.origin == "command" and said.asks else ""
        if text and text != "<blank>" and (said.origin != "human" or said.text != echo):
            self._events.append(UserMessage(text=said.text, origin=said.origin, **self._asked_at))

    def _answer(self, text: str) -> None:
        if text[0] == "<" and _SEARCH.match(text) is not None:
            self._begin_block()
            return
        if self._closes and _FENCE.match(text) is not None:
            self._closes = False  # the end of an edit's fence
            return
        if not self._said:
            self._said_at = self._base
        if self._size <= _LONGEST:
            self._size += len(text) + 1
            self._said.append(text)

    def _begin_block(self) -> None:
        """Take the path, and the fence below it, out of what was said: they belong to the edit."""
        if not self._said:
            self._said_at = self._base
        rest = list(self._said)
        while rest and (not rest[-1].strip() or _FENCE.match(rest[-1]) is not None):
            rest.pop()
        name = rest[-1].strip().strip("`*:#").strip() if rest else ""
        if name and len(rest[-1]) < 500 and _PATH.match(name) and (" " not in name or "." in name.split()[-1]):
            if "/" in name or "." in name or " " not in name:
                self._path = name
                rest.pop()
                self._said = rest
        elif self._path:
            self._said = rest
        self._block, self._in_replace = ([], [], self._base), False

    def _in_block(self, text: str) -> None:
        if self._block is None:
            return
        before, after, _ = self._block
        if text[:1] == ">" and _REPLACE.match(text) is not None:
            self._end_block()
        elif not self._in_replace and text[:1] == "=" and _DIVIDER.match(text) is not None:
            self._in_replace = True
        elif self._size <= _LONGEST:
            self._size += len(text) + 1
            (after if self._in_replace else before).append(text)

    def _end_block(self, *, whole: bool = True) -> None:
        if self._block is None:
            return
        before, after, base = self._block
        self._block, self._closes = None, True
        self._cut = "" if whole else f"line-{base['line']}"
        if len(self._calls) < _MOST_EDITS:
            arguments = {"search": "\n".join(before), "replace": "\n".join(after)}
            self._calls.append(
                ToolCall(
                    call_id=f"line-{base['line']}", tool="edit", action="edit" if before else "write",
                    paths=(self._path,) if self._path else (), arguments=arguments, **base,
                )
            )  # fmt: skip

    def _end_answer(self) -> None:
        self._end_block(whole=False)
        text = "\n".join(self._said).strip()
        calls, self._calls, self._said, self._size = self._calls, [], [], 0
        self._path, self._closes = "", False
        if not text and not calls:
            return
        response = f"line-{self._said_at['line']}"
        if self._model and self._model != self._answering:
            if self._answering:
                self._events.append(ModelChange(model=self._model, previous=self._answering, **self._said_at))
            self._answering = self._model
        if text:
            self._events.append(AssistantMessage(text=text, model=self._model, response_id=response, **self._said_at))
        self._open = []  # of what an earlier answer wanted nothing more is told
        for call in calls:
            self._events.append(call)
            if call.call_id == self._cut:
                self._events.append(ToolResult(call_id=call.call_id, outcome="interrupted", **self._base))
            else:
                self._open.append(Edit(call.call_id, call.paths[0] if call.paths else ""))

    def _note(self, note: str) -> None:
        if (tokens := tokens_of(note)) is not None:
            self._working = self._awaiting = False
            self._output.clear()
            self._events.append(
                Usage(
                    response_id=f"line-{self._base['line']}", model=self._model, input=tokens.fresh,
                    cache_read=tokens.read, cache_write=tokens.written, output=tokens.output,
                    context=tokens.fresh + tokens.read + tokens.written, **self._base,
                )
            )  # fmt: skip
        elif (match := APPLIED.match(note)) is not None:
            self._edited(match[1].strip(), "ok", note)
        elif (match := MISSED.match(note)) is not None:
            self._awaiting = True
            self._edited(match[1].strip(), "failed", note, first=True)
        elif (match := REFUSED.match(note)) is not None:
            self._edited(match[1].strip(), "rejected", note)
        elif (match := DRY.match(note)) is not None:
            self._edited(match[1].strip(), "unknown", note)
        elif OTHERS.match(note) is not None:
            for path in dict.fromkeys(edit.path for edit in self._open):
                self._edited(path, "ok", note)
        elif (match := MODEL.match(note)) is not None:
            self._model = match[1].rstrip(",⚡").strip()
        elif (match := FOLDER.match(note)) is not None:
            self._move(match[1].strip())
        elif note.startswith("^C"):
            self._stopped()
        elif self._offered and (match := RUNNING.match(note)) is not None:
            self._ran(match[1])
        else:
            self._other(note)

    def _other(self, note: str) -> None:
        if note.startswith(("Run shell command", "Run all shell commands")):
            self._offered = True
        elif note.startswith(GOES_ON):
            self._awaiting = True
            if self._tests and FAILED_TESTS.match(note) is not None:
                self._ran(self._tests, "failed", "\n".join(self._output))
                self._output.clear()
                return
        elif not self._tests and (match := TEST_COMMAND.search(note)) is not None:
            self._tests = match[1].strip()
        self._put_out(note)

    def _put_out(self, text: str) -> None:
        """Take note of a line of output: it may be that of the tests."""
        self.ignored["output"] += 1
        if self._tests and OWN.match(text) is None:
            self._output.append(text[:500].rstrip())

    def _end_tests(self) -> None:
        """Tell of tests that passed: of those nothing is asked, and only their own output says so."""
        output = "\n".join(self._output)
        self._output.clear()
        if self._tests and PASSED_TESTS.search(output) is not None:
            self._ran(self._tests, "ok", output)

    def _stopped(self) -> None:
        if self._working:
            self._working = False
            self._events.append(Interruption(**self._base))
        else:
            self.ignored["output"] += 1

    def _move(self, folder: str) -> None:
        if folder != self._cwd:
            self._cwd = folder
            self._events.append(WorkspaceChange(cwd=folder, **self._base))

    def _ran(self, command: str, outcome: Outcome = "unknown", output: str = "") -> None:
        """A command that a person agreed to, or that of the tests, which alone has its output in older histories."""
        call_id = f"line-{self._base['line']}"
        self._events.append(
            ToolCall(
                call_id=call_id, tool="shell", action="run", command=command, arguments={"command": command},
                **self._base,
            )
        )  # fmt: skip
        self._events.append(ToolResult(call_id=call_id, outcome=outcome, text=output, **self._base))

    def _edited(self, path: str, outcome: Outcome, note: str, *, first: bool = False) -> None:
        """Give the edits of a file that wait their end; one that was no block is told of here first."""
        waiting = [edit for edit in self._open if edit.path == path] or [edit for edit in self._open if not edit.path]
        if first:
            waiting = waiting[:1]
        if not waiting and outcome == "ok":
            call_id = f"line-{self._base['line']}"
            self._events.append(ToolCall(call_id=call_id, tool="edit", action="edit", paths=(path,), **self._base))
            waiting = [Edit(call_id, path)]
        for edit in waiting:
            done = (path,) if outcome == "ok" else ()
            self._events.append(ToolResult(call_id=edit.call_id, outcome=outcome, text=note, paths=done, **self._base))
        ended = {edit.call_id for edit in waiting}
        self._open = [edit for edit in self._open if edit.call_id not in ended]
