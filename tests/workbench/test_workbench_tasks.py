"""State, board and feature list."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.model.identifier import content_id

STATE: dict[str, Any] = {"schema_version": 1, "active_task_id": "T-001", "touched_files": [], "next_action": "go on"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"active_task_id": None}, {"active_task_id": ""}),
        ({"active_task_id": ""}, {"active_task_id": ""}),
        ({"active_task_id": "sign-up"}, {"active_task_id": "sign-up"}),
        ({"touched_files": ["./a.py", "a.py", "b//c.py"]}, {"touched_files": ("a.py", "b/c.py")}),
        ({"assumptions": ["one", {"text": "two", "id": "x"}]}, {"assumptions": ("one", "two")}),
        ({"assumptions": "just one"}, {"assumptions": ("just one",)}),
        ({"risks": ["renamed in version two"]}, {"blockers": ("renamed in version two",)}),
        ({"extra": {"deep": [1]}, "pack": "1.0"}, {"next_action": "go on"}),
        ({"last_run": "2026-01-02T03:04:05Z"}, {"last_run": "2026-01-02T03:04:05Z"}),
        ({"last_run": 1760000000.5}, {"last_run": "1760000000.5"}),
        ({"branch": "feat/x", "session_id": "s-1"}, {"branch": "feat/x", "session_id": "s-1"}),
    ],
)
def test_state_variants(bench: Any, given: dict[str, Any], expected: dict[str, Any]) -> None:
    bench.put("agent_state.json", STATE | given)
    loaded = bench.load()
    assert loaded.findings == ()
    assert {name: getattr(loaded.state, name) for name in expected} == expected


@pytest.mark.parametrize("name", ["next_step", "nextAction"])
def test_the_next_action_goes_by_other_names(bench: Any, name: str) -> None:
    bench.put("agent_state.json", {"active_task_id": None, name: "do it"})
    assert bench.load().state.next_action == "do it"


def test_a_state_of_lesson_32_has_no_version(bench: Any) -> None:
    bench.put("agent_state.json", {"active_task_id": "T-001", "next_action": ""})
    loaded = bench.load()
    assert loaded.state.schema_version == 1 and loaded.findings == ()


@pytest.mark.parametrize("version", [0, 2, "1", True, None, 1.5, [1]])
def test_an_unknown_version_is_refused_never_guessed(bench: Any, version: Any) -> None:
    bench.put("agent_state.json", STATE | {"schema_version": version})
    loaded = bench.load()
    assert loaded.state is None
    assert [finding.code for finding in loaded.findings] == ["artifact.unknown_version"]


@pytest.mark.parametrize("name", ["touched_files", "assumptions", "blockers"])
def test_null_in_place_of_a_list_is_refused(bench: Any, name: str) -> None:
    bench.put("agent_state.json", STATE | {name: None})
    loaded = bench.load()
    assert loaded.state is None
    assert [finding.code for finding in loaded.findings] == ["artifact.null_array"]
    assert name in loaded.findings[0].fix


def test_touched_files_become_relative_and_foreign_ones_are_reported(bench: Any) -> None:
    touched = [str(bench.root / "src/a.py"), "/etc/passwd", "../up.py", "C:\\x.py"]
    bench.put("agent_state.json", STATE | {"touched_files": touched})
    loaded = bench.load()
    assert loaded.state.touched_files == ("src/a.py",)
    assert [finding.code for finding in loaded.findings] == ["artifact.foreign_path"]
    assert "3 paths" in loaded.findings[0].detail


def test_a_wrong_type_of_field_is_reported(bench: Any) -> None:
    bench.put("agent_state.json", STATE | {"next_action": ["a", "b"]})
    loaded = bench.load()
    assert loaded.state.next_action == ""
    assert [finding.code for finding in loaded.findings] == ["artifact.bad_field"]


def board(*tasks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": f"T-00{number}", "goal": "g", "owner": "builder"} | task for number, task in enumerate(tasks, 1)]


def test_the_board_as_an_array(bench: Any) -> None:
    bench.put(
        "task_board.json", board({"acceptance": ["pytest"], "status": "done", "priority": 1}, {"status": "blocked"})
    )
    loaded = bench.load()
    assert [(task.id, task.status, task.acceptance, task.owner) for task in loaded.tasks] == [
        ("T-001", "done", ("pytest",), "builder"),
        ("T-002", "blocked", (), "builder"),
    ]
    assert loaded.findings == ()


@pytest.mark.parametrize("path", ["task_board.jsonl", "task_board.json"])
def test_the_board_as_json_lines(bench: Any, path: str) -> None:
    bench.rows(path, *board({"acceptance_criteria": ["pytest -q"]}, {"status": "in_progress"}))
    loaded = bench.load()
    assert [task.status for task in loaded.tasks] == ["todo", "in_progress"]
    assert loaded.tasks[0].acceptance == ("pytest -q",)
    assert loaded.findings == ()


def test_a_torn_board_of_json_lines_keeps_its_whole_lines(bench: Any) -> None:
    bench.put("task_board.json", '{"id": "T-1", "goal": "g"}\n{"id": "T-2", "goal": "h"}\n{"id": "T-3", "go')
    loaded = bench.load()
    assert [task.id for task in loaded.tasks] == ["T-1", "T-2"]
    assert [finding.code for finding in loaded.findings] == ["board.torn_line"]


def test_the_board_as_an_object_with_tasks(bench: Any) -> None:
    bench.put("task_board.json", {"tasks": board({})})
    assert [task.id for task in bench.load().tasks] == ["T-001"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("todo", "todo"),
        ("pending", "todo"),
        ("in_progress", "in_progress"),
        ("In Progress", "in_progress"),
        ("in-progress", "in_progress"),
        ("done", "done"),
        ("completed", "done"),
        ("blocked", "blocked"),
    ],
)
def test_statuses(bench: Any, written: str, read: str) -> None:
    bench.put("task_board.json", board({"status": written}))
    loaded = bench.load()
    assert loaded.tasks[0].status == read and loaded.findings == ()


@pytest.mark.parametrize("status", ["sideways", None, 3, ["done"]])
def test_an_unknown_status_stays_open_and_is_reported(bench: Any, status: Any) -> None:
    bench.put("task_board.json", board({"status": status}))
    loaded = bench.load()
    assert loaded.tasks[0].status == "todo"
    assert [finding.code for finding in loaded.findings] == ["board.unknown_status"]


def test_duplicate_ids_missing_ids_and_several_in_progress(bench: Any) -> None:
    bench.put(
        "task_board.json",
        [
            {"id": "T-001", "goal": "first", "status": "in_progress"},
            {"id": "T-001", "goal": "second"},
            {"goal": "nameless", "status": "in_progress"},
            {"status": "todo"},
            "T-009",
        ],
    )
    loaded = bench.load()
    assert [(task.id, task.goal) for task in loaded.tasks] == [
        ("T-001", "first"),
        (content_id("T-", "nameless"), "nameless"),
    ]
    assert sorted(finding.code for finding in loaded.findings) == [
        "artifact.bad_item",
        "artifact.bad_item",
        "board.duplicate_id",
        "board.missing_id",
        "board.multiple_active",
    ]


def test_the_feature_list_of_lesson_36(bench: Any) -> None:
    features = [
        {"id": "sign-up", "status": "in_progress", "goal": "People sign up", "done_when": "pytest -q && docs say so"},
        {"id": "log-in", "status": "todo", "goal": "People log in", "done_when": "pytest -q"},
    ]
    bench.put("feature_list.json", {"project": "demo", "active": "sign-up", "features": features})
    loaded = bench.load()
    assert loaded.active_feature == "sign-up" and loaded.findings == ()
    assert loaded.features[0].acceptance == ("pytest -q && docs say so",)
    assert loaded.features[0].source == "feature_list.json"


@pytest.mark.parametrize("wrap", [lambda items: items, lambda items: {"features": items}])
def test_the_feature_list_with_passes(bench: Any, wrap: Any) -> None:
    items = [
        {"category": "functional", "description": "A chat can be opened", "steps": ["open", "look"], "passes": True},
        {"category": "functional", "description": "A chat can be closed", "steps": ["close"], "passes": False},
    ]
    bench.put("feature_list.json", wrap(items))
    loaded = bench.load()
    assert [(task.goal, task.status) for task in loaded.features] == [
        ("A chat can be opened", "done"),
        ("A chat can be closed", "todo"),
    ]
    assert loaded.features[0].acceptance == ("open", "look")
    assert loaded.features[0].id == content_id("T-", "A chat can be opened")
    assert loaded.findings == ()


def test_two_features_in_progress_block_and_an_unknown_active_one_is_reported(bench: Any) -> None:
    features = [{"id": name, "goal": name, "status": "in_progress"} for name in ("a", "b")]
    bench.put("feature_list.json", {"active": "c", "features": features})
    found = {finding.code: finding.severity for finding in bench.load().findings}
    assert found == {"board.multiple_active": "block", "features.unknown_active": "warn"}


def test_many_findings_of_one_kind_are_counted_not_listed(bench: Any) -> None:
    tasks = [{"id": f"T-{number}", "goal": "g", "status": f"odd {number}"} for number in range(500)]
    bench.put("task_board.json", tasks + [{"status": "todo"}] * 3)
    loaded = bench.load()
    assert len(loaded.tasks) == 500
    odd = [finding for finding in loaded.findings if finding.code == "board.unknown_status"]
    assert len(odd) == 11 and odd[-1].detail == "and more of this kind (490 times)"
    assert [finding.detail for finding in loaded.findings if finding.code == "artifact.bad_item"] == [
        "a task has neither an id nor a goal and is left out (3 times)"
    ]
