"""Exercises 1 and 3: assumptions to validate, and questions only a human can answer, with every stated edge case."""

from __future__ import annotations

import pytest
from msgspec import structs

from passdown.model.evidence import Change
from passdown.model.packet import Packet
from passdown.model.workbench import (
    AssumptionScore,
    Contract,
    DecisionRow,
    Override,
    QuestionRow,
    Review,
    ReviewDimension,
    RuleResult,
    State,
    Workbench,
)
from passdown.packet.build import build_packet


def review(*, items=(), dimension=None, inner=(), head="") -> Review:  # type: ignore[no-untyped-def]
    dimensions = (
        () if dimension is None and not inner else (ReviewDimension(name="assumptions", score=dimension, items=inner),)
    )
    return Review(total=80, verdict="pass", assumption_scores=tuple(items), dimensions=dimensions, head_commit=head)


def judged(make_evidence, texts, review=None, **options) -> Packet:  # type: ignore[no-untyped-def]
    bench = Workbench(state=State(assumptions=tuple(texts)), review=review)
    return build_packet(make_evidence(workbench=bench), **options)


def scores(packet: Packet) -> list[tuple[str, int | None, str]]:
    return [(a.text, a.score, a.score_basis) for a in packet.assumptions_to_validate]


def score(text: str, value: int | None) -> AssumptionScore:
    return AssumptionScore(text=text, score=value)


def test_without_a_review_all_are_unreviewed(make_evidence) -> None:  # type: ignore[no-untyped-def]
    assert scores(judged(make_evidence, ["a", "b"])) == [("a", None, "unreviewed"), ("b", None, "unreviewed")]


def test_items_by_text_order_and_absence(make_evidence) -> None:  # type: ignore[no-untyped-def]
    items = [score("one", 1), score("zero", 0), score("two", 2)]
    packet = judged(make_evidence, ["one", "two", "absent", "zero."], review(items=items, dimension=2))
    assert scores(packet) == [("zero.", 0, "item"), ("absent", None, "unreviewed"), ("one", 1, "item")]


def test_items_by_id(make_evidence) -> None:  # type: ignore[no-untyped-def]
    name = judged(make_evidence, ["the clock"]).assumptions_to_validate[0].id
    scored = judged(make_evidence, ["the clock"], review(items=[AssumptionScore(id=name, score=2)]))
    assert scored.assumptions_to_validate == []


