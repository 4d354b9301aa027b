"""Setting an item to done changes the characters of its status and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.model.workbench import Task
from passdown.workbench.board import read_board
from passdown.workbench.board_write import set_status
from passdown.workbench.document import MalformedError, Notes, decode_json
from passdown.workbench.features import read_features


def set_done(data: bytes, path: str, ids: set[str]) -> bytes:
    """Mark the items of these ids as done."""
    return set_status(data, path, dict.fromkeys(ids, "done"))


def tasks(data: bytes, path: str) -> tuple[Task, ...]:
    return read_features(decode_json(data), Notes(path))[0] if "feature" in path else read_board(data, Notes(path))


@pytest.mark.parametrize(("path", "before", "after"), [
    ("b.json", '[{"id": "T-1", "status": "todo"}]', '[{"id": "T-1", "status": "done"}]'),
    ("b.json", '[\r\n\t{ "status"  :"blocked" ,"id":"T-1" } ,\r\n\t{"id":"T-2"}\r\n]\r\n\r\n',
               '[\r\n\t{ "status"  :"done" ,"id":"T-1" } ,\r\n\t{"id":"T-2"}\r\n]\r\n\r\n'),
    ("b.json", '{"tasks": [{"id": "T-1", "goal": "é\\u00e9", "status": "In Progress", "n": 1.0}], "x": {"status": "todo"}}',
               '{"tasks": [{"id": "T-1", "goal": "é\\u00e9", "status": "done", "n": 1.0}], "x": {"status": "todo"}}'),
    ("b.json", '[{"id":"T-0","status":"completed"},{"id":"T-1","status":"pending"}]',
               '[{"id":"T-0","status":"completed"},{"id":"T-1","status":"completed"}]'),
    ("b.json", '[{"id": "T-1", "goal": "g"}]', '[{"id": "T-1", "goal": "g", "status": "done"}]'),
    ("b.json", '\ufeff[{"id": "T-1", "status": "todo"}]\n', '\ufeff[{"id": "T-1", "status": "done"}]\n'),
    ("b.json", '{"id": "T-1", "sub": {"id": "T-1", "status": "todo"}, "status": "todo"}',
               '{"id": "T-1", "sub": {"id": "T-1", "status": "todo"}, "status": "done"}'),
    ("b.json", '[{"id": "T-1", "goal": "\\"status\\": \\"todo\\"", "status": "todo"}]',
               '[{"id": "T-1", "goal": "\\"status\\": \\"todo\\"", "status": "done"}]'),
    ("b.jsonl", '{"id": "T-2", "status": "todo"}\n\n{"id": "T-1", "status": "todo"}\n{"id": "T-3", "sta',
                '{"id": "T-2", "status": "todo"}\n\n{"id": "T-1", "status": "done"}\n{"id": "T-3", "sta'),
    ("b.json", '{"id": "T-1", "status": "todo"}\n{"id": "T-2", "status": "todo"}\n',
               '{"id": "T-1", "status": "done"}\n{"id": "T-2", "status": "todo"}\n'),
    ("feature_list.json", '{"active": "T-1", "features": [{"id": "T-1", "passes": false, "steps": ["a"]}]}',
                          '{"active": "T-1", "features": [{"id": "T-1", "passes": true, "steps": ["a"]}]}'),
    ("feature_list.json", '[{"description": "d", "passes": false, "id": "T-1"}]',
                          '[{"description": "d", "passes": true, "id": "T-1"}]'),
])  # fmt: skip
def test_only_the_status_changes(path: str, before: str, after: str) -> None:
    data = set_done(before.encode(), path, {"T-1"})
    assert data.decode() == after
    assert next(task for task in tasks(data, path) if task.id == "T-1").status == "done"
    assert set_done(data, path, {"T-1"}) == data


def test_an_item_without_an_id_is_known_by_its_text() -> None:
    data = b'[{"description": "Log in", "passes": false}, {"description": "Log out", "passes": false}]'
    name = tasks(data, "feature_list.json")[1].id
    assert set_done(data, "feature_list.json", {name}) == data[:-7] + b"true}]"


def test_of_two_items_with_one_id_the_first_counts_as_for_the_reader() -> None:
    data = b'[{"id": "T-1", "status": "todo"}, {"id": "T-1", "status": "todo"}]'
    assert set_done(data, "b.json", {"T-1"}) == data.replace(b"todo", b"done", 1)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[", b'[{"id": "T-1"', b"[1, 2", b'{"id": 1 "x"}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_board_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedError):
        set_done(data, "b.json", {"T-1"})


WORD = st.text('aé"\\ \n{}[]:,', max_size=6)
EXTRA = st.dictionaries(
    st.sampled_from(["x", "y", "notes"]),
    st.recursive(st.none() | st.integers() | WORD, st.lists, max_leaves=4),
    max_size=3,
)
STATUS = st.sampled_from(["todo", "in_progress", "blocked", "done"])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(STATUS, EXTRA), min_size=1, max_size=5),
    st.sets(st.integers(0, 4)),
    st.sampled_from([None, 0, 2, "\t"]),
    st.sampled_from([(",", ":"), (" , ", " : "), (", ", ": ")]),
    st.sampled_from(["list", "tasks"]),
)
def test_any_board_keeps_everything_but_the_statuses(
    items: list[tuple[str, dict[str, Any]]], chosen: set[int], indent: Any, separators: tuple[str, str], shape: str
) -> None:
    rows = [{"id": f"T-{n}", **extra, "status": status, "goal": "g"} for n, (status, extra) in enumerate(items)]
    value: Any = rows if shape == "list" else {"version": 1, "tasks": rows, "end": [{"id": "T-0", "status": "todo"}]}
    data = json.dumps(value, indent=indent, separators=separators, ensure_ascii=False).encode()
    ids = {f"T-{n}" for n in chosen}
    for row in rows:
        row["status"] = "done" if row["id"] in ids else row["status"]
    assert (
        set_done(data, "b.json", ids)
        == json.dumps(value, indent=indent, separators=separators, ensure_ascii=False).encode()
    )
