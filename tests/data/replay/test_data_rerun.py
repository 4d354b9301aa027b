"""Runs that are run again: real ones come to their end with the same files, others stop where they diverge."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.data.replay.test_data_sandbox import LIMITS, needs_namespaces

from passdown.data.replay.base import Base, find_base
from passdown.data.replay.likeness import ALIKE, likeness, same_tests, settled
from passdown.data.replay.rerun import rerun
from passdown.data.replay.virtual import replay
from passdown.data.worlds.desk import as_bytes
from passdown.data.worlds.run import PREDECESSORS, recorded_run
from passdown.data.worlds.table import WORLDS, build_world

BRIEF = msgspec.structs.replace(LIMITS, seconds=2)
BASE = {"a.py": b"print('one')\n", "src/b.py": b"x = 1\n"}


@needs_namespaces
@pytest.mark.parametrize("skill", list(PREDECESSORS))
def test_a_real_run_comes_to_its_end_with_the_same_files_at_every_step(skill: str) -> None:
    world = build_world(next(iter(WORLDS)))
    recorded = recorded_run(world.id, skill)
    base = find_base(recorded.trajectory)
    assert base is not None
    found = rerun(recorded.trajectory, base)
    assert found.divergence is None
    assert found.reached == len(recorded.trajectory.steps)
    assert found.compared >= 4
    for k, tree in enumerate(recorded.trees):
        assert {path: file.content for path, file in found.trees[k].items()} == dict(tree)
        assert (
            found.snapshot(k).snapshot_id == replay(recorded.trajectory, as_bytes(world.files)).snapshot(k).snapshot_id
        )
        assert found.exact(k)


@needs_namespaces
def test_what_a_command_does_to_files_is_known_where_nobody_could_tell(script: Any) -> None:
    run = (
        script().asks("Go.").runs("cd src && for i in 1 2; do echo $i >> made.txt; done", "")
        .runs("python -c 'print(open(\"made.txt\").read())'", "1\n2\n")
        .uses("str_replace_editor", {"command": "str_replace", "path": "/testbed/a.py", "old_str": "one", "new_str": "two"})
        .runs("cd .. && python a.py && chmod +x a.py", "two\n").trajectory()
    )  # fmt: skip
    found = rerun(run, Base(BASE), limits=LIMITS)
    assert found.divergence is None
    assert found.content(2, "src/made.txt") == b"1\n2\n"
    assert found.content(4, "a.py") == b"print('two')\n"
    assert found.changed(1) == {}
    assert found.modes(5) == {"a.py": True}
    assert found.snapshot(5).exact
    assert {file.path: file.mode for file in found.snapshot(5).delta} == {"a.py": "100755", "src/made.txt": "100644"}


@needs_namespaces
@pytest.mark.parametrize(
    ("command", "printed", "code", "reason"),
    [("python a.py", "something else altogether was printed here", 0, "printed something else"),
     ("python a.py", "one\n", 1, "ended with 0"), ("ls /nowhere", "", 0, "ended with 2"),
     ("sleep 30", "", 0, "too much time")],
)  # fmt: skip
def test_a_replay_stops_at_the_first_thing_that_is_not_as_recorded(
    script: Any, command: str, printed: str, code: int, reason: str
) -> None:
    run = script().asks("Go.").runs("echo x > n", "").runs(command, printed, code).runs("echo y > n", "").trajectory()
    found = rerun(run, Base(BASE), limits=BRIEF if "sleep" in command else LIMITS)
    assert found.reached == 2
    assert found.divergence is not None
    assert found.divergence.k == 3
    assert reason in found.divergence.reason
    assert found.content(2, "n") == b"x\n"
    assert not found.exact(3)


@needs_namespaces
def test_an_edit_that_does_not_fit_and_a_read_of_something_else_are_divergences(script: Any) -> None:
    edit = {"command": "str_replace", "path": "/testbed/a.py", "old_str": "three", "new_str": "two"}
    run = script().asks("Go.").uses("str_replace_editor", edit).trajectory()
    assert "does not fit a.py" in str(rerun(run, Base(BASE), limits=LIMITS).divergence)
    run = script().asks("Go.").uses("str_replace_editor", edit, "No such text", "failed").trajectory()
    assert rerun(run, Base(BASE), limits=LIMITS).divergence is None
    read = (
        script()
        .asks("Go.")
        .uses("Read", {"file_path": "/testbed/a.py"}, "     1\tother\n     2\ty\n     3\tz\n")
        .trajectory()
    )
    assert "holds something else" in str(rerun(read, Base(BASE), limits=LIMITS).divergence)


@needs_namespaces
def test_a_log_cannot_harm_who_replays_it(script: Any) -> None:
    run = script().asks("Go.").runs("rm -rf /testbed/* /etc/* /sandbox 2>/dev/null; echo done", "done\n").trajectory()
    found = rerun(run, Base(BASE), limits=LIMITS)
    assert found.divergence is None
    assert found.changed(2) == {"a.py": "", "src/b.py": ""}


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ran 3 tests in 0.001s\n\nOK", "Ran 3 tests in 1.25s\n\nOK\n"), ("<A object at 0x7f00aa11bb22>", "<A object at 0x7f3399887766>"),
     ("wrote /tmp/tmpab12/x.txt", "wrote /tmp/tmpzz99/x.txt"), ("2024-01-02 03:04:05,678 INFO x", "2026-11-30T09:00:00Z INFO x"),
     ("\x1b[32mok\x1b[0m\r\n", "ok\n"), ("pid 4711", "pid 12"),
     ('File "/usr/lib/python3.9/json/decoder.py", line 1', 'File "/opt/x/lib/python3.11/json/decoder.py", line 1')],
)  # fmt: skip
def test_what_differs_from_run_to_run_does_not_count(one: str, other: str) -> None:
    assert settled(one) == settled(other)
    assert likeness(one, other) == 1.0


def test_what_a_run_tells_counts() -> None:
    assert likeness("5 passed", "4 passed, 1 failed") < ALIKE
    assert likeness("", "Traceback (most recent call last):") < ALIKE
    long = "\n".join(f"line {number} of many" for number in range(100))
    assert ALIKE <= likeness(long, long.replace("line 7 ", "row 7 ")) < 1.0
    listed = ["a.py:1:x", "b.py:2:x is here", "c.py:3:there is x"]
    assert likeness("\n".join(listed), "\n".join(reversed(listed))) < ALIKE
    assert likeness("\n".join(listed), "\n".join(reversed(listed)), ordered=False) == 1.0


def test_one_more_failure_in_a_long_output_is_no_likeness() -> None:
    lines = [f"tests/t.py::test_{number} PASSED" for number in range(200)]
    well = "\n".join([*lines, "200 passed in 1.00s"])
    bad = "\n".join(
        [
            *lines[:-1],
            "tests/t.py::test_199 FAILED",
            "FAILED tests/t.py::test_199 - boom",
            "1 failed, 199 passed in 2.00s",
        ]
    )
    assert likeness(well, bad) >= ALIKE
    assert not same_tests(well, bad)
    assert same_tests(well, well.replace("1.00s", "9.21s"))
