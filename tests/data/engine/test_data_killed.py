"""A pipeline that is killed at random moments and run again, with another number of workers, gives the same samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from passdown.data.engine.outputs import Exported, export
from passdown.data.engine.shards import set_hash
from passdown.data.engine.whole import run_pipeline

KILLER = Path(__file__).with_name("killer.py")
STEPS = ("read", "quality", "signed", "trajectories", "points", "views", "perturbed", "samples")


def _run(name: str, turns: int) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"`{name}()` must return {turns}: see src/{name}.py."}
    ]
    for number in range(turns):
        command = f"sed -i s/{number}/{number + 1}/ src/{name}.py" if number % 2 else f"cat src/{name}.py"
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        output = "" if number % 2 else f"def {name}():\n    return {number}\n"
        messages.append({"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    return {"messages": [*messages, {"role": "assistant", "content": "Done."}]}


def _place(folder: Path) -> Path:
    """Two shards of files: a few runs to work on, many that are too short and dropped."""
    (folder / "runs").mkdir(parents=True)
    for number in range(70):
        run = _run(f"name_{number}", 6 if number % 15 == 0 or number in (7, 9) else 1)
        (folder / f"runs/{number}.json").write_text(json.dumps(run))
    (folder / "p.toml").write_text(
        '[[source]]\npath = "runs"\n[points]\nper_trajectory = 2\n[perturb]\nper_cut = 1\n'
        '[export]\ntargets = ["parquet"]\n'
    )
    return folder / "p.toml"


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = _place(tmp_path_factory.mktemp("wanted"))
    run_pipeline(file)
    export(file.parent / "handoff-data", "jsonl", file.parent / "one")
    return file.parent


def test_an_export_in_two_processes_writes_the_same_files(wanted: Path, tmp_path: Path) -> None:
    one = json.loads((wanted / "one/export.json").read_text())
    two = export(wanted / "handoff-data", "jsonl", tmp_path, workers=2)
    assert two == msgspec.convert(one, Exported)
    assert len(two.files) > 1
    assert {name: (tmp_path / name).read_bytes() for name in two.files} == {
        name: (wanted / "one" / name).read_bytes() for name in one["files"]
    }


@pytest.mark.parametrize(("workers", "kills"), [(1, 10), (2, 3)])
def test_killed_at_random_moments_the_samples_are_the_same(
    wanted: Path, tmp_path: Path, workers: int, kills: int
) -> None:
    file = _place(tmp_path / "killed")
    done = subprocess.run(
        [sys.executable, str(KILLER), str(file), str(kills), str(workers), "7"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["kills"]
    assert len(told) == kills
    assert len({kill["folders"] for kill in told}) > 1, "not all in the same step"
    assert all(kill["gone"] for kill in told), "a worker outlives the run that it worked for"
    ours, theirs = wanted / "handoff-data", file.parent / "handoff-data"
    for step in STEPS:
        assert set_hash([theirs / step]) == set_hash([ours / step]), step
        assert set_hash([theirs / step / "rejects"]) == set_hash([ours / step / "rejects"]), step
    exported = {path.name: path.read_bytes() for path in (ours / "export/parquet").iterdir()}
    assert {path.name: path.read_bytes() for path in (theirs / "export/parquet").iterdir()} == exported
    assert (theirs / "export/card.json").read_bytes() == (ours / "export/card.json").read_bytes()
    assert not list(theirs.rglob(".part-*.tmp"))
