"""What every artifact must survive: nonsense, bombs, duplicates, size, links; and any JSON value at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.config import Config
from passdown.workbench.document import MAX_BYTES
from passdown.workbench.load import load_workbench

JSON_ARTIFACTS = {
    "agent_state.json": "state",
    "task_board.json": "tasks",
    "feature_list.json": "features",
    "scope_contract.json": "contract",
    "scope_report.json": "scope_report",
    "rule_report.json": "rule_results",
    "init_report.json": "probes",
    "last_known_good.json": "last_known_good",
    "prereqs.lock": "",
    "coverage_report.json": "",
    "verification_report.json": "verification",
    "review_report.json": "review",
    "diff_summary.json": "diff_summary",
}
ROW_ARTIFACTS = {
    "feedback_record.jsonl": "feedback",
    "overrides.jsonl": "overrides",
    "decisions.jsonl": "decisions",
    "questions.jsonl": "questions",
    "clues.jsonl": "clues",
    "task_board.jsonl": "tasks",
}
TEXT_ARTIFACTS = ["AGENTS.md", "docs/agent-rules.md", ".workbench-version"]
EVERYWHERE = [
    *JSON_ARTIFACTS, *ROW_ARTIFACTS, *TEXT_ARTIFACTS, "handoff.json", "outputs/handoff/s/handoff.json",
    "outputs/scope/closed/T-1.json", "outputs/verification/T-1.json", "outputs/review/T-1.json",
    "workbench-audit/workbench_audit.json",
]  # fmt: skip

BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "artifact.empty"),
    "blank": (b" \n", "artifact.empty"),
    "not json": (b"half of a {", "artifact.bad_json"),
    "torn": (b'{"task_id": "T-1", "passed": tr', "artifact.bad_json"),
    "number": (b"7", "artifact.bad_shape"),
    "string": (b'"text"', "artifact.bad_shape"),
    "null": (b"null", "artifact.bad_shape"),
    "deep": (b"[" * 10_000 + b"]" * 10_000, "artifact.too_deep"),
    "deep object": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "artifact.too_deep"),
    "duplicate": (b'{"task_id": "a", "x": {"k": 1, "k": 2}}', "artifact.duplicate_key"),
    "latin": (b'{"task_id": "caf\xe9"}', "artifact.bad_encoding"),
    "utf-16": ('{"task_id": "T"}'.encode("utf-16"), "artifact.bad_encoding"),
    "digits": (b'{"task_id": ' + b"9" * 5000 + b"}", "artifact.bad_json"),
    "huge": (b'{"task_id": "' + b"x" * MAX_BYTES + b'"}', "artifact.too_large"),
}


@pytest.mark.parametrize("path", JSON_ARTIFACTS)
@pytest.mark.parametrize("kind", BROKEN)
def test_a_malformed_artifact_is_a_named_finding(bench: Any, path: str, kind: str) -> None:
    data, code = BROKEN[kind]
    bench.put(path, data)
    loaded = bench.load()
    found = [finding for finding in loaded.findings if finding.where == path]
    assert [finding.code for finding in found] == [code]
    assert found[0].severity == "block" and found[0].detail and found[0].fix
    assert path not in {artifact.path for artifact in loaded.artifacts}
    name = JSON_ARTIFACTS[path]
    assert not name or not getattr(loaded, name)


def test_a_broken_json_document_says_at_which_byte(bench: Any) -> None:
    bench.put("agent_state.json", '{"next_action": "größer", x}'.encode())
    (finding,) = bench.load().findings
    assert finding.code == "artifact.bad_json" and finding.offset == 28


@pytest.mark.parametrize("path", ROW_ARTIFACTS)
def test_broken_rows_are_counted_and_the_others_kept(bench: Any, path: str) -> None:
    good = {"command": "x", "exit_code": 0, "code": "a.b", "choice": "c", "question": "q", "text": "t", "id": "I-1"}
    prefix = ROW_ARTIFACTS[path] if ROW_ARTIFACTS[path] != "tasks" else "board"
    lines = [
        b"",
        json.dumps(good).encode(),
        b"{broken",
        b"7",
        b"[" * 10_000,
        b'{"a": ' + b"x" * (1 << 20) + b"}",
        b'{"torn',
    ]
    bench.put(path, b"\n".join(lines))
    loaded = bench.load()
    codes = {finding.code for finding in loaded.findings}
    assert {f"{prefix}.{name}" for name in ("bad_line", "bad_row", "torn_line", "line_too_long")} <= codes
    assert len(getattr(loaded, ROW_ARTIFACTS[path])) == 1
    assert all(finding.offset >= 0 for finding in loaded.findings)


@pytest.mark.parametrize("path", [*JSON_ARTIFACTS, *ROW_ARTIFACTS])
def test_no_link_is_followed_out_of_the_repository(bench: Any, tmp_path: Path, path: str) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text('{"next_action": "stolen", "command": "x", "choice": "x", "question": "x", "text": "x"}')
    (bench.root / path).symlink_to(outside)
    loaded = bench.load()
    assert {finding.code for finding in loaded.findings} & {"artifact.symlink_outside", "artifact.unreadable"}
    assert loaded.artifacts == ()


@pytest.mark.parametrize("path", [*JSON_ARTIFACTS, *ROW_ARTIFACTS, *TEXT_ARTIFACTS])
def test_a_folder_a_pipe_or_a_circle_in_its_place_is_a_finding(bench: Any, path: str) -> None:
    target = bench.root / path
    target.parent.mkdir(exist_ok=True)
    for make in (target.mkdir, lambda: os.mkfifo(target), lambda: target.symlink_to(target.name)):
        make()
        loaded = bench.load()
        assert any(finding.severity == "block" and path in finding.where for finding in loaded.findings)
        assert loaded.artifacts == ()
        if target.is_dir():
            target.rmdir()
        else:
            target.unlink()


def test_a_link_inside_the_repository_is_followed(bench: Any) -> None:
    bench.put("state/mine.json", {"next_action": "go", "active_task_id": ""})
    (bench.root / "agent_state.json").symlink_to("state/mine.json")
    loaded = bench.load()
    assert loaded.state and loaded.state.next_action == "go" and loaded.findings == ()


def test_half_a_surrogate_pair_is_replaced_and_reported(bench: Any) -> None:
    bench.put("agent_state.json", b'{"active_task_id": "", "next_action": "a\\ud800b", "blockers": ["\\udc00"]}')
    loaded = bench.load()
    assert loaded.state and loaded.state.next_action == "a\ufffdb" and loaded.state.blockers == ("\ufffd",)
    assert [finding.code for finding in loaded.findings] == ["artifact.bad_item", "artifact.bad_text"]
    msgspec.json.encode(loaded)


def test_a_byte_order_mark_is_no_error(bench: Any) -> None:
    bench.put("agent_state.json", b'\xef\xbb\xbf{"active_task_id": null, "next_action": "go"}')
    loaded = bench.load()
    assert loaded.state and loaded.findings == ()


def test_details_are_one_printable_line(bench: Any) -> None:
    bench.put("agent_state.json", {"schema_version": "1\n# heading \u202e" + "x" * 900, "next_action": "go"})
    bench.put("task_board.json", [{"id": "T-1\n##", "goal": "g", "status": "\x1b[31m"}, {"id": "T-1\n##", "goal": "h"}])
    for finding in bench.load().findings:
        assert finding.detail.isascii() and finding.detail.isprintable() and len(finding.detail) < 300


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
FIELDS = sorted(
    {
        "schema_version", "active_task_id", "touched_files", "assumptions", "blockers", "next_action", "last_run", "id",
        "goal", "status", "acceptance", "features", "active", "passes", "steps", "task_id", "allowed_files", "findings",
        "forbidden_files", "acceptance_criteria", "rollback_plan", "time_budget_minutes", "network_egress", "passed",
        "off_scope", "forbidden_writes", "results", "bad", "good", "slug", "probes", "name", "detail", "commit",
        "fingerprint", "current", "previous", "coverage", "head_commit", "strict", "total", "verdict", "dimensions",
        "score", "items", "assumption_scores", "touched", "command", "exit_code", "started_at", "cwd", "duration_ms",
        "choice", "question", "text", "impact", "asked_at", "anchors", "pinned", "kind", "severity", "code", "schema",
        "summary", "changed_files", "commands_run", "failed_attempts", "open_risks", "verdict_pointer",
    }
)  # fmt: skip
shaped_values = st.recursive(
    json_values, lambda inner: st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6) | st.lists(inner, max_size=3)
)


@given(path=st.sampled_from(EVERYWHERE), value=shaped_values | json_values, raw=st.none() | st.binary(max_size=40))
@settings(deadline=None, max_examples=150)
def test_whatever_lies_at_an_artifacts_path_loading_never_raises(path: str, value: Any, raw: bytes | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(json.dumps(value).encode() if raw is None else raw)
        loaded = load_workbench(Path(folder), Config())
        msgspec.json.encode(loaded)
        assert load_workbench(Path(folder), Config()) == loaded
