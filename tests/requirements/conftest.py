"""A repository with a whole workbench on disk, and the real command run over it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TASK = "T-014"

STATE = {
    "schema_version": 1, "active_task_id": TASK, "touched_files": ["src/limits.py", "docs/api.md"],
    "assumptions": ["one worker serves a tenant"], "blockers": ["waiting for the security team's word on keys"],
    "next_action": "Make tests/test_limits.py::test_burst pass by reading the clock inside the lock",
}  # fmt: skip
BOARD = [
    {"id": "T-013", "goal": "Count requests per caller", "owner": "builder", "acceptance": ["make count"], "status": "done"},
    {"id": TASK, "goal": "Rate-limit the export endpoint", "owner": "builder", "acceptance": ["pytest -x"], "status": "in_progress"},
    {"id": "T-015", "goal": "Document the header", "owner": "builder", "acceptance": ["docs mention Retry-After"], "status": "todo"},
]  # fmt: skip
CONTRACT = {
    "task_id": TASK, "goal": "Export requests above 10/min per caller get 429.", "allowed_files": ["src/**", "tests/**"],
    "forbidden_files": ["src/session.py"], "acceptance_criteria": ["pytest -x tests/test_limits.py"],
    "rollback_plan": "git revert the two commits", "approvals_required": ["new dependency"],
}  # fmt: skip
FEATURES = {
    "project": "exporter", "active": TASK,
    "features": [{"id": TASK, "status": "in_progress", "goal": "Limit exports", "done_when": "pytest -x"}],
}  # fmt: skip
FEEDBACK = [
    {"command_id": "a" * 12, "command": ["pytest", "-x", "tests/test_limits.py"], "exit_code": 1, "duration_ms": 900,
     "started_at": 1760009100.0, "stdout_tail": "1 failed", "stderr_tail": "AssertionError: 3 != 0",
     "agent_note": "expected green after the lock", "error": None},
    {"command_id": "b" * 12, "parent_command_id": "a" * 12, "command": ["pytest", "-x", "tests/test_limits.py"], "exit_code": 1,
     "duration_ms": 800, "started_at": 1760009200.0, "stdout_tail": "1 failed", "stderr_tail": "AssertionError: 3 != 0",
     "agent_note": "expected green after the lock", "error": None},
]  # fmt: skip
VERIFICATION = {
    "task_id": TASK, "passed": False,
    "findings": [{"code": "acceptance.failed", "severity": "block", "detail": "pytest -x tests/test_limits.py exited 1"}],
}  # fmt: skip
REVIEW = {
    "task_id": TASK, "total": 6, "verdict": "soft_fail",
    "dimensions": [{"name": "problem_fit", "score": 2, "note": ""}, {"name": "assumptions", "score": 1, "note": ""}],
}  # fmt: skip
DECISIONS = [
    {"id": "D-1", "choice": "In-process bucket, not Redis", "why": "one worker per tenant", "rejected": ["redis", "slowapi"],
     "by": "human", "anchor": "src/limits.py:2"},
    {"id": "D-2", "choice": "Keep the session middleware", "by": "agent"},
    {"id": "P-1", "kind": "preference", "choice": "small commits", "by": "human"},
]  # fmt: skip
QUESTIONS = [
    {"id": "Q-1", "question": "Limit per user or per API key?", "why": "both exist", "options": ["user", "key"], "default": "user",
     "blocks": ["T-015"], "impact": 1, "irreversibility": 1, "authority": 2, "status": "open"},
]  # fmt: skip
CLUES = [
    {"id": "K-1", "text": "the refill runs in a thread", "anchors": ["src/limits.py:1"], "tags": ["limits"], "pinned": True},
    {"id": "K-2", "text": "an old note", "anchors": ["src/gone.py", "src/limits.py"]},
]  # fmt: skip

FILES: dict[str, Any] = {
    "AGENTS.md": "# Working here\n\nVerification command: `make test`\n\nRules: docs/agent-rules.md\n",
    "docs/agent-rules.md": "## startup/read-state\n- category: startup\n- check: reads_state\nRead the state first.\n",
    "agent_state.json": STATE, "task_board.json": BOARD, "scope_contract.json": CONTRACT, "feature_list.json": FEATURES,
    "feedback_record.jsonl": FEEDBACK, f"outputs/verification/{TASK}.json": VERIFICATION, f"outputs/review/{TASK}.json": REVIEW,
    "outputs/verification/overrides.jsonl": [{"task_id": TASK, "finding_code": "scope.off_scope", "reason": "typo in README",
                                              "user_id": "dev", "head_commit": "", "ts": 1760009300.0, "signature": ""}],
    "scope_report.json": {"task_id": TASK, "in_scope_writes": ["src/limits.py"], "off_scope_writes": ["README.md"],
                          "forbidden_writes": [], "findings": [], "over_budget": False},
    "outputs/rule_report.json": [{"slug": "startup/read-state", "passed": False, "category": "startup"}],
    "init_report.json": {"timestamp": 1760000000.0, "probes": [{"name": "env", "status": "warn", "detail": "API_URL is not set"}]},
    "coverage_report.json": {"current": 0.81, "previous": 0.8},
    "decisions.jsonl": DECISIONS, "questions.jsonl": QUESTIONS, "clues.jsonl": CLUES,
}  # fmt: skip
"""Every artifact of a workbench under its path; a list under a `.jsonl` name is written one row a line."""


def as_bytes(path: str, value: Any) -> bytes:
    """Return an artifact's bytes: text as it stands, rows one a line, anything else as JSON."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if ".jsonl" in path:
        return "".join(json.dumps(row) + "\n" for row in value).encode()
    return json.dumps(value, indent=2).encode()


