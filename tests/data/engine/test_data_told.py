"""What a user is told who does things in the wrong order, names what is not there, or has nothing left."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from passdown.cli.main import run
from passdown.data.engine.outputs import export
from passdown.data.engine.shards import read_batches, shards_in, written
from passdown.data.engine.stages import again, cuts_in
from passdown.data.perturb.table import perturb
from passdown.data.records import Perturbed


class Done(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    stdout: str
    stderr: str


def passdown(*words: str) -> Done:
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run(["data", *words])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder of one run, finished by the commands of the guide."""
    place = tmp_path_factory.mktemp("told")
    (place / "worlds.txt").write_text("durations-a careful\n")
    work = str(place / "work")
    assert passdown("ingest", str(place / "worlds.txt"), "--source", "worlds", "-o", work).code == 0
    for step in ("points", "views", "perturb", "build"):
        assert passdown(step, work).code == 0
    return place


@pytest.fixture
def work(built: Path, tmp_path: Path) -> Path:
    """A copy of it that may be spoilt."""
    return Path(shutil.copytree(built / "work", tmp_path / "work"))


def test_a_folder_without_what_a_step_reads_names_the_command_that_makes_it(tmp_path: Path) -> None:
    for words, command in (
        (("points", str(tmp_path)), "ingest"), (("views", str(tmp_path)), "points"),
        (("perturb", str(tmp_path)), "views"), (("build", str(tmp_path)), "perturb"), (("card", str(tmp_path)), "build"),
        (("export", str(tmp_path), "-o", str(tmp_path / "out")), "build"), (("inspect", str(tmp_path)), "build"),
    ):  # fmt: skip
        done = passdown(*words)
        assert (done.code, f"Run `passdown data {command}` first." in done.stderr) == (2, True), words


def test_what_was_made_of_other_trajectories_is_not_gone_on_with(work: Path, tmp_path: Path) -> None:
    (tmp_path / "worlds.txt").write_text("caches-a half_done\n")
    out = str(tmp_path / "out")
    assert passdown("export", str(work), "-o", out).code == 0
    assert passdown("ingest", str(tmp_path / "worlds.txt"), "--source", "worlds", "-o", str(work)).code == 0
    for words in (("views", str(work)), ("build", str(work)), ("export", str(work), "-o", out)):
        done = passdown(*words)
        assert done.code == 2
        assert "points: not finished, or not made of what lies in `trajectories` now" in done.stderr
        assert "Run `passdown data points` first." in done.stderr
    for step in ("points", "views"):
        assert passdown(step, str(work)).code == 0
    assert "Run `passdown data perturb` first." in passdown("build", str(work)).stderr


def test_a_step_that_was_killed_half_way_is_not_gone_on_with(work: Path) -> None:
    (work / "points/manifest.jsonl").write_bytes(b"")
    for path in (work / "points").glob("part-*.parquet"):
        path.unlink()
    assert "Run `passdown data points` first." in passdown("views", str(work)).stderr


def test_where_nothing_is_left_that_is_said_with_an_example(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of the kind\n")
    done = passdown("ingest", str(tmp_path / "notes.txt"), "-o", str(tmp_path / "work"), "--json")
    assert done.code == 4
    read = json.loads(done.stdout)["steps"]["read"]
    assert read["rejected"] == {"unreadable": 1}
    assert read["examples"]["unreadable"].startswith("notes.txt: ")
    assert "nothing is left after the step `read`" in done.stderr
    again = passdown("ingest", str(tmp_path / "notes.txt"), "-o", str(tmp_path / "work"))
    assert again.code == 4
    assert "read dropped 1: unreadable (notes.txt: " in again.stderr


def test_an_export_of_nothing_is_said_to_be_one(built: Path, tmp_path: Path) -> None:
    done = passdown("export", str(built / "work"), "-o", str(tmp_path / "out"), "--licence", "GPL-3.0-only")
    assert done.code == 4
    assert "its licence was not asked for" in done.stderr


def test_names_that_are_none_are_refused_with_those_that_are(built: Path, tmp_path: Path) -> None:
    work = str(built / "work")
    for words in (("build", work), ("export", work, "-o", str(tmp_path / "out")), ("inspect", work)):
        done = passdown(*words, "--kind", "stf")
        assert (done.code, "'sft'" in done.stderr) == (2, True)
    done = passdown("perturb", work, "--level", "L9")
    assert (done.code, "One of: L2, L3, L4, grid." in done.stderr) == (2, True)


def test_an_export_tells_how_far_it_is(built: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    export(built / "work", "jsonl", tmp_path / "out", progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 1), (1, 1)]


def test_on_a_terminal_there_is_a_bar(built: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "passdown", "data", "export", str(built / "work"), "-o", str(tmp_path / "out")]
    done = subprocess.run(words, stderr=theirs, stdout=subprocess.PIPE, check=True, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    assert b"export" in os.read(ours, 1 << 16)
    os.close(ours)
    assert done.stdout.startswith(b"train\t")


def test_a_look_at_a_sample_tells_which_packet_was_changed(work: Path) -> None:
    rows = [(path, row) for path in shards_in(work / "samples") for batch in read_batches(path) for row in batch]
    [(path, row)] = rows
    cuts = cuts_in(row)
    at, view = next((cut, view) for cut in cuts.cuts for view in cut.views if view.name == "structured")
    made = perturb(["drop_section@1"], at.snapshot, view, 1)
    sample = next(sample for sample in cuts.samples if sample.k == at.point.k)
    assert isinstance(made, Perturbed)
    changed = replace(
        cuts, cuts=(replace(at, perturbed=(made,)),),
        samples=(replace(sample, view="structured", variant=0, kind="rl", ops=made.ops),),
    )  # fmt: skip
    with written(path) as writer:
        writer.write(again(row, changed, "samples"))
    told = passdown("inspect", str(work)).stdout
    assert f"packet       {made.packet_id[:12]}, changed from {made.derived_from[:12]}" in told
