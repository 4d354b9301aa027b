"""Harbor's Agent Trajectory Interchange Format, 1.0 to 1.8, and what calls itself so.

Wild files miss fields, add others, or put a result before its call: all of it is read as far as it says something. What
passdown wrote itself (`extra.passdown`) is taken back exactly; of any other file, whose words a message holds and what
a call does are worked out. The steps of embedded subagents follow those of the main agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import structs

from passdown.io.log import safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionRef, SessionStart, Unknown
from passdown.trajectories.atif_own import OwnSteps
from passdown.trajectories.atif_records import DOCUMENT, NO_VERSION, OWN, STEP, Document, RootExtra, own_in
from passdown.trajectories.atif_steps import Steps
from passdown.trajectories.conversation import record_in
from passdown.trajectories.document import Part, Reading, Row, choose, decode_list, decoded, items, open_rows
from passdown.trajectories.messages import name_of, within
from passdown.trajectories.outline import outline

_VERSION = lazy_pattern(rb'"(?:ATIF-v?)?(\d{1,2})\.(\d{1,2})"')
_NAMED = lazy_pattern(rb'"ATIF')
_CHILDREN = 1000
_DEEPEST = 8
_FOLDERS = ("cwd", "working_directory", "working_dir", "workspace")


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is an ATIF document."""
    shape = outline(head)
    version = shape.keys.get("schema_version", b"")
    if _NAMED.match(version):
        return True
    return bool(_VERSION.match(version)) and bool({"source", "step_id"} & shape.within("steps"))


def refer(path: Path) -> SessionRef | None:  # noqa: ARG001
    """Return None: what a file holds is told when it is read."""
    return None


def read(ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield a trajectory's events, first a `SessionStart`, last a `SessionEnd`.

    Raises `FileNotFoundError` when the file is gone, `UsageError` when it holds several and none of them is named.
    """
    path = Path(ref.path)
    yield from read_row(choose(open_rows(path, listed=True), ref.inner, ref.path), path)


def read_row(row: Row, path: Path, inner: str = "") -> Iterator[AnyEvent]:  # noqa: ARG001 - as other formats have it
    """Yield the events of one trajectory that is at hand as bytes; `path` is only what it is called after."""
    data = row.data or b""
    document = decoded(data, DOCUMENT)
    header = document if document is not None else Document()
    own = own_in(header.extra, RootExtra) if isinstance(header.extra, dict) and OWN in header.extra else None
    reading, ignored = Reading(row), {}
    yield _start(header, own, row, path)
    if row.data is None:
        yield reading.too_long()
    elif document is None:
        steps: Steps | OwnSteps = Steps()
        yield from _told(items(data, None, "steps", row.offset), steps, reading, row.line)
        ignored = dict(steps.ignored)
    else:
        steps = _steps_of(header, own)
        if own is not None:
            for event in own.events:
                yield structs.replace(event, agent_id=own.agent_id)
        yield from _told(within(header.steps, data, row.offset), steps, reading, row.line)
        children = _Children(data, row, reading)
        yield from children.of(header, own is not None, 0)
        ignored = dict(steps.ignored + children.ignored)
        if header.continued_trajectory_ref:
            ignored["continued_trajectory_ref"] = 1
    yield reading.end(ignored)


def _start(header: Document, own: RootExtra | None, row: Row, path: Path) -> SessionStart:
    agent = header.agent if isinstance(header.agent, dict) else {}
    name, version = agent.get("name"), agent.get("version")
    version = version if isinstance(version, str) else ""
    session = header.session_id if isinstance(header.session_id, str) else ""
    kept = own or RootExtra()
    extra = record_in(agent, "extra")
    parent, kind = kept.parent_id, kept.parent_kind
    if own is None and (said := safe_id(_string(extra, "parent_session_id"))):
        parent, kind = said, "subagent"
    elif own is None and extra.get("continuation_index"):
        kind = "continuation"
    return SessionStart(
        session_id=session if safe_id(session) else name_of(row.name, path.name.removesuffix(".json")), agent="atif",
        agent_version="" if own is not None and version == NO_VERSION else version,
        originator=name if isinstance(name, str) else "",
        cwd=kept.cwd or _folder(header.extra, extra), branch=kept.branch, commit=kept.commit, parent_id=parent,
        parent_kind=kind, at=kept.at, agent_id=kept.agent_id, offset=row.offset, line=row.line,
    )  # fmt: skip


def _folder(*records: Any) -> str:
    places = [_string(record, name) for record in records for name in _FOLDERS]
    return next((place for place in places if place.startswith("/")), "")


def _string(record: Any, name: str) -> str:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def _steps_of(header: Document, own: RootExtra | None, agent_id: str = "") -> Steps | OwnSteps:
    if own is not None:
        return OwnSteps(agent_id or own.agent_id)
    agent = header.agent if isinstance(header.agent, dict) else {}
    model = _string(agent, "model_name") or _string(agent, "model")
    match = _VERSION.fullmatch(f'"{header.schema_version}"'.encode())
    early = match is not None and (int(match[1]), int(match[2])) < (1, 2)
    return Steps(agent_id, model=model, cached_apart=early)


def _told(parts: Iterator[Part], steps: Steps | OwnSteps, reading: Reading, line: int) -> Iterator[AnyEvent]:
    for part in parts:
        reading.records += 1
        if part.lost is not None:
            yield part.lost
            continue
        step = decoded(part.data, STEP)
        events = steps.add(step, {"offset": part.offset, "line": line}) if step is not None else None
        if events is None:
            record = step.source[:80] if step is not None and isinstance(step.source, str) else ""
            reason: Any = "unknown_type" if record else "bad_shape"
            yield Unknown(record=record, reason=reason, length=len(part.data), offset=part.offset, line=line)
        else:
            yield from events
    yield from steps.rest()


class _Children:
    """The trajectories of subagents within a document."""

    def __init__(self, data: bytes, row: Row, reading: Reading) -> None:
        self.data, self.row, self.reading = data, row, reading
        self.ignored: Any = Steps().ignored
        self._left = _CHILDREN

    def of(self, header: Document, own: bool, depth: int) -> Iterator[AnyEvent]:
        """Yield the events of the subagents, and of theirs."""
        raws = decode_list(bytes(header.subagent_trajectories) or b"[]") or []
        if depth >= _DEEPEST:
            return
        for raw in raws:
            self._left -= 1
            child = decoded(bytes(raw), DOCUMENT)
            if child is None or self._left < 0:
                self.reading.records += 1
                yield Unknown(record="subagent_trajectory", reason="bad_shape", length=len(bytes(raw)))
                continue
            yield from self._child(child, bytes(raw), own, depth)

    def _child(self, child: Document, data: bytes, own: bool, depth: int) -> Iterator[AnyEvent]:
        agent_id = _string({"id": child.trajectory_id}, "id") or f"subagent-{_CHILDREN - self._left}"
        base = self.row.offset + max(0, self.data.find(data))
        kept = own_in(child.extra, RootExtra) if own else None
        steps = _steps_of(child, kept, agent_id)
        if kept is not None:
            for event in kept.events:
                yield structs.replace(event, agent_id=agent_id)
        yield from _told(within(child.steps, data, base), steps, self.reading, self.row.line)
        self.ignored += steps.ignored
        yield from self.of(child, own, depth + 1)
