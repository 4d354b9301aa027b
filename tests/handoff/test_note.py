"""`passdown note`: each kind of note is written once, amended, taken back, and never in another's name."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from passdown.errors import FormatError, NextActionError, PassdownError, UnsafeError, UsageError
from passdown.handoff.notes.listing import describe, find_note, list_notes
from passdown.handoff.notes.write import Setting, add_note, answer_question, pin_note, score_assumption, undo_note
from passdown.model.workbench import ClueRow, DecisionRow, NoteRow, QuestionRow
from passdown.redact.neutralise import neutralise

HUMAN = Setting(now=1_760_100_000_000)
AGENT = Setting(now=1_760_100_000_000, environ={"CLAUDECODE": "1"})
AT_A_TERMINAL = structs.replace(AGENT, terminal=True)

ROWS: dict[str, Any] = {
    "decision": DecisionRow(id="", choice="In-process bucket", why="one worker", rejected=("redis",)),
    "preference": DecisionRow(id="", choice="Small commits", kind="preference"),
    "question": QuestionRow(id="", question="Per user or per key?", impact=2, authority=2),
    "clue": ClueRow(id="", text="The clock is read outside the lock", tags=("race",)),
    "assumption": NoteRow(id="", text="One worker serves a tenant", kind="assumption", check="pytest -k tenant"),
    "risk": NoteRow(id="", text="The refill may starve", kind="risk", severity="block", code="limits.refill"),
    "attempt": NoteRow(id="", text="asyncio.Lock around refill", kind="attempt", why="deadlocks"),
    "next": NoteRow(id="", text="Read the clock inside the lock in src/limits.py", kind="next"),
}
FILES = {"question": "questions.jsonl", "clue": "clues.jsonl"}


def lines(root: Path, kind: str) -> list[dict[str, Any]]:
    path = root / FILES.get(kind, "decisions.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.mark.parametrize("kind", ROWS)
def test_the_same_note_twice_is_one_row_that_is_read_back(kind: str, repository: Any) -> None:
    first = add_note(repository.root, ROWS[kind], HUMAN)
    again = add_note(repository.root, ROWS[kind], HUMAN)
    assert (again.id, first.changed, again.changed) == (first.id, True, False)
    (row,) = lines(repository.root, kind)
    assert (row["id"], row["by"]) == (first.id, "human")
    (item,) = list_notes(repository.root, kind).items
    assert (item.id, item.kind, item.by) == (first.id, kind, "human")
    assert list_notes(repository.root).findings == ()


@pytest.mark.parametrize("kind", ROWS)
def test_undo_is_a_further_row_and_the_note_can_come_back(kind: str, repository: Any) -> None:
    name = add_note(repository.root, ROWS[kind], HUMAN).id
    assert undo_note(repository.root, name, HUMAN).changed
    assert not undo_note(repository.root, name, HUMAN).changed
    assert len(lines(repository.root, kind)) == 2
    assert list_notes(repository.root).items == ()
    assert [item.state for item in list_notes(repository.root, withdrawn=True).items] == ["withdrawn"]
    assert add_note(repository.root, ROWS[kind], HUMAN).id == name
    assert [item.id for item in list_notes(repository.root).items] == [name]


def test_what_is_new_in_a_repeated_note_amends_it(repository: Any) -> None:
    name = add_note(repository.root, DecisionRow(id="", choice="Use sqlite."), HUMAN).id
    amended = add_note(repository.root, DecisionRow(id="", choice="Use  sqlite", why="no server"), HUMAN)
    assert (amended.id, amended.changed) == (name, True)
    add_note(repository.root, DecisionRow(id="", choice="Use sqlite", pinned=True), HUMAN)
    item = find_note(repository.root, name)
    assert (item.text, item.why, item.pinned) == ("Use sqlite.", "no server", True)


def test_a_next_step_that_is_said_again_is_the_newest(repository: Any) -> None:
    def say(text: str, now: int) -> str:
        return add_note(repository.root, NoteRow(id="", text=text, kind="next"), Setting(now=now)).id

    first = say("Mend src/a.py", 1_760_100_000_000)
    say("Mend src/b.py", 1_760_100_001_000)
    assert say("Mend src/a.py", 1_760_100_002_000) == first
    rows = {row["id"]: row["at"] for row in lines(repository.root, "next")}
    assert max(rows, key=lambda name: rows[name]) == first
    assert len(lines(repository.root, "next")) == 3
    say("Mend src/a.py", 1_760_100_003_000)
    assert len(lines(repository.root, "next")) == 3, "at once again it is the same"


# --- who says it -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_SANDBOX", "OPENCODE", "GEMINI_CLI", "AI_AGENT"])
def test_who_says_it_is_found_from_the_environment(variable: str, repository: Any) -> None:
    setting = structs.replace(AGENT, environ={variable: "1"})
    assert find_note(repository.root, add_note(repository.root, ROWS["clue"], setting).id).by == "agent"
    with pytest.raises(UnsafeError, match="person's name"):
        add_note(repository.root, ROWS["decision"], structs.replace(setting, by="human"))
    assert lines(repository.root, "decision") == []


def test_a_person_may_sign_at_a_terminal_and_be_told_what_no_author_is(repository: Any) -> None:
    signed = add_note(repository.root, ROWS["decision"], structs.replace(AT_A_TERMINAL, by="human"))
    assert find_note(repository.root, signed.id).by == "human"
    assert find_note(repository.root, add_note(repository.root, ROWS["clue"], AT_A_TERMINAL).id).by == "agent"
    with pytest.raises(UsageError, match="no author"):
        add_note(repository.root, ROWS["clue"], structs.replace(HUMAN, by="god"))


def test_an_agent_changes_nothing_that_a_person_noted(repository: Any) -> None:
    name = add_note(repository.root, ROWS["preference"], structs.replace(HUMAN)).id
    pin_note(repository.root, name, HUMAN, pinned=True)
    before = lines(repository.root, "preference")
    for change in (
        lambda: undo_note(repository.root, name, AGENT),
        lambda: pin_note(repository.root, name, AGENT, pinned=False),
    ):
        with pytest.raises(UnsafeError):
            change()
    assert not add_note(repository.root, ROWS["preference"], AGENT).changed, "it may say the same"
    decided = add_note(repository.root, ROWS["decision"], HUMAN).id
    with pytest.raises(UnsafeError):
        add_note(repository.root, structs.replace(ROWS["decision"], why="because I say so"), AGENT)
    assert find_note(repository.root, decided).by == "human"
    assert lines(repository.root, "preference")[: len(before)] == before


def test_a_person_confirms_what_an_agent_noted(repository: Any) -> None:
    name = add_note(repository.root, ROWS["decision"], AGENT).id
    assert add_note(repository.root, ROWS["decision"], HUMAN).changed
    assert find_note(repository.root, name).by == "human"


# --- answers and scores ------------------------------------------------------------------------------------------


def test_an_answer_can_be_amended_and_taken_back(repository: Any) -> None:
    name = add_note(repository.root, ROWS["question"], AGENT).id
    assert answer_question(repository.root, name, "per  key", HUMAN).changed
    assert not answer_question(repository.root, name, "per key", HUMAN).changed
    item = find_note(repository.root, name)
    assert (item.state, item.answer, item.answered_by) == ("answered", "per key", "human")
    with pytest.raises(UnsafeError):
        undo_note(repository.root, name, AGENT)
    assert undo_note(repository.root, f"D-{name}", HUMAN).remarks, "the id of the answer, as a packet lists it"
    assert find_note(repository.root, name).state == "open"
    undo_note(repository.root, name, HUMAN)
    assert find_note(repository.root, name).state == "withdrawn"


def test_a_question_asked_again_stays_answered(repository: Any) -> None:
    name = add_note(repository.root, ROWS["question"], AGENT).id
    answer_question(repository.root, name, "per key", HUMAN)
    again = add_note(repository.root, ROWS["question"], AGENT)
    assert (again.id, again.changed) == (name, False)
    assert "per key" in again.remarks[0]


def test_a_question_names_what_waits_for_it(repository: Any) -> None:
    name = add_note(repository.root, ROWS["question"], AGENT).id
    assert find_note(repository.root, name).blocks == ("the work",)
    repository.write("agent_state.json", json.dumps({"active_task_id": "T-014", "next_action": ""}))
    asked = add_note(repository.root, structs.replace(ROWS["question"], question="Which region?"), AGENT)
    assert find_note(repository.root, asked.id).blocks == ("T-014",)


def test_a_score_belongs_to_an_assumption(repository: Any) -> None:
    name = add_note(repository.root, ROWS["assumption"], AGENT).id
    assert score_assumption(repository.root, name, 1, AGENT).changed
    assert score_assumption(repository.root, name, 2, HUMAN).changed
    with pytest.raises(UnsafeError, match="scored"):
        score_assumption(repository.root, name, 0, AGENT)
    item = find_note(repository.root, name)
    assert (item.score, item.scored_by) == (2, "human")
    for wrong, value in ((name, 3), (add_note(repository.root, ROWS["risk"], AGENT).id, 1), ("A-0000000000", 1)):
        with pytest.raises(UsageError):
            score_assumption(repository.root, wrong, value, HUMAN)


def test_an_assumption_of_the_state_can_be_scored(repository: Any, passdown: Any) -> None:
    repository.write("agent_state.json", json.dumps({"assumptions": ["one worker per tenant"], "next_action": ""}))
    done = passdown("-C", str(repository.root), "wrap", "--dry-run", "--interim", "--json")
    (assumed,) = json.loads(done.stdout)["assumptions_to_validate"]
    score_assumption(repository.root, assumed["id"], 0, HUMAN)
    done = passdown("-C", str(repository.root), "wrap", "--dry-run", "--interim", "--json")
    (scored,) = json.loads(done.stdout)["assumptions_to_validate"]
    assert (scored["id"], scored["score"], scored["score_basis"]) == (assumed["id"], 0, "item")
    score_assumption(repository.root, assumed["id"], 2, HUMAN)
    done = passdown("-C", str(repository.root), "wrap", "--dry-run", "--interim", "--json")
    assert json.loads(done.stdout)["assumptions_to_validate"] == []


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ROWS)
def test_a_text_that_fits_no_packet_is_refused(kind: str, repository: Any) -> None:
    field = {"question": "question", "decision": "choice", "preference": "choice"}.get(kind, "text")
    for text in ("", " \n", "…", "x" * 301, "word " * 4000):
        with pytest.raises((UsageError, NextActionError)):
            add_note(repository.root, structs.replace(ROWS[kind], **{field: text}), HUMAN)
    assert lines(repository.root, kind) == []


def test_a_vague_next_step_is_refused(repository: Any) -> None:
    for text in ("continue", "keep going", "finish the rest", "TBD", "继续", "mend a.py\nand b.py"):
        with pytest.raises(NextActionError):
            add_note(repository.root, NoteRow(id="", text=text, kind="next"), HUMAN)
    assert lines(repository.root, "next") == []


@pytest.mark.parametrize("row", [
    NoteRow(id="", text="A risk", kind="risk", code="Not A Code"),
    ClueRow(id="", text="A clue", tags=("two words",)),
    ClueRow(id="", text="A clue", tags=tuple(map(str, range(9)))),
    DecisionRow(id="", choice="A choice", why="w" * 161),
    DecisionRow(id="", choice="A choice", rejected=("",)),
])  # fmt: skip
def test_a_wrong_field_is_refused(row: Any, repository: Any) -> None:
    with pytest.raises(UsageError):
        add_note(repository.root, row, HUMAN)
    assert list_notes(repository.root).items == ()


def test_an_unknown_id_is_refused(repository: Any) -> None:
    add_note(repository.root, ROWS["decision"], HUMAN)
    for name in ("", "D-", "nothing", "../../etc/passwd", "D-0000000000", "\x1b[31m"):
        with pytest.raises(UsageError):
            undo_note(repository.root, name, HUMAN)
        with pytest.raises(UsageError):
            find_note(repository.root, name)


def test_an_id_may_be_shortened_as_long_as_it_is_one(repository: Any) -> None:
    name = add_note(repository.root, ROWS["decision"], HUMAN).id
    assert find_note(repository.root, name[:6]).id == name
    with pytest.raises(UsageError):
        find_note(repository.root, name[:3])


def test_a_next_step_is_not_pinned(repository: Any) -> None:
    name = add_note(repository.root, ROWS["next"], HUMAN).id
    with pytest.raises(UsageError, match="ends with its work"):
        pin_note(repository.root, name, HUMAN, pinned=True)


# --- the files ---------------------------------------------------------------------------------------------------


def test_texts_are_made_harmless_before_they_are_written(repository: Any) -> None:
    secret = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"
    text = f"a \x1b[31mred\x1b[0m \u202etoken {secret}\nand {repository.root}/src more \ud800"
    noted = add_note(repository.root, ClueRow(id="", text=text, tags=("x\u200by",)), HUMAN)
    data = (repository.root / "clues.jsonl").read_bytes()
    assert secret.encode() not in data and b"\\u001b" not in data and b"\xe2\x80\xae" not in data
    assert str(repository.root).encode() not in data
    assert noted.redactions == {"github_token": 1}
    assert find_note(repository.root, noted.id).text == "a red token [redacted:github_token] and src more \ufffd"


def test_values_of_secret_variables_are_masked(repository: Any) -> None:
    setting = Setting(environ={"MY_API_KEY": "correct-horse-battery"}, now=1)
    noted = add_note(repository.root, ClueRow(id="", text="the key is correct-horse-battery"), setting)
    assert "horse" not in (repository.root / "clues.jsonl").read_text()
    assert sum(noted.redactions.values()) == 1


def test_a_torn_last_line_is_reported_and_not_glued(repository: Any) -> None:
    repository.write("clues.jsonl", '{"text": "whole"}\n{"text": "to')
    noted = add_note(repository.root, ROWS["clue"], HUMAN)
    assert [finding.code for finding in noted.findings] == ["clues.torn_line"]
    assert [item.text for item in list_notes(repository.root).items] == ["whole", ROWS["clue"].text]


@pytest.mark.parametrize("content", [b"x" * ((4 << 20) + 1), None])
def test_a_file_that_cannot_be_read_is_left_alone(content: bytes | None, repository: Any, tmp_path: Path) -> None:
    path = repository.root / "clues.jsonl"
    outside = tmp_path / "outside"
    outside.write_text("")
    path.write_bytes(content) if content else path.symlink_to(outside)
    with pytest.raises((FormatError, UnsafeError)):
        add_note(repository.root, ROWS["clue"], HUMAN)
    assert outside.read_text() == ""
    assert add_note(repository.root, ROWS["decision"], HUMAN).changed, "another file has nothing to do with it"


def test_notes_go_where_the_configuration_says(repository: Any) -> None:
    repository.write("passdown.toml", '[artifacts]\ndecisions = "notes/log/decided.jsonl"\n')
    assert add_note(repository.root, ROWS["risk"], HUMAN).path == "notes/log/decided.jsonl"
    assert [item.kind for item in list_notes(repository.root).items] == ["risk"]


def test_outside_a_repository_nothing_is_noted(tmp_path: Path) -> None:
    with pytest.raises(PassdownError, match="not in a git repository"):
        add_note(tmp_path, ROWS["clue"], HUMAN)
    assert list(tmp_path.iterdir()) == []


def test_many_writers_lose_nothing_and_write_nothing_twice(repository: Any) -> None:
    def write(number: int) -> str:
        return add_note(repository.root, ClueRow(id="", text=f"clue number {number % 8}"), HUMAN).id

    with ThreadPoolExecutor(6) as pool:
        ids = list(pool.map(write, range(24)))
    assert len(set(ids)) == 8
    assert sorted(row["id"] for row in lines(repository.root, "clue")) == sorted(set(ids))


# --- anchors -----------------------------------------------------------------------------------------------------


def test_anchors_are_checked_and_kept(repository: Any) -> None:
    repository.write("src/limits.py", "a\nb\n")
    head = repository.commit("Add limits")
    (repository.root / "link").symlink_to("/etc")
    given = {
        "src/limits.py": "src/limits.py", "src/limits.py:2": "src/limits.py:2", "limits.py:1-2": "src/limits.py:1-2",
        "src/limits.py::refill": "src/limits.py::refill", head[:10]: head, "HEAD": head, "main~0": head,
        str(repository.root / "src/limits.py"): "src/limits.py",
    }  # fmt: skip
    broken = {
        "src/limits.py:3": "2 lines", "gone.py": "no such", "../up.py": "no such", "/etc/passwd": "outside",
        "link/passwd": "outside", "src:4": "folder", "0123456789": "no such", "--help": "no such",
        "x\x00y": "no such",
    }  # fmt: skip
    for number, anchors in enumerate((list(given)[:6], list(given)[6:])):
        row = ClueRow(id="", text=f"good {number}", anchors=tuple(anchors))
        noted = add_note(repository.root / "src", row, HUMAN)
        assert noted.findings == ()
        kept = find_note(repository.root, noted.id)
        assert (kept.anchors, kept.broken) == (tuple(dict.fromkeys(given[a] for a in anchors)), ())
    for number, (anchor, reason) in enumerate(broken.items()):
        noted = add_note(repository.root / "src", ClueRow(id="", text=f"bad {number}", anchors=(anchor,)), HUMAN)
        (finding,) = noted.findings
        assert (finding.code, reason in finding.detail) == ("anchor.broken", True), (anchor, finding)
        item = find_note(repository.root, noted.id)
        assert len(item.anchors) == 1
        assert item.broken == item.anchors
        assert "leads nowhere" in describe(item)[1]


# --- the command -------------------------------------------------------------------------------------------------


def test_the_command_prints_ids_alone_and_reads_standard_input(repository: Any) -> None:
    def run(*words: str, text: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        import os

        kept = {name: value for name, value in os.environ.items() if name not in ("CLAUDECODE", "AI_AGENT", "AGENT")}
        return subprocess.run(
            [sys.executable, "-m", "passdown", "-C", str(repository.root), "note", *words],
            input=text, capture_output=True, text=True, check=False, env=kept | env,
        )  # fmt: skip

    done = run("attempt", "-", "--why", "too slow", text="a cache\n")
    name = done.stdout.strip()
    assert (done.returncode, done.stderr, name[:2]) == (0, "", "F-")
    assert run("show", name).stdout == "a cache — too slow\n"
    assert run("--pin", name).stdout == f"{name}\n"
    listed = json.loads(run("list", "--json", "--kind", "attempt").stdout)
    assert (listed["schema_version"], [note["pinned"] for note in listed["notes"]]) == (1, [True])
    assert run("list").stdout.startswith(f"{name}\tattempt\tmade pinned\t")
    assert run("next", "continue").returncode == 5
    asked = run("question", "Which", "region?", "--default", "eu", AI_AGENT="1").stdout.strip()
    refused = run("answer", asked, "us", AI_AGENT="1")
    assert (refused.returncode, refused.stdout) == (8, "")
    assert run("clue").returncode == 2
    assert run("clue", "x" * 300).returncode == 2


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("notes")
    subprocess.run(["git", "init", "-q", str(root)], check=True, capture_output=True)
    return root


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=260), st.sampled_from(["\n", " ", "\t ", "  "]))
def test_any_text_is_refused_or_noted_once_on_one_visible_line(notebook: Path, text: str, space: str) -> None:
    try:
        noted = add_note(notebook, ClueRow(id="", text=text), HUMAN)
    except UsageError:
        return
    item = find_note(notebook, noted.id)
    assert 0 < len(item.text) <= 200
    assert item.text == " ".join(item.text.split())
    assert neutralise(item.text) == item.text
    again = add_note(notebook, ClueRow(id="", text=f"{space}{item.text.replace(' ', space)}{space}"), AGENT)
    assert (again.id, again.changed) == (noted.id, False)
    (line,) = [line for line in (notebook / "clues.jsonl").read_text("utf-8").splitlines() if noted.id in line]
    assert json.loads(line)["text"] == item.text
