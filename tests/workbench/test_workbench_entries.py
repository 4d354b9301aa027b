"""decisions.jsonl, questions.jsonl and clues.jsonl: reading, amending, appending."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from passdown.config import Config
from passdown.errors import UnsafeError, UsageError
from passdown.model.identifier import content_id
from passdown.model.workbench import ClueRow, DecisionRow, QuestionRow
from passdown.workbench.write import append_row


def test_decisions_and_preferences(bench: Any) -> None:
    bench.rows(
        "decisions.jsonl",
        {
            "choice": "In-process bucket",
            "why": "one worker",
            "rejected": ["redis"],
            "by": "human",
            "anchor": "src/x.py:4",
        },
        {"id": "D-mine", "choice": "No new dependency", "kind": "preference", "state": "assumed", "note": "extra"},
    )
    loaded = bench.load()
    first, second = loaded.decisions
    assert first.id == content_id("D-", "In-process bucket")
    assert (first.kind, first.by, first.rejected, first.anchor, first.line) == (
        "decision", "human", ("redis",), "src/x.py:4", 1,
    )  # fmt: skip
    assert (second.id, second.kind, second.state, second.by, second.line) == (
        "D-mine",
        "preference",
        "assumed",
        "agent",
        2,
    )
    assert loaded.findings == ()


def test_what_people_call_the_fields_of_a_decision_is_read(bench: Any) -> None:
    bench.rows("decisions.jsonl", {"decision": "A regex", "reason": "one rule is enough", "alternatives": ["a parser"]})
    loaded = bench.load()
    [row] = loaded.decisions
    assert (row.choice, row.why, row.rejected) == ("A regex", "one rule is enough", ("a parser",))
    assert row.id == content_id("D-", "A regex")
    assert loaded.findings == ()


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ({"choice": "A", "why": "old", "rejected": ["x"]}, {"decision": "B", "reason": "new", "alternatives": ["y"]}),
        ({"decision": "A", "reason": "old", "alternatives": ["x"]}, {"choice": "B", "why": "new", "rejected": ["y"]}),
        ({"text": "A", "rationale": "old"}, {"text": "B", "reason": "new", "rejected_options": ["y"]}),
    ],
)
def test_a_later_row_amends_under_whatever_name_its_fields_go(bench: Any, first: Any, later: Any) -> None:
    bench.rows("decisions.jsonl", {"id": "D-1", **first}, {"id": "D-1", **later})
    [row] = bench.load().decisions
    assert (row.choice, row.why, row.rejected, row.line) == ("B", "new", ("y",), 2)


def test_what_a_later_row_does_not_say_stays(bench: Any) -> None:
    bench.rows(
        "decisions.jsonl",
        {"id": "D-1", "decision": "A", "reason": "old", "alternatives": ["x"]},
        {"id": "D-1", "by": "human"},
    )
    [row] = bench.load().decisions
    assert (row.choice, row.why, row.rejected, row.by) == ("A", "old", ("x",), "human")


def test_a_later_row_amends_an_earlier_one(bench: Any) -> None:
    name = content_id("Q-", "Per user or per key?")
    bench.rows(
        "questions.jsonl",
        {"question": "Per user or per key?", "default": "per user", "blocks": ["T-1"], "impact": 2, "authority": 2},
        {"question": "Other?"},
        {"id": name, "status": "answered", "answer": "per key"},
    )
    loaded = bench.load()
    first, second = loaded.questions
    assert (first.id, first.question, first.status, first.answer) == (
        name,
        "Per user or per key?",
        "answered",
        "per key",
    )
    assert (first.default, first.blocks, first.impact, first.line) == ("per user", ("T-1",), 2, 3)
    assert second.question == "Other?" and second.status == "open" and loaded.findings == ()


def test_the_same_question_in_other_spacing_is_one(bench: Any) -> None:
    bench.rows("questions.jsonl", {"question": "Which  one?"}, {"question": " Which one?\n"})
    assert len(bench.load().questions) == 1


def test_clues(bench: Any) -> None:
    bench.rows(
        "clues.jsonl",
        {"text": "the clock is read before the lock", "anchors": ["src/x.py:41"], "tags": ["race"], "pinned": True},
        {"text": "gone", "withdrawn": True},
    )
    first, second = bench.load().clues
    assert first.pinned and first.anchors == ("src/x.py:41",) and first.tags == ("race",)
    assert second.withdrawn


@pytest.mark.parametrize(
    ("path", "row", "code"),
    [
        ("decisions.jsonl", {"why": "no choice"}, "decisions.no_text"),
        ("decisions.jsonl", {"id": "D-1", "why": "late"}, "decisions.no_text"),
        ("decisions.jsonl", {"choice": "x", "kind": "whim"}, "decisions.unknown_kind"),
        ("decisions.jsonl", {"choice": "x", "by": "god"}, "decisions.unknown_by"),
        ("decisions.jsonl", {"choice": "x", "state": 4}, "decisions.unknown_state"),
        ("questions.jsonl", {"question": " "}, "questions.no_text"),
        ("questions.jsonl", {"question": "q", "impact": 3}, "questions.bad_score"),
        ("questions.jsonl", {"question": "q", "authority": True}, "questions.bad_score"),
        ("questions.jsonl", {"question": "q", "status": "maybe"}, "questions.unknown_status"),
        ("questions.jsonl", {"question": "q", "options": None}, "artifact.null_array"),
        ("questions.jsonl", {"question": "q", "options": 7}, "artifact.bad_shape"),
        ("clues.jsonl", {"text": 5}, "clues.no_text"),
        ("clues.jsonl", {"text": "t", "pinned": "yes"}, "artifact.bad_field"),
    ],
)
def test_rows_that_are_wrong(bench: Any, path: str, row: dict[str, Any], code: str) -> None:
    bench.rows(path, row)
    assert bench.codes() == [code]


def test_a_bad_id_is_replaced_by_one_from_the_text(bench: Any) -> None:
    bench.rows("clues.jsonl", {"id": "../../x", "text": "t"})
    assert bench.load().clues[0].id == content_id("C-", "t")


def test_what_is_appended_is_read_back(bench: Any) -> None:
    rows = [
        DecisionRow(id="", choice="In-process bucket.", why="w", rejected=("redis",), by="human", anchor="a.py"),
        QuestionRow(
            id="", question="Which one?", default="the first", impact=2, irreversibility=1, asked_at=1_760_000_000_000
        ),
        ClueRow(id="", text="größer 等待", anchors=("x.py:1",), pinned=True),
    ]
    ids = [append_row(bench.root, bench.config, row) for row in rows]
    loaded = bench.load()
    assert loaded.findings == ()
    assert [path for _, path in ids] == ["decisions.jsonl", "questions.jsonl", "clues.jsonl"]
    (decision,), (question,), (clue,) = loaded.decisions, loaded.questions, loaded.clues
    assert decision.id == ids[0][0] == content_id("D-", "In-process bucket")
    assert (decision.choice, decision.by, decision.rejected, decision.anchor) == (
        "In-process bucket.", "human", ("redis",), "a.py",
    )  # fmt: skip
    assert (question.asked_at, question.irreversibility) == (1_760_000_000_000, 1)
    assert clue.text == "größer 等待" and clue.pinned


def test_a_row_appended_later_can_take_back_what_an_earlier_one_said(bench: Any) -> None:
    name, _ = append_row(bench.root, bench.config, ClueRow(id="", text="t", pinned=True))
    append_row(bench.root, bench.config, ClueRow(id=name, text="t"))
    append_row(bench.root, bench.config, QuestionRow(id="Q-1", question="q", status="answered", answer="a"))
    append_row(bench.root, bench.config, QuestionRow(id="Q-1", question="q"))
    loaded = bench.load()
    assert not loaded.clues[0].pinned and loaded.questions[0].status == "open"


def test_rows_go_to_the_configured_or_the_existing_file(bench: Any) -> None:
    row = ClueRow(id="", text="t")
    bench.put("outputs/clues.jsonl", "")
    assert append_row(bench.root, bench.config, row)[1] == "outputs/clues.jsonl"
    configured = Config(artifacts={"clues": "notes/clues.jsonl"})
    assert append_row(bench.root, configured, row)[1] == "notes/clues.jsonl"


def test_a_torn_last_line_is_not_glued_to_the_new_row(bench: Any) -> None:
    bench.put("clues.jsonl", '{"text": "whole"}\n{"text": "to')
    append_row(bench.root, bench.config, ClueRow(id="", text="new"))
    loaded = bench.load()
    assert [clue.text for clue in loaded.clues] == ["whole", "new"]
    assert [finding.code for finding in loaded.findings] == ["clues.bad_line"]


@pytest.mark.parametrize("text", ["", " \n", "x" * 20_000, "half \ud800"])
def test_rows_that_are_refused(bench: Any, text: str) -> None:
    with pytest.raises(UsageError):
        append_row(bench.root, bench.config, ClueRow(id="", text=text))
    assert not (bench.root / "clues.jsonl").exists()


def test_nothing_is_appended_through_a_link_or_to_a_pipe(bench: Any, tmp_path: Path) -> None:
    import os

    outside = tmp_path / "outside"
    outside.write_text("")
    (bench.root / "clues.jsonl").symlink_to(outside)
    os.mkfifo(bench.root / "decisions.jsonl")
    (bench.root / "questions.jsonl").mkdir()
    for row in (ClueRow(id="", text="t"), DecisionRow(id="", choice="c"), QuestionRow(id="", question="q")):
        with pytest.raises(UnsafeError):
            append_row(bench.root, bench.config, row)
    assert outside.read_text() == ""


def test_many_writers_at_once_lose_nothing(bench: Any) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: append_row(bench.root, bench.config, ClueRow(id="", text=f"clue {n}")), range(64)))
    lines = (bench.root / "clues.jsonl").read_text().splitlines()
    assert {json.loads(line)["text"] for line in lines} == {f"clue {n}" for n in range(64)}