class Bench:
    """A repository whose workbench files are written from plain values, and wrapped with the real command."""

    def __init__(self, repository: Any, run: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
        self.repository = repository
        self.root: Path = repository.root
        self.run = run

    def put(self, files: dict[str, Any]) -> None:
        """Write artifacts; None removes one."""
        for path, value in files.items():
            if value is None:
                (self.root / path).unlink(missing_ok=True)
            else:
                self.repository.write(path, as_bytes(path, value))

    def passdown(self, *words: str, code: int = 0, **env: str) -> str:
        """Run the command here, require its exit code, and return its standard output."""
        done = self.run("-C", str(self.root), *words, **env)
        assert done.returncode == code, done.stderr.decode()
        assert b"Traceback" not in done.stderr
        return done.stdout.decode()

    def wrap(self, *words: str, **env: str) -> dict[str, Any]:
        """Wrap, and return handoff.json."""
        report = json.loads(self.passdown("wrap", "--interim", "--json", *words, **env))
        packet: dict[str, Any] = json.loads((self.root / report["paths"][1]).read_text("utf-8"))
        assert packet["packet_id"] == report["packet_id"]
        return packet

    def markdown(self) -> str:
        """Return the active packet's Markdown, which is also its mirror."""
        shown = self.passdown("show")
        assert (self.root / ".ai/HANDOFF.md").read_text("utf-8") == shown
        return shown


def codes(packet: dict[str, Any]) -> list[str]:
    """Return the codes of the open risks."""
    return [risk["code"] for risk in packet["open_risks"]]


@pytest.fixture
def make_bench(make_repository: Any, passdown: Any) -> Callable[..., Bench]:
    """A function that makes a repository on a branch with changed files; `full` writes the whole workbench."""

    def make(name: str = "project", *, full: bool = False) -> Bench:
        repository = make_repository(name)
        repository.write("src/limits.py", "LIMIT = 10\n")
        repository.write("docs/api.md", "# API\n")
        repository.commit("Start the exporter")
        repository.git("switch", "-q", "-c", "feat/export-limit")
        repository.write("src/limits.py", "LIMIT = 10\nBUCKET = {}\n")
        repository.commit("Add token bucket")
        bench = Bench(repository, passdown)
        if full:
            bench.put(FILES)
        repository.write("src/limits.py", "LIMIT = 10\nBUCKET = {}\nREFILL = 60\n")
        return bench

    return make


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    """A repository on a branch with a commit and a dirty file, without any workbench file."""
    return make_bench()


@pytest.fixture
def full(make_bench: Callable[..., Bench]) -> Bench:
    """The same with every artifact of a workbench."""
    return make_bench(full=True)


@pytest.fixture
def workbench_files() -> dict[str, Any]:
    """Every artifact of the whole workbench, as plain values that a test may change."""
    copied: dict[str, Any] = json.loads(json.dumps(FILES))
    return copied
