"""Sessions and trajectory files of every format that passdown reads, with all that lies in one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from passdown.agents.opencode.database import sessions_in
from passdown.agents.openhands import output
from passdown.agents.table import Agent, sessions_of
from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.conversing import acted, as_main
from passdown.data.sources.origin import Origin, Task, decided, extras_of, loaded, named_tests, task_of, text_in
from passdown.data.sources.parts import Part
from passdown.data.sources.rows import is_parquet, rows_in
from passdown.data.trajectory import assemble
from passdown.errors import FormatError, GitError, PassdownError, UnsafeError, UsageError
from passdown.io.files import open_regular
from passdown.io.log import BAD, safe_id
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Unknown
from passdown.sessions.discover import plain_remote
from passdown.sessions.read import read_ref, recognise, refer_to
from passdown.trajectories import chat
from passdown.trajectories.document import Row, open_rows
from passdown.trajectories.outline import outline
from passdown.trajectories.table import Format, reader_of

ReadRow = Callable[[Row, Path, str], Iterator[AnyEvent]]
BROKEN = (OSError, EOFError, FormatError, UnsafeError, GitError, sqlite3.Error)
"""What reading a file raises when it is not what it looked like."""
_SQLITE = b"SQLite format 3\0"
_LISTED = frozenset({"atif", "chat"})
_HEAD = 1 << 20


def read_file(path: Path, origin: Origin) -> Iterator[Trajectory | Reject]:
    """Yield the trajectories of a session or trajectory file, or a reject that says why there are none."""
    try:
        if is_parquet(path):
            yield from _rows(chat.read_row, rows_in(path), path, origin)
            return
        row = recognise(path)
        if isinstance(row, Format):
            yield from _trajectories(row, path, origin)
        else:
            yield from _sessions(row, path, origin)
    except BROKEN as error:
        yield origin.reject("unreadable", detail=_said(error))


def is_rows(path: Path) -> bool:
    """Say whether a file holds a trajectory a row."""
    if is_parquet(path):
        return True
    form = recognise(path)
    return isinstance(form, Format) and not _is_one_chat(form, path)


def read_part(path: Path, origin: Origin, part: Part) -> Iterator[Trajectory | Reject]:
    """Yield the trajectories of a part of a file that holds one a row."""
    form = None if is_parquet(path) else recognise(path)
    read = reader_of(form).read_row if isinstance(form, Format) else chat.read_row
    yield from _rows(read, rows_in(path, part), path, origin, part.rows)


def _said(error: Exception) -> str:
    return error.what if isinstance(error, PassdownError) else type(error).__name__


def _trajectories(form: Format, path: Path, origin: Origin) -> Iterator[Trajectory | Reject]:
    if _is_one_chat(form, path):
        ref = SessionRef(agent=form.id, path=str(path), session_id="")
        yield _made(reader_of(form).read(ref), origin, 1)
    else:
        rows = open_rows(path, listed=form.id in _LISTED).rows
        yield from _rows(reader_of(form).read_row, rows, path, origin)


def _is_one_chat(form: Format, path: Path) -> bool:
    """Say whether every line is a message, so that the file is one conversation."""
    with open_regular(path) as stream:
        return form.id == "chat" and "role" in outline(stream.read(_HEAD)).keys


def _rows(
    read: ReadRow, rows: Iterable[Row], path: Path, origin: Origin, before: int = 0
) -> Iterator[Trajectory | Reject]:
    for number, row in enumerate(rows, 1 + before):
        if row.data is None:
            yield origin.reject("too_large", number, f"{row.length} bytes")
        else:
            yield _made(read(row, path, row.name or str(number)), origin, number, row.data)


def _sessions(agent: Agent, path: Path, origin: Origin) -> Iterator[Trajectory | Reject]:
    module = sessions_of(agent)
    with open_regular(path) as stream:
        head = stream.read(_HEAD)
    if agent.id == "openhands" and output.is_output(head):
        yield from _rows(output.read_row, open_rows(path, listed=True).rows, path, origin)
        return
    refs = list(_inside(agent, path)) if head.startswith(_SQLITE) else []
    if not refs:
        refs = [module.refer(path) or refer_to(path, agent=agent.id)]
    if (whole := Path(refs[0].path)).resolve() != path.resolve():
        yield origin.reject("part", detail=f"of the conversation that {whole.name} stands for")
        return
    for number, ref in enumerate(sorted(refs, key=lambda ref: ref.inner), 1):
        try:
            yield _made(read_ref(ref), origin, number, remote=ref.remote)
        except (*BROKEN, UsageError) as error:
            yield origin.reject("unreadable", number, _said(error))


def _inside(agent: Agent, path: Path) -> Iterator[SessionRef]:
    """Yield the sessions of a database."""
    if agent.id == "opencode":  # its own search knows a database by its name alone
        for info in sessions_in(path):
            if name := safe_id(info.id):
                yield SessionRef(agent=agent.id, path=str(path), session_id=name, inner=name)
        return
    yield from (ref for ref in sessions_of(agent).find(path.parent) if Path(ref.path) == path)


def _made(
    events: Iterable[AnyEvent], origin: Origin, number: int, data: bytes = b"", remote: str = ""
) -> Trajectory | Reject:
    told, subagent = as_main(list(events))
    if not acted(told):
        return origin.reject("empty", number, _unread(told))
    start = next((event for event in told if isinstance(event, SessionStart)), None)
    beside = _beside(data)
    session = start.session_id if start is not None else ""
    task = task_of(beside.get("instance_id") or session)
    task = task if task.repo else Task(text_in(beside.get("instance_id")))
    repo = text_in(beside.get("repo")) or task.repo or plain_remote(remote).partition("/")[2]
    return assemble(
        told, origin.at(number), instance_id=task.instance_id, repo=repo, base_commit=task.base_commit,
        outcome=_outcome(beside), extras=extras_of(source_id=session, subagent=subagent),
    )  # fmt: skip


def _unread(events: list[AnyEvent]) -> str:
    reasons = sorted({event.reason for event in events if isinstance(event, Unknown)})
    records = sum(event.records for event in events if isinstance(event, SessionEnd))
    return f"{records} records, no turn of an agent" + (f"; {', '.join(reasons)}" if reasons else "")


_VERDICTS = ("instance_id", "repo", "resolved", "exit_status", "patch", "model_patch", "submission", "info",
             "FAIL_TO_PASS", "PASS_TO_PASS", "git_patch", "test_result", "report")  # fmt: skip


def _beside(data: bytes) -> dict[str, object]:
    """Return what stands beside the messages of a trajectory's document and tells of its task and its end."""
    raw = _columns(data)
    return {name: _value(raw[name]) for name in _VERDICTS if name in raw}


