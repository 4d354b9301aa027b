"""Exported task folders, really judged: as they were left they fail, with their solution they pass, and damage is told."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from passdown.data.engine.outputs import export
from passdown.data.engine.shards import read_batches, shards_in
from passdown.data.engine.stages import cuts_in
from passdown.data.export.harbor import environment, write_harbor
from passdown.data.export.patch import patch_of
from passdown.data.export.state import State
from passdown.data.export.written import How
from passdown.data.perturb.identity import packet_named_in
from passdown.data.perturb.table import perturb
from passdown.data.records import Perturbed
from passdown.data.samples.render import Rendered, render


@pytest.fixture(scope="module")
def tasks(worked: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp("tasks")
    made = export(worked, "harbor", out)
    found = sorted(path.parent for path in out.glob("*/*/task.toml"))
    assert len(found) == sum(made.samples.values()) > 0
    return found


def _laid_out(task: Path, home: Path) -> Path:
    """Do what the Dockerfile says, without docker."""
    tree = home / "tree"
    tree.mkdir()
    for line in (task / "environment/Dockerfile").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "COPY":
            shutil.copytree(task / "environment" / rest.split()[0], tree, dirs_exist_ok=True)
        elif word == "RUN":
            argv = json.loads(rest) if rest.startswith("[") else ["/bin/sh", "-c", rest]
            subprocess.run(argv, cwd=tree, check=True)
        else:
            assert word in ("FROM", "WORKDIR")
    return tree


def _run(script: Path, tree: Path) -> None:
    environ = {**os.environ, "PASSDOWN_TREE": str(tree), "PASSDOWN_LOGS": str(tree.parent / "logs")}
    subprocess.run([str(script)], env=environ, check=True, stdout=subprocess.DEVNULL)


def _reward(task: Path, tree: Path) -> dict[str, Any]:
    _run(task / "tests/test.sh", tree)
    made: dict[str, Any] = json.loads((tree.parent / "logs/reward.json").read_text())
    return made


def test_hidden_tests_fail_on_what_was_left_and_pass_with_the_solution(tasks: list[Path], tmp_path: Path) -> None:
    task = next(task for task in tasks if (task / "environment/left").is_dir())
    tree = _laid_out(task, tmp_path)
    before = _reward(task, tree)
    assert before["reward"] == 0
    assert before["solved"] < 1
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tree, check=True, capture_output=True, text=True)
    assert status.stdout, "what the predecessor left is not committed"
    log = subprocess.run(["git", "log", "--oneline"], cwd=tree, check=True, capture_output=True, text=True)
    assert len(log.stdout.splitlines()) == 1
    _run(task / "solution/solve.sh", tree)
    assert _reward(task, tree) == {"reward": 1, "solved": 1.0, "kept": 1.0}


def test_what_was_staged_is_in_the_index_and_not_in_the_tree(tmp_path: Path) -> None:
    state = State(
        base=dict.fromkeys(("a.py", "b.py", "c.py", "d.py"), b"1\n"), tree={"a.py": b"3\n", "b.py": b"1\n", "d.py": b"2\n"},
        left={"a.py": b"3\n", "c.py": None, "d.py": b"2\n"}, solution={}, hidden={}, fail_to_pass=(), pass_to_pass=(),
        staged={"a.py": b"2\n", "b.py": b"2\n"},
    )  # fmt: skip
    for name, data in environment(state, "/app").items():
        (tmp_path / "task" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "task" / name).write_bytes(data)
    tree = _laid_out(tmp_path / "task", tmp_path)
    assert {path.name: path.read_bytes() for path in tree.glob("*.py")} == state.tree
    for name in state.staged:
        shown = subprocess.run(["git", "show", f":{name}"], cwd=tree, check=True, capture_output=True)
        assert shown.stdout == b"2\n"
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tree, check=True, capture_output=True, text=True)
    assert status.stdout.splitlines() == ["MM a.py", "MM b.py", " D c.py", " M d.py"]


def test_a_tree_cannot_talk_the_judge_into_a_reward(tasks: list[Path], tmp_path: Path) -> None:
    task = tasks[0]
    tree = _laid_out(task, tmp_path)
    for name in ("unittest.py", "json.py", "sitecustomize.py", "traceback.py"):
        (tree / name).write_text("raise SystemExit(0)\n")
    hidden = next((task / "tests/hidden").rglob("test_*.py")).relative_to(task / "tests/hidden")
    (tree / hidden).parent.mkdir(exist_ok=True)
    (tree / hidden).write_text("import unittest\nclass HiddenTest(unittest.TestCase):\n    pass\n")
    assert _reward(task, tree)["reward"] == 0
    _run(task / "solution/solve.sh", tree)
    assert _reward(task, tree)["reward"] == 1, "the hidden tests' own files were laid over it"
    broken = next(path for path in tree.rglob("*.py") if path.parent.name not in ("tests", tree.name))
    broken.write_text("def (:\n")
    assert _reward(task, tree)["reward"] == 0


def test_what_the_agent_sees_names_no_hidden_test_and_no_truth(tasks: list[Path]) -> None:
    truths = {json.loads(line)["sample_id"]: json.loads(line) for line in
              (tasks[0].parent / "truth.jsonl").read_text().splitlines()}  # fmt: skip
    assert set(truths) == {task.name for task in tasks}
    for task in tasks:
        told = tomllib.loads((task / "task.toml").read_text())
        assert told["task"]["name"] == f"passdown/{task.name}"
        assert told["metadata"]["truth_ref"].endswith(task.name)
        assert truths[task.name]["ops"] == told["metadata"]["ops"]
        seen = [task / "instruction.md", *(path for path in (task / "environment").rglob("*") if path.is_file())]
        names = json.loads((task / "tests/expected.json").read_text())["fail_to_pass"]
        hidden = {path.name for path in (task / "tests/hidden").rglob("*.py")}
        assert not hidden & {path.name for path in seen}
        text = "".join(path.read_text() for path in seen)
        assert not any(re.search(rf"\b{name.rpartition('.')[2]}\b", text) for name in names)


def test_a_changed_packet_is_told_apart_from_the_one_it_comes_from(worked: Path, tmp_path: Path) -> None:
    rows = (row for shard in shards_in(worked / "samples") for batch in read_batches(shard) for row in batch)
    cuts, sample = next(
        (cuts, sample) for cuts in map(cuts_in, rows) for sample in cuts.samples
        if (sample.kind, sample.view, sample.variant) == ("rl", "structured", None)
    )  # fmt: skip
    at = next(cut for cut in cuts.cuts if cut.point.k == sample.k)
    view = next(view for view in at.views if view.name == "structured")
    made = perturb(["drop_section@1"], at.snapshot, view, 1)
    assert isinstance(made, Perturbed)
    changed = replace(cuts, cuts=(replace(at, perturbed=(made,)),), samples=(replace(sample, variant=0),))
    [found] = render(changed)
    assert isinstance(found, Rendered)
    write_harbor([found], tmp_path / "out", How(blobs=worked / "blobs"))
    told = json.loads((tmp_path / "out/truth.jsonl").read_text())
    text = (tmp_path / "out" / sample.sample_id / "instruction.md").read_text()
    assert f"packet `{told['packet_id'][:12]}`" in text
    assert told["derived_from"] == packet_named_in(view)
    assert told["derived_from"][:12] not in text


def test_patches_apply_whatever_the_ends_of_lines(tmp_path: Path) -> None:
    before = {"a.txt": b"one\ntwo", "b/c.txt": b"x\r\ny\x0cz\n", "gone.py": b"pass\n"}
    changes: dict[str, bytes | None] = {
        "a.txt": b"one\ntwo\nthree", "b/c.txt": b"x\r\ny\x0cz", "gone.py": None, "new/e.py": b"1\n", "empty.py": b"",
    }  # fmt: skip
    patch = patch_of(before, changes)
    assert patch is not None
    for name, data in before.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, check=True, input=patch.encode())
    for name, now in changes.items():
        assert (tmp_path / name).read_bytes() == now if now is not None else not (tmp_path / name).exists()
    assert patch_of({}, {"a b": b"x"}) is None
    assert patch_of({}, {"a": b"\xff"}) is None
