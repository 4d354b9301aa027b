"""The tree a run began with: found by name and commit, read as git has it, and never looked for elsewhere."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.data.replay.test_data_sandbox import needs_namespaces

from passdown.data.engine.pipeline import PointsTable, ReplayTable
from passdown.data.engine.shards import Row
from passdown.data.engine.stages import finding_points, points_stage
from passdown.data.records import Cuts, Trajectory
from passdown.data.replay.base import GitTree, find_base, mark_of
from passdown.data.replay.rerun import rerun
from passdown.data.replay.virtual import replay
from passdown.data.worlds.run import predecessor_run, recorded_run, successor_run
from passdown.data.worlds.table import WORLDS
from passdown.errors import UsageError

WORLD = next(iter(WORLDS))


def _git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=D", "-c", "user.email=d@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def bases(tmp_path: Path) -> tuple[Path, str]:
    """A folder with one repository, `owner__name`, and the id of its first commit of two."""
    folder = tmp_path / "bases"
    place = folder / "owner__name"
    (place / "src").mkdir(parents=True)
    _git(place, "init", "-q")
    (place / "a.py").write_text("print('one')\n")
    (place / "src/run.sh").write_text("#!/bin/sh\ncat ../a.py\n")
    (place / "src/run.sh").chmod(0o755)
    (place / "src/link").symlink_to("../a.py")
    (place / "broken").symlink_to("/etc/passwd")
    _git(place, "add", "-A")
    _git(place, "commit", "-qm", "one")
    first = _git(place, "rev-parse", "HEAD")
    (place / "a.py").write_text("print('later')\n")
    _git(place, "commit", "-qam", "two")
    return folder, first


def _run(script: Any, commit: str, repo: str = "owner/name") -> Trajectory:
    made: Trajectory = (
        script().asks("Go.").runs("sed -i s/one/two/ a.py").runs("cd src && ./run.sh", "print('two')\n")
        .runs("for f in a b; do cp ../a.py $f.txt; done").trajectory(repo=repo)
    )  # fmt: skip
    return msgspec.structs.replace(made, base_commit=commit)


def test_a_tree_is_read_as_the_commit_has_it(bases: tuple[Path, str]) -> None:
    folder, commit = bases
    tree = GitTree(folder / "owner__name", commit)
    assert tree["a.py"] == b"print('one')\n"
    assert tree["src/link"] == b"print('one')\n", "a link stands for what it leads to"
    assert tree.get("broken") is None
    assert tree.whole()["src/link"] == b"../a.py"
    assert tree.modes["src/run.sh"] == "100755"
    assert set(tree) == {"a.py", "src/run.sh", "src/link", "broken"}


def test_a_base_makes_exact_what_nobody_saw(script: Any, bases: tuple[Path, str]) -> None:
    folder, commit = bases
    run = _run(script, commit)
    base = find_base(run, folder)
    assert base is not None
    assert replay(run).changed(2) == {"a.py": "?"}
    found = replay(run, base.files)
    assert found.content(2, "a.py") == b"print('two')\n"
    assert found.exact(3)


@needs_namespaces
def test_a_run_is_run_again_from_its_base(script: Any, bases: tuple[Path, str]) -> None:
    folder, commit = bases
    run = _run(script, commit)
    base = find_base(run, folder)
    assert base is not None
    found = rerun(run, base)
    assert found.divergence is None
    assert set(found.changed(4)) == {"a.py", "src/a.txt", "src/b.txt"}


@pytest.mark.parametrize(
    ("repo", "commit"),
    [("owner/other", ""), ("owner/name", "f" * 40), ("owner/name", "--help"), ("owner/name", "HEAD"), ("../bases/owner__name", ""),
     ("", ""), ("owner/..", "")],
)  # fmt: skip
def test_what_is_not_there_is_not_looked_for_elsewhere(
    script: Any, bases: tuple[Path, str], repo: str, commit: str
) -> None:
    folder, first = bases
    assert find_base(_run(script, commit or first, repo), folder) is None
    assert find_base(_run(script, first), None) is None


def test_a_folder_inside_of_a_repository_is_no_repository_of_its_own(script: Any, bases: tuple[Path, str]) -> None:
    folder, first = bases
    (folder / "owner__name/inner").mkdir()
    assert find_base(_run(script, first, "inner"), folder / "owner__name") is None


def test_the_mark_changes_with_what_repositories_hold(bases: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = bases
    before = mark_of(folder)
    _git(folder / "owner__name", "tag", "new")
    assert before != mark_of(folder)
    assert mark_of(None) == ""
    with pytest.raises(UsageError, match="base repositories"):
        mark_of(tmp_path / "nowhere")


def test_a_world_is_the_base_of_its_runs_but_not_of_those_that_go_on() -> None:
    first = recorded_run(WORLD, "half_done")
    assert find_base(first.trajectory) is not None
    second = successor_run(first.trajectory, 4, first.trees[4])
    assert find_base(second) is None
    assert find_base(msgspec.structs.replace(first.trajectory, extras=json.dumps(["?"]))) is None


@needs_namespaces
def test_points_take_their_files_from_a_run_in_the_sandbox(tmp_path: Path, script: Any) -> None:
    runs = [predecessor_run(WORLD, "careful"), _run(script, "")]
    work = finding_points(4, str(tmp_path / "blobs"), sandbox=True)
    rows = [
        Row(id="1", trajectory_id=run.trajectory_id, kind="trajectory", record=msgspec.json.encode(run)) for run in runs
    ]
    made = [msgspec.json.decode(row.record, type=Cuts) for row in work(rows) if isinstance(row, Row)]
    assert [cuts.replayed for cuts in made] == ["whole", "nobody has its base tree"]
    assert all(cut.snapshot is not None and cut.snapshot.real and cut.snapshot.exact for cut in made[0].cuts)
    assert not any(cut.snapshot is not None and cut.snapshot.real for cut in made[1].cuts)


def test_other_base_trees_make_other_points(bases: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = bases
    keys = {
        points_stage(tmp_path, PointsTable(), table).key("x")
        for table in (ReplayTable(), ReplayTable(sandbox=True), ReplayTable(base=str(folder)))
    }
    assert len(keys) == 3
