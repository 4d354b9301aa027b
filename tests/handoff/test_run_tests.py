"""`passdown check --run-tests --report`: real pytest projects, run, recorded, judged, and reported as measured."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider -p no:xdist -p no:randomly"
GREEN = "def test_a():\n    assert True\n"
REPORT = "outputs/verification/T-1.json"


@pytest.fixture
def project(repository: Any) -> Any:
    """A pytest project whose board says how T-1 is proven."""
    repository.write(".gitignore", "__pycache__/\n")
    repository.write("tests/test_a.py", GREEN)
    board(repository, f"{PYTEST} tests")
    repository.commit("begin")
    return repository


def board(repository: Any, *acceptance: str, status: str = "in_progress") -> None:
    """Write the board."""
    task = {"id": "T-1", "goal": "limit the export", "status": status, "acceptance": list(acceptance)}
    repository.write("task_board.json", json.dumps([task]))


@pytest.fixture
def check(passdown: Any) -> Callable[..., tuple[dict[str, str], dict[str, Any], Any]]:
    """Return a function that checks: the codes with their severity, all of it, and the finished process."""

    def run(repository: Any, *options: str, **env: str) -> tuple[dict[str, str], dict[str, Any], Any]:
        done = passdown("check", "--json", *options, folder=repository.root, **env)
        assert done.returncode in (0, 3), done.stderr
        state = json.loads(done.stdout)
        return {f["code"]: f["severity"] for c in state["checks"] for f in c["findings"]}, state, done

    return run


def report(repository: Any, path: str = REPORT) -> dict[str, Any]:
    """The verification report."""
    value: dict[str, Any] = json.loads((repository.root / path).read_text())
    return value


def packet(passdown: Any, repository: Any, *options: str) -> dict[str, Any]:
    """The packet that wrap would write."""
    done = passdown(
        "wrap", "--dry-run", "--json", "--next", "Write docs/limits.md for T-2", *options, folder=repository.root
    )
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value


# --- run-tests ---------------------------------------------------------------------------------------------------


def test_green(project: Any, check: Any) -> None:
    before, _, _ = check(project)
    assert before["tests.not_run"] == "warn"
    codes, _, done = check(project, "--run-tests")
    assert not [code for code in codes if code.startswith("tests.")]
    assert b"1 passed" in done.stderr
    assert b"passdown: [1/1] " in done.stderr
    assert b"passdown: exit 0 after" in done.stderr
    codes, _, _ = check(project)  # the record speaks for this tree as long as it is this tree
    assert not [code for code in codes if code.startswith("tests.")]


def test_a_result_outlives_the_commit_of_what_was_tested_and_nothing_else(project: Any, check: Any) -> None:
    project.write("src/a.py", "A = 1\n")
    check(project, "--run-tests")
    project.commit("keep it")
    assert not [code for code in check(project)[0] if code.startswith("tests.")]
    project.git("commit", "-q", "--amend", "-m", "keep it well")
    project.write("docs/a.md", "documents\n")
    project.commit("a document changes no test")
    assert not [code for code in check(project)[0] if code.startswith("tests.")]
    project.write("src/a.py", "A = 2\n")
    assert check(project)[0]["tests.stale"] == "block"
    project.write("src/a.py", "A = 1\n")
    assert not [code for code in check(project)[0] if code.startswith("tests.")]


def test_a_later_run_of_the_user_beats_an_earlier_one_of_the_session(
    project: Any, check: Any, claude_session: Any, passdown: Any
) -> None:
    session = claude_session(project.root)
    session.human("Limit the export")
    session.runs(f"{PYTEST} tests", "FAILED tests/test_a.py::test_a - assert 3\n1 failed in 0.01s", 1)
    assert check(project)[0]["tests.red_unnamed"] == "block"
    check(project, "--run-tests")
    assert not [code for code in check(project)[0] if code.startswith("tests.red")]


def test_red_is_named_or_blocks(project: Any, check: Any, passdown: Any) -> None:
    names = [f"test_number_{n}" for n in range(5)]
    project.write("tests/test_a.py", "".join(f"def {name}():\n    assert 1 == 2\n" for name in names))
    project.commit("red")
    codes, state, _ = check(project, "--run-tests")
    assert codes["tests.red_unnamed"] == "block"
    fix = next(f["fix"] for c in state["checks"] for f in c["findings"] if f["code"] == "tests.red_unnamed")
    assert fix.startswith("passdown note risk 'tests fail: ")
    codes, _, _ = check(project, "--name-failures")
    assert "tests.red_unnamed" not in codes
    assert codes["tests.red_named"] == "warn"
    check(project, "--report")
    made = packet(passdown, project, "--name-failures")
    assert made["kind"] == "final"
    assert made["outcome"] == "failed"
    assert made["tests"]["state"] == "red"
    assert [f"tests/test_a.py::{name}" for name in names] == made["tests"]["failing"]
    risks = {risk["code"]: risk["detail"] for risk in made["open_risks"]}
    assert "tests/test_a.py::test_number_0" in risks["tests.red"]


def test_what_cannot_start(project: Any, check: Any) -> None:
    project.write("tests/test_a.py", "import no_such_module_here\n")
    project.commit("broken")
    codes, state, _ = check(project, "--run-tests")
    assert codes["tests.cannot_start"] == "block"
    detail = next(f["detail"] for c in state["checks"] for f in c["findings"] if f["code"] == "tests.cannot_start")
    assert "no_such_module_here" in detail


@pytest.mark.parametrize(
    "acceptance", ["no-such-runner --version", "./missing.sh", f"{sys.executable} -c 'import time; time.sleep(60)'"]
)
def test_no_result_is_an_error(acceptance: str, project: Any, check: Any) -> None:
    project.write("passdown.toml", f"test-command = {json.dumps(acceptance)}\n")
    project.commit("configure")
    codes, _, done = check(project, "--run-tests", "--test-timeout", "1")
    assert codes["tests.cannot_start"] == "block"
    assert b"no result" in done.stderr or b"exit 127" in done.stderr


def test_none_ran(project: Any, check: Any) -> None:
    project.write("tests/test_a.py", "X = 1\n")
    project.commit("no tests")
    assert check(project, "--run-tests")[0]["tests.none_ran"] == "block"


def test_a_green_exit_of_no_tests_is_none_ran(project: Any, check: Any) -> None:
    project.write("passdown.toml", 'test-command = "make test"\n')
    project.write("Makefile", "test:\n\t@echo 'ok  \tx\t0.01s [no test files]'\n")
    project.commit("configure")
    assert check(project, "--run-tests")[0]["tests.none_ran"] == "block"


def test_more_skipped_and_fewer_known(project: Any, check: Any) -> None:
    project.write("tests/test_a.py", GREEN + "def test_b():\n    pass\ndef test_c():\n    pass\n")
    check(project, "--run-tests")
    skipped = "import pytest\n@pytest.mark.skip(reason='later')\ndef test_b():\n    pass\n"
    project.write("tests/test_a.py", skipped + GREEN)
    codes, state, _ = check(project, "--run-tests")
    assert codes["tests.skipped_more"] == "warn"
    assert codes["tests.removed"] == "warn"
    details = [f["detail"] for c in state["checks"] for f in c["findings"]]
    assert any("skips 1 tests; it skipped 0 before" in detail for detail in details)
    assert any("knows 2 tests now, 3 before" in detail for detail in details)


def test_flaky_on_one_tree(project: Any, check: Any) -> None:
    flaky = "import pathlib\ndef test_a():\n    p = pathlib.Path('.git/turn')\n    turn = p.exists()\n    p.touch()\n    assert turn\n"
    project.write("tests/test_a.py", flaky)
    project.commit("flaky")
    assert "tests.flaky" not in check(project, "--run-tests")[0]
    assert check(project, "--run-tests")[0]["tests.flaky"] == "warn"


def test_red_then_mended_is_not_flaky(project: Any, check: Any) -> None:
    project.write("tests/test_a.py", "def test_a():\n    assert 0\n")
    check(project, "--run-tests")
    project.write("tests/test_a.py", GREEN)
    assert "tests.flaky" not in check(project, "--run-tests")[0]


def test_prose_is_for_a_person(project: Any, check: Any) -> None:
    board(project, f"{PYTEST} tests", "the export feels fast to a person")
    project.commit("prose")
    codes, _, done = check(project, "--run-tests", "--report")
    assert codes["tests.manual_criterion"] == "warn"
    assert b"for a person to look at: the export feels fast to a person" in done.stderr
    assert report(project)["passed"] is None
    assert [c["state"] for c in report(project)["criteria"]] == ["passed", "manual"]


def test_what_only_manifests_name_is_run_only_by_the_flag(repository: Any, check: Any) -> None:
    repository.write("Makefile", "test:\n\t@echo ran >.git/ran; echo '1 passed in 0.1s'\n")
    repository.write("passdown.toml", "run-tests = true\n")
    repository.commit("manifest")
    check(repository)
    assert not (repository.root / ".git/ran").exists()
    codes, _, _ = check(repository, "--run-tests")
    assert (repository.root / ".git/ran").exists()
    assert "tests.not_run" not in codes


def test_the_configuration_may_say_always(project: Any, check: Any) -> None:
    project.write("passdown.toml", f"run-tests = true\ntest-command = {json.dumps(PYTEST)}\n")
    project.commit("configure")
    codes, _, done = check(project)
    assert b"1 passed" in done.stderr
    assert not [code for code in codes if code.startswith("tests.")]


def test_shell_text_and_several_commands(project: Any, check: Any) -> None:
    board(project, f"{PYTEST} tests && echo fine", "GREETING=hi make greet", "sh -c 'exit 0'")
    project.write("Makefile", 'greet:\n\t@test "$(GREETING)" = hi\n')
    project.commit("three")
    _, _, done = check(project, "--run-tests", "--report")
    assert b"fine" in done.stderr
    assert [c["state"] for c in report(project)["criteria"]] == ["passed"] * 3, report(project)


def test_tests_that_check_themselves_do_not_run_for_ever(project: Any, check: Any) -> None:
    command = f"{shlex.quote(sys.executable)} -m passdown check --run-tests"
    project.write("passdown.toml", f"test-command = {json.dumps(command)}\n")
    project.commit("configure")
    _, _, done = check(project, "--run-tests")
    assert b"are being run already" in done.stderr


def test_nothing_of_a_packet_is_run(project: Any, check: Any, passdown: Any) -> None:
    passdown("wrap", "--interim", "--next", "Write docs/limits.md for T-2", folder=project.root)
    (path,) = (project.root / "outputs/handoff").glob("*/handoff.json")
    value = json.loads(path.read_text())
    value["verification"]["how"] = value["tests"]["commands"] = ["touch .git/owned"]
    value["next_action"] |= {"command": "touch .git/owned"}
    path.write_text(json.dumps(value))
    check(project, "--run-tests", "--report")
    assert not (project.root / ".git/owned").exists()


def test_ctrl_c_stops_all_of_it(project: Any, isolated_home: Path) -> None:
    board(project, "sh -c 'kill -INT $$'", "touch .git/went-on")
    argv = [sys.executable, "-m", "passdown", "check", "--run-tests"]
    done = subprocess.run(argv, cwd=project.root, capture_output=True, check=False)
    assert done.returncode == 130
    assert not (project.root / ".git/went-on").exists()


# --- the report --------------------------------------------------------------------------------------------------


def test_a_project_with_only_a_board_reaches_final(project: Any, check: Any, passdown: Any) -> None:
    codes, _, done = check(project, "--run-tests", "--report")
    assert b"verification report outputs/verification/T-1.json: passed" in done.stderr
    value = report(project)
    assert value["passed"] is True
    assert value["head_commit"] == project.git("rev-parse", "HEAD")
    assert value["criteria"] == [{
        "criterion": f"{PYTEST} tests", "by": "command", "state": "passed", "exit": 0, "evidence_line": 1,
        "log": "passdown/feedback_record.jsonl", "detail": "1 passed",
    }]  # fmt: skip
    assert codes["board.stale_open"] == "block"  # it is done: the board must say so
    board(project, f"{PYTEST} tests", status="done")
    project.commit("done, with its report")
    codes, state, _ = check(project)
    assert state["blocking"] == []
    assert "board.false_done" not in codes
    made = packet(passdown, project)
    assert (made["kind"], made["outcome"]) == ("final", "passed")
    pointer = made["verdict_pointer"]["verification"]
    assert (pointer["path"], pointer["passed"], pointer.get("stale", False)) == (REPORT, True, False)
    project.write("tests/test_a.py", GREEN + "\n\ndef test_b():\n    assert 0\n")
    project.commit("more")
    made = packet(passdown, project, "--interim")
    assert made["verdict_pointer"]["verification"]["stale"] is True
    assert made["outcome"] != "passed"


def test_a_red_report(project: Any, check: Any, passdown: Any) -> None:
    project.write("tests/test_a.py", "def test_burst():\n    assert 1 == 2\n")
    project.commit("red")
    _, _, done = check(project, "--run-tests", "--report")
    assert b": not passed" in done.stderr
    value = report(project)
    assert value["passed"] is False
    assert [(f["code"], f["severity"]) for f in value["findings"]] == [("acceptance.failed", "block")]
    assert "tests/test_a.py::test_burst" in value["findings"][0]["detail"]
    made = packet(passdown, project, "--name-failures")
    assert made["kind"] == "final"
    assert made["verdict_pointer"]["verification"]["passed"] is False


def test_a_report_claims_nothing_that_was_measured_on_other_files(project: Any, check: Any) -> None:
    check(project, "--report")
    value = report(project)
    assert value["passed"] is False
    assert value["criteria"][0]["state"] == "not_run"
    check(project, "--run-tests")
    project.write("docs/note.md", "any change at all\n")
    check(project, "--report")
    assert report(project)["criteria"][0]["state"] == "not_run"
    assert report(project)["criteria"][0]["detail"] == "its last run judged other files"
    check(project, "--run-tests", "--report")
    assert report(project)["passed"] is True
    assert report(project)["head_commit"] == ""  # the note is in no commit: HEAD was not what passed
    project.commit("keep the note")
    made = report(project)
    check(project, "--report")
    assert report(project)["passed"] is True
    assert report(project)["content"] == made["content"]


def test_a_run_that_changes_the_files_proves_nothing_of_them(project: Any, check: Any) -> None:
    project.write("src/a.py", "A = 1\n")
    project.commit("code")
    board(project, "sh -c 'echo A = 2 >src/a.py'")
    check(project, "--run-tests", "--report")
    assert report(project)["passed"] is False
    board(project, "sh -c 'mkdir -p made; echo x >made/new.txt'")
    check(project, "--run-tests", "--report")
    assert report(project)["passed"] is True  # a file that is new takes nothing back


@pytest.mark.parametrize("acceptance", [f"{PYTEST} tests | tail -1", f"{PYTEST} tests || true"])
def test_an_exit_code_that_hides_a_failure_does_not_pass(acceptance: str, project: Any, check: Any) -> None:
    project.write("tests/test_a.py", "def test_a():\n    assert 0\n")
    board(project, acceptance)
    check(project, "--run-tests", "--report")
    assert report(project)["passed"] is False


def test_where_the_report_goes(project: Any, check: Any) -> None:
    project.write("verification_report.json", json.dumps({"task_id": "T-1", "passed": True}))
    check(project, "--report")
    assert report(project, "verification_report.json")["passed"] is False
    project.write("passdown.toml", '[artifacts]\nverification = "reports/proof.json"\n')
    check(project, "--report")
    assert report(project, "reports/proof.json")["task_id"] == "T-1"
    assert not (project.root / REPORT).exists()


def test_nothing_to_prove_is_said(repository: Any, passdown: Any) -> None:
    done = passdown("check", "--report", folder=repository.root)
    assert done.returncode == 4
    assert b"nothing says what a verification would have to prove" in done.stderr


def test_the_report_holds_no_secret(project: Any, check: Any) -> None:
    token = "ghp_" + "Zx8Lq2Vt9Rw4Ny7Kc1Pd5Hs3Jm6Bf0Ga2Te8"
    project.write("tests/test_a.py", f"def test_a():\n    raise ValueError('{token}')\n")
    check(project, "--run-tests", "--report")
    assert token not in (project.root / REPORT).read_text()
    assert token not in (project.root / ".git/passdown/feedback_record.jsonl").read_text()


def test_take_judges_the_recorded_run(project: Any, check: Any, passdown: Any) -> None:
    check(project, "--run-tests")
    passdown("wrap", "--interim", "--next", "Write docs/limits.md for T-2", folder=project.root)
    assert outcome(passdown, project) == {"holds"}
    project.write("tests/test_a.py", "def test_a():\n    assert 0\n")
    assert outcome(passdown, project) == {"drifted"}
    passdown("run", "--", *shlex.split(PYTEST), "tests", folder=project.root)
    assert outcome(passdown, project) == {"contradicted"}
    project.write("tests/test_a.py", GREEN + "X = 1\n")
    passdown("run", "--", *shlex.split(PYTEST), "tests", folder=project.root)
    assert outcome(passdown, project) == {"holds"}


def outcome(passdown: Any, repository: Any) -> set[str]:
    """What take says of the claims about test runs that are about now."""
    done = passdown("take", "--json", "--no-receipt", folder=repository.root)
    verdicts = json.loads(done.stdout)["verdicts"]
    return {
        v["state"] for v in verdicts
        if (v["claim"].get("check") or {}).get("kind") == "test_outcome_recorded" and v["claim"]["place"] != "failed_attempts"
    }  # fmt: skip


def test_the_printed_mend_mends(project: Any, check: Any, tmp_path: Path) -> None:
    shims = tmp_path / "bin"
    shims.mkdir()
    (shims / "passdown").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m passdown "$@"\n')
    (shims / "passdown").chmod(0o755)
    board(project, f"{PYTEST} tests && true")
    project.write("src/a.py", "A = 1\n")
    project.commit("work")
    for code in ("tests.not_run", "tests.stale"):
        _, state, _ = check(project, "--base", "HEAD~1")
        found = next(f for c in state["checks"] for f in c["findings"] if f["code"] == code)
        env = os.environ | {"PATH": f"{shims}:{os.environ['PATH']}"}
        subprocess.run(["bash", "-euc", found["fix"]], cwd=project.root, env=env, capture_output=True, check=True)
        assert code not in check(project, "--base", "HEAD~1")[0]
        project.write("src/a.py", "A = 2\n")
        project.commit("more")
