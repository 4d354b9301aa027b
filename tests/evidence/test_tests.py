"""The state of the tests as recorded, and what runners print."""

from __future__ import annotations

import pytest

from passdown.evidence.reports import read_report
from passdown.evidence.tests import looks_like_command
from passdown.model.evidence import Change, RepositoryFacts
from passdown.model.session import ToolCall
from passdown.model.workbench import Contract, State, Task, Workbench

GREEN = "3 passed in 0.10s"
RED = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 2 passed in 0.10s"


@pytest.mark.parametrize(
    ("text", "failing", "ran", "failed"),
    [
        (RED, ("tests/test_a.py::test_x",), 3, 1),
        ("==== 12 passed, 2 skipped in 1.00s ====", (), 12, 0),
        ("collected 0 items\n\n==== no tests ran in 0.01s ====", (), 0, 0),
        ("FAIL: test_a (tests.TestX)\nRan 4 tests in 0.01s\n\nFAILED (failures=1)", ("test_a (tests.TestX)",), 4, 1),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", (), 0, 0),
        ("  ● suite › does it\n\nTests:       1 failed, 4 passed, 5 total", ("suite › does it",), 5, 1),
        (" FAIL  src/a.test.ts > suite > does it 3ms\n      Tests  1 failed | 4 passed (5)",
         ("src/a.test.ts > suite > does it",), 5, 1),
        ("  24 passing (3s)\n  1 failing\n\n  1) Suite works:\n     AssertionError", ("Suite works",), 25, 1),
        ("(pass) a\n(fail) suite > b [4.00ms]\n\n 124 pass\n 1 fail\n", ("suite > b",), 125, 1),
        ("--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\nFAIL\nFAIL\tx/y\t0.1s", ("TestA", "TestA/sub"), 2, 2),
        ("ok  \tx/y\t0.1s\n?   \tx/z\t[no test files]", (), None, None),
        ("?   \tx/z\t[no test files]", (), 0, None),
        ("ok  \tx/y\t0.1s [no tests to run]", (), 0, None),
        ("test a::b ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored", ("a::b",), 4, 1),
        ("test result: ok. 0 passed; 0 failed; 0 ignored", (), 0, 0),
        ("not ok 2 - does it\nok 1 - other\n# pass 1\n# fail 1", ("does it",), 2, 1),
        ("✖ does it (1.2ms)\nℹ pass 3\nℹ fail 1", ("does it",), 4, 1),
        ("[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 0", (), 5, 2),
        ("rspec ./spec/a_spec.rb:3 # A does\n\n3 examples, 1 failure", ("./spec/a_spec.rb:3",), 3, 1),
        ("1) ATest::testB\n\nTests: 4, Assertions: 5, Failures: 1.", ("ATest::testB",), 4, 1),
        ("OK (4 tests, 9 assertions)", (), 4, 0),
        ("  1) test mounts (App.LiveTest)\n\n5 tests, 4 failures", ("test mounts (App.LiveTest)",), 5, 4),
        ("  2 - math (Failed)\n\n50% tests passed, 1 tests failed out of 2", ("math",), 2, 1),
        ("Tests completed in 14.89s\nTests Passed: 22, Failed: 3, Skipped: 0", (), 25, 3),
        ("Passed!  - Failed:     0, Passed:     7, Skipped:     0", (), 7, 0),
        ("nothing of the kind", (), None, None),
    ],
)  # fmt: skip
def test_reports(text: str, failing: tuple[str, ...], ran: int | None, failed: int | None) -> None:
    report = read_report(text)
    assert (report.failing, report.ran, report.failed) == (failing, ran, failed)


def test_many_failures_are_capped_and_counted() -> None:
    report = read_report("\n".join(f"FAILED tests/test_a.py::test_{n} - x" for n in range(50)) + "\n50 failed in 1s")
    assert (len(report.failing), report.more_failing, report.counts) == (20, 30, "50 failed")


def test_green_red_and_error(log) -> None:
    log.run("pytest", 0, GREEN)
    assert log.evidence().tests.state == "green"
    log.run("pytest", 1, RED)
    tests = log.evidence().tests
    assert (tests.state, tests.failing, tests.counts) == ("red", ("tests/test_a.py::test_x",), "1 failed, 2 passed")
    assert tests.error_line == "FAILED tests/test_a.py::test_x - assert 1 == 2"
    assert tests.source is not None
    log.run(
        "pytest", 2, "ERROR collecting tests/test_a.py\nE   ImportError: no\n!!! Interrupted: 1 error during collection"
    )
    assert log.evidence().tests.state == "error"


