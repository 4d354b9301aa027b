"""What is fuzzed: one function a target. It takes any bytes, and raises only when something is wrong with passdown."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from passdown.agents.table import AGENTS, Agent, Sessions, sessions_of
from passdown.errors import FormatError, PassdownError, UsageError
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart
from passdown.sessions.read import read_session, recognise
from passdown.sessions.summary import summarize
from passdown.trajectories.table import FORMATS, Format, Trajectories, reader_of

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
REGRESSIONS = Path(__file__).resolve().parent / "regressions"
LARGEST = 1 << 20

Target = Callable[[bytes], None]
_ENCODE = msgspec.json.Encoder()


def _place(name: str) -> Path:
    folder = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())
    return folder / f"passdown-fuzz-{os.getpid()}-{name}"


def _reader(row: Agent | Format) -> Target:
    """Read the bytes as a session: whatever they are, it begins, ends and adds up, and every event can be written."""
    sessions = sessions_of(row) if isinstance(row, Agent) else reader_of(row)
    suffix = ".jsonl" if _has_lines(row.id) else ".json"

    def read(data: bytes) -> None:
        path = _place(f"{row.id}{suffix}")
        path.write_bytes(data)
        try:
            sessions.recognise(data[:LARGEST], path.name)
            sessions.refer(path)
            events = _events(row.id, sessions, path, len(data))
        except FormatError:
            if data.startswith(b"SQLite format 3\x00"):  # a database that is none, or another's, is refused by name
                return
            raise
        finally:
            for leftover in path.parent.glob(f"{path.name}*"):
                leftover.unlink()
        judge(events)

    return read


def _events(name: str, sessions: Sessions | Trajectories, path: Path, size: int) -> list[AnyEvent]:
    """Read a file; of several trajectories in it, the first, since it is refused to choose one."""
    try:
        return list(sessions.read(SessionRef(agent=name, path=str(path), session_id="", bytes=size)))
    except UsageError:
        return list(sessions.read(SessionRef(agent=name, path=str(path), session_id="", bytes=size, inner="1")))


def _atif(data: bytes) -> None:
    """Write what the bytes hold as ATIF: it passes the published models, and reads back as a session."""
    from atif import Trajectory

    from passdown.trajectories.atif_writer import write_atif

    path = _place("written.json")
    path.write_bytes(data)
    try:
        with contextlib.suppress(PassdownError):
            form = recognise(path)
            sessions = sessions_of(form) if isinstance(form, Agent) else reader_of(form)
            exported = write_atif(_events(form.id, sessions, path, len(data)))
            Trajectory.model_validate_json(exported.data)
            path.write_bytes(exported.data)
            judge(list(read_session(path)))
    finally:
        path.unlink()


def _has_lines(agent: str) -> bool:
    return any((FIXTURES / agent).rglob("*.jsonl"))


def judge(events: list[AnyEvent]) -> None:
    """Raise when the events of a session are not what every reader promises."""
    assert isinstance(events[0], SessionStart), "the first event is no start"
    assert isinstance(events[-1], SessionEnd), "the last event is no end"
    assert sum(isinstance(event, (SessionStart, SessionEnd)) for event in events) == 2, "more than one start and end"
    for event in events:
        _ENCODE.encode(event)
    summarize(iter(events))


def _lines(data: bytes) -> None:
    """Cut the bytes into lines, plain, compressed and broken; pull records out of them."""
    import gzip

    from backports import zstd

    from passdown.io.jsonl import pull_apart, read_file_lines, salvage

    path, both = _place("lines"), (zstd.compress(data), gzip.compress(data, mtime=0))
    cut = (content for one in both for content in (one[: len(data) % (len(one) + 1)], one + data[:9], one[:4] + data))
    try:
        for content in (data, *both, *cut):
            path.write_bytes(content)
            lines = list(read_file_lines(path))
            assert [line.number for line in lines] == list(range(1, len(lines) + 1)), "a line is missing"
            if any(content is packed for packed in both):
                assert data == b"".join((line.data or b"") + b"\n" * line.complete for line in lines), "bytes are lost"
    finally:
        path.unlink()
    documents, left = pull_apart(data)
    for document in documents:
        msgspec.json.decode(document)
    saved = salvage(data)
    assert saved == documents[: len(saved)], "what is saved differs from what is pulled apart"
    assert left or saved == documents, "more was found, and nothing that is none"


def _redact(data: bytes) -> None:
    from passdown.redact.scan import Redactor

    text = data.decode("utf-8", "replace") + ("\ud800" if data[:1] == b"\xed" else "")
    redactor = Redactor()
    once = redactor.text(text)
    assert redactor.text(once) == once, "what is redacted changes when it is redacted again"


def _shell(data: bytes) -> None:
    from passdown.evidence.identity import identify
    from passdown.evidence.places import Places

    command = data.decode("utf-8", "replace")
    places = Places("/w")
    first = identify(command, "/w", places)
    assert first.key == identify(command, "/w", places).key
    assert len(first.text) <= 1100, "a command is kept longer than it may be"


def _packet(data: bytes) -> None:
    from passdown.packet.encode import decode_packet
    from passdown.packet.render import render_markdown

    with contextlib.suppress(PassdownError):
        render_markdown(decode_packet(data))


TARGETS: dict[str, Target] = {
    **{row.id: _reader(row) for row in AGENTS if row.module},
    **{row.id: _reader(row) for row in FORMATS},
    "atif_written": _atif,
    "lines": _lines,
    "redact": _redact,
    "shell": _shell,
    "packet": _packet,
}


def seeds(target: str) -> list[Path]:
    """Return the files to begin with: the fixtures of our own making, and what went wrong before."""
    folders = [FIXTURES / target, REGRESSIONS / target]
    if target == "atif_written":
        folders += [FIXTURES / row.id for row in FORMATS]
    return sorted(
        path for folder in folders for path in folder.rglob("*") if path.is_file() and path.stat().st_size < LARGEST
    )
