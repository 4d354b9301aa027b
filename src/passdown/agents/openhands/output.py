"""What an evaluation of OpenHands leaves: `output.jsonl`, a row an instance, each with the history of a run of its own.

A history holds events as a conversation has them, pairs of an action and its observation (older), or events without id,
source and arguments of their own (the issue resolver). A row is named by its `instance_id`, or by its issue.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct, structs

from passdown.agents.openhands.records import Event, text_of
from passdown.agents.openhands.v0 import V0Reader
from passdown.io.log import BAD, count, safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    AnyEvent,
    Interruption,
    SessionRef,
    SessionStart,
    Unknown,
    Usage,
    UserMessage,
    WorkspaceChange,
)
from passdown.trajectories.document import Reading, Row, choose, decoded, items, open_rows
from passdown.trajectories.messages import list_in, name_of
from passdown.trajectories.outline import outline
from passdown.trajectories.prompts import is_nudge, place_in, split_prompt

_COMMIT = lazy_pattern(r"[0-9a-f]{40}")
_BESIDE = frozenset({"instruction", "test_result", "git_patch", "metrics", "instance_id"})
_OWN = frozenset(
    {"action", "observation", "content", "source", "id", "timestamp", "cause", "message", "extras", "args"}
)


class Result(Struct, gc=False):
    """A row, as far as it is used."""

    instance_id: Any = None
    issue: Any = None
    instruction: Any = None
    history: Raw = Raw()
    metadata: Any = None
    metrics: Any = None
    error: Any = None
    instance: Any = None
    base_commit: Any = None


_RESULT = msgspec.json.Decoder(Result)
_ANY = msgspec.json.Decoder()


def is_output(head: bytes) -> bool:
    """Say whether a file that starts with `head` holds the results of an evaluation."""
    shape = outline(head)
    said = shape.within("history")
    return bool(_BESIDE & shape.keys.keys()) and bool({"action", "observation"} & said) and "role" not in said


def read_output(ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield the events of one run, first a `SessionStart`, last a `SessionEnd`.

    Raises `UsageError` when there are several rows and `ref.inner` names none of them.
    """
    path = Path(ref.path)
    yield from read_row(choose(open_rows(path, listed=True), ref.inner, ref.path), path, ref.inner)


def read_row(row: Row, path: Path, inner: str = "") -> Iterator[AnyEvent]:
    """Yield the events of one run that is at hand as bytes; `path` is only what it is called after."""
    result = decoded(row.data or b"", _RESULT)
    header = result if result is not None else Result()
    cwd = place_in(str(header.instruction or "")[:8000])
    yield _start(header, row, path, inner, cwd)
    run, reading = _Run(header, cwd), Reading(row)
    if row.data is None:
        yield reading.too_long()
    else:
        data, raws = list_in(header.history) if result is not None else (row.data, None)
        base = max(0, row.data.find(data)) if data else 0
        for part in items(data, raws, "" if result is not None else "history", row.offset + base):
            place = {"offset": part.offset, "line": row.line}
            events = run.add(part.data, place) if part.lost is None else [part.lost]
            reading.records += len(events) if part.lost is None else 1
            for event in events:
                yield from run.told(event, place) if isinstance(event, Event) else (event,)
    yield from run.ended(row)
    yield reading.end(dict(run.reader.ignored + run.ignored))


def _start(header: Result, row: Row, path: Path, inner: str, cwd: str) -> SessionStart:
    issue = header.issue if isinstance(header.issue, dict) else {}
    named = f"{issue.get('owner')}__{issue.get('repo')}-{issue.get('number')}" if issue else ""
    name = header.instance_id if isinstance(header.instance_id, str) else named
    instance = header.instance if isinstance(header.instance, dict) else {}
    commit = next((c for c in (header.base_commit, instance.get("base_commit")) if isinstance(c, str) and c), "")
    return SessionStart(
        session_id=name_of(name or row.name or (f"{path.stem}-{inner}" if safe_id(inner) else ""), path.name),
        agent="openhands", cwd=cwd, commit=commit if _COMMIT.fullmatch(commit) else "", originator="evaluation",
        offset=row.offset, line=row.line,
    )  # fmt: skip


