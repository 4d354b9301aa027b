"""Scope contract, scope report, rule report, rules, router."""

from __future__ import annotations

import json
from typing import Any

import pytest

CONTRACT: dict[str, Any] = {
    "task_id": "T-001",
    "goal": "Short passwords are refused",
    "allowed_files": ["src/*.py"],
    "forbidden_files": ["migrations/*"],
    "acceptance_criteria": ["pytest -x"],
    "rollback_plan": "Revert the commit.",
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"time_budget_minutes": None, "network_egress": None, "acceptance_criteria": ("pytest -x",)}),
        ({"network_egress": []}, {"network_egress": ()}),
        ({"network_egress": None}, {"network_egress": None}),
        ({"network_egress": ["packages.example"]}, {"network_egress": ("packages.example",)}),
        ({"time_budget_minutes": 45}, {"time_budget_minutes": 45}),
        ({"time_budget_minutes": 45.0}, {"time_budget_minutes": 45}),
        ({"approvals_required": ["new dependency"]}, {"approvals_required": ("new dependency",)}),
        ({"docs_paths_soft": ["docs/*"], "violation_budget": 2}, {"docs_paths_soft": ("docs/*",)}),
        ({"branch": "feat/x"}, {"branch": "feat/x"}),
    ],
)
def test_contract_variants(bench: Any, given: dict[str, Any], expected: dict[str, Any]) -> None:
    bench.put("scope_contract.json", CONTRACT | given)
    loaded = bench.load()
    assert loaded.findings == ()
    assert {name: getattr(loaded.contract, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("acceptance", ["a"]), ("acceptance_commands", ["a"]), ("done_when", "a"), ("acceptance_criteria", ["a"])],
)
def test_acceptance_goes_by_other_names(bench: Any, name: str, value: Any) -> None:
    bench.put("scope_contract.json", {k: v for k, v in CONTRACT.items() if k != "acceptance_criteria"} | {name: value})
    loaded = bench.load()
    assert loaded.contract.acceptance_criteria == ("a",) and loaded.findings == ()


def test_an_incomplete_contract_says_what_it_lacks(bench: Any) -> None:
    bench.put("scope_contract.json", {"task_id": "T-001", "acceptance": [], "rollback_plan": " "})
    (finding,) = bench.load().findings
    assert finding.code == "contract.incomplete"
    assert finding.detail == "lacks goal, allowed_files, forbidden_files, rollback_plan"


def test_a_bad_time_budget_and_a_null_list(bench: Any) -> None:
    bench.put("scope_contract.json", CONTRACT | {"time_budget_minutes": "soon"})
    assert bench.codes() == ["artifact.bad_field"]
    bench.put("scope_contract.json", CONTRACT | {"forbidden_files": None})
    assert bench.codes() == ["artifact.null_array"]
    assert bench.load().contract is None


FULL = {
    "task_id": "T-001",
    "in_scope_writes": ["a.py"],
    "off_scope_writes": ["b.py"],
    "forbidden_writes": ["m/1.sql"],
    "soft_off_scope_writes": ["docs/x.md"],
    "missing_acceptance": [],
    "findings": [{"code": "scope.forbidden", "severity": "block", "detail": "m/1.sql"}],
    "over_budget": False,
}
ARCHIVED = {
    "task_id": "T-001",
    "findings": [{"code": "scope.off_scope", "severity": "warning", "detail": "b.py"}],
    "in_scope": ["a.py"],
    "off_scope": ["b.py"],
    "soft_off_scope": [],
    "passed": True,
    "closed_at": 1760000000.0,
}


@pytest.mark.parametrize("path", ["scope_report.json", "outputs/scope/closed/T-001.report.json", "closed/T-001.json"])
def test_the_full_scope_report(bench: Any, path: str) -> None:
    bench.put("agent_state.json", {"active_task_id": "T-001", "next_action": "go"})
    bench.put(path, FULL)
    report = bench.load().scope_report
    assert report.forbidden_writes == ("m/1.sql",) and report.forbidden_known and report.path == path
    assert report.findings[0].severity == "block"


def test_the_archived_scope_report_has_no_forbidden_list(bench: Any) -> None:
    bench.put("agent_state.json", {"active_task_id": "T-001", "next_action": "go"})
    bench.put("outputs/scope/closed/T-001.json", ARCHIVED)
    loaded = bench.load()
    report = loaded.scope_report
    assert (report.in_scope_writes, report.off_scope_writes, report.forbidden_known) == (("a.py",), ("b.py",), False)
    assert report.passed and report.findings[0].severity == "warn"
    assert loaded.contract is None and loaded.closed_contracts == () and loaded.findings == ()


def test_contract_and_report_at_the_same_path_are_told_apart(bench: Any) -> None:
    bench.put("agent_state.json", {"active_task_id": "T-001", "next_action": "go"})
    bench.put("outputs/scope/closed/T-001.json", CONTRACT)
    bench.put("outputs/scope/closed/T-001.report.json", FULL)
    bench.put("outputs/scope/closed/T-000.json", ARCHIVED)
    loaded = bench.load()
    assert loaded.contract.path == "outputs/scope/closed/T-001.json"
    assert loaded.scope_report.path == "outputs/scope/closed/T-001.report.json"
    assert len(loaded.closed_contracts) == 1 and loaded.findings == ()
    assert {artifact.path: artifact.role for artifact in loaded.artifacts} == {
        "agent_state.json": "state",
        "outputs/scope/closed/T-001.json": "contract",
        "outputs/scope/closed/T-001.report.json": "scope_report",
    }


def test_a_closed_contract_is_not_taken_for_the_active_one(bench: Any) -> None:
    bench.put("outputs/scope/closed/T-001.json", CONTRACT)
    loaded = bench.load()
    assert loaded.contract is None and [contract.task_id for contract in loaded.closed_contracts] == ["T-001"]


