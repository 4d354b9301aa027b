"""Subtasks by rule: nodes, edges and labels of runs whose course is plain."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.data.records import Graph, Outcome, Trajectory
from passdown.data.replay.virtual import replay
from passdown.data.subtasks.graph import subtasks
from passdown.data.subtasks.tests import test_results as results_of


def _labels(graph: Graph, k: int) -> dict[str, str]:
    return dict(zip([node.id for node in graph.nodes], graph.statuses[k], strict=True))


def _graph(run: Trajectory) -> Graph:
    return subtasks(run, replay(run, {"a.py": b"1\n", "b.py": b"2\n"}))


def test_labels_follow_the_run(script: Any) -> None:
    run = (
        script().asks("Go.")
        .runs("pip install attrs", "Successfully installed attrs")
        .runs("python repro.py", "boom", 1)
        .runs("pytest -v", "t.py::test_a FAILED\nt.py::test_b PASSED\n", 1)
        .runs("sed -i s/1/3/ a.py")
        .runs("pytest -v", "t.py::test_a PASSED\nt.py::test_b PASSED\n")
        .runs("sed -i s/2/4/ b.py")
        .runs("sed -i s/4/5/ b.py")
        .runs("pytest -v", "t.py::test_a PASSED\nt.py::test_b PASSED\n")
        .uses("submit", {}).trajectory()
    )  # fmt: skip
    graph = _graph(run)
    kinds = {node.id for node in graph.nodes if not node.id.startswith("test:run:")}
    assert kinds == {"repro", "install:attrs", "edit:a.py", "edit:b.py", "test:t.py::test_a", "test:t.py::test_b",
                     "verify", "submit"}  # fmt: skip
    assert ("edit:a.py", "test:t.py::test_a") in {(edge.before, edge.after) for edge in graph.edges}
    assert ("repro", "edit:a.py") in {(edge.before, edge.after) for edge in graph.edges}
    assert ("install:attrs", "repro") in {(edge.before, edge.after) for edge in graph.edges}
    assert _labels(graph, 4)["test:t.py::test_a"] == "in_progress"
    assert _labels(graph, 4)["edit:a.py"] == "todo"
    assert _labels(graph, 5)["edit:a.py"] == "done"
    assert _labels(graph, 6)["test:t.py::test_a"] == "done"
    assert _labels(graph, 6)["verify"] == "in_progress", "green, but there was more to edit"
    assert _labels(graph, 7)["edit:b.py"] == "in_progress"
    assert _labels(graph, 8)["edit:b.py"] == "done"
    assert _labels(graph, 9)["verify"] == "done"
    assert _labels(graph, 9)["submit"] == "todo"
    assert set(_labels(graph, 10).values()) == {"done"}
    assert len(graph.statuses) == len(run.steps) + 1


def test_the_final_patch_says_what_the_work_was(script: Any) -> None:
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+3\n"
    run = script().asks("Go.").runs("sed -i s/1/3/ a.py").runs("echo x > repro.py").trajectory(
        outcome=Outcome(patch=patch, fail_to_pass=("t.test_a",))
    )  # fmt: skip
    graph = _graph(run)
    assert [node.id for node in graph.nodes] == ["edit:a.py", "test:t.test_a"]
    assert _labels(graph, 3) == {"edit:a.py": "done", "test:t.test_a": "todo"}


def test_a_plan_is_taken_as_it_is_stated(script: Any) -> None:
    from passdown.data.records import Provenance
    from passdown.data.trajectory import assemble
    from passdown.model.session import AssistantMessage, PlanItem, PlanUpdate, SessionStart, UserMessage

    events: list[Any] = [SessionStart(session_id="s", agent="chat"), UserMessage(text="Go.")]
    for one, two in (("in_progress", "pending"), ("completed", "in_progress")):
        events.append(AssistantMessage(text="On it.", response_id=f"{one}"))
        events.append(PlanUpdate(items=(PlanItem(text="One", status=one), PlanItem(text="Two", status=two))))  # type: ignore[arg-type]
    run = assemble(events, Provenance(source="made"))
    graph = subtasks(run, replay(run))
    assert [(node.id, node.subject) for node in graph.nodes] == [("todo:0", "One"), ("todo:1", "Two")]
    assert graph.statuses == (
        ("unknown", "unknown"), ("unknown", "unknown"), ("in_progress", "todo"), ("done", "in_progress"),
    )  # fmt: skip
    assert [edge.weak for edge in graph.edges] == [True]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tests/a.py::test_x PASSED [ 50%]\ntests/a.py::T::test_y FAILED\n",
         {"tests/a.py::test_x": True, "tests/a.py::T::test_y": False}),
        ("=== short test summary ===\nFAILED tests/a.py::test_x - assert 1 == 2\n", {"tests/a.py::test_x": False}),
        ("test_a (pkg.mod.Case) ... ok\ntest_b (pkg.mod.Case.test_b) ... FAIL\n",
         {"pkg.mod.Case.test_a": True, "pkg.mod.Case.test_b": False}),
        ("ERROR: test_c (pkg.Case)\n", {"pkg.Case.test_c": False}),
        ("=== RUN TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n", {"TestA": True, "TestB": False}),
        ("test util::works ... ok\ntest util::fails ... FAILED\n", {"util::works": True, "util::fails": False}),
        ("test_a (m.C) ... skipped 'no'\n", {}),
        ("2 passed in 0.1s\n", {}),
        ("\x1b[1mt.py::test_a\x1b[0m \x1b[32mPASSED\x1b[0m\n", {"t.py::test_a": True}),
        ("test_a (m.C)\nWhat it is for. ... Found 2 test(s).\nSkipping setup.\nok\ntest_b (m.C) ... FAIL\n",
         {"m.C.test_a": True, "m.C.test_b": False}),
        ("I think FAILED tests are bad\n", {}),
    ],
)  # fmt: skip
def test_single_tests_are_read_from_what_runners_print(text: str, found: dict[str, bool]) -> None:
    assert results_of(text) == found


LONG = "".join(f"line {number}\n" for number in range(1, 61))


def _edit(number: int) -> dict[str, str]:
    return {
        "command": "str_replace",
        "path": "/testbed/long.py",
        "old_str": f"line {number}\n",
        "new_str": f"new {number}\n",
    }


def _shown(first: int, last: int, done: set[int], ending: str = "\n") -> str:
    rows = [f"{at:6}\t{'new' if at in done else 'line'} {at}" for at in range(first, last + 1)]
    return ending.join(["Here's the result of running `cat -n` on a snippet of /testbed/long.py:", *rows, ""])


def test_a_diff_that_the_run_shows_names_its_hunks_where_no_base_is_known(script: Any) -> None:
    """The tool's words end as a terminal ends lines, and only some lines of the file are ever seen."""
    import difflib

    after = LONG
    run = script().asks("Go.").uses("str_replace_editor", {"command": "view", "path": "/testbed/long.py", "view_range": [1, 60]},
                                    _shown(1, 60, set(), "\r\n"))  # fmt: skip
    done: set[int] = set()
    for number in (5, 20, 35, 50):
        after = after.replace(f"line {number}\n", f"new {number}\n")
        done.add(number)
        run.uses("str_replace_editor", _edit(number), _shown(number - 3, number + 3, done, "\r\n"))
    diff = "".join(difflib.unified_diff(LONG.splitlines(True), after.splitlines(True), "a/long.py", "b/long.py"))
    made = run.uses("submit", {}, f"Please check.\ndiff --git a/long.py b/long.py\n{diff}").trajectory()
    graph = subtasks(made, replay(made))
    names = [f"edit:long.py#{number}" for number in range(4)]
    assert [node.id for node in graph.nodes if node.kind == "edit"] == names
    for count in range(5):
        labels = _labels(graph, 2 + count)
        assert [labels[name] for name in names] == ["done"] * count + ["todo"] * (4 - count)


def test_of_hunks_that_say_the_same_the_place_tells_which_is_done() -> None:
    from passdown.data.subtasks.hunks import Hunk, status_of

    hunk = Hunk(("a", "old", "b"), ("a", "b"))
    before = ["a", "old", "b", "x", "a", "old", "b"]
    assert [status_of([hunk, hunk], number, before) for number in (0, 1)] == ["todo", "todo"]
    assert [status_of([hunk, hunk], number, ["a", "b", "x", "a", "old", "b"]) for number in (0, 1)] == ["done", "todo"]
    assert [status_of([hunk, hunk], number, ["a", "old", "b", "x", "a", "b"]) for number in (0, 1)] == ["todo", "done"]
