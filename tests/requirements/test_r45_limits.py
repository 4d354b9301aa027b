"""R45: what nobody ran or looked at is listed as such and never told as passed. R42: only a person lets something pass."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider -p no:xdist tests"


def packet(passdown: Any, repository: Any) -> tuple[dict[str, Any], str]:
    """The packet that would be written, and its Markdown."""
    words = ("wrap", "--interim", "--dry-run", "--next", "Write docs/limits.md for the limits")
    made = passdown(*words, "--json", folder=repository.root)
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout), passdown(*words, folder=repository.root).stdout.decode()


def project(repository: Any) -> None:
    """A project with tests and a command for them."""
    repository.write(".gitignore", "__pycache__/\n")
    repository.write("passdown.toml", f"test-command = {json.dumps(PYTEST)}\n")
    repository.write("tests/test_a.py", "def test_a():\n    assert True\n")
    repository.commit("begin")


def test_r45_no_tests_run(passdown: Any, repository: Any) -> None:
    project(repository)
    value, markdown = packet(passdown, repository)
    assert "tests.not_run" in value["unknowns"]
    assert "verification.absent" in value["unknowns"]
    assert value["tests"].get("state", "not_run") == "not_run"
    assert value["outcome"] == "unknown"
    assert "passed" not in markdown.splitlines()[1]
    checked = json.loads(passdown("check", "--json", folder=repository.root).stdout)
    assert {check["id"]: check["status"] for check in checked["checks"]}["tests"] == "warn"


def test_r45_a_run_without_a_result_is_no_pass(passdown: Any, repository: Any) -> None:
    project(repository)
    passdown("run", "--timeout", "0.01", "--", *shlex.split(PYTEST), folder=repository.root)
    value, _ = packet(passdown, repository)
    assert value["tests"]["state"] == "error"
    assert value["outcome"] == "failed"


def test_r45_a_report_from_other_files_is_no_pass(passdown: Any, repository: Any) -> None:
    project(repository)
    passdown("check", "--run-tests", "--report", folder=repository.root)
    value, _ = packet(passdown, repository)
    assert (value["outcome"], value["tests"]["state"]) == ("passed", "green")
    repository.write("src/a.py", "A = 1\n")
    repository.commit("more work")
    value, _ = packet(passdown, repository)
    assert value["outcome"] != "passed"
    assert value["tests"]["state"] == "stale"
    assert value["verdict_pointer"]["verification"]["stale"] is True
    assert "tests.stale" in value["unknowns"]


def test_r45_the_report_says_what_nobody_measured(passdown: Any, repository: Any) -> None:
    project(repository)
    passdown("check", "--report", folder=repository.root)
    (path,) = Path(repository.root).glob("**/verification_report.json")
    value = json.loads(path.read_text())
    assert value["passed"] is False
    assert value["coverage"] is None
    assert [criterion["state"] for criterion in value["criteria"]] == ["not_run"]


def test_r42_an_agent_lets_nothing_pass(passdown: Any, repository: Any) -> None:
    project(repository)
    repository.write("src/a.py", "A = 1\n")
    words = ("check", "--json", "--allow", "tree.untracked", "--reason", "it is a scratch file of mine")
    done = passdown(*words, folder=repository.root, CLAUDECODE="1")
    assert done.returncode == 8
    assert done.stdout == b""
    done = passdown(*words, folder=repository.root)
    state = json.loads(done.stdout)
    assert state["overrides"] == [
        {"code": "tree.untracked", "reason": "it is a scratch file of mine", "by": "command line"}
    ]
    found = [f for check in state["checks"] for f in check["findings"] if f["code"] == "tree.untracked"]
    assert [f["severity"] for f in found] == ["block"]  # it is let pass, not made harmless
    assert "tree.untracked" not in state["blocking"]
