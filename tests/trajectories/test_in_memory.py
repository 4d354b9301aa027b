"""Trajectories that are at hand as bytes, and where the items of their lists stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.model.session import SessionRef
from passdown.trajectories.document import decode_list, items, open_rows
from passdown.trajectories.endings import ending
from passdown.trajectories.table import FORMATS, Format, reader_of

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.id)
def test_a_row_at_hand_gives_what_its_file_gives(form: Format) -> None:
    reader, read = reader_of(form), 0
    for path in sorted((FIXTURES / form.id).iterdir()):
        if not path.is_file() or path.suffix not in (".json", ".jsonl", ".traj"):
            continue
        rows = list(open_rows(path, listed=form.id == "atif").rows)
        if len(rows) == 1 and rows[0].data is not None:
            ref = SessionRef(agent=form.id, path=str(path), session_id="")
            assert list(reader.read_row(rows[0], path)) == list(reader.read(ref)), path
            read += 1
    assert read


spaces = st.text(" \n\t\r", max_size=3)
values = st.sampled_from(['{"a": 1}', "[1, 2]", "[[3]]", '"x,[y"', "7", "{}", "[]"])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(spaces, values, spaces), max_size=6), spaces)
def test_every_item_stands_where_it_is_said_to(parts: list[tuple[str, str, str]], before: str) -> None:
    data = (before + "[" + ",".join(left + value + right for left, value, right in parts) + "]").encode()
    found = list(items(data, decode_list(data), base=100))
    assert [part.data.decode() for part in found] == [value for _, value, _ in parts]
    offsets = [part.offset - 100 for part in found]
    assert all(data[at : at + len(part.data)] == part.data for at, part in zip(offsets, found, strict=True))
    assert offsets == sorted(set(offsets))


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("x\nCommand timed out after 30 s", "timeout"), ("[It was CANCELLED because it took more than 5 s]", "timeout"),
        ("It was cancelled because it took more than 5 s", "timeout"), ("EXECUTION TIMED OUT", "timeout"),
        ("The process is still alive", "running"), ("It has no new output after 10 s", "running"), ("done", "unknown"),
        ("a\nExit Code: 3\n", "failed"), ("a\n[Command finished with exit code 0]", "ok"),
    ],
)  # fmt: skip
def test_the_end_of_a_command_is_told_from_its_text(text: str, outcome: str) -> None:
    assert ending("run", text).outcome == outcome
    assert ending("read", "File read; the command timed out after that").outcome == "ok"
