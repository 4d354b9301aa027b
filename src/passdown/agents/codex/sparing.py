"""Rows that say nothing to a reader who only wants to know what was done: they are told by their beginning.

Most bytes of a rollout are outputs of commands that went well; one row in seven is the running total of tokens, one in
eight a thought that only Codex can read, one in twelve the copy of an answer. A row is taken for one of them only when
its fields stand as Codex writes them; any other is decoded whole. What is damaged inside of such a row is not noticed
then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec

from passdown.agents.codex.course import tokens
from passdown.agents.codex.events import TokenCount
from passdown.agents.codex.outputs import Ended, milliseconds
from passdown.agents.codex.records import ROWS
from passdown.agents.codex.state import Events, State
from passdown.io.jsonl import Line
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Unread

STAMPED = 39
"""Bytes before the type of a row whose time is written to the millisecond."""
_OUTPUT = b',"type":"response_item","payload":{"type":"function_call_output","call_id":"'
_SAID = b',"type":"event_msg","payload":{"type":"agent_message",'
_TOTALS = b',"type":"event_msg","payload":{"type":"token_count",'
_THOUGHT = b',"type":"response_item","payload":{"type":"reasoning",'
_NAMED = slice(39, 49)
MARK = slice(STAMPED + _NAMED.start, STAMPED + _NAMED.stop)
"""The bytes of a row that tell which kind it may be of: a part of what it says of its type."""
_FINE = lazy_pattern(
    rb'\{"timestamp":"([\d:.TZ-]{24})"' + _OUTPUT.replace(b"{", rb"\{") + rb'([\w-]{1,100})","output":"'
    rb"(?:Chunk ID: \w{1,40}\\nWall time: ([\d.]{1,20}) seconds\\nProcess exited with code|Exit code:) 0\\n"
    rb"(?:Wall time: ([\d.]{1,20}) seconds\\n)?"
)  # fmt: skip
_SEALED = lazy_pattern(rb'(?:"id":"[\w-]{1,100}",)?"summary":\[\],(?:"content":null,)?"encrypted_content":"')
_BEHIND = lazy_pattern(rb'"(?:,"internal_chat_message_metadata_passthrough":\{"turn_id":"[\w-]{1,100}"\})?\}\}')
"""What stands before the text of a thought that nobody can read, and behind that of a thought or an output."""
_PASSED_ON = b'","internal_chat_message_metadata_passthrough":'
_BEHIND_AT_MOST = 200
_ENDS = b'"}}'
_GLUED = b'{"timestamp":"'
"""How a row begins: inside of a text its quotes would be escaped."""
_BACKSLASH = ord("\\")
_NOTHING: Events = ()
_milliseconds = lru_cache(maxsize=1024)(milliseconds)
"""Most commands take a few hundredths of a second, and no more than twenty characters to say so."""


class Sparing:
    """Takes rows that may be spared, in a session of its own that has begun; `unread` says whose output nobody reads.

    `rows` takes one by its `MARK`: it returns the row's events, or None for a row to be decoded.
    """

    def __init__(self, state: State, unread: Unread) -> None:
        self.rows: dict[bytes, Callable[[Line], Events | None]] = {
            _OUTPUT[_NAMED]: self._output,
            _THOUGHT[_NAMED]: self._thought,
            _SAID[_NAMED]: self._said,
            _TOTALS[_NAMED]: self._tokens,
        }
        self._state = state
        self._unread = unread
        self._counted: set[str] = set()
        self._last: Line | None = None

    def _output(self, line: Line) -> Events | None:
        data = line.data or b""
        match = _FINE.match(data) if data.startswith(_OUTPUT, STAMPED) else None
        if match is None or not _is_ended(data):
            return None
        when, name, wall, later_wall = match.groups()
        call_id, tools = name.decode(), self._state.tools
        called = tools.open.get(call_id)
        if called is None or called.action != "run" or called.tool == "write_stdin" or not self._unread(call_id):
            return None
        ended = Ended("ok", 0, "", _milliseconds(wall or later_wall))
        if not tools.confirms(call_id, ended) or data.find(_GLUED, match.end()) >= 0:
            return None
        del tools.open[call_id]
        self._state.place.when = when.decode()
        events = self._state.went_on()
        events.append(tools.result(self._state.place, call_id, called, ended)[0])
        return events

    def _thought(self, line: Line) -> Events | None:
        """Count a thought that is encrypted, and without a summary."""
        data = line.data or b""
        sealed = _SEALED.match(data, STAMPED + len(_THOUGHT)) if data.startswith(_THOUGHT, STAMPED) else None
        end = data.find(b'"', sealed.end()) if sealed else -1
        if end < 0 or data[end - 1] == _BACKSLASH or (data[end:] != _ENDS and _BEHIND.fullmatch(data, end) is None):
            return None
        self._state.ignored["response_item/reasoning"] += 1
        return self._state.went_on()

    def _said(self, line: Line) -> Events | None:
        """Pass over the copy of an answer, where answers are known to have items of their own."""
        dialogue = self._state.dialogue
        if not dialogue.items or dialogue.waiting or not _is_whole(line.data or b"", _SAID):
            return None
        self._state.ignored["event_msg/agent_message"] += 1
        return _NOTHING

    def _tokens(self, line: Line) -> Events | None:
        """Leave a total for later: the last one holds all of them. Of each model one is told at once."""
        if not _is_whole(line.data or b"", _TOTALS):
            return None
        if self._state.model in self._counted:
            self._last = line
            return _NOTHING
        events = self._decoded(line)
        if events:
            self._counted.add(self._state.model)
        return events

    def _decoded(self, line: Line) -> Events | None:
        try:
            row = ROWS.decode(line.data or b"")
        except (msgspec.MsgspecError, RecursionError):
            return None
        if not isinstance(row.payload, TokenCount):
            return None
        self._state.place.when = row.timestamp
        return tokens(self._state, row.payload)

    def finish(self) -> Events:
        """Return the last total of tokens, for all that were left out before."""
        if self._last is None:
            return _NOTHING
        place = self._state.place
        place.offset, place.line = self._last.offset, self._last.number
        return self._decoded(self._last) or _NOTHING


def _is_whole(data: bytes, head: bytes) -> bool:
    """Say whether a row begins with `head` after its time, ends as one does, and holds the beginning of no other."""
    return data.startswith(head, STAMPED) and data.endswith(b"}}") and data.find(_GLUED, STAMPED) < 0


def _is_ended(data: bytes) -> bool:
    """Say whether a row ends as one does whose last own field is a text."""
    if data.endswith(_ENDS):
        return True
    behind = data.rfind(_PASSED_ON, -_BEHIND_AT_MOST)
    return behind >= 0 and _BEHIND.fullmatch(data, behind) is not None
