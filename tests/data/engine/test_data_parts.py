"""A large file of rows is read in parts, by several processes: the same rows as from the whole of it."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd

from passdown.data.engine.decide import signing_stage
from passdown.data.engine.ingest import find_inputs, ingest_stage, list_files
from passdown.data.engine.run import Ran, run_stage
from passdown.data.engine.shards import read_batches, set_hash, shards_in
from passdown.data.records import Reject
from passdown.data.sources.parts import parts_of
from passdown.data.sources.table import read_source


def _messages(number: int) -> list[dict[str, Any]]:
    function = {"name": "execute_bash", "arguments": json.dumps({"command": f"cat src/m{number}.py"})}
    return [
        {"role": "user", "content": f"Mend bug {number}.\u2028Thanks."},
        {"role": "assistant", "content": "x" * (number * 37 % 400),
         "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": "a = 1\n"},
        {"role": "assistant", "content": "Done."},
    ]  # fmt: skip


def _published(number: int) -> dict[str, Any]:
    return {"trajectory_id": f"t{number}", "instance_id": f"own__repo-{number}", "repo": "own/repo",
            "trajectory": _messages(number), "model_patch": "", "exit_status": "submit", "resolved": 1}  # fmt: skip


def _chat(number: int) -> dict[str, Any]:
    return {"messages": _messages(number), "id": f"r{number}"}


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write JSON lines with all that may stand between rows, and a last line that is cut off."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    lines[3:3] = ["", " \t", '{"broken": ']
    lines[9:9] = ["\r"]
    path.write_text("\n".join(lines) + "\n" + lines[0][:200], "utf-8", newline="")


@pytest.mark.parametrize("make", [_published, _chat])
@pytest.mark.parametrize("size", [1, 900, 4000])
def test_parts_of_lines_give_the_rows_of_the_whole(tmp_path: Path, make: Any, size: int) -> None:
    path = tmp_path / "rows.jsonl"
    _write(path, [make(number) for number in range(20)])
    parts = parts_of(path, size)
    assert len(parts) > 2
    assert (parts[0].begin, parts[-1].end) == (0, path.stat().st_size)
    assert all(one.end == other.begin for one, other in pairwise(parts))
    whole = list(read_source(path))
    assert sum(not isinstance(made, Reject) for made in whole) >= 20
    assert [made for part in parts for made in read_source(path, part=part)] == whole


@pytest.mark.parametrize("make", [_published, _chat])
def test_row_groups_give_the_rows_of_the_whole(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist([make(number) for number in range(20)]), path, row_group_size=3)
    parts = parts_of(path, 2000)
    assert len(parts) > 2
    whole = list(read_source(path))
    assert len(whole) == 20
    assert [made for part in parts for made in read_source(path, part=part)] == whole


def test_a_large_file_is_several_shards(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    _write(tmp_path / "in/a.jsonl", [_published(number) for number in range(20)])
    _write(tmp_path / "in/b.jsonl", [_chat(number) for number in range(20)])
    (tmp_path / "in/one.json").write_text(json.dumps({"messages": _messages(99) * 30}))
    (tmp_path / "in/torn.parquet").write_bytes(b"PAR1 and no more")
    inputs = find_inputs([tmp_path / "in"])
    made = []
    for name, size in (("whole", 1 << 30), ("parts", 4000)):
        list_files(inputs, tmp_path / name / "files", size)
        run_stage(ingest_stage(), tmp_path / name / "files", tmp_path / name / "read", workers=2)
        made.append((set_hash([tmp_path / name / "read"]), len(shards_in(tmp_path / name / "read"))))
    assert made[0][0] == made[1][0]
    assert (made[0][1], made[1][1] > 6) == (1, True)


def test_what_is_no_file_of_rows_has_no_parts(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(_chat(1)))
    assert parts_of(path, 10) == []
    path.write_text("")
    assert parts_of(path, 10) == []


@pytest.fixture(params=[gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def packed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with the list of one compressed file of 20 rows, and what is read of it when it is plain."""
    (tmp_path / "in").mkdir()
    _write(tmp_path / "in/a.jsonl", [_published(number) for number in range(20)])
    inputs = find_inputs([tmp_path / "in"])
    list_files(inputs, tmp_path / "plain/files")
    run_stage(ingest_stage(), tmp_path / "plain/files", tmp_path / "plain/read")
    data = (tmp_path / "in/a.jsonl").read_bytes()
    (tmp_path / "in/a.jsonl").write_bytes(request.param(data))
    list_files(find_inputs([tmp_path / "in"]), tmp_path / "files", 4000)
    assert len(shards_in(tmp_path / "files")) == 1  # where it could be cut, nobody knows before it was read
    return tmp_path


def _read(folder: Path, piece_bytes: int = 6000) -> Ran:
    return run_stage(ingest_stage(), folder / "files", folder / "read", piece_bytes=piece_bytes)


def test_one_compressed_file_is_several_shards_as_well(packed: Path) -> None:
    first = _read(packed)
    shards = shards_in(packed / "read")
    assert len(shards) == first.made > 3
    assert all(sum(len(row.record) for batch in read_batches(path) for row in batch) < 12_000 for path in shards)
    assert set_hash([packed / "read"]) == set_hash([packed / "plain/read"])
    assert (first.read, first.rejected.keys()) == (1, {"unreadable"})
    rejects = list((packed / "read/rejects").glob("*.parquet"))
    assert [sum(map(len, read_batches(path))) for path in rejects] == [sum(first.rejected.values())]
    again = _read(packed)
    assert (again.made, again.kept, again.rows, again.rejected) == (0, first.made, first.rows, first.rejected)
    assert list((packed / "read/rejects").glob("*.parquet")) == rejects


def test_pieces_are_cut_again_without_taking_each_other_s_names(packed: Path) -> None:
    _read(packed, 12_000)
    few = shards_in(packed / "read")
    ran = run_stage(signing_stage(), packed / "read", packed / "signed", piece_bytes=1)
    run_stage(signing_stage(), packed / "read", packed / "whole")
    assert len(shards_in(packed / "signed")) == ran.rows > 2 * len(few) > 3
    assert set_hash([packed / "signed"]) == set_hash([packed / "whole"])
    assert {path.name for path in shards_in(packed / "whole")} == {path.name for path in few}


def test_where_one_piece_is_gone_or_damaged_all_are_made_again(packed: Path) -> None:
    first = _read(packed)
    was = set_hash([packed / "read"])
    for harm in (Path.unlink, lambda path: path.write_bytes(b"PAR1")):
        harm(shards_in(packed / "read")[2])
        assert (_read(packed).made, set_hash([packed / "read"])) == (first.made, was)
    lines = (packed / "read/manifest.jsonl").read_bytes().splitlines(keepends=True)
    (packed / "read/manifest.jsonl").write_bytes(b"".join(lines[1:]))  # as a run leaves it that was killed in between
    assert _read(packed).made == first.made
    list_files([], packed / "files")
    (packed / "in/a.jsonl").unlink()
    _write(packed / "in/a.jsonl", [_published(1)])
    list_files(find_inputs([packed / "in"]), packed / "files")
    _read(packed)
    assert [path.name for path in shards_in(packed / "read")] == ["part-00000.parquet"]
