"""Aider's chat histories: each rule in a small case, and histories of any bytes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.aider.sessions import NAME, find, read, recognise, refer
from passdown.agents.table import AGENTS, home_of
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Interruption,
    ModelChange,
    SessionEnd,
    SessionRef,
    SessionStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)
from passdown.sessions.discover import all_sessions
from passdown.sessions.read import recognise as recognise_file
from passdown.sessions.summary import summarize

HISTORY = Path(__file__).resolve().parent.parent / "fixtures" / "aider" / NAME
RUN = "aider-20260301-100500"
HEADING = "# aider chat started at 2026-03-01 10:00:00\n\n> Aider v0.86.2  \n> Model: m with diff edit format  \n\n"


def events_of(path: Path, inner: str = RUN, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="aider", path=str(path), session_id=inner, inner=inner), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def run(folder: Path, *blocks: str) -> list[AnyEvent]:
    """Write a run, and read it."""
    path = folder / NAME
    path.write_text(HEADING + "\n".join(blocks))
    return events_of(path, "")


def block(path: str, search: str = "a", replace: str = "b") -> str:
    return f"{path}\n```\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"


def test_a_run_is_a_session() -> None:
    events = events_of(HISTORY)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.agent_version, start.cwd) == (RUN, "0.86.2", str(HISTORY.parent))
    assert isinstance(end, SessionEnd)
    data = HISTORY.read_bytes()
    assert data[start.offset :].startswith(b"# aider chat started at 2026-03-01 10:05:00\n")
    assert data[start.offset : start.offset + end.bytes].count(b"\n") == end.records
    for event in of(events, UserMessage):
        assert data[event.offset :].startswith(b"####")
        assert data[: event.offset].count(b"\n") == event.line - 1


def test_what_a_person_typed() -> None:
    assert [(e.origin, e.text) for e in of(events_of(HISTORY), UserMessage)] == [
        ("human", "Fix the slug helpers.\n\nBoth of them."), ("shell", "make docs"), ("command", "why n-1?"),
        ("command", "/model openai/o4"), ("human", "Go on."),
    ]  # fmt: skip


def test_what_the_model_said_without_its_edits() -> None:
    said = [e.text for e in of(events_of(HISTORY), AssistantMessage)]
    assert said == [
        "slugify never trims. Fixing that first:\n\n\nAnd a note:\n\n\n#### What is left\n\ntruncate.", "Now truncate:",
        "I need to see the file again.", "Because the ellipsis counts.\n\nYou can run:", "I am",
    ]  # fmt: skip


def test_edits_and_how_they_went() -> None:
    events = events_of(HISTORY)
    edits = [e for e in of(events, ToolCall) if e.tool == "edit"]
    assert [(e.action, e.paths) for e in edits] == [
        ("edit", ("src/slug.py",)), ("write", ("notes.md",)), ("edit", ("src/slug.py",)),
    ]  # fmt: skip
    assert edits[1].arguments["replace"] == "# Notes\n> quoted\n#### a heading"
    ended = {e.call_id: (e.outcome, e.paths) for e in of(events, ToolResult)}
    assert [ended[e.call_id] for e in edits] == [("ok", ("src/slug.py",)), ("ok", ("notes.md",)), ("failed", ())]


def test_commands_and_tests_that_failed() -> None:
    events = events_of(HISTORY)
    ran = [e for e in of(events, ToolCall) if e.action == "run"]
    assert [e.command for e in ran] == ["python -m pytest -q", "make check"]
    ended = {e.call_id: (e.outcome, e.exit_code) for e in of(events, ToolResult)}
    assert [ended[e.call_id] for e in ran] == [("failed", None), ("unknown", None)]


def test_tests_have_their_output_where_the_history_holds_it(tmp_path: Path) -> None:
    events = run(
        tmp_path,
        "> aider a.py --test-cmd pytest -q a --auto-test  ",
        "",
        "#### mend it  ",
        "",
        "a.py\n```\nx = 1\n```\n",
        "> Tokens: 1 sent, 1 received.  ",
        "> Applied edit to a.py  ",
        "> Commit 0123abc fix: mend it  ",
        "> ===== test session starts =====",
        "collected 2 items",
        "",
        "> FAILED a.py::test_x - TypeError  ",
        "> ===== 1 failed, 1 passed in 0.1s =====  ",
        "> Attempt to fix test errors? y  ",
        "",
        "I see. It is mended.",
        "",
        "> Tokens: 2 sent, 1 received.  ",
        "> Applied edit to a.py  ",
        "> ===== test session starts =====",
        "collected 2 items",
        "",
        "===== 2 passed, 1 warning in 0.1s =====  ",
        "",
        "#### and now the docs  ",
        "",
        "===== 3 passed in 0.1s =====  ",
    )
    ran = [e.call_id for e in of(events, ToolCall) if e.action == "run"]
    ended = [e for e in of(events, ToolResult) if e.call_id in ran]
    assert [(e.outcome, e.text.splitlines()[-1]) for e in ended] == [
        ("failed", "===== 1 failed, 1 passed in 0.1s ====="), ("ok", "===== 2 passed, 1 warning in 0.1s ====="),
    ]  # fmt: skip
    assert ended[0].text.startswith("===== test session starts")
    assert "FAILED a.py::test_x - TypeError" in ended[0].text
    offsets = [event.offset for event in events]
    assert offsets == sorted(offsets)


def test_tokens_models_and_an_interruption() -> None:
    events = events_of(HISTORY)
    assert [(e.input, e.cache_read, e.cache_write, e.output) for e in of(events, Usage)] == [
        (1400, 300, 1200, 51), (3000, 0, 0, 53), (3100, 0, 0, 12), (900, 0, 0, 20),
    ]  # fmt: skip
    assert [(e.previous, e.model) for e in of(events, ModelChange)] == [("openai/gpt-5", "openai/o4")]
    assert len(of(events, Interruption)) == 1


def test_whole_files_are_told_of_when_they_are_written(tmp_path: Path) -> None:
    events = run(
        tmp_path,
        "#### write it  ",
        "",
        "a.py\n```\nx = 1\n```\n",
        "> Tokens: 13,371 sent, 1.5M received.  ",
        "> Applied edit to a.py  ",
    )
    [call] = of(events, ToolCall)
    assert call.paths == ("a.py",)
    assert [(e.call_id, e.outcome) for e in of(events, ToolResult)] == [(call.call_id, "ok")]
    assert [(e.input, e.output) for e in of(events, Usage)] == [(13371, 1500000)]


def test_of_several_blocks_one_does_not_fit(tmp_path: Path) -> None:
    missed = "> ## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in a.py  "
    events = run(
        tmp_path, "#### do it  ", "", block("a.py"), block("b.py", "x\n> y"), "> Tokens: 1 sent, 1 received.  ", missed,
        "> # The other 1 SEARCH/REPLACE block were applied successfully.  ", "", block("a.py", "c"),
        "> Tokens: 1 sent, 1 received.  ", "> Applied edit to a.py  ",
    )  # fmt: skip
    ended = {e.call_id: e.outcome for e in of(events, ToolResult)}
    assert [(e.paths, ended[e.call_id]) for e in of(events, ToolCall)] == [
        (("a.py",), "failed"), (("b.py",), "ok"), (("a.py",), "ok"),
    ]  # fmt: skip


def test_refused_edits_and_one_that_was_cut_off(tmp_path: Path) -> None:
    events = run(
        tmp_path, "#### do it  ", "", block("a.py"), "> Tokens: 1 sent, 1 received.  ", "> Skipping edits to a.py  ", "",
        "#### again  ", "", block("a.py").split("=======")[0], "> ^C again to exit  ",
    )  # fmt: skip
    assert [e.outcome for e in of(events, ToolResult)] == ["rejected", "interrupted"]
    assert len(of(events, Interruption)) == 1


def test_the_path_of_the_block_before_is_kept(tmp_path: Path) -> None:
    two = block("**src/a b.py**").removesuffix("```\n") + "<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n```\n"
    assert [e.paths for e in of(run(tmp_path, "#### x  ", "", two), ToolCall)] == [("src/a b.py",)] * 2


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("!ls -l", ("shell", "ls -l")), ("/test pytest", ("shell", "pytest")), ("/git log", ("shell", "git log")),
        ("/add a.py", ("command", "/add a.py")), ("/architect plan it", ("command", "plan it")),
        ("# Fix any errors below, if possible.", ("injected", "# Fix any errors below, if possible.")),
        ("/usr/bin/x fails", ("human", "/usr/bin/x fails")),
    ],
)  # fmt: skip
def test_who_wrote_a_message(tmp_path: Path, typed: str, expected: tuple[str, str]) -> None:
    assert [(e.origin, e.text) for e in of(run(tmp_path, f"#### {typed}  ", ""), UserMessage)] == [expected]


def test_output_is_not_taken_for_an_answer(tmp_path: Path) -> None:
    events = run(tmp_path, "#### /run make  ", "> building\n\nall fine\n", "#### hi  ", "", "Hello.", "", "> Tokens: 1 sent, 1 received.  ",
                 "> tests\n\ncollected 2 items\n\n2 passed  ")  # fmt: skip
    assert [e.text for e in of(events, AssistantMessage)] == ["Hello."]


def test_find(tmp_path: Path) -> None:
    history = tmp_path / NAME
    shutil.copy(HISTORY, history)
    os.utime(history, (1_780_000_000, 1_780_000_000))
    newest, middle = find(tmp_path)
    assert (newest.session_id, middle.session_id) == (f"{RUN}-2", RUN)
    assert (newest.modified_at, middle.modified_at) == (1_780_000_000_000, newest.started_at)
    assert {newest.cwd, middle.cwd} == {str(tmp_path)}
    ref = refer(history)
    assert ref is not None and ref.inner == newest.inner
    assert [e.text for e in of(list(read(newest)), AssistantMessage)] == ["Hello."]
    assert [e.text for e in of(events_of(history, ""), AssistantMessage)] == ["Hello."]
    history.rename(tmp_path / "moved")
    assert list(find(tmp_path)) == []
    history.symlink_to(tmp_path / "moved")
    assert list(find(tmp_path)) == []


def test_the_history_of_the_project_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in AGENTS if row.id == "aider")
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    shutil.copy(HISTORY, tmp_path / NAME)
    monkeypatch.chdir(tmp_path / "src")
    assert home_of(row) == tmp_path
    assert len(all_sessions(agents=["aider"]).refs) == 2


def test_a_history_whose_beginning_is_lost(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text("lost\n\n#### hello  \n\nHello.\n\n" + HEADING)
    assert [ref.session_id for ref in find(tmp_path)] == ["aider-beginning"]
    assert recognise_file(path).id == "aider"
    path.write_bytes(b"\xef\xbb\xbf" + HEADING.encode())
    assert recognise(path.read_bytes(), "x")
    path.write_bytes(b"")
    assert [type(event) for event in events_of(path, "")] == [SessionStart, SessionEnd]
    path.unlink()
    with pytest.raises(FileNotFoundError):
        events_of(path, "")


def test_a_line_over_the_cap_and_windows_ends(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes((HEADING + "#### hello  \n\n" + "x" * 5000 + "\n\nHello.\n").replace("\n", "\r\n").encode())
    events = events_of(path, "", max_line=2000)
    assert [e.reason for e in of(events, Unknown)] == ["line_too_long"]
    assert [e.text for e in of(events, AssistantMessage)] == ["Hello."]


PIECES = [line + "\n" for line in HISTORY.read_text().split("\n")]


@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(st.sampled_from(PIECES) | st.text(max_size=30), max_size=40), noise=st.binary(max_size=40),
    at=st.floats(0, 1),
)  # fmt: skip
def test_no_history_makes_it_fail(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], noise: bytes, at: float
) -> None:
    data = "".join(lines).encode("utf-8", "surrogatepass")
    place = int(at * len(data))
    path = tmp_path_factory.mktemp("fuzz") / NAME
    path.write_bytes(data[:place] + noise + data[place:])
    recognise(path.read_bytes(), path.name)
    refer(path)
    for inner in ("", RUN):
        events = events_of(path, inner)
        assert isinstance(events[0], SessionStart)
        assert isinstance(events[-1], SessionEnd)
        offsets = [event.offset for event in events[1:] if not isinstance(event, ToolResult)]
        assert offsets == sorted(offsets)
        summarize(events)


def test_the_history_in_a_project_is_found_and_is_no_work(repository: Any, passdown: Any) -> None:
    shutil.copy(HISTORY, repository.root / NAME)
    (repository.root / "src").mkdir()
    done = passdown("-C", str(repository.root / "src"), "wrap", "--dry-run", "--session", RUN, folder=Path("/"))
    text = done.stdout.decode()
    assert "Fix the slug helpers." in text
    assert NAME not in text
    assert "python -m pytest -q" in text