def _value(column: object) -> object:
    """Return what a column holds: JSON, JSON in a string, or a string that is none."""
    value = loaded(column)
    if value is None and isinstance(column, msgspec.Raw):
        with suppress(*BAD):
            return msgspec.json.decode(column)
    return value


def _columns(data: bytes) -> dict[str, object]:
    try:
        return dict(msgspec.json.decode(data, type=dict[str, msgspec.Raw])) if data[:1] == b"{" else {}
    except BAD:
        return {}


def _outcome(beside: dict[str, object]) -> Outcome:
    info = beside.get("info")
    info = info if isinstance(info, dict) else {}
    result = beside.get("test_result")
    result = result if isinstance(result, dict) else {}
    patches = (
        beside.get("patch"), beside.get("model_patch"), beside.get("git_patch"), result.get("git_patch"),
        info.get("submission"), beside.get("submission"),
    )  # fmt: skip
    return Outcome(
        resolved=decided(beside.get("resolved")),
        exit=text_in(beside.get("exit_status")) or text_in(info.get("exit_status")),
        patch=next((patch for patch in patches if isinstance(patch, str) and patch), ""),
        fail_to_pass=named_tests(beside.get("FAIL_TO_PASS")), pass_to_pass=named_tests(beside.get("PASS_TO_PASS")),
    )  # fmt: skip
