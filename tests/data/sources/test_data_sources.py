"""Rows of the published sets, as JSON lines and as Parquet: what becomes of them, and of what is no row."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from passdown.data.records import Reject, Trajectory
from passdown.data.sources.fences import last_block, typed_call
from passdown.data.sources.klear_mini import edit_in
from passdown.data.sources.origin import Task, decided, json_text, task_of
from passdown.data.sources.table import SOURCES, read_source, recognise, source_called
from passdown.errors import UsageError
from passdown.model.session import AssistantMessage, Interruption, ToolCall, ToolResult

ROWS = Path(__file__).parents[2] / "fixtures" / "data" / "sources"
FILES = {
    "adp.jsonl": "adp", "klear_mini.jsonl": "klear_mini", "nebius_openhands.jsonl": "nebius_openhands",
    "nebius_swe_agent.jsonl": "nebius_swe_agent", "r2e_gym.jsonl": "r2e_gym", "swe_gym.jsonl": "swe_gym",
    "swe_smith_ticks.jsonl": "swe_smith", "swe_smith_tool.jsonl": "swe_smith", "swe_smith_xml.jsonl": "swe_smith",
}  # fmt: skip


def read(path: Path, source: str = "auto", **said: str) -> list[Trajectory]:
    found = list(read_source(path, source, **said))
    assert not [item for item in found if isinstance(item, Reject)]
    return [item for item in found if isinstance(item, Trajectory)]


def kinds(trajectory: Trajectory) -> list[tuple[str, str, bool | None]]:
    return [(action.kind, action.target, action.ok) for step in trajectory.steps for action in step.actions]


def parquet(source: Path, target: Path) -> Path:
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(rows), target, row_group_size=1)
    return target


def test_every_set_is_recognised_by_what_is_in_its_file() -> None:
    assert {path.name: recognise(path).id for path in ROWS.glob("*.jsonl")} == FILES


@pytest.mark.parametrize("name", [name for name in FILES if name != "adp.jsonl"])
def test_parquet_gives_what_json_lines_give(name: str, tmp_path: Path) -> None:
    lines, table = read(ROWS / name), read(parquet(ROWS / name, tmp_path / "rows.bin"))
    assert [one.content_hash for one in lines] == [one.content_hash for one in table]
    for one, other in zip(lines, table, strict=True):
        same = {"outcome", "instance_id", "repo", "base_commit", "tools", "task_text", "trajectory_id", "extras"}
        assert {key: getattr(one, key) for key in same} == {key: getattr(other, key) for key in same}


def test_parquet_of_the_agent_data_protocol_loses_only_what_its_columns_cannot_hold(tmp_path: Path) -> None:
    lines, table = read(ROWS / "adp.jsonl"), read(parquet(ROWS / "adp.jsonl", tmp_path / "adp.parquet"))
    assert [kinds(one) for one in table][1] == kinds(lines[1])
    assert [one.outcome for one in table] == [one.outcome for one in lines]


EDITED = [
    ("TEST", "tests", False), ("READ", "inkwell/slug.py", True), ("EDIT", "inkwell/slug.py", True),
    ("TEST", "tests", True), ("SUBMIT", "", None),
]  # fmt: skip


@pytest.mark.parametrize("name", ["swe_smith_tool.jsonl", "swe_smith_xml.jsonl", "swe_smith_ticks.jsonl"])
def test_the_three_ways_of_swe_smith_to_write_a_call_are_the_same_run(name: str) -> None:
    [run] = read(ROWS / name)
    assert kinds(run) == EDITED
    assert (run.repo, run.base_commit, run.model) == ("inkwell-dev/inkwell", "0badcafe", "claude-3-7-sonnet-20250219")
    assert run.outcome.resolved is True
    assert run.outcome.patch.startswith("diff --git")
    edits = [event.arguments for step in run.steps for event in step.events if isinstance(event, ToolCall)]
    assert {"old_str": "    return text.lower().replace(' ', '-')"}.items() <= edits[2].items()


def test_openhands_rows_tell_calls_results_tools_and_verdict() -> None:
    solved, stopped = read(ROWS / "nebius_openhands.jsonl")
    assert [kind for kind, _, _ in kinds(solved)] == ["TEST", "READ", "EDIT", "READ", "TEST", "SUBMIT"]
    assert [ok for _, _, ok in kinds(solved)][:5] == [False, True, True, False, True]
    assert solved.task_text.startswith("`slug` keeps two dashes")
    assert solved.provenance.licence == "CC-BY-4.0"
    assert (solved.provenance.file, solved.provenance.row, stopped.provenance.row) == ("nebius_openhands.jsonl", 1, 2)
    assert json.loads(solved.tools)[0]["function"]["name"] == "execute_bash"
    assert (solved.outcome.resolved, stopped.outcome.resolved) == (True, False)
    assert isinstance(stopped.steps[-1].events[-1], Interruption)
    assert stopped.outcome.exit == "max_iterations_reached"


def test_the_run_of_swe_gym_names_its_model_and_not_its_sample() -> None:
    [run] = read(ROWS / "swe_gym.jsonl")
    assert (run.instance_id, run.model, run.provenance.licence) == (
        "inkwell-dev__inkwell-24", "gpt-4o-2024-08-06", "",
    )  # fmt: skip
    assert run.outcome.patch
    assert [ok for _, _, ok in kinds(run)][3] is False  # the path did not exist


def test_swe_agents_text_is_taken_apart_as_its_program_does() -> None:
    solved, stopped = read(ROWS / "nebius_swe_agent.jsonl")
    assert [kind for kind, _, _ in kinds(solved)] == ["SEARCH", "READ", "EDIT", "TEST", "SUBMIT"]
    edit = next(event for step in solved.steps for event in step.events if getattr(event, "tool", "") == "edit")
    assert isinstance(edit, ToolCall)
    assert edit.paths == ("/inkwell/inkwell/slug.py",)
    assert edit.arguments["command"].endswith("\nend_of_edit")
    said = [e.text for step in solved.steps for e in step.events if isinstance(e, AssistantMessage)]
    assert "```python\nslug('a b')\n```" in said[2]
    assert said[1] == "We open it."
    results = [e.text for step in solved.steps for e in step.events if isinstance(e, ToolResult)]
    assert not any("bash-$" in text for text in results)
    assert isinstance(stopped.steps[-1].events[-1], Interruption)


def test_an_edit_typed_with_here_documents_is_an_edit() -> None:
    [run] = read(ROWS / "klear_mini.jsonl")
    assert [kind for kind, _, _ in kinds(run)][:4] == ["READ", "TEST", "EDIT", "TEST"]
    assert run.outcome.resolved is True
    assert edit_in("old=$(cat <<'O'\na\n\nO\n) && new=$(cat <<'N'\n\nN\n) && python edit_via_str_replace.py x.py -- "
                   '"$old" "$new"') == {"path": "x.py", "old_str": "a", "new_str": ""}  # fmt: skip
    for other in ("old=$(cat <<'O'\na\nO\n) && rm x", "python edit_via_str_replace x -- a b", "old=$(cat <<'O'\na\n"):
        assert edit_in(other) is None


def test_an_observation_of_r2e_gym_says_its_exit_code() -> None:
    [run] = read(ROWS / "r2e_gym.jsonl")
    assert [(kind, ok) for kind, _, ok in kinds(run)] == [
        ("SEARCH", True), ("READ", True), ("READ", False), ("EDIT", True), ("TEST", False), ("TEST", True),
        ("SUBMIT", None),
    ]  # fmt: skip
    assert run.task_text.startswith("`slug` keeps")
    assert "ISSUE" not in run.task_text
    assert (run.repo, run.instance_id) == ("", "")


def test_actions_of_the_protocol_find_their_observations() -> None:
    typed, linked = read(ROWS / "adp.jsonl")
    assert [kind for kind, _, _ in kinds(typed)] == ["SEARCH", "READ", "EDIT", "RUN"]
    assert [target for _, target, _ in kinds(typed)][2] == "inkwell/slug.py"  # the file that was open
    assert [kind for kind, _, _ in kinds(linked)][:2] == ["EDIT", "TEST"]
    results = {e.call_id: e for step in linked.steps for e in step.events if isinstance(e, ToolResult)}
    assert results["call_2"].exit_code == 0
    assert "edited" in results["call_1"].text
    assert results["call_3"].text.startswith("https://docs.example.org/slug\nRootWebArea")
    call = next(e for step in linked.steps for e in step.events if isinstance(e, ToolCall))
    assert call.arguments["old_str"] == '"a"'  # quotes are the text's own where nothing was typed
    assert linked.outcome.resolved is True


def test_a_licence_that_is_given_replaces_the_sets_own() -> None:
    [run] = read(ROWS / "swe_gym.jsonl", licence="MIT", name="here.jsonl")
    assert (run.provenance.licence, run.provenance.file) == ("MIT", "here.jsonl")


def test_what_is_no_row_is_rejected_with_its_place(tmp_path: Path) -> None:
    good = (ROWS / "nebius_openhands.jsonl").read_text().splitlines()[0]
    path = tmp_path / "mixed.jsonl"
    empty = json.dumps({"trajectory_id": "x", "instance_id": "y", "trajectory": [], "resolved": 0})
    path.write_text("\n".join([good, '{"trajectory_id": 1, "tra', "[1, 2]", empty, good]) + "\n")
    found = list(read_source(path))
    assert [type(item).__name__ for item in found] == ["Trajectory", "Reject", "Reject", "Reject", "Trajectory"]
    rejects = [item for item in found if isinstance(item, Reject)]
    assert [(item.reason, item.provenance.row) for item in rejects if item.provenance] == [
        ("unreadable", 2), ("unreadable", 3), ("empty", 4),
    ]  # fmt: skip


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path) -> None:
    good = (ROWS / "swe_gym.jsonl").read_text().strip()
    path = tmp_path / "long.jsonl"
    path.write_text(good + "\n" + '{"messages": "' + "x" * (17 << 20) + '"}\n' + good + "\n")
    found = list(read_source(path))
    assert [item.reason if isinstance(item, Reject) else "read" for item in found] == ["read", "too_large", "read"]


def test_what_cannot_be_opened_is_a_reject_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "cut.parquet").write_bytes(parquet(ROWS / "swe_gym.jsonl", tmp_path / "whole").read_bytes()[:200])
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "noise").write_bytes(os.urandom(5000))
    (tmp_path / "link.jsonl").symlink_to(ROWS / "swe_gym.jsonl")
    for name in ("cut.parquet", "empty.jsonl", "noise", "link.jsonl"):
        [found] = list(read_source(tmp_path / name))
        assert isinstance(found, Reject)
        assert found.reason in ("unreadable", "empty"), name
    with pytest.raises(UsageError):
        list(read_source(tmp_path / "gone"))
    with pytest.raises(UsageError, match="no source called"):
        list(read_source(ROWS / "swe_gym.jsonl", "nonsense"))


def test_a_list_of_rows_is_read_like_lines(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (ROWS / "nebius_swe_agent.jsonl").read_text().splitlines()]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, indent=1))
    assert [one.content_hash for one in read(path)] == [
        one.content_hash for one in read(ROWS / "nebius_swe_agent.jsonl")
    ]


def test_chat_rows_that_no_set_claims_are_read_one_by_one(tmp_path: Path) -> None:
    rows = [{"messages": [{"role": "user", "content": f"Task {number}"}, {"role": "assistant", "content": "Done."}],
             "instance_id": f"some__thing-{number}", "resolved": number == 1} for number in range(3)]  # fmt: skip
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read(path)
    assert [one.task_text for one in found] == ["Task 0", "Task 1", "Task 2"]
    assert [one.outcome.resolved for one in found] == [False, True, False]
    assert {(one.provenance.source, one.provenance.licence, one.repo) for one in found} == {
        ("sessions", "", "some/thing")
    }
    table = tmp_path / "own.parquet"
    pq.write_table(pa.Table.from_pylist(rows), table)
    assert [one.content_hash for one in read(table)] == [one.content_hash for one in found]


def test_reading_is_the_same_from_another_folder(tmp_path: Path) -> None:
    copy = shutil.copy(ROWS / "swe_smith_xml.jsonl", tmp_path / "renamed.txt")
    assert msgspec.json.encode(read(Path(copy), name="a")) == msgspec.json.encode(
        read(ROWS / "swe_smith_xml.jsonl", name="a")
    )


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("django__django-11603", Task("django__django-11603", "django/django")),
        ("python__mypy-15976_0", Task("python__mypy-15976", "python/mypy")),
        ("a-b__c.d.0badcafe.func_pm__x1", Task("a-b__c.d.0badcafe.func_pm__x1", "a-b/c.d", "0badcafe")),
        ("my own task", Task("my own task")),
        (None, Task()),
    ],
)
def test_an_instances_id_says_its_repository(name: Any, task: Task) -> None:
    assert task_of(name) == task


def test_small_readings() -> None:
    assert [decided(value) for value in (True, 1, 0.0, "true", "False", 2, None, "maybe")] == [
        True, True, False, True, False, None, None, None,
    ]  # fmt: skip
    assert json_text('[{"a": null, "b": [1, null]}]') == '[{"b":[1,null]}]'
    assert json_text(None) == json_text([]) == ""
    assert last_block("a\n```\nx\n```\nb\n```py\ny\n```") == ("a\n```\nx\n```\nb", "y")
    assert last_block("no block ```here```") == ("no block ```here```", "")
    view = typed_call("str_replace_editor view /a/b.py --view_range 1 20").arguments
    assert view == {"command": "view", "path": "/a/b.py", "view_range": [1, 20]}
    assert typed_call("str_replace_editor view 'open").tool == "bash"
    assert source_called("SWE-bench/SWE-smith-trajectories").id == "swe_smith"
    assert len({row.id for row in SOURCES}) == len(SOURCES)
