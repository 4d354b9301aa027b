"""R45 and R46: what nobody checked is said, and what is broken is named; nothing of either is ever passed over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from passdown.handoff.draft import draft
from passdown.handoff.gather import Options
from passdown.packet.headings import LANGUAGES


def codes(packet: dict[str, Any]) -> set[str]:
    return {risk["code"] for risk in packet["open_risks"]} | set(packet["unknowns"])


def test_r45_what_nobody_checked_is_said(bench: Any, claude_session: Any) -> None:
    session = claude_session(bench.root)
    session.branch = "feat/export-limit"
    session.human("Limit the exports.")
    session.edits("src/limits.py")
    packet = bench.wrap()
    unknown = {"tests.not_run", "review.absent", "verification.absent", "outcome.unknown"}
    assert unknown <= set(packet["unknowns"])
    assert (packet["outcome"], packet["tests"].get("state", "not_run")) == ("unknown", "not_run")
    assert packet["verdict_pointer"] == {"verification": None, "review": None, "clean_state": None}
    markdown = bench.markdown()
    assert all(f"{code}" in markdown for code in ("tests.not_run", "review.absent"))
    for word in ("green", "passed run", "all tests pass", "✓ pass"):
        assert word not in markdown
    session.runs("pytest -q", "14 passed in 0.2s")
    green = bench.wrap()
    assert "tests.not_run" not in green["unknowns"]
    assert green["tests"]["state"] == "green"
    session.runs("sed -i s/10/12/ src/limits.py", "")
    session.edits("src/limits.py")
    stale = bench.wrap()
    assert stale["tests"]["state"] == "stale"
    assert "tests.stale" in stale["unknowns"]
    assert "**green**" not in bench.markdown()


def test_r45_prose_is_manual_and_never_green(bench: Any) -> None:
    bench.put(
        {
            "scope_contract.json": {
                "task_id": "T-1",
                "goal": "g",
                "acceptance_criteria": ["the docs mention Retry-After"],
            }
        }
    )
    packet = bench.wrap()
    assert (packet["verification"]["by"], packet["outcome"]) == ("manual", "unknown")
    assert {"acceptance.not_run", "tests.not_run", "tests.manual"} & set(packet["unknowns"])
    assert "green" not in bench.markdown()


STATE = {
    "schema_version": 1,
    "active_task_id": "T-1",
    "touched_files": [],
    "assumptions": [],
    "blockers": [],
    "next_action": "Mend src/a.py",
}
BROKEN: dict[str, tuple[str, Any, str]] = {
    "unknown state version": ("agent_state.json", STATE | {"schema_version": 2}, "artifact.unknown_version"),
    "version as text": ("agent_state.json", STATE | {"schema_version": "1.0"}, "artifact.unknown_version"),
    "null list": ("agent_state.json", STATE | {"blockers": None}, "artifact.null_array"),
    "torn JSON": ("agent_state.json", '{"schema_version": 1, "next_act', "artifact.bad_json"),
    "empty file": ("agent_state.json", "", "artifact.empty"),
    "no UTF-8": ("agent_state.json", b"\xff\xfe{}", "artifact.bad_encoding"),
    "a key twice": ("agent_state.json", '{"schema_version": 1, "schema_version": 1}', "artifact.duplicate_key"),
    "nested too deep": ("task_board.json", "[" * 5000 + "]" * 5000, "artifact.too_deep"),
    "not an object": ("agent_state.json", "[]", "artifact.bad_shape"),
    "board of no tasks": ("task_board.json", '{"a": 1}', "artifact.bad_shape"),
    "unknown status": ("task_board.json", [{"id": "T-1", "goal": "g", "status": "blue"}], "board.unknown_status"),
    "id twice": ("task_board.json", [{"id": "T-1", "goal": "g", "status": "todo"}] * 2, "board.duplicate_id"),
    "contract without what it needs": ("scope_contract.json", {"acceptance_criteria": ["make"]}, "contract.incomplete"),
    "report without a verdict": ("verification_report.json", {"task_id": "T-1", "findings": []}, "verification.no_verdict"),
    "review scores that are none": ("review_report.json", {"dimensions": [{"name": "assumptions", "score": 9}]}, "review.bad_score"),
    "torn log": ("feedback_record.jsonl", '{"command": "make", "exit_code": 0}\n{"command": "ma', "feedback.torn_line"),
    "bad line in a log": ("feedback_record.jsonl", 'nonsense\n{"command": "make", "exit_code": 0}\n', "feedback.bad_line"),
    "no command": ("feedback_record.jsonl", '{"exit_code": 0}\n', "feedback.no_command"),
    "torn decisions": ("decisions.jsonl", '{"choice": "x"}\n{"choi', "decisions.torn_line"),
    "torn clues": ("clues.jsonl", '{"text": "x"}\n{"te', "clues.torn_line"),
    "question without text": ("questions.jsonl", '{"why": "x"}\n', "questions.no_text"),
    "demo rule report": ("rule_report.json", {"bad": [], "good": []}, "rule_report.demo"),
    "configured but missing": ("passdown.toml", '[artifacts]\ncontract = "planning/none.json"\n', "artifact.missing"),
    "configured for no role": ("passdown.toml", '[artifacts]\nwhim = "a.json"\n', "config.unknown_role"),
    "neither contract nor report": ("scope_contract.json", "{}", "artifact.bad_shape"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_r46_broken_artifacts_are_named(name: str, bench: Any) -> None:
    path, content, code = BROKEN[name]
    bench.put({path: content})
    done = bench.run("-C", str(bench.root), "wrap", "--interim", "--json")
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    packet = json.loads(next(bench.root.glob("outputs/handoff/*/handoff.json")).read_text("utf-8"))
    found = {risk["code"]: risk for risk in packet["open_risks"]}
    assert code in found, (sorted(found), packet["unknowns"])
    assert path in found[code].get("source", "") or path == "passdown.toml" or path in found[code]["detail"]


@pytest.mark.parametrize(
    ("files", "words", "exit_code", "says"),
    [
        ({"passdown.toml": "output = "}, ["wrap"], 2, "passdown.toml"),
        ({"passdown.toml": "whim = 1\n"}, ["wrap"], 2, "whim"),
        ({"passdown.toml": 'output = "../up"\n'}, ["wrap"], 8, "../up"),
        ({"passdown.toml": 'session-id = "../up"\n'}, ["wrap"], 8, "../up"),
        ({"x.json": "{"}, ["show", "x.json"], 4, "no JSON"),
        ({"x.json": "[]"}, ["show", "x.json"], 4, "no JSON object"),
        ({"x.json": b"\xff"}, ["show", "x.json"], 4, "UTF-8"),
        ({"x.json": '{"schema_version": 2}'}, ["show", "x.json"], 4, "version 2"),
        ({"x.json": '{"schema_version": 1}'}, ["show", "x.json"], 4, "missing required field"),
        ({"x.json": "[" * 90_000}, ["export", "--lesson", "x.json"], 4, "nested"),
        ({"x.json": " " * 300_000}, ["show", "x.json"], 4, "larger"),
        ({"x.jsonl": "no session\n"}, ["wrap", "--session", "x.jsonl"], 4, "x.jsonl"),
        ({}, ["wrap", "--session", "absent.jsonl"], 2, "absent.jsonl"),
        ({}, ["wrap", "--base", "0" * 40], 2, "0" * 40),
        ({}, ["wrap", "--base", "--upload-pack=x"], 2, "upload-pack"),
        ({}, ["show"], 4, "passdown wrap"),
        ({}, ["show", "absent/handoff.json"], 2, "no such file"),
        ({}, ["show", "deadbeef"], 2, "deadbeef"),
        ({}, ["wrap", "--agent", "clippy"], 2, "clippy"),
        ({}, ["wrap", "--next", "继续"], 5, "vague"),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, list) else None,
)  # fmt: skip
def test_r46_what_cannot_go_on_says_why(
    files: dict[str, Any], words: list[str], exit_code: int, says: str, bench: Any
) -> None:
    bench.put(files)
    placed = [str(bench.root / word) if word in files else word for word in words]
    done = bench.run("-C", str(bench.root), *placed)
    assert (done.returncode, done.stdout) == (exit_code, b""), done.stderr
    assert says in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert list(bench.root.glob("outputs/handoff/*")) == []


def test_r46_a_torn_session_log_is_counted(bench: Any, claude_session: Any) -> None:
    session = claude_session(bench.root)
    session.branch = "feat/export-limit"
    session.human("Limit the exports.")
    with session.path.open("ab") as stream:
        stream.write(b'\x00\x00{"type": "user", "mess\n{"type": "of a later version", "uuid": "x"}\n{"type": "assi')
    packet = bench.wrap()
    assert packet["sessions"][0]["unknown"] >= 2
    assert "session.unknown_records" in codes(packet)
    assert [line["text"] for line in packet["directives"]] == ["Limit the exports."]


def test_r46_every_prefix_of_every_artifact(full: Any, workbench_files: dict[str, Any]) -> None:
    for path in workbench_files:
        if not path.endswith((".json", ".jsonl")):
            continue
        whole = (full.root / path).read_bytes()
        for cut in (1, len(whole) // 3, len(whole) - 2):
            full.repository.write(path, whole[:cut])
            packet = draft(full.root, Options()).packet
            named = {risk.source for risk in packet.open_risks} | {risk.detail for risk in packet.open_risks}
            told = any(path in text for text in named) or packet.omitted.get("open_risks", 0) > 0
            assert told, (path, cut, sorted(named))
        full.repository.write(path, whole)


def test_r46_a_packet_that_cannot_be_read_is_named_and_kept(bench: Any) -> None:
    bench.wrap()
    broken = bench.root / "outputs/handoff/older/handoff.json"
    bench.put({"outputs/handoff/older/handoff.json": '{"packet_id": "x"'})
    done = bench.run("-C", str(bench.root), "wrap", "--interim")
    assert done.returncode == 0
    assert b"packet.unreadable" in done.stderr
    assert b"older/handoff.json" in done.stderr
    assert broken.read_text() == '{"packet_id": "x"'


def test_r46_a_folder_that_may_not_be_written(bench: Any) -> None:
    bench.put({"outputs/handoff": "a file where the folder belongs\n"})
    done = bench.run("-C", str(bench.root), "wrap", "--interim")
    assert done.returncode in (1, 8)
    assert b"Traceback" not in done.stderr
    assert b"outputs/handoff" in done.stderr


def test_r46_headings_exist_in_every_language() -> None:
    assert len({tuple(sorted(words)) for words in LANGUAGES.values()}) == 1
