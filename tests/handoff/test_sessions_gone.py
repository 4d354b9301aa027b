"""Wrap where the sessions of the packet before are gone: what it knew from them is carried over and says so."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from passdown.clean.options import CleanOptions
from passdown.handoff.draft import Draft, draft
from passdown.handoff.gather import Options
from passdown.handoff.wrap import wrap
from passdown.model.packet import Packet


def wrapped(root: Path, **options: Any) -> Packet:
    return wrap(root, Options(interim=True, **options), CleanOptions(environ=os.environ)).packet


@pytest.fixture
def work(repository: Any, claude_session: Any) -> Any:
    """A branch with the session that worked on it: wishes, a plan, a failing test, a next step."""
    repository.write(".gitignore", "outputs/\n.ai/\n")
    repository.commit("ignore")
    repository.git("checkout", "-q", "-b", "feat/csv")
    session = claude_session(repository.root)
    session.branch, session.clock = "feat/csv", repository.clock + 600
    session.human("Write the parser in src/p.py so that quoted commas are kept.")
    session.runs("pytest -q tests/test_p.py", "FAILED tests/test_p.py::test_quote - assert 1 == 2\n1 failed in 0.1s", 1)
    repository.write("src/p.py", "x = 1\n")
    session.edits("src/p.py")
    session.human("Do not use the csv module.")
    plan = [("write the lexer", "completed"), ("write the parser", "in_progress")]
    session.calls("TodoWrite", {"todos": [{"content": c, "status": s, "activeForm": c} for c, s in plan]}, "ok")
    session.says("Next: mend test_quote in tests/test_p.py.")
    repository.session = session
    return repository


@pytest.fixture
def gone(work: Any, isolated_home: Path) -> Any:
    """The same, wrapped, and the agent's folder taken away."""
    work.first = wrapped(work.root)
    shutil.rmtree(isolated_home / ".claude")
    return work


def test_what_the_session_knew_is_carried_and_marked(gone: Any) -> None:
    first, second = gone.first, wrapped(gone.root)
    assert second.supersedes == first.packet_id
    assert [line.text for line in second.directives] == [line.text for line in first.directives]
    assert [(item.what, item.exit, item.why) for item in second.failed_attempts] == [
        (item.what, item.exit, item.why) for item in first.failed_attempts
    ]
    assert (second.next_action.text, second.next_action.command) == (first.next_action.text, first.next_action.command)
    assert second.next_action.agents_view == first.next_action.agents_view != ""
    assert [item.text for item in second.completed] == ["write the lexer"]
    assert [item.text for item in second.remaining] == ["write the parser"]
    assert (second.tests.state, second.tests.last_outcome, second.tests.failing) == (
        "stale", "red", ["tests/test_p.py::test_quote"],
    )  # fmt: skip
    assert (second.goal, second.verification, second.sessions) == (first.goal, first.verification, first.sessions)
    assert [line.cmd for line in second.commands_run] == [line.cmd for line in first.commands_run]
    assert second.as_of == first.as_of


def test_nothing_carried_counts_as_observed(gone: Any) -> None:
    second = wrapped(gone.root)
    carried = [
        *second.directives, *second.failed_attempts, *second.completed, *second.remaining, *second.commands_run,
        second.tests,
    ]  # fmt: skip
    assert {item.from_packet for item in carried} == {gone.first.packet_id}
    assert {item.basis for item in (*carried, second.next_action)} == {"declared"}
    assert second.tests.check is None
    assert second.outcome == "unknown"
    assert {"session.missing", "tests.stale"} <= set(second.unknowns)
    assert "next_action" in second.review_first
    assert [risk.severity for risk in second.open_risks if risk.code == "session.missing"] == ["warn"]


def test_a_person_is_told(gone: Any, passdown: Any) -> None:
    done = passdown("wrap", "--interim", folder=gone.root)
    assert b"session.missing" in done.stderr
    assert gone.first.packet_id[:12].encode() in done.stderr
    shown = passdown("show", folder=gone.root).stdout.decode()
    assert '"Do not use the csv module."' in shown
    assert "carried over" in shown
    assert "red when a session last ran them that is not here any more" in shown
    taken = passdown("take", folder=gone.root).stdout.decode()
    assert "Make `tests/test_p.py::test_quote` pass" in taken
    assert "red when last run, by a session that is not here any more" in taken


