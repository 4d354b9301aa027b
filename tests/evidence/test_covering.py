"""What a green run makes good of an earlier failure."""

from __future__ import annotations

import pytest

from passdown.evidence.covering import covers
from passdown.model.evidence import CommandRun


def ran(command: str, kind: str = "test", cwd: str = "") -> CommandRun:
    return CommandRun(command=command, kind=kind, cwd=cwd, exit=0, result="ok")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wide", "narrow", "proven"),
    [
        ("pytest", "pytest tests/test_a.py::test_b", True),
        ("pytest tests/test_a.py", "pytest", False),
        ("npm test", 'npm test -- --grep "a b"', True),
        ("go build ./... && ./test-all.sh prepare && ./test-all.sh check", "./test-all.sh check", True),
        ("./test-all.sh prepare && ./test-all.sh check", "git add a && ./test-all.sh check", True),
        ("./test-all.sh prepare; ./test-all.sh check", "./test-all.sh prepare", False),
        ("./test-all.sh prepare || ./test-all.sh check", "./test-all.sh check", False),
        ("./test-all.sh check | tail -3", "./test-all.sh check", False),
        ("cargo test", "pytest", False),
    ],
)
def test_covers(wide: str, narrow: str, proven: bool) -> None:
    assert covers(ran(wide), ran(narrow)) is proven


def test_other_commands_need_the_very_same_words_and_folder() -> None:
    assert covers(ran("npm ci && npm run build", "build"), ran("npm run build", "build"))
    assert not covers(ran("npm ci && npm run build:all", "build"), ran("npm run build", "build"))
    assert not covers(ran("npm ci && npm run build", "build", "web"), ran("npm run build", "build"))
    assert covers(ran("npm ci && npm run 'build'", "build"), ran("npm run build", "build"))
    assert covers(ran("npm ci && npm ru\\n build", "build"), ran("npm run build", "build"))
    assert covers(ran("bash -c 'npm run build'", "build"), ran("npm run build", "build"))


def test_a_list_that_holds_the_failed_test_makes_the_tests_green(log) -> None:
    log.run("./test-all.sh check", 1, "FAIL: rewind")
    log.edit("src/a.sh")
    log.run("./test-all.sh prepare && ./test-all.sh check", 0, "ok")
    assert log.evidence().tests.state == "green"


def test_a_test_that_was_not_found_ran_nothing(log) -> None:
    log.run("./check-tests.sh all", 127, "no such file or directory: ./check-tests.sh")
    log.run("npm test", 0, "3 passing")
    evidence = log.evidence()
    assert (evidence.tests.state, evidence.tests.commands) == ("green", ("npm test",))


@pytest.mark.parametrize(("code", "colour"), [(0, "green"), (1, "red")])
def test_a_runner_that_is_not_installed_ran_nothing_either(code: int, colour: str, log) -> None:
    log.run("python3 -m pytest -q", 1, "/usr/bin/python3: No module named pytest")
    alone = log.evidence().tests
    log.run("pytest -q", code, "1 failed, 1 passed in 0.1s" if code else "2 passed in 0.1s")
    evidence = log.evidence()
    assert (alone.state, alone.commands) == ("error", ("python3 -m pytest -q",))
    assert (evidence.tests.state, evidence.tests.commands) == (colour, ("pytest -q",))
