"""What a packet says of made-up evidence, beyond what the requirements' own tests ask of the whole command."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest
from msgspec import structs

from passdown.errors import FormatError, NoEvidenceError
from passdown.model.evidence import Change, Commit, Directive, Evidence, FileTouch, PlanFact, Rejection, TestFacts
from passdown.model.finding import Finding
from passdown.model.packet import HANDOFF_FIELDS
from passdown.model.session import PlanItem
from passdown.model.workbench import (
    ClueRow,
    DecisionRow,
    QuestionRow,
    Review,
    ReviewDimension,
    State,
    Task,
    Verification,
    Workbench,
)
from passdown.packet.boundary import strings_of
from passdown.packet.budget import HARD_CAP
from passdown.packet.build import build_packet
from passdown.packet.encode import decode_packet, encode_packet
from passdown.packet.identity import content_hash
from passdown.packet.lesson import export_lesson
from passdown.packet.paths import PathFact
from passdown.packet.render import render_markdown
from passdown.packet.schema import packet_schema

NINE = (
    "Goal",
    "Completed",
    "Remaining",
    "Changed files",
    "Decisions",
    "Tests",
    "Known problems",
    "Next step",
    "Verification",
)


def validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(packet_schema())


def plain(evidence: Evidence, **options) -> dict:  # type: ignore[no-untyped-def,type-arg]
    return json.loads(encode_packet(build_packet(evidence, **options)))  # type: ignore[no-any-return]


def codes(packet) -> list[str]:  # type: ignore[no-untyped-def]
    return [risk.code for risk in packet.open_risks]


def test_goal_order_and_absence(make_evidence, make_workbench) -> None:  # type: ignore[no-untyped-def]
    full = make_evidence(workbench=make_workbench())
    assert build_packet(full).goal == "Export requests above 10/min per caller get 429 with Retry-After."
    board = make_evidence(workbench=make_workbench(contract=None))
    assert build_packet(board).goal == "Rate-limit the export endpoint"
    feature = Workbench(features=(Task(id="export-limit", goal="Limit exports"),), active_feature="export-limit")
    assert build_packet(make_evidence(workbench=feature)).goal == "Limit exports"
    request = build_packet(
        make_evidence(directives=(Directive(text="hi"), Directive(text="Please limit the\nexports")))
    )
    assert (request.goal, request.goal_basis) == ("Please limit the exports", "declared")
    nobody = build_packet(make_evidence(directives=()))
    assert (nobody.goal, nobody.goal_basis) == (None, None)
    assert "goal.missing" in codes(nobody)


def test_claims_that_git_denies(make_evidence) -> None:  # type: ignore[no-untyped-def]
    state = State(touched_files=("src/limits.py", "docs/api.md"))
    touches = (FileTouch(path="never.py", action="edit", failed=True), FileTouch(path="seen.py", action="read"))
    packet = build_packet(make_evidence(workbench=Workbench(state=state), touches=touches))
    files = {file.path: file for file in packet.changed_files}
    assert set(files) == {"docs/api.md", "src/api/export.py", "src/limits.py", "tests/test_export.py"}
    assert (files["docs/api.md"].status, files["docs/api.md"].basis) == ("=", "declared")
    assert (files["src/limits.py"].basis, files["src/limits.py"].claimed) == ("observed", True)
    assert "claim.unchanged" in codes(packet)
    ignored = build_packet(
        make_evidence(workbench=Workbench(state=state)), paths={"docs/api.md": PathFact(tracked=False)}
    )
    assert "claim.unchanged" not in codes(ignored)


def test_what_the_session_took_away_again_is_no_claim(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    names = ("media/logo.svg", "build/a/b.txt", "moved.py", "still.py", "kept.py")
    touches = tuple(FileTouch(path=path, action="write") for path in names)
    chains = (
        make_chain("git rm -q logo.svg", make_run(1, 0, cwd="media"), kind="other", cwd="media"),
        make_chain("mkdir x && rm -rf build/", make_run(2, 0), kind="other"),
        make_chain("mv moved.py x/", make_run(3, 0), kind="other"),
        make_chain("rm still.py", make_run(4, 0), kind="other"),
        make_chain("rm kept.py", make_run(5, 1), kind="other"),
    )
    evidence = make_evidence(touches=touches, chains=chains)
    packet = build_packet(evidence, paths={"still.py": PathFact(tracked=True)})
    assert [file.path for file in packet.changed_files if file.status == "="] == ["kept.py", "still.py"]


def test_carried_claims_are_not_promoted(make_evidence) -> None:  # type: ignore[no-untyped-def]
    bench = Workbench(
        decisions=(DecisionRow(id="D-1", choice="No redis"), DecisionRow(id="P-1", choice="short", kind="preference")),
        questions=(QuestionRow(id="Q-1", question="Which key?", blocks=("T-1",), impact=2, authority=2),),
        clues=(ClueRow(id="K-1", text="pinned", anchors=("a.py",), pinned=True), ClueRow(id="K-2", text="not pinned")),
    )
    plan = PlanFact(items=(PlanItem(text="Wire the parser in"),))
    rejected = (Rejection(what="pip install redis"),)
    old = build_packet(make_evidence(workbench=bench, plan=plan, rejections=rejected))
    new = build_packet(make_evidence(), previous=old)
    carried = [*new.decisions, *new.preferences, *new.questions_for_human, *new.clues, *new.remaining]
    assert [item.id for item in new.clues] == ["K-1"]
    assert len(carried) == 6
    assert {item.from_packet for item in carried} == {old.packet_id}
    assert {item.basis for item in carried} == {"declared"}
    third = build_packet(make_evidence(), previous=new)
    assert content_hash(third) == content_hash(new), "carrying again changes nothing"


@pytest.mark.parametrize(
    ("branch", "said", "goal"),
    [
        ("feat/limit", (), "Limit the export"),
        ("feat/limit", (Directive(text="continue"),), "Limit the export"),
        ("feat/limit", (Directive(text="Rename Bucket.take to acquire"),), "Rename Bucket.take to acquire"),
        ("main", (), None),
    ],
)
def test_the_goal_outlives_the_log_that_it_was_said_in(branch, said, goal, make_evidence) -> None:  # type: ignore[no-untyped-def]
    old = build_packet(make_evidence(directives=(Directive(text="Limit the export"),)))
    evidence = make_evidence(directives=said)
    evidence = structs.replace(evidence, repository=structs.replace(evidence.repository, branch=branch))
    new = build_packet(evidence, previous=old)
    assert (old.goal, new.goal) == ("Limit the export", goal)
    assert content_hash(build_packet(evidence, previous=new)) == content_hash(new), "carrying again changes nothing"


def test_carried_question_is_closed_by_an_answer(make_evidence) -> None:  # type: ignore[no-untyped-def]
    asked = QuestionRow(id="Q-1", question="Which key?", blocks=("T-1",), impact=2, authority=2)
    old = build_packet(make_evidence(workbench=Workbench(questions=(asked,))))
    answered = structs.replace(asked, status="answered", answer="per user")
    new = build_packet(make_evidence(workbench=Workbench(questions=(answered,))), previous=old)
    assert new.questions_for_human == []
    assert [decision.choice for decision in new.decisions] == ["Which key? — per user"]


def test_no_transcript_and_exact_counts(make_evidence, make_repository_facts, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    changes = tuple(
        Change(path=f"src/d{i % 30}/file_{i:05}.py", status="M", added=i, blob="a" * 40) for i in range(10_000)
    )
    noise = "log line with text\n" * 2_000
    chains = tuple(
        make_chain(f"make target_{i}", make_run(i + 1, i % 3, stdout_tail=noise, stderr_tail=noise))
        for i in range(1_500)
    )
    directives = tuple(Directive(text=f"request number {i} " + "word " * 400) for i in range(300))
    evidence = make_evidence(
        repository=make_repository_facts(changes=changes, changes_total=12_000), chains=chains, directives=directives,
        log_lines=2_000_000,
    )  # fmt: skip
    packet = build_packet(evidence)
    assert len(encode_packet(packet)) <= HARD_CAP
    assert len(packet.changed_files) + packet.omitted["changed_files"] == 12_000
    assert len(packet.commands_run) + packet.omitted["commands_run"] == 1_500
    assert len(packet.failed_attempts) + packet.omitted["failed_attempts"] == 1_000
    assert len(packet.directives) + packet.omitted["directives"] == 300
    assert sum(entry.count for entry in packet.feedback_tail) + packet.omitted["feedback_tail"] == 1_500
    assert validator().is_valid(json.loads(encode_packet(packet)))


def test_last_known_good(make_evidence, make_repository_facts, make_workbench) -> None:  # type: ignore[no-untyped-def]
    repository = make_repository_facts()
    clean = make_repository_facts(changes=(), changes_total=0)
    older = Verification(passed=True, head_commit=repository.commits[1].id[:12])
    verified = build_packet(make_evidence(workbench=Workbench(verification=older)))
    assert verified.git.last_known_good_commit == repository.commits[1].id
    green = TestFacts(state="green")
    assert build_packet(make_evidence(tests=green, repository=clean)).git.last_known_good_commit == repository.head
    dirty = build_packet(make_evidence(tests=green))
    assert dirty.git.last_known_good_commit is None
    assert "lkg.missing" in codes(dirty)
    assert (dirty.git.branch, dirty.status) == ("feat/export-limit", "active")


def test_plain_and_public(cases) -> None:  # type: ignore[no-untyped-def]
    blob = "QUJD" * 200
    evidence = structs.replace(
        cases["session_only"], directives=(Directive(text=f"see data:image/png;base64,{blob} here"),)
    )
    packet = plain(evidence)
    assert validator().is_valid(packet)
    assert not any(blob[:257] in text for text in strings_of(packet))
    assert "characters of opaque data" in packet["directives"][0]["text"]
    packet["summary"] = blob
    assert not validator().is_valid(packet)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no JSON"), (b"\xff{}", "UTF-8"), (b"[]", "no JSON object"), (b'{"schema_version": 2}', "version 2"),
        (b'{"schema_version": "1"}', "version"), (b'{"schema_version": true}', "version"), (b"{}", "version None"),
        (b'{"schema_version": 1, "schema_version": 1}', "twice"), (b'{"schema_version": 1, "x": NaN}', "NaN"),
        (b'{"schema_version": 1}', "missing required field"), (b"[" * 100_000, "nested"), (b" " * 300_000, "larger"),
    ],
)  # fmt: skip
def test_what_is_no_packet(data: bytes, says: str) -> None:
    with pytest.raises(FormatError) as error:
        decode_packet(data)
    assert says in str(error.value)


def test_pinned_clue_survives_trimming_and_three_supersedes(make_evidence, make_repository_facts) -> None:  # type: ignore[no-untyped-def]
    rows = tuple(ClueRow(id=f"K-{i}", text=f"note {i} " * 20, anchors=("a.py",), pinned=i == 17) for i in range(30))
    packet = build_packet(make_evidence(workbench=Workbench(clues=rows)))
    assert packet.clues[0].id == "K-17"
    assert packet.omitted["clues"] == 15
    first = packet.packet_id
    for turn in range(3):
        commits = (Commit(id=f"{turn}" * 40, subject=f"turn {turn}"),)
        packet = build_packet(make_evidence(repository=make_repository_facts(commits=commits)), previous=packet)
        assert [(clue.id, clue.from_packet) for clue in packet.clues] == [("K-17", first)]
    unpinned = Workbench(clues=(ClueRow(id="K-17", text="note", withdrawn=True),))
    assert build_packet(make_evidence(workbench=unpinned), previous=packet).clues == []


def test_what_nobody_checked_is_said(make_evidence) -> None:  # type: ignore[no-untyped-def]
    packet = build_packet(make_evidence())
    assert {"tests.not_run", "clean_state.not_checked", "review.absent", "verification.absent"} <= set(packet.unknowns)
    assert packet.outcome == "unknown"
    markdown = render_markdown(packet)
    assert "green" not in markdown
    assert "passed" not in markdown.replace("passdown", "")


def test_final_needs_its_verdict(make_evidence, make_workbench) -> None:  # type: ignore[no-untyped-def]
    governed = make_evidence(workbench=make_workbench(verification=None))
    with pytest.raises(NoEvidenceError):
        build_packet(governed, kind="final")
    assert "verification.missing" in codes(build_packet(governed))
    assert build_packet(make_evidence(workbench=make_workbench()), kind="final").kind == "final"


def test_review_and_feedback_risks(make_evidence, make_workbench) -> None:  # type: ignore[no-untyped-def]
    hard = Review(total=80, dimensions=(ReviewDimension(name="scope_discipline", score=0),), verdict="pass")
    packet = build_packet(make_evidence(workbench=make_workbench(review=hard)))
    assert "review.verdict_mismatch" in codes(packet)
    assert "feedback.missing" in codes(packet)
    worse = structs.replace(hard, verdict="hard_fail")
    assert build_packet(make_evidence(workbench=make_workbench(review=worse))).outcome == "failed"
    none = build_packet(make_evidence(workbench=make_workbench(review=None)))
    assert "review.missing" in codes(none)
    assert none.verdict_pointer.review is None


def test_receipts_know_when_they_are_stale(make_evidence, make_workbench) -> None:  # type: ignore[no-untyped-def]
    old = Verification(passed=True, head_commit="d" * 40, path="outputs/verification/T-014.json")
    packet = build_packet(make_evidence(workbench=make_workbench(verification=old, review=None)))
    receipt = packet.verdict_pointer.verification
    assert receipt is not None
    assert receipt.stale
    assert receipt.check is not None
    assert (receipt.check.kind, receipt.check.subject, receipt.check.expect) == ("artifact_hash", "", "")
    assert len(receipt.sha256) == 64
    assert packet.outcome != "passed"
    assert "**stale**" in render_markdown(packet)


def test_findings_of_the_workbench_keep_their_codes(make_evidence) -> None:  # type: ignore[no-untyped-def]
    found = (Finding(code="artifact.ambiguous", severity="warn", detail="two boards"),)
    packet = build_packet(make_evidence(workbench=Workbench(findings=found)))
    assert "artifact.ambiguous" in codes(packet)


def test_lesson_shape(cases) -> None:  # type: ignore[no-untyped-def]
    flat = export_lesson(build_packet(cases["failed_run"]))
    assert set(flat) == {*HANDOFF_FIELDS, "task_id", "feedback_tail"}
    assert flat["changed_files"] == ["src/api/export.py", "src/limits.py", "tests/test_export.py"]
    assert "pytest -x tests/test_export.py -> exit 1" in flat["failed_attempts"]
    assert "make lint -> no result" in flat["failed_attempts"]
    assert set(flat["open_risks"][0]) == {"severity", "detail"}
    assert flat["verdict_pointer"]["verdict"] == "outputs/verification/T-014.json"
    msgspec.json.encode(flat)


def test_prereqs(make_evidence, make_workbench) -> None:  # type: ignore[no-untyped-def]
    state = State(next_action="Edit src/big.py, src/new.py and /etc/passwd")
    facts = {
        "src/big.py": PathFact(bytes=90_000, sha256="a" * 64, tracked=True), "src/new.py": PathFact(exists=False),
    }  # fmt: skip
    packet = build_packet(make_evidence(workbench=make_workbench(state=state, questions=())), paths=facts)
    artifacts = {artifact.path: artifact for artifact in packet.next_session_prereqs.artifacts}
    assert list(artifacts)[:4] == ["AGENTS.md", "agent_state.json", "scope_contract.json", "task_board.json"]
    assert (artifacts["src/big.py"].mode, artifacts["src/big.py"].required) == ("range", True)
    assert "/etc/passwd" not in artifacts
    assert "feedback_record.jsonl" not in artifacts
    conditions = {condition.kind: condition.expect for condition in packet.next_session_prereqs.conditions}
    assert conditions["may_create"] == "src/new.py"
    assert conditions["branch"] == "feat/export-limit"


def test_schema_file_lies_at_the_root() -> None:
    path = Path(__file__).resolve().parents[2] / "schema" / "handoff-v1.schema.json"
    assert json.loads(path.read_text()) == packet_schema()
