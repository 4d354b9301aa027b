"""The whole of it as a user runs it: from files to samples, a card, one sample to look at; again, and it is all there."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from passdown.cli.main import cli


def _call(number: int, command: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {
        "role": "assistant", "content": f"Step {number}.",
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }  # fmt: skip


def _run(name: str) -> dict[str, Any]:
    turns = [
        (f"cat src/{name}.py", f"def {name}():\n    return 1\n"), ("python -m pytest -q", "1 failed in 0.01s"),
        (f"sed -i s/1/2/ src/{name}.py", ""), ("python -m pytest -q", "1 failed in 0.01s"),
        (f"sed -i s/2/3/ src/{name}.py", ""), ("python -m pytest -q", "1 passed in 0.01s"),
    ]  # fmt: skip
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You work in a repository."},
        {"role": "user", "content": f"`{name}()` must return 3. It is in src/{name}.py; the tests say so."},
    ]
    for number, (command, output) in enumerate(turns):
        messages += [_call(number, command), {"role": "tool", "tool_call_id": f"c{number}", "content": output}]
    return {"messages": [*messages, {"role": "assistant", "content": "Done: it returns 3."}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pipeline")
    (place / "runs").mkdir()
    for name in ("alpha", "beta", "gamma"):
        (place / f"runs/{name}.json").write_text(json.dumps(_run(name)))
    (place / "runs/copy.json").write_text(json.dumps(_run("alpha")))
    (place / "p.toml").write_text(
        '[[source]]\npath = "runs"\nlicence = "MIT"\n[export]\ntargets = ["parquet", "jsonl"]\n'
    )
    return place


def _passdown(*words: str) -> str:
    done = CliRunner().invoke(cli, ["data", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_from_files_to_samples(folder: Path) -> None:
    steps = json.loads(_passdown("pipeline", str(folder / "p.toml"), "--json"))["steps"]
    assert steps["decide"]["rejected"] == {"duplicate": 1}
    assert steps["build"]["rows"] == 3
    again = json.loads(_passdown("pipeline", str(folder / "p.toml"), "--json"))["steps"]
    assert {step["made"] for step in again.values()} == {0}, "what is finished is not done again"
    out = folder / "handoff-data"
    card = json.loads((out / "export/card.json").read_text())
    assert card["trajectories"] == 3
    assert card["counts"]["licence"] == {"MIT": card["samples"]}
    assert all(0 <= one["real"] <= one["exact"] <= one["cuts"] > 0 for one in card["replay"].values())
    assert "## How well the files at the cuts are known" in (out / "export/card.md").read_text()
    assert set(card["counts"]["view"]) == {"repo", "trace", "summary", "structured"}
    rows = [
        json.loads(line) for path in (out / "export/jsonl").glob("*.jsonl") for line in path.read_text().splitlines()
    ]
    assert len(rows) == card["samples"]
    for row in rows:
        given = "".join(str(message["content"]) for message in row["messages"][: row["prompt"]])
        assert "Done: it returns 3." not in given, "what came last is in no prompt"
        assert all(part == 0 for part in row["parts"][: row["prompt"]])


def test_parquet_has_real_columns(folder: Path) -> None:
    import pyarrow.parquet as pq

    _passdown("pipeline", str(folder / "p.toml"))
    files = sorted((folder / "handoff-data/export/parquet").glob("*.parquet"))
    rows = [row for path in files for row in pq.read_table(path).to_pylist()]
    assert {row["kind"] for row in rows} <= {"sft", "rl", "reconstruction", "echo", "plain"}
    assert all(row["messages"][0]["role"] == "system" and len(row["parts"]) == len(row["messages"]) for row in rows)


def test_a_sample_can_be_looked_at_and_the_card_printed(folder: Path) -> None:
    _passdown("pipeline", str(folder / "p.toml"))
    out = str(folder / "handoff-data")
    assert "[assistant | reconstruction]" in _passdown("inspect", out, "--kind", "reconstruction")
    assert "## Steps, and what was dropped" in _passdown("card", out)
    missing = CliRunner().invoke(cli, ["data", "inspect", out, "nobody"])
    assert missing.exit_code != 0


def test_the_steps_one_by_one_as_the_guide_has_them(folder: Path, tmp_path: Path) -> None:
    work, out = str(tmp_path / "work"), tmp_path / "out"
    _passdown("ingest", str(folder / "runs"), "-o", work, "--licence", "MIT")
    for step in ("points", "views", "perturb", "build"):
        _passdown(step, work)
    done = json.loads(_passdown("export", work, "-o", str(out), "--to", "parquet", "--json"))
    assert sum(done["samples"].values()) == json.loads(_passdown("card", work, "--json"))["samples"] > 0
    assert sorted(path.name for path in out.iterdir()) == sorted(["export.json", *done["files"]])
    assert json.loads((out / "export.json").read_text()) == done
    other = CliRunner().invoke(cli, ["data", "export", work, "-o", str(out), "--licence", "GPL-3.0-only", "--json"])
    assert json.loads(other.stdout)["samples"] == {}
    assert json.loads(other.stdout)["dropped"] == {"its licence was not asked for": sum(done["samples"].values())}
    assert [path.name for path in out.iterdir()] == ["export.json"], "what is not written again is gone"
    assert "its licence was not asked for" in _passdown("card", work)


def test_ingest_works_under_ray_or_says_what_that_needs(folder: Path, tmp_path: Path) -> None:
    """The rows are compared by `tests/cluster_check/run.py`, where Ray is installed."""
    words = ["data", "ingest", str(folder / "runs"), "-o", str(tmp_path / "work"), "--backend", "ray"]
    done = CliRunner().invoke(cli, words)
    if find_spec("ray") is None:
        assert done.exit_code != 0
        assert "extra `ray`" in str(done.exception) + done.output
    else:
        assert done.exit_code == 0
        assert list((tmp_path / "work/trajectories").glob("part-*.parquet"))


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of ten repositories."""
    place = tmp_path_factory.mktemp("ten")
    for number in range(10):
        (place / f"{number}.json").write_text(json.dumps({**_run(f"part{number}"), "repo": f"owner/name{number}"}))
    return place


