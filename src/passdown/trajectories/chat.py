"""Chat messages with tools, as OpenAI's and Anthropic's interfaces have them, and rows of such for training.

Read are a list of messages, `{"messages": …}` (with `system` beside them, or the answer in `response`, as logs of calls
keep it), one such row a line (SWE-smith, SWE-Gym), rows whose messages lie in `trajectory` (SWE-rebench), and messages
one a line. Calls stand in `tool_calls`, `function_call`, Anthropic's blocks, or in the text (`<function=…>`).
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.io.jsonl import open_log, read_file_lines
from passdown.model.session import AnyEvent, Interruption, SessionEnd, SessionRef, SessionStart
from passdown.trajectories.conversation import Conversation, Message, moment_of
from passdown.trajectories.document import Part, Reading, Row, choose, decoded, items, open_rows
from passdown.trajectories.messages import list_in, name_of, told, within
from passdown.trajectories.outline import outline

_LISTS = ("messages", "trajectory", "raw_messages")
_LOGGED = frozenset({"uuid", "parentUuid", "sessionId", "session_id"})
_BEFORE = b"\xef\xbb\xbf\x00 \t\r\n"
_SAID = frozenset({"content", "tool_calls", "text", "function_call"})


class Document(Struct, gc=False):
    """A row, as far as it is used."""

    messages: Raw = Raw()
    raw_messages: Raw = Raw()
    trajectory: Raw = Raw()
    system: Any = None
    response: Any = None
    model: Any = None
    kwargs: Any = None
    timestamp: Any = None
    exit_status: Any = None
    instance_id: Any = None


_DOCUMENT = msgspec.json.Decoder(Document)


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` holds chat messages."""
    shape = outline(head)
    if "role" in shape.keys and _SAID & shape.keys.keys():
        return not _LOGGED & shape.keys.keys()
    return any("role" in shape.within(key) and _SAID & shape.within(key) for key in _LISTS)


def refer(path: Path) -> SessionRef | None:  # noqa: ARG001
    """Return None: what a file holds is told when it is read."""
    return None


def read(ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield a conversation's events, first a `SessionStart`, last a `SessionEnd`.

    Raises `FileNotFoundError` when the file is gone, `UsageError` when it holds several and none of them is named.
    """
    path = Path(ref.path)
    with open_log(path) as stream:
        shape = outline(stream.read(1 << 20))
    bare = "role" in shape.keys
    if bare and shape.shape == "object":
        yield from _lines(path)
        return
    row = choose(open_rows(path, listed=not bare), ref.inner, ref.path)
    yield from _bare(row, path) if bare else read_row(row, path, ref.inner)


def read_row(row: Row, path: Path, inner: str = "") -> Iterator[AnyEvent]:
    """Yield the events of one trajectory that is at hand as bytes; `path` is only what it is called after."""
    if (row.data or b"").lstrip(_BEFORE)[:1] == b"[":
        yield from _bare(row, path)
        return
    document = decoded(row.data or b"", _DOCUMENT)
    header = document if document is not None else Document()
    at = moment_of(header.timestamp)
    yield _start(name_of(row.name or (f"{path.name}-{inner}" if inner else ""), path.name), at)
    conversation, reading = Conversation(model=_model(header)), Reading(row)
    if row.data is None:
        yield reading.too_long()
    elif document is None:
        yield from told(_torn(row), conversation.add, reading, row.line)
    else:
        listed = next(
            (r for r in (header.raw_messages, header.messages, header.trajectory) if bytes(r)[:1] in (b"[", b'"')),
            Raw(),
        )
        yield from told(within(listed, row.data, row.offset), conversation.add, reading, row.line)
        yield from _answer(header, conversation, row, at)
    yield reading.end(dict(conversation.ignored))


def _torn(row: Row) -> Iterator[Part]:
    """Yield the messages that are whole in a document that is cut off."""
    data = row.data or b""
    key = next((key for key in ("messages", "trajectory") if f'"{key}"'.encode() in data), "messages")
    yield from items(data, None, key, row.offset)


def _start(name: str, at: int | None = None) -> SessionStart:
    return SessionStart(session_id=name, agent="chat", at=at)


def _model(document: Document) -> str:
    answer = document.response if isinstance(document.response, dict) else {}
    return next((name for name in (document.model, answer.get("model")) if isinstance(name, str)), "")


def _answer(document: Document, conversation: Conversation, row: Row, at: int | None) -> Iterator[AnyEvent]:
    """Yield the answer that a log of one call keeps beside the messages, and how a run ended."""
    place: dict[str, Any] = {"offset": row.offset + max(0, row.length - 1), "line": row.line, "at": at}
    answer = document.response if isinstance(document.response, dict) else {}
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    given = first.get("message") if isinstance(first.get("message"), dict) else None
    if given is None and isinstance(answer.get("content"), list):
        given = {"role": "assistant", "content": answer["content"]}
    if given is not None:
        message = msgspec.convert(given, Message, strict=False)
        message.extra = {"response": answer}
        yield from conversation.add(message, place) or ()
    status = document.exit_status
    if isinstance(status, str) and status and "submit" not in status.lower():
        yield Interruption(reason=f"error: {status[:200]}", **place)


def _bare(row: Row, path: Path) -> Iterator[AnyEvent]:
    yield _start(name_of("", path.name))
    conversation, reading = Conversation(), Reading(row)
    if row.data is None:
        yield reading.too_long()
    else:
        yield from told(items(row.data, list_in(Raw(row.data))[1]), conversation.add, reading)
    yield reading.end(dict(conversation.ignored))


def _lines(path: Path) -> Iterator[AnyEvent]:
    """Yield the conversation whose messages stand one a line, in constant memory."""
    yield _start(name_of("", path.name))
    conversation, size, records = Conversation(), 0, 0
    for line in read_file_lines(path):
        size = line.offset + line.length + line.complete
        row = Row(line.data, "", line.offset, line.number, line.length)
        reading = Reading(row)
        if line.data is None:
            yield reading.too_long()
        elif line.data.strip(b"\x00 \t\r"):
            yield from told(iter([Part(line.data, line.offset)]), conversation.add, reading, line.number)
        records += reading.records
    yield SessionEnd(records=records, bytes=size, offset=size, ignored=dict(conversation.ignored))