@pytest.mark.parametrize(
    ("output", "state"),
    [
        ("ok  \tx/y\t0.1s\nok  \tx/z\t(cached)\n?   \tx/w\t[no test files]", "green"),
        ("ok  \tx/y\t0.1s\nFAIL\tx/z\t0.2s\nFAIL", "red"),
        ("ok  \tx/y\t0.1s [no tests to run]", "error"),
        ("something else", "not_run"),
    ],
)
def test_go_says_that_tests_passed_where_the_exit_code_is_hidden(log, output: str, state: str) -> None:
    log.run("cd board; go test ./... 2>&1 | tail -5; cd ..", 0, output)
    assert log.evidence().tests.state == state


def test_tests_of_another_tree_say_nothing_of_this_one(log) -> None:
    log.run("cd /elsewhere/tree && pytest", 1, RED)
    assert log.evidence().tests.state == "not_run"
    log.run("pytest", 0, GREEN)
    log.run("cd /elsewhere/tree && pytest", 1, RED)
    assert log.evidence().tests.state == "green"


def test_zero_tests_collected_is_an_error(log) -> None:
    log.run("pytest -k nothing", 5, "no tests ran in 0.01s")
    assert log.evidence().tests.state == "error"


def test_zero_tests_with_exit_zero_is_an_error(log) -> None:
    log.run("go test ./...", 0, "?   \tx/z\t[no test files]")
    assert log.evidence().tests.state == "error"


def test_no_run_and_no_result(log) -> None:
    assert log.evidence().tests.state == "not_run"
    log.begin("pytest")
    assert log.evidence().tests.state == "error"


def test_an_edit_after_the_run_makes_it_stale(log) -> None:
    log.run("pytest", 0, GREEN)
    log.edit("/srv/project/README.md")
    log.edit("/srv/project/docs/plan.py")
    log.edit("/elsewhere/a.py")
    log.edit("/srv/project/src/a.py", outcome="failed")
    log.edit("/srv/project/src/a.py", active=False)
    assert log.evidence().tests.state == "green"
    log.edit("/srv/project/src/a.py")
    tests = log.evidence().tests
    assert (tests.state, tests.last_outcome) == ("stale", "green")


@pytest.mark.parametrize("command", ["sed -i s/a/b/ src/a.py", "git checkout main", "git stash", "git pull"])
def test_a_command_that_changes_the_tree_makes_it_stale(log, command: str) -> None:
    log.run("pytest", 0, GREEN)
    log.run("git commit -am done", 0)
    assert log.evidence().tests.state == "green"
    log.run(command, 0)
    assert log.evidence().tests.state == "stale"


def test_a_masked_run_says_only_what_its_output_says(log) -> None:
    log.run("pytest 2>&1 | grep -c xyz", 0, "0")
    assert log.evidence().tests.state == "not_run"
    log.run("pytest 2>&1 | tail -1", 0, RED)
    assert log.evidence().tests.state == "red"
    log.run("pytest 2>&1 | tail -1", 0, GREEN)
    assert log.evidence().tests.state == "green"


def test_a_narrow_success_does_not_hide_a_wide_failure(log) -> None:
    log.run("pytest", 1, RED)
    log.run("pytest tests/test_b.py", 0, GREEN)
    assert log.evidence().tests.state == "red"
    log.run("pytest -q", 0, GREEN)
    assert log.evidence().tests.state == "green"


def test_a_wide_success_settles_a_narrow_failure(log) -> None:
    log.run("pytest tests/test_a.py", 1, RED)
    log.run("pytest", 0, GREEN)
    assert log.evidence().tests.state == "green"


def test_a_success_elsewhere_does_not_settle_a_failure(log) -> None:
    log.run("cd a && npm test", 1, "Tests: 1 failed, 1 passed, 2 total")
    log.run("cd b && npm test", 0, "Tests: 2 passed, 2 total")
    assert log.evidence().tests.state == "red"


def test_the_same_files_from_another_directory_settle_a_failure(log) -> None:
    log.run("go test ./svc/internal/a", 1, "go: cannot find main module")
    log.run("cd svc && GOCACHE=/tmp/c go test ./internal/a ./internal/b", 0, "ok  \tx/a\t0.1s\nok  \tx/b\t0.1s")
    assert log.evidence().tests.state == "green"


