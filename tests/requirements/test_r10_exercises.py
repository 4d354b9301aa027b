"""R10: the exercises' fields, one edge case after another, from artifacts as they lie on disk."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.handoff.draft import draft
from passdown.handoff.gather import Options
from passdown.model.packet import Packet

CLOCK = 1_760_009_000.0


def built(bench: Any, files: dict[str, Any], **options: Any) -> Packet:
    """Write the artifacts and build the packet that `wrap` would write."""
    bench.put(files)
    return draft(bench.root, Options(**options)).packet


def risks(packet: Packet) -> set[str]:
    return {risk.code for risk in packet.open_risks}


# --- exercise 1: assumptions_to_validate ---------------------------------------------------------------------------

OPEN = {"schema_version": 1, "active_task_id": "T-1", "touched_files": [], "blockers": [], "next_action": "Mend src/limits.py"}  # fmt: skip


def review(**fields: Any) -> dict[str, Any]:
    return {"task_id": "T-1", "total": 8, "verdict": "pass"} | fields


def dimension(score: Any, *items: dict[str, Any]) -> dict[str, Any]:
    return {"dimensions": [{"name": "assumptions", "score": score, "note": "", "items": list(items)}]}


ASSUMPTIONS: dict[str, tuple[list[Any], dict[str, Any] | None, list[tuple[str, int | None, str]]]] = {
    "no review": (["a is so", "b is so"], None, [("a is so", None, "unreviewed"), ("b is so", None, "unreviewed")]),
    "a map of scores, order 0, none, 1": (
        ["one holds", "two holds", "gone holds", "zero holds."],
        review(assumption_scores={"one holds": 1, "two holds": 2, "zero holds": 0}, **dimension(2)),
        [("zero holds.", 0, "item"), ("gone holds", None, "unreviewed"), ("one holds", 1, "item")],
    ),
    "a list of scores": (["a is so"], review(assumption_scores=[{"text": "a  is so.", "score": 1}]), [("a is so", 1, "item")]),
    "items under the dimension": (
        ["one holds", "two holds"],
        review(**dimension(2, {"text": "one holds", "score": 0}, {"text": "two holds", "score": 2})),
        [("one holds", 0, "item")],
    ),
    "the dimension alone, low": (["a is so"], review(**dimension(1)), [("a is so", 1, "dimension")]),
    "the dimension alone, high": (["a is so"], review(**dimension(2)), []),
    "scored above 1": (["a is so"], review(assumption_scores={"a is so": 2}), []),
    "a stale review": (["a is so"], review(assumption_scores={"a is so": 2}, head_commit="d" * 40), [("a is so", None, "unreviewed")]),
    "twice, lowest score": (["a  is so", "a is so."], review(assumption_scores=[{"text": "a is so", "score": 1}, {"text": "a is so", "score": 0}]),
                            [("a is so", 0, "item")]),
    "a score of 7": (["a is so"], review(assumption_scores={"a is so": 7}), [("a is so", None, "unreviewed")]),
    "a boolean score": (["a is so"], review(assumption_scores={"a is so": True}), [("a is so", None, "unreviewed")]),
    "objects with a text": ([{"text": "a is so"}], None, [("a is so", None, "unreviewed")]),
    "none recorded": ([], None, []),
}  # fmt: skip


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_r10_assumptions(name: str, bench: Any) -> None:
    texts, report, expected = ASSUMPTIONS[name]
    files = {"agent_state.json": OPEN | {"assumptions": texts}, "review_report.json": report}
    packet = built(bench, files)
    assert [(a.text, a.score, a.score_basis) for a in packet.assumptions_to_validate] == expected
    assert packet.assumptions_unscored == (1 if "alone, high" in name else 0)
    assert ("assumptions.none_recorded" in risks(packet)) == (not texts)
    assert ("review.bad_score" in risks(packet)) == (name in ("a score of 7", "a boolean score"))
    assert {a.source for a in packet.assumptions_to_validate} <= {"agent_state.json"}


def test_r10_strict_assumptions_cap_and_command(bench: Any) -> None:
    whole = {"agent_state.json": OPEN | {"assumptions": ["a is so"]}, "review_report.json": review(**dimension(2))}
    assert len(built(bench, whole | {"passdown.toml": "strict-assumptions = true\n"}).assumptions_to_validate) == 1
    many = [f"assumption {number}" for number in range(26)] + ["tests/test_a.py covers it"]
    contract = {"task_id": "T-1", "goal": "g", "acceptance_criteria": ["ruff check .", "pytest tests/test_a.py"]}
    packet = built(
        bench, {"agent_state.json": OPEN | {"assumptions": many[::-1]}, "scope_contract.json": contract, "review_report.json": None}
    )  # fmt: skip
    assert (len(packet.assumptions_to_validate), packet.omitted["assumptions_to_validate"]) == (20, 7)
    assert [a.validate_with for a in packet.assumptions_to_validate[:2]] == ["pytest tests/test_a.py", None]


# --- exercise 2: asymmetric trimming -------------------------------------------------------------------------------


def run(command: Any, code: int | None, **fields: Any) -> dict[str, Any]:
    return {
        "command": command,
        "exit_code": code,
        "duration_ms": 5,
        "started_at": CLOCK,
        "stdout_tail": "",
        "stderr_tail": "",
    } | fields


RED = {"stderr_tail": "E   AssertionError: 3 != 0 after 12ms", "agent_note": "expected green"}
LOGS: dict[str, tuple[list[dict[str, Any]], list[tuple[int, str, int]]]] = {
    "equal failures merge, numbers masked": (
        [run("make t", 1, stderr_tail=f"E: {line} != 0 in {line}ms") for line in (1, 2, 3)], [(3, "failure", 3)]),
    "first and last of a chain": (
        [run("make t", 1, stderr_tail=word) for word in ("apple", "pear", "plum")], [(1, "failure", 1), (3, "failure", 2)]),
    "a fixed failure is one line": ([run("make t", 1), run("make t", 2), run("make t", 0)], [(2, "resolved", 2), (3, "tail", 1)]),
    "a regression is unresolved": (
        [run("make t", 0), run("make t", 1)], [(1, "anchor", 1), (2, "failure", 1)]),
    "all without result": ([run("make t", None), run("make t", None)], [(2, "failure", 2)]),
    "two folders are two chains": (
        [run("make t", 1, cwd="src"), run("make t", 0, cwd="docs")], [(1, "failure", 1), (2, "tail", 1)]),
    "parents in a circle": (
        [run("make a", 1, command_id="a" * 12, parent_command_id="b" * 12), run("make a", 1, command_id="b" * 12, parent_command_id="a" * 12)],
        [(2, "failure", 2)]),
    "a parent that was rotated away": ([run("make t", 1, command_id="a" * 12, parent_command_id="f" * 12)], [(1, "failure", 1)]),
    "own commands do not count": ([run("passdown wrap", 3), run(["make", "t"], 1)], [(2, "failure", 1)]),
    "the order of the file, not of the clock": (
        [run("make b", 1, started_at=CLOCK + 50), run("make a", 1)], [(1, "failure", 1), (2, "failure", 1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_r10_trimming(name: str, bench: Any) -> None:
    rows, expected = LOGS[name]
    packet = built(bench, {"feedback_record.jsonl": rows})
    assert [(entry.line, entry.kind, entry.count) for entry in packet.feedback_tail] == expected
    assert any(entry.truncated_chain for entry in packet.feedback_tail) == ("rotated" in name)


def test_r10_a_passed_run_is_a_receipt_and_a_failed_one_keeps_the_work(bench: Any) -> None:
    contract = {"task_id": "T-1", "goal": "g", "acceptance_criteria": ["pytest -x"], "allowed_files": [], "forbidden_files": [],
                "rollback_plan": "git revert"}  # fmt: skip
    quiet = [run(f"ls d{number}", 0, stdout_tail="out") for number in range(12)]
    bench.repository.commit("Everything is committed")
    bench.put({
        "scope_contract.json": contract, "verification_report.json": {"task_id": "T-1", "passed": True, "findings": []},
        "agent_state.json": OPEN, "review_report.json": None,
    })  # fmt: skip
    bench.repository.commit("Write the contract")
    passed = built(bench, {"feedback_record.jsonl": [*quiet, run("pytest -x", 1, **RED), run("pytest -x", 0)]})
    failed = built(bench, {"feedback_record.jsonl": [*quiet, run("pytest -x", 0), run("pytest -x", 1, **RED)]})
    assert passed.outcome == "passed", passed.unknowns
    kinds = [entry.kind for entry in passed.feedback_tail]
    assert ("receipt" in kinds, "resolved" in kinds) == (True, True)
    assert kinds.count("tail") <= 3
    assert not any(entry.out or entry.err for entry in passed.feedback_tail)
    assert not any(entry.note for entry in passed.feedback_tail if entry.kind != "resolved")
    assert failed.outcome == "failed"
    [failure] = [entry for entry in failed.feedback_tail if entry.kind == "failure"]
    assert (failure.note, failure.err) == ("expected green", RED["stderr_tail"])
    assert [entry.kind for entry in failed.feedback_tail].count("tail") == 8 - 2
    assert "anchor" in [entry.kind for entry in failed.feedback_tail]
    for packet in (passed, failed):
        assert sum(entry.count for entry in packet.feedback_tail) + packet.omitted.get("feedback_tail", 0) == 14


def test_r10_signals_torn_lines_cap_and_rotation(bench: Any) -> None:
    signals = [run(f"sleep {code}", code) for code in (130, 137, 143)]
    packet = built(bench, {"feedback_record.jsonl": signals})
    assert [entry.label for entry in packet.feedback_tail] == ["interrupted", "killed", "terminated"]
    many = [run(f"make t{number}", 1) for number in range(50)]
    packet = built(bench, {"feedback_record.jsonl.1": many[:25], "feedback_record.jsonl": many[25:]})
    assert len(packet.feedback_tail) == 30
    assert packet.omitted["feedback_tail"] == 20
    assert [entry.line for entry in packet.feedback_tail] == sorted(entry.line for entry in packet.feedback_tail)
    bench.put(
        {
            "feedback_record.jsonl.1": None,
            "feedback_record.jsonl": '\n{"command": "make t", "exit_code": 1}\n{"command": "ma',
        }
    )
    packet = draft(bench.root, Options()).packet
    assert "feedback.torn_line" in risks(packet)
    assert "feedback.torn_lines" in packet.unknowns
    assert len(packet.failed_attempts) == 1


def test_r10_an_empty_log_with_acceptance_blocks(bench: Any) -> None:
    packet = built(
        bench, {"scope_contract.json": {"task_id": "T-1", "goal": "g", "acceptance_criteria": ["pytest -x"]}}
    )
    assert packet.feedback_tail == []
    assert ("feedback.missing", "block") in {(risk.code, risk.severity) for risk in packet.open_risks}


# --- exercise 3: questions_for_human -------------------------------------------------------------------------------


def ask(**fields: Any) -> dict[str, Any]:
    return {
        "id": "Q-1",
        "question": "Which key?",
        "blocks": ["T-1"],
        "impact": 2,
        "irreversibility": 0,
        "authority": 2,
    } | fields


QUESTIONS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "past the threshold": ([ask()], ["Q-1"]),
    "below it": ([ask(impact=1)], []),
    "cannot be taken back": ([ask(impact=0, authority=0, irreversibility=2, blocks=[])], ["Q-1"]),
    "blocks nothing": ([ask(blocks=[])], []),
    "blocks the next action": ([ask(impact=0, blocks=["next_action"])], ["Q-1"]),
    "a safe default": ([ask(authority=1, default="per user")], []),
    "answered": ([ask(status="answered", answer="per user")], []),
    "answered in a later row": ([ask(), {"id": "Q-1", "status": "answered", "answer": "per user"}], []),
    "the same text twice": ([ask(), ask(id="Q-2", question="Which  key?.")], ["Q-1"]),
    "by score, then id": ([ask(id="Q-b", question="b?"), ask(id="Q-a", question="a?"), ask(id="Q-c", question="c?", irreversibility=1)],
                          ["Q-c", "Q-a", "Q-b"]),
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_r10_questions(name: str, bench: Any) -> None:
    rows, expected = QUESTIONS[name]
    packet = built(bench, {"questions.jsonl": rows})
    assert [question.id for question in packet.questions_for_human] == expected
    assert all(question.default for question in packet.questions_for_human)
    if "answered" in name:
        assert [decision.choice for decision in packet.decisions] == ["Which key? — per user"]
    if name == "a safe default":
        assert [(decision.choice, decision.state) for decision in packet.decisions] == [("per user", "assumed")]
    if name == "blocks the next action":
        assert (packet.next_action.kind, packet.next_action.question_id) == ("ask", "Q-1")


def test_r10_a_next_action_that_waits_names_its_question(bench: Any) -> None:
    bench.put({"questions.jsonl": [ask(blocks=["next_action"])]})
    bench.passdown("wrap", "--interim", "--next", "Mend src/limits.py", code=5)
    bench.passdown("wrap", "--interim", "--next", "Get the answer to Q-1, then mend src/limits.py")


def test_r10_question_sources_and_cap(bench: Any) -> None:
    contract = {
        "task_id": "T-1",
        "goal": "g",
        "acceptance_criteria": ["pytest"],
        "approvals_required": ["new dependency"],
    }
    bench.repository.write("pyproject.toml", "[project]\nname = 'x'\n")
    packet = built(bench, {
        "scope_contract.json": contract,
        "agent_state.json": OPEN | {"blockers": ["等待安全团队确认"]},
        "outputs/rule_report.json": [{"slug": "approval/deps", "passed": False, "category": "approval"}],
        "overrides.jsonl": [{"finding_code": "rule.failed", "reason": "typo", "user_id": "dev"}],
        "questions.jsonl": [ask(id=f"Q-{number}", question=f"What about {number}?") for number in range(4)],
    })  # fmt: skip
    texts = " ".join(question.question for question in packet.questions_for_human)
    assert len(packet.questions_for_human) == 5
    assert packet.omitted["questions_for_human"] == 3
    assert "Approve: new dependency" in texts
    assert "approval/deps" in texts


# --- exercise 5: next_session_prereqs ------------------------------------------------------------------------------


def test_r10_prereqs(full: Any, workbench_files: dict[str, Any]) -> None:
    full.put({".gitignore": "outputs/\nsecret.cfg\n", "secret.cfg": "x = 1\n", "big.txt": "y" * 90_000})
    state = workbench_files["agent_state.json"] | {
        "blockers": [], "next_action": "Edit src/limits.py, src/new.py, big.txt, secret.cfg, ../up.py and /etc/passwd",
    }  # fmt: skip
    packet = built(full, {"agent_state.json": state})
    found = {item.path: item for item in packet.next_session_prereqs.artifacts}
    assert list(found)[:4] == ["AGENTS.md", "docs/agent-rules.md", "agent_state.json", "scope_contract.json"]
    assert all(item.sha256 and item.why for item in found.values())
    assert (found["big.txt"].mode, found["src/limits.py"].required, found["src/limits.py"].tracked) == (
        "range",
        True,
        True,
    )
    assert not found["secret.cfg"].tracked
    assert not {"feedback_record.jsonl", "/etc/passwd", "../up.py", "src/new.py"} & set(found)
    conditions = {(item.kind, item.expect) for item in packet.next_session_prereqs.conditions}
    assert {("may_create", "src/new.py"), ("branch", "feat/export-limit")} <= conditions
    assert "prereq.not_portable" in risks(packet)


def test_r10_a_router_that_is_missing_linked_or_leads_outside(full: Any, tmp_path: Any) -> None:
    target = full.root / "AGENTS.md"
    (full.root / "CLAUDE.md").symlink_to("AGENTS.md")
    routers = [item.path for item in built(full, {}).next_session_prereqs.artifacts if "work here" in item.why]
    assert routers == ["AGENTS.md"]
    target.unlink()
    (full.root / "CLAUDE.md").unlink()
    assert "router.missing" in risks(built(full, {}))
    (tmp_path / "outside.md").write_text("# not ours\n")
    target.symlink_to(tmp_path / "outside.md")
    packet = built(full, {})
    assert "AGENTS.md" not in [item.path for item in packet.next_session_prereqs.artifacts]
    assert "artifact.symlink_outside" in risks(packet)