def test_a_report_where_the_contract_belongs_is_refused(bench: Any) -> None:
    bench.put("scope_contract.json", ARCHIVED)
    assert bench.codes() == ["artifact.bad_shape"]


@pytest.mark.parametrize(
    "report",
    [
        [{"slug": "a/b", "passed": True, "category": "startup"}, {"slug": "c/d", "passed": False}],
        {"results": [{"slug": "a/b", "ok": True, "category": "startup"}, {"rule": "c/d", "ok": False}]},
        {"rules": [{"slug": "a/b", "passed": True, "category": "startup"}, {"slug": "c/d", "passed": False}]},
        {"rows": [{"slug": "a/b", "passed": True, "category": "startup"}, {"slug": "c/d", "passed": False}]},
    ],
)
def test_rule_reports_that_are_accepted(bench: Any, report: Any) -> None:
    bench.put("outputs/rule_report.json", report)
    loaded = bench.load()
    assert [(row.slug, row.passed, row.category) for row in loaded.rule_results] == [
        ("a/b", True, "startup"),
        ("c/d", False, ""),
    ]
    assert loaded.findings == ()


def test_the_demo_rule_report_is_refused_with_a_reason(bench: Any) -> None:
    bench.put("rule_report.json", {"bad": [], "good": [], "trace_bad": {}, "trace_good": {}})
    loaded = bench.load()
    assert loaded.rule_results is None
    assert loaded.findings[0].code == "rule_report.demo" and "demonstration" in loaded.findings[0].detail


def test_a_rule_without_a_result_counts_as_failed(bench: Any) -> None:
    bench.put("rule_report.json", [{"slug": "a/b", "passed": "yes"}, {"passed": True}, 3])
    loaded = bench.load()
    assert [row.passed for row in loaded.rule_results] == [False]
    assert [finding.code for finding in loaded.findings] == [
        "artifact.bad_field",
        "rule_report.no_result",
        "artifact.bad_item",
    ]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("Verification command: `pytest -x`", "pytest -x"),
        ("- **Verification command**: `make check`.", "make check"),
        ("**Verification command:** `make check`", "make check"),
        ("Verification command: run `npm test`", "npm test"),
        ("verification command: pytest -q tests", "pytest -q tests"),
        ("## Verification command\n\n```sh\n$ pytest -x\n```", "pytest -x"),
        ("## Verification command\n\n`pytest -x`\n", "pytest -x"),
        ("Verification command: see the `acceptance_criteria` of the active task.", ""),
        ("Verification command: see the board", ""),
        ("Verification command: `a` or `b`", ""),
        ("Verification command:", ""),
        ("The verification command is in the docs.", ""),
    ],
)
def test_the_verification_command_of_a_router(bench: Any, line: str, command: str) -> None:
    bench.put("AGENTS.md", f"# Router\n\n{line}\n")
    loaded = bench.load()
    assert loaded.router == "AGENTS.md" and loaded.verification_command == command and loaded.findings == ()


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md"])
def test_a_router_by_any_name(bench: Any, name: str) -> None:
    bench.put(name, "Verification command: `make`\n")
    loaded = bench.load()
    assert loaded.router == name and loaded.verification_command == "make"


def test_linked_routers_are_listed_once_as_their_target(bench: Any) -> None:
    bench.put("docs/agents.md", "hello\n")
    (bench.root / ".github").mkdir()
    for name, target in (
        ("AGENTS.md", "docs/agents.md"),
        ("CLAUDE.md", "AGENTS.md"),
        (".cursorrules", "AGENTS.md"),
        (".github/copilot-instructions.md", "../AGENTS.md"),
    ):
        (bench.root / name).symlink_to(target)
    loaded = bench.load()
    assert loaded.router == "docs/agents.md" and loaded.findings == ()
    assert [artifact.path for artifact in loaded.artifacts] == ["docs/agents.md"]


def test_a_router_that_leads_outside_is_refused_and_the_next_one_taken(bench: Any) -> None:
    (bench.root / "AGENTS.md").symlink_to("/etc/hostname")
    bench.put("CLAUDE.md", "hello\n")
    loaded = bench.load()
    assert loaded.router == "CLAUDE.md"
    assert [finding.code for finding in loaded.findings] == ["artifact.symlink_outside"]


def test_rules_the_router_links(bench: Any) -> None:
    rule = "## done/tests-pass\n- category: definition_of_done\n- check: tests_pass\nText.\n"
    bench.put("docs/team-rules.md", rule)
    bench.put(".cursor/rules/style.mdc", "free text\n")
    bench.put("docs/other.md", "no rules\n")
    bench.put("docs/agent-rules.md", rule.replace("done/", "first/"))
    links = "[rules](docs/team-rules.md#x) `docs/other.md` @.cursor/rules/style.mdc"
    links += " `../rules.md` `/etc/rules.md` `docs/gone-rules.md`"
    bench.put("AGENTS.md", links)
    loaded = bench.load()
    assert loaded.rules_files == ("docs/agent-rules.md", "docs/team-rules.md", ".cursor/rules/style.mdc")
    assert loaded.rule_slugs == ("first/tests-pass", "done/tests-pass") and loaded.findings == ()


def test_the_same_bytes_in_two_places_are_no_ambiguity(bench: Any) -> None:
    for path in ("rule_report.json", "outputs/rule_report.json"):
        bench.put(path, json.dumps([{"slug": "a/b", "passed": True}]))
    loaded = bench.load()
    assert loaded.findings == () and [item.path for item in loaded.artifacts] == ["outputs/rule_report.json"]