def test_sides_are_drawn_as_the_user_says(ten: Path, tmp_path: Path) -> None:
    from passdown.data.engine.shards import read_batches, shards_in

    def sides(*words: str) -> list[str]:
        out = tmp_path / "-".join(("out", *words))
        _passdown("ingest", str(ten), "-o", str(out), *words)
        rows = [row for shard in shards_in(out / "trajectories") for batch in read_batches(shard) for row in batch]
        assert {row.repo for row in rows} == {f"owner/name{number}" for number in range(10)}
        return [row.split for row in sorted(rows, key=lambda row: row.repo)]

    held = ("--validation", "0.3", "--test", "0.3")
    assert set(sides(*held)) == {"train", "validation", "test"}
    assert sides(*held) != sides(*held, "--split-seed", "5")
    assert set(sides("--validation", "0", "--test", "0")) == {"train"}
    refused = CliRunner().invoke(cli, ["data", "ingest", str(ten), "-o", str(tmp_path), "--test", "0.97"])
    assert refused.exit_code == 2
    assert "leave nothing to train on" in refused.output


def test_the_card_says_which_side_is_empty(ten: Path, tmp_path: Path) -> None:
    short = f'[[source]]\npath = "{ten}"\n[views]\nnames = ["repo"]\n[perturb]\nper_cut = 0\n[export]\ntargets = []\n'

    def card(validation: float, test: float) -> tuple[list[dict[str, int]], str]:
        (tmp_path / "p.toml").write_text(f"{short}[split]\nvalidation = {validation}\ntest = {test}\n")
        _passdown("pipeline", str(tmp_path / "p.toml"))
        out = str(tmp_path / "handoff-data")
        return list(json.loads(_passdown("card", out, "--json"))["sides"].values()), _passdown("card", out)

    drawn, told = card(0.0, 0.0)
    assert drawn == [{"train": 10, "validation": 0, "test": 0}]
    assert "none is in validation or in test" in told
    drawn, told = card(0.4, 0.4)
    assert min(drawn[0].values()) > 0
    assert "none is in" not in told
    (tmp_path / "p.toml").write_text(f"{short}[split]\nvalidation = 0.5\ntest = 0.5\n")
    refused = CliRunner().invoke(cli, ["data", "pipeline", str(tmp_path / "p.toml")])
    assert "leave nothing to train on" in f"{refused.output}{refused.exception}"


def test_a_file_that_two_sources_name_is_read_once(tmp_path: Path) -> None:
    from passdown.data.engine.pipeline import Pipeline, SourceTable
    from passdown.data.engine.shards import read_batches, shards_in
    from passdown.data.engine.steps import list_sources

    (tmp_path / "runs").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / "runs" / name).write_text("{}\n")
    sources = [SourceTable(path="runs/b.jsonl", licence="MIT"), SourceTable(path="runs", licence="Apache-2.0")]
    assert list_sources(Pipeline(source=sources), tmp_path, tmp_path) == 2
    (shard,) = shards_in(tmp_path / "files")
    listed = [msgspec.json.decode(row.record) for batch in read_batches(shard) for row in batch]
    assert [(one["name"], one["licence"]) for one in listed] == [("b.jsonl", "MIT"), ("a.jsonl", "Apache-2.0")]


def test_a_new_commit_is_read_again(tmp_path: Path) -> None:
    import subprocess

    from passdown.data.engine.ingest import find_inputs

    def git(*words: str) -> None:
        who = ("-c", "user.name=D", "-c", "user.email=d@example.com")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    before = find_inputs([tmp_path], "commits")
    assert before == find_inputs([tmp_path], "commits")
    git("commit", "-q", "--allow-empty", "-m", "two")
    assert before != find_inputs([tmp_path], "commits")