def test_again_it_is_the_same_packet_and_later_ones_keep_what_they_have(gone: Any) -> None:
    second = wrapped(gone.root)
    assert wrapped(gone.root).packet_id == second.packet_id
    gone.commit("the parser")
    third = wrapped(gone.root)
    assert third.supersedes == second.packet_id
    assert [(line.text, line.from_packet) for line in third.directives] == [
        (line.text, gone.first.packet_id) for line in second.directives
    ]
    assert third.tests == second.tests
    assert third.next_action.text == second.next_action.text
    assert [item.text for item in third.completed][-2:] == ["the parser", "write the lexer"]


def test_a_test_run_that_is_recorded_here_takes_the_place_of_the_carried_one(gone: Any) -> None:
    row = {"command": ["pytest", "-q", "tests/test_p.py"], "exit_code": 0, "stdout_tail": "1 passed in 0.1s",
           "stderr_tail": "", "duration_ms": 9, "started_at": gone.clock + 7200.0, "agent_note": ""}  # fmt: skip
    gone.write("feedback_record.jsonl", json.dumps(row) + "\n")
    second = wrapped(gone.root)
    assert (second.tests.last_outcome, second.tests.from_packet) == ("green", "")
    assert second.next_action.text == "write the parser"


def carried(drafted: Draft) -> bool:
    return drafted.gathered.sessions_gone


def test_nothing_is_carried_where_a_session_of_this_work_is_here(gone: Any, claude_session: Any) -> None:
    later = claude_session(gone.root, "bbbbbbbb-0000-4000-8000-000000000002")
    later.branch, later.clock = "feat/csv", gone.session.clock + 600
    later.human("Now write the documentation.")
    assert not carried(draft(gone.root))


def test_nothing_is_carried_where_only_some_sessions_were_looked_at(gone: Any) -> None:
    assert carried(draft(gone.root))
    assert not carried(draft(gone.root, Options(agent="codex")))
    assert not carried(draft(gone.root, Options(without=(gone.session.session_id,))))


def test_nothing_is_carried_after_a_takeover_that_work_followed(gone: Any, passdown: Any) -> None:
    assert passdown("take", folder=gone.root).returncode == 0
    gone.clock += 86_400 * 365
    gone.commit("by hand")
    assert draft(gone.root).gathered.repository.base_rule == "receipt"
    assert not carried(draft(gone.root))


def test_an_edit_that_was_cut_short_stays_named_until_it_is_committed(work: Any, isolated_home: Path) -> None:
    path = str(work.root / "src/p.py")
    work.session.calls("Edit", {"file_path": path, "old_string": "x = 1", "new_string": "x = 2"}, None)
    first = wrapped(work.root)
    assert first.interrupted_edit is not None
    shutil.rmtree(isolated_home / ".claude")
    second = wrapped(work.root).interrupted_edit
    assert second is not None
    assert (second.path, second.basis, second.from_packet) == ("src/p.py", "declared", first.packet_id)
    work.commit("the parser")
    assert wrapped(work.root).interrupted_edit is None


def test_what_is_open_here_comes_before_a_step_that_was_only_said(
    repository: Any, claude_session: Any, isolated_home: Path
) -> None:
    session = claude_session(repository.root)
    session.clock = repository.clock + 600
    session.human("Explain how src/p.py keeps quoted commas.")
    session.says("Next: write the parser in src/p.py.")
    repository.write("src/p.py", "x = 1\n")
    first = wrapped(repository.root)
    assert first.next_action.text == "Next: write the parser in src/p.py."
    shutil.rmtree(isolated_home / ".claude")
    assert wrapped(repository.root).next_action.text == first.next_action.text
    task = {"id": "T-001", "goal": "Limit the export to 100 rows", "owner": "builder", "acceptance": ["it is limited"],
            "status": "in_progress"}  # fmt: skip
    repository.write("task_board.json", json.dumps([task]))
    assert "Limit the export" in wrapped(repository.root).next_action.text
