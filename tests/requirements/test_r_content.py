"""R1 to R9 and R12: what a packet says, and how it says what it does not know."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

import jsonschema_rs
import pytest

from passdown.handoff.draft import draft
from passdown.handoff.gather import Options

SEVEN = (
    "summary", "changed_files", "commands_run", "failed_attempts", "open_risks", "next_action", "verdict_pointer",
)  # fmt: skip
NINE = (
    "Goal", "Completed", "Remaining", "Changed files", "Decisions", "Tests", "Known problems", "Next step", "Verification",
)  # fmt: skip


def codes(packet: dict[str, Any]) -> list[str]:
    return [risk["code"] for risk in packet["open_risks"]]


def sections(markdown: str) -> dict[str, str]:
    """The text under each second-level heading."""
    parts = re.split(r"^## (.+)$", markdown, flags=re.MULTILINE)
    return {
        name.split(" (")[0].split(" and ")[0]: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_r01_seven_fields_are_always_there(make_bench: Any, make_repository: Any, passdown: Any) -> None:
    validator = jsonschema_rs.validator_for(json.loads(passdown("schema").stdout))
    bare = make_repository("bare", empty=True)
    least = json.loads(passdown("-C", str(bare.root), "wrap", "--dry-run", "--json").stdout)
    packets = [least, make_bench(full=True).wrap()]
    for packet in packets:
        assert validator.is_valid(packet)
        for field in SEVEN:
            assert field in packet
            rest = {key: value for key, value in packet.items() if key != field}
            assert any(field in error.message for error in validator.iter_errors(rest))
            file = bare.write(f"without_{field}.json", json.dumps(rest))
            shown = passdown("show", str(file))
            assert (shown.returncode, shown.stdout) == (4, b"")
            assert field.encode() in shown.stderr


def test_r02_nine_sections(full: Any, make_repository: Any, passdown: Any) -> None:
    full.wrap()
    told = sections(full.markdown())
    assert {name: told.get(name, "") for name in NINE if told.get(name, "none") in ("", "none")} == {}
    bare = make_repository("bare", empty=True)
    empty = sections(passdown("-C", str(bare.root), "wrap", "--dry-run").stdout.decode())
    assert set(NINE) <= set(empty)
    assert empty["Goal"] == "none"


VAGUE = [
    "", "   ", "continue", "Continue.", "keep going", "finish", "finish the rest", "TBD", "n/a", "none", "see above",
    "next steps", "carry on with the task", "do the remaining work", "fix the issues", "work on it", "TODO", "...",
    "line one in src/a.py\nline two", "x" * 301, "继续", "继续完成剩余的工作", "下一步", "待定", "続ける",
]  # fmt: skip
CONCRETE = [
    "Run pytest -x tests/test_export.py and mend the burst reset", "Add the Retry-After header in src/api/export.py",
    "Rename Bucket.take to Bucket.acquire", "Get the answer to Q-5c1e90ab", "Write the migration for accounts.email",
    "`make lint` still fails on unused imports", "Cover the empty cart in checkout tests", "Review the diff of #412",
    "Document the export limit in the handbook", "Split parse_line() in two", "Read the clock inside the lock",
    "Ask Dana whether tenants share workers", "修复 src/limits.py 的并发重置", "给导出接口补上限流测试",
    "把令牌桶改成单调时钟", "为登录页增加错误提示", "在 README 里写明安装步骤", "レート制限のテストを書く",
    "Port the CSV reader to msgspec", "Delete the dead branch in legacy/session.py",
]  # fmt: skip


@pytest.mark.parametrize("text", VAGUE)
def test_r03_a_vague_next_action_is_refused(text: str, bench: Any) -> None:
    done = bench.run("-C", str(bench.root), "wrap", "--interim", "--next", text)
    assert (done.returncode, done.stdout) == (5, b""), done.stderr
    assert b"next action" in done.stderr
    assert list(bench.root.rglob("handoff.*")) == []


@pytest.mark.parametrize("text", CONCRETE)
def test_r03_a_concrete_next_action_is_taken(text: str, bench: Any) -> None:
    packet = json.loads(bench.passdown("wrap", "--dry-run", "--json", "--next", text))
    assert (packet["next_action"]["text"], packet["next_action"]["source"]) == (text, "given")


def test_r03_the_state_is_held_to_the_same(bench: Any, workbench_files: dict[str, Any]) -> None:
    state = workbench_files["agent_state.json"] | {"blockers": []}
    for text in (*VAGUE, *CONCRETE):
        bench.put({"agent_state.json": state | {"next_action": text}})
        packet = draft(bench.root, Options()).packet
        risks = [risk.code for risk in packet.open_risks]
        if text in CONCRETE:
            assert (packet.next_action.text, packet.next_action.source) == (text, "agent_state.json")
            assert "next_action.vague" not in risks
        else:
            assert packet.next_action.source.startswith("derived:"), text
            assert packet.next_action.text != text
            assert ("next_action.vague" in risks) == bool(text.strip()), text


def test_r04_goal_comes_from_whoever_stated_it(full: Any, claude_session: Any) -> None:
    session = claude_session(full.root)
    session.branch = "feat/export-limit"
    session.human("Please limit\nthe exports.")
    seen = [full.wrap()["goal"]]
    for path in ("scope_contract.json", "task_board.json", "feature_list.json"):
        full.put({path: None})
        seen.append(full.wrap()["goal"])
    assert seen == [
        "Export requests above 10/min per caller get 429.", "Rate-limit the export endpoint", "Limit exports",
        "Please limit the exports.",
    ]  # fmt: skip
    session.path.unlink()
    packet = json.loads(full.passdown("wrap", "--dry-run", "--json"))
    assert packet["goal"] == "Please limit the exports.", "the packet before has it, on a machine without the log too"
    shutil.rmtree(full.root / "outputs/handoff")
    packet = json.loads(full.passdown("wrap", "--dry-run", "--json"))
    assert (packet["goal"], packet["goal_basis"]) == (None, None)
    assert "goal.missing" in codes(packet)


def test_r05_decisions_never_make_up_a_reason(full: Any, workbench_files: dict[str, Any]) -> None:
    packet = full.wrap()
    with_reason, without = packet["decisions"]
    stated = workbench_files["decisions.jsonl"][0]
    assert {name: with_reason[name] for name in ("choice", "why", "rejected", "by", "anchor")} == {
        name: stated[name] for name in ("choice", "why", "rejected", "by", "anchor")
    }
    assert (without["choice"], without["why"]) == ("Keep the session middleware", "reason not recorded")
    line = next(line for line in full.markdown().splitlines() if "Keep the session middleware" in line)
    assert "reason not recorded" in line


def test_r06_preferences_and_blockers(full: Any, workbench_files: dict[str, Any]) -> None:
    packet = full.wrap()
    [text] = workbench_files["agent_state.json"]["blockers"]
    assert [item["text"] for item in packet["preferences"]] == ["small commits"]
    assert [item["text"] for item in packet["blockers"]] == [text]
    same = [risk for risk in packet["open_risks"] if risk["id"] == packet["blockers"][0]["id"]]
    assert [(risk["code"], risk["detail"]) for risk in same] == [("state.blocker", text)]
    assert [risk["detail"] for risk in packet["open_risks"]].count(text) == 1


def test_r07_what_to_avoid(full: Any) -> None:
    [attempt] = full.wrap()["failed_attempts"]
    assert (attempt["what"], attempt["exit"], attempt["note"]) == (
        "pytest -x tests/test_limits.py", 1, "expected green after the lock",
    )  # fmt: skip
    assert (attempt["why"], attempt["tries"], attempt.get("resolved", False)) == ("AssertionError: 3 != 0", 2, False)
    line = next(line for line in full.markdown().splitlines() if "tried, failed" in line)
    assert "expected green after the lock" in line


def test_r08_claims_that_git_denies(full: Any) -> None:
    packet = full.wrap()
    files = {file["path"]: file for file in packet["changed_files"]}
    assert (files["docs/api.md"]["status"], files["docs/api.md"]["basis"]) == ("=", "declared")
    assert (files["src/limits.py"]["basis"], files["src/limits.py"]["claimed"]) == ("observed", True)
    [risk] = [risk for risk in packet["open_risks"] if risk["code"] == "claim.unchanged"]
    assert "docs/api.md" in risk["detail"]
    claims = [item for name in ("decisions", "remaining", "open_risks", "failed_attempts") for item in packet[name]]
    assert {item["basis"] for item in claims} <= {"observed", "derived", "declared"}


def test_r09_inherited_claims_are_not_promoted(full: Any) -> None:
    first = full.wrap()
    for path in ("decisions.jsonl", "questions.jsonl", "clues.jsonl", "task_board.json", "feature_list.json"):
        full.put({path: None})
    full.repository.commit("Turn one")
    second = full.wrap()
    full.repository.write("more.py", "x = 1\n")
    third = full.wrap()
    assert (second["supersedes"], third["supersedes"]) == (first["packet_id"], second["packet_id"])
    for packet in (second, third):
        carried = {
            name: [item for item in packet[name] if item.get("from")]
            for name in ("decisions", "preferences", "questions_for_human", "clues", "remaining")
        }
        assert all(carried.values()), carried
        items = [item for group in carried.values() for item in group]
        assert {item["from"] for item in items} == {first["packet_id"]}
        assert {item["basis"] for item in items} == {"declared"}


def test_r12_finished_work_is_one_line_each(bench: Any) -> None:
    done = [
        {"id": f"T-{number:03}", "goal": f"Thing {number}\nwith a second line", "status": "done", "acceptance": ["make"]}
        for number in range(100)
    ]  # fmt: skip
    bench.put({"task_board.json": done})
    packet = bench.wrap()
    commits = int(bench.repository.git("rev-list", "--count", f"{packet['git']['base']}..HEAD"))
    assert len(packet["completed"]) == 15
    assert packet["omitted"]["completed"] == 100 + commits - 15
    assert not any("\n" in item["text"] for item in packet["completed"])
    listed = [line for line in bench.markdown().splitlines() if line.startswith("- ✓")]
    assert 0 < len(listed) <= 15