def test_red_on_purpose_is_still_red(log) -> None:
    log.say("The new test should fail now.")
    log.run("pytest", 1, RED)
    evidence = log.evidence()
    assert evidence.tests.state == "red"
    assert (evidence.chains[0].failures, evidence.chains[0].final) == (0, "failed")


def test_declared_commands_come_first(log) -> None:
    log.run("npm test", 1, "Tests: 1 failed, 1 passed, 2 total")
    log.run("pytest -x", 0, GREEN)
    contract = Workbench(contract=Contract(acceptance_criteria=("uv run pytest -x", "the docs mention it")))
    tests = log.evidence(workbench=contract).tests
    assert (tests.commands, tests.state) == (("uv run pytest -x",), "green")
    assert log.evidence(workbench=contract, test_command="npm test").tests.state == "red"
    assert log.evidence(workbench=Workbench(verification_command="pytest -x")).tests.commands == ("pytest -x",)


def test_a_declared_command_nobody_ran_keeps_green_away(log) -> None:
    log.run("pytest -x", 0, GREEN)
    contract = Workbench(contract=Contract(acceptance_criteria=("pytest -x", "ruff check .")))
    assert log.evidence(workbench=contract).tests.state == "not_run"


def test_the_active_items_acceptance(log) -> None:
    log.run("mix test", 0, "5 tests, 0 failures")
    board = Workbench(
        state=State(active_task_id="T-002"),
        tasks=(Task(id="T-001", acceptance=("pytest",)), Task(id="T-002", acceptance=("mix test",))),
    )
    tests = log.evidence(workbench=board).tests
    assert (tests.commands, tests.state) == (("mix test",), "green")


def test_prose_criteria_are_manual(log) -> None:
    prose = Workbench(contract=Contract(acceptance_criteria=("make sure the docs mention the flag",)))
    assert log.evidence(workbench=prose).tests.state == "manual"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("pytest -x", True), ("make test", True), ("./verify.sh", True), ("npm test", True), ("uv run pytest tests/a.py", True),
        ("CI=1 make check", True), ("python -m pytest", True), ("cargo test && cargo clippy", True),
        ("docs mention the flag", False), ("make sure that it works", False), ("test coverage stays above eighty", False),
        ("go through the list again", False), ("", False), ("The page loads.", False),
    ],
)  # fmt: skip
def test_looks_like_command(text: str, command: bool) -> None:
    assert looks_like_command(text) is command


HEAD_AT = 1_760_000_000_000


def rows(**fields):
    return {
        "command": "pytest",
        "exit_code": 0,
        "stdout_tail": GREEN,
        "started_at": HEAD_AT + 5000,
        "duration_ms": 100,
    } | fields


def repository(*changed: str) -> RepositoryFacts:
    changes = tuple(Change(path=path, status="M", uncommitted=True) for path in changed)
    return RepositoryFacts(root="/srv/project", head_at=HEAD_AT, changes=changes)


def test_a_feedback_row_is_fresh_only_after_head(feedback) -> None:
    assert feedback(rows(), repository=repository()).tests.state == "green"
    assert feedback(rows(started_at=HEAD_AT - 1), repository=repository()).tests.state == "stale"
    assert feedback(rows(started_at=None), repository=repository()).tests.state == "stale"


def test_a_feedback_row_is_stale_when_nobody_knows_when_a_file_changed(feedback) -> None:
    assert feedback(rows(), repository=repository("docs/a.md", "task_board.json")).tests.state == "green"
    assert feedback(rows(), repository=repository("src/a.py")).tests.state == "stale"


def test_a_feedback_row_and_the_sessions_edits(feedback, make_log) -> None:
    log = make_log(start=HEAD_AT)
    log.edit("/srv/project/src/a.py")
    sessions = [(log.ref, log.events)]
    assert feedback(rows(), repository=repository("src/a.py"), sessions=sessions).tests.state == "green"
    later = [
        (
            log.ref,
            [*log.events, ToolCall(call_id="x", tool="edit", action="edit", paths=("src/b.py",), at=HEAD_AT + 9000)],
        )
    ]
    assert feedback(rows(), repository=repository("src/a.py"), sessions=later).tests.state == "stale"
