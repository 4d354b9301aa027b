"""The engine: shards are whole or absent, what is finished is kept, and any number of processes gives the same rows."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from passdown.cli.main import cli
from passdown.data.arrow import arrow
from passdown.data.engine.decide import decide, deciding_stage, signing_stage
from passdown.data.engine.ingest import find_inputs, ingest_stage, list_files, trajectory_row
from passdown.data.engine.manifest import Manifest
from passdown.data.engine.pipeline import FilterTable, read_pipeline
from passdown.data.engine.processes import Processes
from passdown.data.engine.run import run_stage
from passdown.data.engine.shards import BATCH_BYTES, Row, read_batches, set_hash, shards_in, written
from passdown.data.engine.stages import quality_stage, trajectory_in
from passdown.data.engine.whole import run_pipeline
from passdown.data.sources.table import SOURCES
from passdown.errors import ConflictError, FormatError, PassdownError, UsageError
from passdown.io.files import lock


@pytest.fixture
def shelf(tmp_path: Path, script: Any) -> Path:
    """Six shards of five trajectories each; every fifth does no work and will be dropped."""
    folder = tmp_path / "read"
    for part in range(6):
        with written(folder / f"part-{part:05}.parquet") as writer:
            for number in range(5):
                run = script().asks(f"Mend bug {part}-{number}.")
                if number != 4:
                    run.runs(f"cat src/m{number}.py", "x = 1\n").runs(f"sed -i s/1/{part}/ src/m{number}.py")
                    run.runs("python -m unittest", f"Ran {part} tests\nOK\n")
                writer.write(trajectory_row(run.says("Done.").trajectory(repo=f"owner/repo{number}")))
    return folder


def _rows(folder: Path) -> list[Row]:
    return [row for path in shards_in(folder) for batch in read_batches(path) for row in batch]


def test_any_number_of_processes_gives_the_same_rows(shelf: Path, tmp_path: Path) -> None:
    stage = quality_stage(FilterTable())
    one = run_stage(stage, shelf, tmp_path / "one")
    two = run_stage(stage, shelf, tmp_path / "two", workers=2)
    assert (one.read, one.rows, one.rejected) == (30, 24, {"too_short": 6}) == (two.read, two.rows, two.rejected)
    assert set_hash([tmp_path / "one"]) == set_hash([tmp_path / "two"])
    assert (tmp_path / "one/manifest.jsonl").read_bytes() == (tmp_path / "two/manifest.jsonl").read_bytes()
    sides = {(row.repo, row.split) for row in _rows(tmp_path / "one")}
    assert len(sides) == 4, "a repository stands on one side"


def test_every_dropped_row_is_kept_with_its_reason(shelf: Path, tmp_path: Path) -> None:
    run_stage(quality_stage(FilterTable()), shelf, tmp_path / "out")
    rejects = _rows(tmp_path / "out/rejects")
    assert [row.kind for row in rejects] == ["too_short"] * 6
    dropped = {row.trajectory_id for row in rejects}
    assert dropped | {row.id for row in _rows(tmp_path / "out")} == {row.id for row in _rows(shelf)}


def test_what_is_finished_is_kept_and_what_changed_is_made_again(shelf: Path, tmp_path: Path) -> None:
    stage, out = quality_stage(FilterTable()), tmp_path / "out"
    run_stage(stage, shelf, out)
    before = {path.name: path.stat().st_mtime_ns for path in shards_in(out)}
    again = run_stage(stage, shelf, out)
    assert (again.made, again.kept) == (0, 6)
    assert {path.name: path.stat().st_mtime_ns for path in shards_in(out)} == before
    (out / "part-00002.parquet").write_bytes(b"half of a fi")
    (out / "part-00004.parquet").unlink()
    assert run_stage(stage, shelf, out).made == 2
    assert run_stage(quality_stage(FilterTable(min_steps=2)), shelf, out).made == 6, "other parameters"
    with written(shelf / "part-00000.parquet") as writer:
        writer.write(_rows(shelf)[7])
    assert run_stage(quality_stage(FilterTable(min_steps=2)), shelf, out).made == 1, "another input"
    (shelf / "part-00005.parquet").unlink()
    run_stage(quality_stage(FilterTable(min_steps=2)), shelf, out)
    assert len(shards_in(out)) == 5, "a shard of an input that is gone goes too"


def test_a_torn_manifest_costs_only_the_shard_it_was_about(shelf: Path, tmp_path: Path) -> None:
    stage, out = quality_stage(FilterTable()), tmp_path / "out"
    run_stage(stage, shelf, out)
    path = out / "manifest.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    assert len(Manifest(out).entries) == 5
    again = run_stage(stage, shelf, out)
    assert (again.made, again.kept) == (1, 5)


def test_a_killed_process_is_told_of_and_new_ones_are_started(shelf: Path, tmp_path: Path) -> None:
    with Processes(2) as processes:
        with pytest.raises(PassdownError, match="was killed"):
            list(processes.results(signal.raise_signal, [signal.SIGKILL, signal.SIGKILL]))
        assert run_stage(quality_stage(FilterTable()), shelf, tmp_path / "out", processes=processes).made == 6


def test_two_runs_in_one_folder_do_not_meet(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with lock(tmp_path / "out/.lock"), pytest.raises(ConflictError):
        run_stage(quality_stage(FilterTable()), shelf, tmp_path / "out")


def test_a_file_that_is_no_shard_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "part-00000.parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(FormatError, match="no shard"):
        run_stage(quality_stage(FilterTable()), tmp_path, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.parquet"))
    with pytest.raises(UsageError, match="no shards"):
        shards_in(tmp_path / "nowhere")


def test_a_reader_holds_a_few_rows_whatever_the_size_of_the_shard(tmp_path: Path) -> None:
    path, chance = tmp_path / "part-00000.parquet", random.Random(1)
    rows = [Row(id=f"{number}", kind="made", record=chance.randbytes(400_000)) for number in range(60)]
    with written(path) as writer:
        for row in rows:
            writer.write(row)
    before = arrow().total_allocated_bytes()
    found, most = [], 0
    for batch in read_batches(path):
        most = max(most, arrow().total_allocated_bytes() - before)
        assert sum(len(row.record) for row in batch) <= BATCH_BYTES
        found += batch
    assert found == rows
    assert most < 8_000_000 < path.stat().st_size, "neither all of the file nor all of it unpacked"


def test_copies_are_dropped_whatever_their_order(tmp_path: Path, script: Any) -> None:
    one = script().asks("Mend it.").runs("cat a.py", "x").runs("pytest -q", "1 passed").says("Done.")
    other = script().asks("Another thing.").runs("cat b.py", "x").runs("pytest -q", "2 passed").says("Done.")
    rows = [trajectory_row(run.trajectory(source=name)) for name in ("first", "second") for run in (one, other)]
    kept = []
    for number, order in enumerate((rows, rows[::-1])):
        folder = tmp_path / f"{number}"
        with written(folder / "in/part-00000.parquet") as writer:
            for row in order:
                writer.write(row)
        run_stage(signing_stage(), folder / "in", folder / "signed")
        decided = decide(folder / "signed", folder / "gone.sqlite", FilterTable())
        ran = run_stage(deciding_stage(decided), folder / "in", folder / "out")
        assert ran.rejected == {"duplicate": 2}
        kept.append({(row.id, row.source) for row in _rows(folder / "out")})
    assert kept[0] == kept[1]
    assert len(kept[0]) == 2


def test_files_are_read_in_processes_and_a_changed_one_again(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    row = {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello to you."}]}
    for number in range(3):
        (folder / f"{number}.json").write_text(json.dumps(row | {"id": number}))
    (folder / ".hidden.json").write_text("{}")
    (folder / "noise.bin").write_bytes(b"\x00\x01\x02")
    inputs = find_inputs([folder], licence="MIT")
    assert [entry.name for entry in inputs] == ["0.json", "1.json", "2.json", "noise.bin"]
    list_files(inputs, tmp_path / "list")
    ran = run_stage(ingest_stage(), tmp_path / "list", tmp_path / "read")
    assert (ran.rows, sum(ran.rejected.values())) == (3, 1)
    found = [trajectory_in(row) for row in _rows(tmp_path / "read")]
    assert {run.provenance.licence for run in found} == {"MIT"}
    assert {run.provenance.file for run in found} == {"0.json", "1.json", "2.json"}
    assert run_stage(ingest_stage(), tmp_path / "list", tmp_path / "read").made == 0
    (folder / "1.json").write_text(json.dumps(row | {"id": 11}))
    list_files(find_inputs([folder], licence="MIT"), tmp_path / "list")
    assert run_stage(ingest_stage(), tmp_path / "list", tmp_path / "read").made == 1


def test_a_wrong_pipeline_file_names_the_key(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text('[[source]]\npath = "x"\n[points]\nper_trajectry = 3\n')
    with pytest.raises(FormatError, match="per_trajectry"):
        read_pipeline(file)


def test_a_list_that_was_killed_half_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "list").mkdir()
    (tmp_path / "list/.part-00000.parquet.77.tmp").write_bytes(b"PAR1")
    (tmp_path / "list/part-00007.parquet").write_bytes(b"PAR1")
    list_files([], tmp_path / "list")
    assert [path.name for path in (tmp_path / "list").iterdir() if path.name != ".lock"] == []


def test_the_example_pipeline_can_be_used_and_shows_the_defaults(tmp_path: Path) -> None:
    from passdown.cli.data import EXAMPLE
    from passdown.data.engine.pipeline import Pipeline, SourceTable

    file = tmp_path / "p.toml"
    file.write_text(EXAMPLE)
    assert read_pipeline(file) == Pipeline(source=[SourceTable(runs=["units-a planner"])])


def test_the_example_pipeline_runs_as_it_is_printed(tmp_path: Path) -> None:
    printed = CliRunner().invoke(cli, ["data", "pipeline", "--example"])
    file = tmp_path / "pipeline.toml"
    file.write_text(printed.stdout)
    ran = CliRunner().invoke(cli, ["data", "pipeline", str(file), "--json"], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    steps = json.loads(ran.stdout)["steps"]
    assert (steps["read"]["rows"], steps["build"]["rows"]) == (1, 1)
    assert json.loads((tmp_path / "handoff-data/export/card.json").read_bytes())["samples"] >= 20
    assert list((tmp_path / "handoff-data/export/parquet").glob("*.parquet"))
    listed = [shard.read_bytes() for shard in (tmp_path / "handoff-data/read").glob("*.parquet")]
    again = CliRunner().invoke(cli, ["data", "pipeline", str(file), "--json"], catch_exceptions=False)
    assert [one["made"] for one in json.loads(again.stdout)["steps"].values()] == [0] * len(steps)
    assert listed == [shard.read_bytes() for shard in (tmp_path / "handoff-data/read").glob("*.parquet")]


def test_a_folder_that_is_not_there_is_answered_with_runs_that_need_none(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.toml"
    file.write_text('[[source]]\npath = "trajectories"\n')
    with pytest.raises(UsageError, match=r"trajectories: there is no such file or folder") as raised:
        run_pipeline(file)
    assert 'runs = ["*"]' in raised.value.next_step


@pytest.mark.parametrize("source", ["", 'path = "a"\nruns = ["*"]', "runs = []", 'runs = ["*"]\nformat = "commits"'])
def test_a_source_names_files_or_runs(tmp_path: Path, source: str) -> None:
    file = tmp_path / "pipeline.toml"
    file.write_text(f"[[source]]\n{source}\n")
    with pytest.raises(FormatError, match="runs"):
        read_pipeline(file)


def test_the_help_of_ingest_lists_every_source() -> None:
    said = CliRunner().invoke(cli, ["data", "ingest", "--help"]).stdout
    assert [source.id for source in SOURCES if source.id not in said] == []
