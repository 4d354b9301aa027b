"""The published checkpoints: each rule with a case on both sides of it."""

from __future__ import annotations

import pytest

from passdown.data.points.paper import (
    FIRST_MODIFICATION,
    FIRST_RESULT,
    REPAIR_EDIT,
    Event,
    is_source,
    lifecycle,
    paper_points,
    validation_command,
    validation_result,
)

EDITOR = "str_replace_editor"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("src/a.py", True), ("lib/a.KT", True), ("repro.md", False), ("src/repro.py", True), ("repro_1.py", False),
        ("Debugger.py", False), ("tests/a.py", False), ("test_a.py", False), ("a_test.go", False),
        ("testing/a.py", False), ("latest_a.py", True), ("contest/a.py", True), ("src/spec_a.rb", False),
        (".py", False), ("Makefile", False), ("src\\tests\\a.py", False), ("src/verify.py", True), ("a.swift", False),
    ],
)  # fmt: skip
def test_source_files(path, source):
    assert is_source(path) is source


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("cd x\npython -m pytest -q", "python -m pytest -q"), ("python3 scripts/verify_it.py", "python3 scripts/verify_it.py"),
        ("npm  test", "npm  test"), ("cargo build", ""), ("python run.py", ""), ("PYTEST", "PYTEST"), ("make tests", ""),
        ("mypytest", ""), ("ruff check", "ruff check"), ("python my_reproducer.pyc", ""),
    ],
)  # fmt: skip
def test_commands_that_validate(command, line):
    assert validation_command(Event(0, "", {}, command, terminal=True)) == line
    assert validation_command(Event(0, "", {}, command)) == ""


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("3 passed in 1s", True), ("1 failed, 3 passed", False), ("ok", True), ("okay", None), ("error: bad", None),
        ("error:bad", False), ("AssertionError", False), ("Everything verified", True), ("nothing", None),
        ("pass: true", True), ("PASS: FALSE", False),
    ],
)  # fmt: skip
def test_results(text, result):
    assert validation_result(Event(0, text, {}, terminal=True, environment=True)) is result
    assert validation_result(Event(0, text, {}, terminal=True)) is None
    assert validation_result(Event(0, f"terminal {text}", {}, environment=True)) is result


def kinds(*events):
    return {checkpoint.kind: checkpoint.step for checkpoint in lifecycle(events)}


A, B, C = {"a.py": "1"}, {"a.py": "2"}, {"a.py": "2", "tests/t.py": "1"}


def told(step, text, diffs, command=""):
    return Event(step, text, diffs, command, terminal=True, environment=True)


def test_a_whole_life():
    log = [
        told(0, "1 failed", {}, "pytest"), Event(1, "edited", A), Event(2, "", A, "pytest", terminal=True),
        told(3, "1 failed", A, "pytest"), Event(4, "edited", C), Event(5, "edited", B),
    ]  # fmt: skip
    assert kinds(*log) == {FIRST_MODIFICATION: 1, FIRST_RESULT: 3, REPAIR_EDIT: 4}
    assert kinds(*log[:4]) == {FIRST_MODIFICATION: 1, FIRST_RESULT: 3}
    assert kinds(log[0], Event(1, "", {"tests/t.py": "1"})) == {}


def test_any_output_that_looks_like_a_result_counts():
    assert kinds(Event(0, "", A), told(1, "ok", A, "ls")) == {FIRST_MODIFICATION: 0, FIRST_RESULT: 1}
    assert kinds(Event(0, "", A), told(1, "nothing", A, "ls")) == {FIRST_MODIFICATION: 0}


def test_a_change_by_git_is_no_repair():
    failed = [Event(0, "", A), told(1, "1 failed", A, "pytest")]
    assert REPAIR_EDIT not in kinds(*failed, told(2, "", B, "git stash"))
    assert (
        kinds(*failed, told(2, "", {}, "git stash"), told(3, "", A, "git stash pop"), Event(4, "", B))[REPAIR_EDIT] == 4
    )


def swap(path, old, new):
    return {"command": "str_replace", "path": f"/testbed/{path}", "old_str": old, "new_str": new}


def test_the_points_of_a_run(small_trajectory):
    found = [(point.marks[0].detector, point.k, point.kind) for point in paper_points(small_trajectory)]
    assert found == [(FIRST_MODIFICATION, 4, "mid"), (FIRST_RESULT, 5, "milestone"), (REPAIR_EDIT, 6, "error")]


def test_files_that_git_does_not_know_are_not_in_its_diff(script):
    run = script().asks("Mend it.").runs("cat src/a.py", "x = 1\n")
    run.uses(EDITOR, {"command": "create", "path": "/testbed/src/new.py", "file_text": "1"})
    run.uses(EDITOR, swap("src/new.py", "1", "2"))
    assert paper_points(run.trajectory()) == ()
    run.runs("git add -A").uses(EDITOR, swap("src/new.py", "2", "3"))
    assert [point.k for point in paper_points(run.trajectory())] == [6]


def test_what_is_put_back_leaves_the_diff(script):
    run = script().asks("Mend it.").runs("cat src/a.py", "x = 1\n").uses(EDITOR, swap("src/a.py", "1", "2"))
    run.runs("pytest", "1 failed", 1).runs("git stash").runs("git stash pop").runs("git checkout -- src/a.py")
    run.uses(EDITOR, swap("src/a.py", "1", "3"))
    assert [point.k for point in paper_points(run.trajectory())] == [3, 4, 8]
