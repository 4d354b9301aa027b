"""An agent that changed its format is noticed: by records of unknown form, and by fields that are gone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.table import AGENTS
from passdown.clean.options import CleanOptions
from passdown.errors import NoEvidenceError
from passdown.handoff.options import Options
from passdown.handoff.sessions import describe
from passdown.handoff.take import Terms, take
from passdown.handoff.wrap import wrap
from passdown.model.session import (
    AnyEvent,
    Compaction,
    SessionEnd,
    SessionRef,
    SessionStart,
    ToolCall,
    ToolResult,
    Unknown,
    UserMessage,
)
from passdown.sessions.canary import Canary
from passdown.takeover.brief_text import render_brief


def look(events: Iterable[AnyEvent], records: int = 100) -> Canary:
    canary = Canary("copilot")
    for event in (SessionStart(session_id="s", agent="copilot", at=1), *events, SessionEnd(records=records)):
        canary.look(event)
    return canary


def called(number: int, **fields: Any) -> ToolCall:
    given = {"tool": "bash", "action": "run", "command": "make", "at": 5} | fields
    return ToolCall(call_id=f"c{number}", offset=number * 10, line=number, **given)


def test_the_share_decides_and_the_evidence_is_named() -> None:
    odd = [Unknown(record="turn.v2", offset=700, line=9), Unknown(record="turn.v2"), Unknown(reason="bad_shape")]
    (finding,) = look(odd).findings("copilot", "s")
    assert (finding.severity, finding.offset, finding.line) == ("warn", 700, 9)
    assert finding.detail == (
        "format not understood: 3 of 100 records are in no form that is known of copilot: turn.v2 2, bad_shape 1; "
        "the first lies at line 9 (byte 700)"
    )
    (finding,) = look([*odd[:2], called(1)]).findings("copilot", "s")
    assert finding.severity == "info"
    assert "format not understood" not in finding.detail


def test_what_a_crash_cut_off_is_no_other_format() -> None:
    canary = look([called(1), Unknown(reason="torn_line"), Unknown(reason="line_too_long")], records=3)
    assert not canary.misread
    assert [finding.severity for finding in canary.findings("pi", "s")] == ["info"]
    assert look([Unknown(reason="torn_line")], records=1).misread  # nothing else was there


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([called(n, tool="") for n in (1, 2, 3)], "none of 3 tool calls has the tool's name"),
        ([called(n, command="") for n in (1, 2, 3)], "none of 3 commands has its text"),
        ([called(n, action="edit") for n in (1, 2, 3)], "none of 3 edits has its file"),
        ([ToolResult(call_id=f"x{n}", outcome="ok", line=n) for n in (1, 2, 3)], "none of 3 results belongs to a call"),
        ([UserMessage(text="", at=1, line=n) for n in (1, 2, 3)], "none of 3 messages has a text"),
        (
            [UserMessage(text="a", line=1), *(called(n, at=None) for n in range(9))],
            "none of 10 messages and calls has a",
        ),
    ],
)
def test_a_field_that_is_gone(events: list[AnyEvent], words: str) -> None:
    canary = look(events)
    assert canary.misread
    (finding,) = canary.findings("codex", "s")
    assert (finding.code, finding.severity, finding.line) == ("session.lost_fields", "warn", 1)
    assert finding.detail.startswith(f"format not understood (codex): {words}")
    assert not look(events[:2]).misread


def test_one_that_has_it_is_enough() -> None:
    calls = [called(1), called(2, command=""), called(3, command=""), called(4, action="edit")]
    results = [ToolResult(call_id=name, outcome="ok") for name in ("c1", "gone", "gone")]
    assert look([*calls, *results]).findings("codex", "s") == []


def test_a_log_of_which_nothing_comes() -> None:
    canary = Canary("claude_code")
    for event in (SessionStart(session_id="s", agent="claude_code"), SessionEnd(records=40, ignored={"tick": 30})):
        canary.look(event)
    assert canary.nothing
    assert [finding.detail for finding in canary.findings("claude_code", "s")] == [
        "format not understood: nothing comes of 10 of 40 records of claude_code"
    ]
    assert not look([], records=4).misread  # begun, and left


def test_words_that_are_missing() -> None:
    calls = [called(n) for n in range(10)]
    (finding,) = look(calls).findings("copilot", "s")
    assert "nobody's request beside 10 tool calls" in finding.detail
    asked = UserMessage(text="Go on.", at=1)
    assert not look([asked, *calls]).misread
    assert not look([Compaction(summary="So far …"), *calls]).misread
    (finding,) = look([asked, *(called(n) for n in range(50))]).findings("copilot", "s")
    assert "no word of the agent beside 50 tool calls" in finding.detail


@pytest.mark.parametrize(("agent", "misread"), [("claude_code", True), ("cursor", False)])
def test_times_are_missed_only_where_an_agent_keeps_them(agent: str, misread: bool) -> None:
    canary = Canary(agent)
    for event in (SessionStart(session_id="s", agent=agent), *(called(n, at=None) for n in range(10))):
        canary.look(event)
    canary.look(UserMessage(text="Go on."))
    assert canary.misread == misread


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A log of a Copilot that writes all but its first record in another form, beside a repository."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "r")], check=True)
    (tmp_path / "r/x.py").write_text("x = 1\n")
    start = {"sessionId": "s-1", "copilotVersion": "9.0", "context": {"cwd": str(tmp_path / "r")}}
    rows = [{"type": "session.start", "data": start}, *({"type": "turn.v2", "data": {"said": n}} for n in range(9))]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps({"id": "x", "parentId": None} | row) + "\n" for row in rows))
    return path


def test_show_says_it(changed: Path) -> None:
    (line,) = describe(SessionRef(agent="copilot", path=str(changed), session_id=""))["not_understood"]
    assert line.startswith("format not understood: 9 of 10 records")
    assert "turn.v2 9" in line


def test_wrap_refuses_a_session_of_which_nothing_was_understood(changed: Path) -> None:
    options = Options(session=str(changed), now=1_800_000_000_000)
    with pytest.raises(NoEvidenceError, match="format not understood: 9 of 10 records") as error:
        wrap(changed.parent / "r", options, CleanOptions())
    assert error.value.exit_code == 4
    assert "s-1" in error.value.what
    assert not (changed.parent / "r/outputs").exists()


def test_an_interim_packet_says_it(changed: Path) -> None:
    options = Options(session=str(changed), now=1_800_000_000_000, interim=True)
    wrapped = wrap(changed.parent / "r", options, CleanOptions())
    assert {"session.format_not_understood", "session.unknown_records"} <= set(wrapped.packet.unknowns)
    (risk,) = [risk for risk in wrapped.packet.open_risks if risk.code == "session.unread_records"]
    assert "format not understood" in risk.detail
    assert any("format not understood" in finding.detail for finding in wrapped.findings)


def test_take_says_it(changed: Path) -> None:
    root = changed.parent / "r"
    wrap(root, Options(session=str(changed), now=1_800_000_000_000, interim=True), CleanOptions())
    homes = {row.id: changed.parent / "none" for row in AGENTS}
    brief = take(root, options=Options(homes=homes, now=1_800_000_000_000), terms=Terms(receipt=False)).brief
    assert brief is not None
    assert [finding.code for finding in brief.findings if "format not understood" in finding.detail] == [
        "session.unread_records"
    ]
    assert "format not understood: 9 of 10 records" in render_brief(brief)
