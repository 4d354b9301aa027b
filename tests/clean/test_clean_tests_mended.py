"""The state of the tests, really run and recorded: each situation in a repository, and how it is put right."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

CHECK = """#!/bin/sh
if grep -q BUG src/a.py; then
  echo 'FAILED tests/test_a.py::test_burst - AssertionError: assert 3 == 0'; echo '1 failed, 3 passed in 0.1s'; exit 1
fi
if grep -q BROKEN src/a.py; then
  echo "ModuleNotFoundError: No module named 'limits'"; echo '1 error in 0.1s'; exit 2
fi
if grep -q EMPTY src/a.py; then echo 'no tests ran in 0.01s'; exit 5; fi
if grep -q SKIPS src/a.py; then echo '2 passed, 2 skipped in 0.1s'; exit 0; fi
if grep -q FEWER src/a.py; then echo '2 passed in 0.1s'; exit 0; fi
if grep -q CLOCK src/a.py && [ -e "$HOME/late" ]; then
  echo 'FAILED tests/test_a.py::test_clock - assert 1 == 2'; echo '1 failed, 3 passed in 0.1s'; exit 1
fi
echo '4 passed in 0.1s'
"""


def project(repo: Any, text: str = "A = 1\n") -> None:
    """A project whose tests a script stands for; the work is on a branch of its own."""
    repo.write("pytest", CHECK).chmod(0o755)
    repo.write("passdown.toml", 'test-command = "./pytest -q"\n')
    repo.write("tests/test_a.py", "def test_burst():\n    assert True\n")
    repo.write("src/a.py", "A = 0\n")
    repo.commit("begin")
    repo.git("switch", "-qc", "feat/limit")
    change(repo, text)


def change(repo: Any, text: str) -> None:
    repo.write("src/a.py", text)
    repo.commit("work")


def run(repo: Any, passdown: Any) -> None:
    passdown("run", "--", "./pytest", "-q", folder=repo.root)


def repair(repo: Any, mend: Any) -> None:
    """What a person does about red tests: mend the code, and run them again."""
    change(repo, "A = 2\n")
    mend(repo.root, "passdown run -- ./pytest -q")


@pytest.mark.situation("tests.red_unnamed", "block")
def red(repo: Any, passdown: Any) -> None:
    project(repo, "A = 'BUG'\n")
    run(repo, passdown)


@pytest.mark.situation("tests.red_named", "warn", kind="edit", by=repair)
def red_and_named(repo: Any, passdown: Any) -> None:
    red(repo, passdown)
    passdown("note", "risk", "test_burst waits for the clock fix", folder=repo.root)


@pytest.mark.situation("tests.cannot_start", "block", kind="edit", by=repair)
def cannot_start(repo: Any, passdown: Any) -> None:
    project(repo, "A = 'BROKEN'\n")
    run(repo, passdown)


@pytest.mark.situation("tests.cannot_start", "warn", kind="edit", by=repair)
def cannot_start_but_that_is_named_and_next(repo: Any, passdown: Any) -> None:
    cannot_start(repo, passdown)
    passdown("note", "risk", "./pytest -q cannot start: limits is not installed here", folder=repo.root)
    passdown("note", "next", "Make ./pytest -q start in src/a.py", folder=repo.root)


@pytest.mark.situation("tests.none_ran", "block", kind="edit", by=repair)
def none_ran(repo: Any, passdown: Any) -> None:
    project(repo, "A = 'EMPTY'\n")
    run(repo, passdown)


@pytest.mark.situation("tests.stale", "block")
def code_changed_since(repo: Any, passdown: Any) -> None:
    project(repo)
    run(repo, passdown)
    change(repo, "A = 3\n")


@pytest.mark.situation("tests.stale", "warn")
def only_documents_changed_and_nobody_knows_when_it_ran(repo: Any) -> None:
    project(repo, "A = 0\n")
    row = {"command": "./pytest -q", "exit_code": 0, "stdout_tail": "4 passed"}
    repo.write("feedback_record.jsonl", json.dumps(row) + "\n")
    repo.write("README.md", "More words.\n")
    repo.clock = 1_760_010_000
    repo.commit("document")


@pytest.mark.situation("tests.not_run", "block")
def never_run(repo: Any) -> None:
    project(repo)


@pytest.mark.situation("tests.not_run", "warn")
def never_run_and_only_documents_changed(repo: Any) -> None:
    project(repo, "A = 0\n")
    repo.write("README.md", "More words.\n")
    repo.commit("document")


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.situation("tests.not_run", "warn")
def only_a_manifest_knows_how(repo: Any) -> None:
    repo.write("Makefile", "test:\n\t./pytest -q\n")
    repo.write("pytest", CHECK).chmod(0o755)
    repo.write("src/a.py", "A = 0\n")
    repo.commit("begin")


def configure(repo: Any) -> None:
    repo.write("passdown.toml", 'test-command = "./pytest -q"\n')


@pytest.mark.situation("tests.no_command", "warn", kind="choice", by=configure)
def nobody_knows_how(repo: Any) -> None:
    repo.write("src/a.py", "A = 0\n")
    repo.commit("begin")


def contract(repo: Any, *, criterion: str = "./pytest -q") -> None:
    record = {"task_id": "T-1", "goal": "g", "allowed_files": ["src/a.py"], "acceptance_criteria": [criterion]}
    repo.write("scope_contract.json", json.dumps(record))


@pytest.mark.situation("tests.manual_criterion", "warn", kind="choice", by=contract)
def criterion_in_words(repo: Any) -> None:
    contract(repo, criterion="the page looks good to everybody")


@pytest.mark.situation("tests.flaky", "warn", kind="edit", by=repair)
def passes_and_fails(repo: Any, passdown: Any, isolated_home: Any) -> None:
    project(repo, "A = 'CLOCK'\n")
    (isolated_home / "late").touch()
    run(repo, passdown)
    (isolated_home / "late").unlink()
    run(repo, passdown)


@pytest.mark.situation("tests.removed", "warn", where="tests/test_a.py")
def a_test_file_removed(repo: Any) -> None:
    project(repo)
    repo.git("rm", "-q", "tests/test_a.py")
    repo.commit("remove tests")


@pytest.mark.situation("tests.removed", "block", where="tests/test_a.py")
def a_test_file_removed_and_coverage_fell(repo: Any) -> None:
    a_test_file_removed(repo)
    report = {"task_id": "T-1", "passed": True, "findings": [], "coverage": {"current": 0.5, "previous": 0.8}}
    repo.write("outputs/verification/T-1.json", json.dumps(report))
    repo.write("agent_state.json", json.dumps({"active_task_id": "T-1"}))


@pytest.mark.situation("tests.removed", "warn", kind="edit", by=repair)
def fewer_tests_than_before(repo: Any, passdown: Any) -> None:
    project(repo)
    run(repo, passdown)
    change(repo, "A = 'FEWER'\n")
    run(repo, passdown)


@pytest.mark.situation("tests.skipped_more", "warn", kind="edit", by=repair)
def more_are_skipped_than_before(repo: Any, passdown: Any) -> None:
    project(repo)
    run(repo, passdown)
    change(repo, "A = 'SKIPS'\n")
    run(repo, passdown)


def test_situation(situation: Any, settle: Any) -> None:
    settle(situation)


def test_run_tests_settles_what_is_not_run_and_what_is_stale(repository: Any, findings: Any, mend: Any) -> None:
    project(repository)
    for code in ("tests.not_run", "tests.stale"):
        assert code in {f.code for f in findings(repository.root)}
        mend(repository.root, "passdown check --run-tests")
        assert code not in {f.code for f in findings(repository.root)}
        change(repository, "A = 5\n")


def test_more_than_a_note_holds_is_named_by_the_packet(
    repository: Any, judge: Any, claude_session: Any, passdown: Any
) -> None:  # fmt: skip
    project(repository)
    session = claude_session(repository.root)
    session.clock, session.branch = repository.clock + 100, "feat/limit"
    session.human("Limit the export.")
    names = [f"tests/test_a.py::test_number_{number}" for number in range(20)]
    session.runs("./pytest -q", "\n".join(f"FAILED {name} - assert 1 == 2" for name in names) + "\n20 failed in 1s", 1)
    state = judge(repository.root)
    [finding] = [f for part in state.checks for f in part.findings if f.code == "tests.red_unnamed"]
    assert finding.fix == "passdown wrap --name-failures"
    done = passdown("check", "--name-failures", "--json", folder=repository.root)
    assert "tests.red_unnamed" not in json.loads(done.stdout)["blocking"]
    done = passdown("wrap", "--name-failures", folder=repository.root)
    assert done.returncode == 0, done.stderr