def test_items_under_the_dimension(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = judged(make_evidence, ["one", "two"], review(dimension=2, inner=(score("one", 1), score("two", 2))))
    assert scores(packet) == [("one", 1, "item")]
    assert packet.assumptions_unscored == 0


@pytest.mark.parametrize(("dimension", "expected"), [(0, 2), (1, 2), (2, 0)])
def test_dimension_alone(make_evidence, dimension: int, expected: int) -> None:  # type: ignore[no-untyped-def]
    packet = judged(make_evidence, ["a", "b"], review(dimension=dimension))
    assert len(packet.assumptions_to_validate) == expected
    assert packet.assumptions_unscored == (2 if dimension == 2 else 0)


def test_strict_ignores_the_dimension(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = judged(make_evidence, ["a"], review(dimension=2), strict_assumptions=True)
    assert scores(packet) == [("a", None, "unreviewed")]
    assert packet.assumptions_unscored == 0


def test_stale_review_counts_as_none(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = judged(make_evidence, ["a"], review(items=[score("a", 2)], head="d" * 40))
    assert scores(packet) == [("a", None, "unreviewed")]
    assert "review.stale" in [risk.code for risk in packet.open_risks]


def test_duplicates_take_the_lowest(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = judged(make_evidence, ["a  b", "a b."], review(items=[score("a b", 1), score("a  b", 0)]))
    assert scores(packet) == [("a b", 0, "item")]


def test_bad_scores_are_unreviewed_and_said(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = judged(make_evidence, ["a"], review(items=[score("a", None)]))
    assert scores(packet) == [("a", None, "unreviewed")]
    assert "review.bad_score" in [risk.code for risk in packet.open_risks]


def test_none_recorded_is_a_risk_when_files_changed(make_evidence, make_repository_facts) -> None:  # type: ignore[no-untyped-def]
    packet = judged(make_evidence, [])
    assert packet.assumptions_to_validate == []
    assert "assumptions.none_recorded" in [risk.code for risk in packet.open_risks]
    still = make_evidence(
        workbench=Workbench(state=State()), repository=make_repository_facts(changes=(), changes_total=0)
    )
    assert "assumptions.none_recorded" not in [risk.code for risk in build_packet(still).open_risks]


def test_cap_and_command(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = judged(make_evidence, [f"assumption {i}" for i in range(27)])
    assert len(packet.assumptions_to_validate) == 20
    assert packet.omitted["assumptions_to_validate"] == 7
    contract = Contract(acceptance_criteria=("ruff check .", "pytest -x tests/test_export.py"))
    state = State(assumptions=("tests/test_export.py covers bursts", "nothing named"))
    found = build_packet(make_evidence(workbench=Workbench(state=state, contract=contract))).assumptions_to_validate
    assert [a.validate_with for a in found] == ["pytest -x tests/test_export.py", None]


# --- questions ---------------------------------------------------------------------------------------------------


def question(name: str = "Q-1", text: str = "Which key?", **fields) -> QuestionRow:  # type: ignore[no-untyped-def]
    return QuestionRow(**({"id": name, "question": text, "blocks": ("T-1",), "impact": 2, "authority": 2} | fields))


def asked(make_evidence, *rows: QuestionRow, **fields) -> Packet:  # type: ignore[no-untyped-def]
    return build_packet(make_evidence(workbench=Workbench(questions=rows, **fields)))


@pytest.mark.parametrize(
    ("fields", "enters"),
    [
        ({}, True),
        ({"impact": 1}, False),
        ({"impact": 1, "irreversibility": 1}, True),
        ({"impact": 0, "authority": 0, "irreversibility": 2}, True),
        ({"impact": 0, "authority": 0, "irreversibility": 2, "blocks": ()}, True),
        ({"blocks": ()}, False),
        ({"impact": 0, "authority": 2, "blocks": ("next_action",)}, True),
        ({"status": "answered", "answer": "per user"}, False),
        ({"status": "withdrawn"}, False),
        ({"question": "  "}, False),
        ({"default": "per user", "authority": 1, "impact": 2}, False),
    ],
)
def test_threshold_and_fast_lanes(make_evidence, fields, enters: bool) -> None:  # type: ignore[no-untyped-def]
    found = asked(make_evidence, question(**fields)).questions_for_human
    assert bool([q for q in found if q.id == "Q-1"]) is enters


def test_safe_default_becomes_an_assumed_decision(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = asked(make_evidence, question(default="per user", authority=1))
    [decision] = packet.decisions
    assert (decision.choice, decision.state, decision.by) == ("per user", "assumed", "agent")


def test_answer_becomes_a_decision(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = asked(make_evidence, question(status="answered", answer="per user", options=("per user", "per key")))
    [decision] = packet.decisions
    assert (decision.choice, decision.rejected, decision.by) == ("Which key? — per user", ["per key"], "human")


def test_last_row_wins_and_texts_are_asked_once(make_evidence) -> None:  # type: ignore[no-untyped-def]
    rows = (
        question(),
        question("Q-2", "Which  key?."),
        question("Q-3", "Which port?"),
        question("Q-3", status="withdrawn"),
    )
    assert [q.id for q in asked(make_evidence, *rows).questions_for_human] == ["Q-1"]


def test_order_cap_and_default(make_evidence) -> None:  # type: ignore[no-untyped-def]
    rows = [question(f"Q-{i}", f"What about {i}?") for i in range(7)]
    rows.append(question("Q-z", "May the table go?", impact=0, authority=0, irreversibility=2))
    rows.append(question("Q-y", "Is it dear?", irreversibility=1))
    packet = asked(make_evidence, *rows)
    assert [q.id for q in packet.questions_for_human] == ["Q-y", "Q-0", "Q-1", "Q-2", "Q-z"]
    assert packet.omitted["questions_for_human"] == 4
    assert packet.questions_for_human[0].default == "nothing is done about it until it is answered"
    assert packet.questions_for_human[-1].severity == "block"


@pytest.mark.parametrize(
    "text",
    ["waiting for legal", "Awaiting sign-off from Ana", "needs decision on keys", "等待安全团队确认", "需要批准新依赖"],
)
def test_waiting_blockers_are_questions(make_evidence, text: str) -> None:  # type: ignore[no-untyped-def]
    packet = asked(make_evidence, state=State(blockers=(text, "the disk is full")))
    [found] = packet.questions_for_human
    assert found.question == text
    assert found.blocks == [packet.blockers[0].id]


def test_approvals_that_the_diff_calls_for(make_evidence, make_repository_facts) -> None:  # type: ignore[no-untyped-def]
    contract = Contract(
        task_id="T-1", goal="g", approvals_required=("new dependency", "database migration", "CI change")
    )
    changes = (Change(path="pyproject.toml", status="M"), Change(path="src/a.py", status="M"))
    repository = make_repository_facts(changes=changes, changes_total=2)
    bench = Workbench(contract=contract)
    packet = build_packet(make_evidence(workbench=bench, repository=repository))
    assert [q.question for q in packet.questions_for_human] == ["Approve: new dependency"]
    assert packet.scope is not None
    assert packet.scope.approvals_open == ["new dependency"]
    given = structs.replace(bench, decisions=(DecisionRow(id="D-1", choice="The new dependency is fine", by="human"),))
    assert build_packet(make_evidence(workbench=given, repository=repository)).questions_for_human == []


def test_rules_and_unsigned_overrides(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = asked(
        make_evidence,
        rule_results=(
            RuleResult(slug="approval/deps", passed=False, category="approval"),
            RuleResult(slug="x", passed=True),
        ),
        overrides=(Override(code="scope.off_scope", reason="typo"), Override(code="rule.failed", signed=True)),
    )
    texts = " ".join(q.question for q in packet.questions_for_human)
    assert "approval/deps" in texts
    assert "scope.off_scope" in texts
    assert "rule.failed" not in texts