class _Run:
    """One history, event by event."""

    def __init__(self, header: Result, cwd: str) -> None:
        self.reader = V0Reader(cwd)
        self.ignored: Counter[str] = Counter()
        self._header = header
        self._cwd = cwd
        self._number = 0
        self._asked = False
        self._counted = 0

    def add(self, data: bytes, place: dict[str, Any]) -> list[Event | Unknown]:
        """Return the events of one item of a history: itself, or the two of a pair."""
        item = decoded(data, _ANY)
        found: list[Event | Unknown] = []
        for record in item if isinstance(item, list) else [item]:
            event = self._event(record) if isinstance(record, dict) else None
            lost = Unknown(reason="bad_shape", length=len(data), offset=place["offset"], line=place["line"])
            found.append(event if event is not None else lost)
        return found

    def _event(self, record: dict[str, Any]) -> Event | None:
        """Return a record as an event; what one without arguments of its own holds are its arguments."""
        if "args" not in record and "extras" not in record:
            rest = {key: value for key, value in record.items() if key not in _OWN}
            record = dict(record)
            if isinstance(record.get("action"), str):
                content = {"content": record["content"]} if "content" in record else {}
                record["args"] = rest | content
                first = record["action"] == "message" and not self._asked
                nudge = is_nudge(str(record.get("content") or ""))
                record.setdefault("source", "user" if first or nudge else "agent")
                self._number += 1
                record.setdefault("id", self._number)
            else:
                record["extras"] = rest
                record.setdefault("cause", self._number)
        try:
            return msgspec.convert(record, Event, strict=False)
        except (msgspec.ValidationError, *BAD):
            return None

    def told(self, event: Event, place: dict[str, Any]) -> Iterator[AnyEvent]:
        """Yield what an event becomes; the first request is taken out of the template around it."""
        known = self.reader.add(event, place)
        if known is None:
            named = event.action or event.observation
            yield Unknown(record=named[:80] if isinstance(named, str) else "", **place)
            return
        for told in known:
            self._counted += isinstance(told, Usage)
            if isinstance(told, UserMessage) and told.origin == "human":
                yield from self._said(told)
            elif isinstance(told, Interruption):  # what the harness answered to a call that it could not read
                text = told.reason.removeprefix("error: ")
                yield UserMessage(text=text, origin="injected", at=told.at, offset=told.offset, line=told.line)
            else:
                yield told

    def _said(self, told: UserMessage) -> Iterator[AnyEvent]:
        if self._asked:
            yield structs.replace(told, origin="injected") if is_nudge(told.text) else told
            return
        self._asked = True
        prompt = split_prompt(told.text)
        if not self._cwd and (folder := place_in(prompt.template)):
            yield WorkspaceChange(cwd=folder, at=told.at, offset=told.offset, line=told.line)
        yield structs.replace(told, text=prompt.task)
        if prompt.template:
            yield structs.replace(told, text=prompt.template, origin="injected", images=0)

    def ended(self, row: Row) -> Iterator[AnyEvent]:
        """Yield what the row says of the whole run: its tokens where no answer does, and the error it ended with."""
        place: dict[str, Any] = {"offset": row.offset + row.length, "line": row.line}
        metrics = self._header.metrics
        spent = metrics.get("token_usages") if isinstance(metrics, dict) and not self._counted else None
        for usage in spent if isinstance(spent, list) else ():
            if isinstance(usage, dict):
                yield _usage(usage, place)
        error = self._header.error
        if isinstance(error, str) and error.strip():
            yield Interruption(reason=f"error: {text_of(error)}"[:1000], **place)


def _usage(usage: dict[str, Any], place: dict[str, Any]) -> Usage:
    names = ("prompt_tokens", "cache_read_tokens", "cache_write_tokens", "completion_tokens")
    prompt, read, written, answered = (
        count(value) if isinstance(value := usage.get(name), (int, float)) else 0 for name in names
    )
    response, model = usage.get("response_id"), usage.get("model")
    return Usage(
        response_id=response if isinstance(response, str) else "", model=model if isinstance(model, str) else "",
        input=max(0, prompt - read - written), cache_read=read, cache_write=written, output=answered, context=prompt,
        **place,
    )  # fmt: skip
