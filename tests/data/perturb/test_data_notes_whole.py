"""Operators leave notes that a careful writer could have left: nothing half said, nothing said twice."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.data.perturb.notes import without
from passdown.data.perturb.scene import MemoryBlobs
from passdown.data.perturb.table import perturb
from passdown.data.prefix import cut
from passdown.data.records import FileState, Perturbed, Reject, Snapshot, View
from passdown.data.replay.snapshot import snapshot_id
from passdown.data.views.preamble import NOTES, PREAMBLE, TASK, parts
from passdown.data.views.table import build_view

FAILED = """\
..F
======================================================================
FAIL: test_speaks (tests.test_upstream.Upstream.test_speaks)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "tests/test_upstream.py", line 8, in test_speaks
    self.fail("upstream still speaks version 2")
AssertionError: upstream still speaks version 2

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1)
"""
GREEN = "...\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK\n"


def flipped(script: Any, output: str, code: int, view: str) -> str:
    run = script().asks("Mend src/cart.py, whose total is wrong.").runs("sed -i s/a/b/ src/cart.py")
    prefix = cut(run.runs("python -m unittest", output, code).trajectory(), 3)
    done = perturb(("flipped_test_status@1",), None, build_view(view, prefix), 1, prefix=prefix)
    assert isinstance(done, Perturbed), done
    return parts(done.view.text).notes


def test_a_run_that_is_said_to_have_passed_has_no_failing_tests(script: Any) -> None:
    assert "- fails: `" in build_view("structured", cut(
        script().asks("Mend it.").runs("sed -i s/a/b/ a.py").runs("python -m unittest", FAILED, 1).trajectory(), 3
    )).text  # fmt: skip
    notes = flipped(script, FAILED, 1, "structured")
    assert "**green**" in notes
    assert "· passed run ·" in notes
    for told in ("fails", "test_speaks", "speaks version 2", "```", "failed"):
        assert told not in notes, told
    assert "## Known problems\nnone\n\n## Verification" in notes
    assert "- Risks: NONE OBSERVED" in notes
    assert "- Validation after the latest edit: passed" in notes
    assert "- State: changed, and the last validation after it passed" in notes


def test_a_run_that_is_said_to_have_failed_is_in_the_headline_too(script: Any) -> None:
    notes = flipped(script, GREEN, 0, "structured")
    assert "**red**" in notes
    assert "· failed run ·" in notes
    assert "passed" not in notes
    assert "\nOK\n" not in flipped(script, GREEN, 0, "trace")


def test_no_heading_stays_over_nothing_and_no_word_without_its_run() -> None:
    notes = (
        "## Known problems\n- warn `a.b` the cart is empty\n\n## Receipts\nnone\n\n"
        "- Last validation: `pytest -q` — failed (step 3)\n- What it said: 1 failed\n- State: changed\n"
    )
    view = View(
        name="structured", trajectory_id="t", k=3, text=f"{PREAMBLE}\n\n{TASK}\n\nMend it.\n\n{NOTES}\n\n{notes}"
    )
    shorter = without(view, notes, "the cart is empty")
    assert shorter.startswith("## Receipts\nnone")
    assert "What it said: 1 failed" in shorter
    assert "What it said" not in without(view, notes, "pytest -q")
    assert "- State: changed" in without(view, notes, "pytest -q")


@pytest.mark.parametrize("view", ["structured", "summary"])
def test_a_folder_that_is_left_of_several_paths_is_said_once(script: Any, view: str) -> None:
    run = script().asks("Mend the three parts of the package.")
    for name in ("one", "two", "three"):
        run = run.runs(f"sed -i s/a/b/ src/deep/{name}.py")
    prefix = cut(run.trajectory(), 3)
    done = perturb(("blur@1",), None, build_view(view, prefix), 1, prefix=prefix)
    assert isinstance(done, Perturbed)
    notes = parts(done.view.text).notes
    assert "src/deep/" in notes
    lines = [line for line in notes.split("\n") if line.startswith(("- M ", "- Files changed: "))]
    assert [line.count("src/deep/") for line in lines] == [1]
    assert view == "summary" or "`git add -- src/deep/ && git commit`" in notes


def test_files_outside_of_the_workspace_are_left_alone(script: Any) -> None:
    prefix = cut(script().asks("Mend it.").runs("ls src", "a.py").trajectory(), 1)
    blobs = MemoryBlobs()
    there = (FileState(path="/home/somebody/other/notes.md", blob=blobs.put(b"1\n")),)
    snapshot = Snapshot(snapshot_id=snapshot_id(there, ()), delta=there)
    done = perturb(("moved_file",), snapshot, build_view("repo", prefix), 1, blobs=blobs, prefix=prefix)
    assert isinstance(done, Reject)
    assert done.reason == "moved_file: no file was changed"


def vague(script: Any, task: str, base: dict[str, bytes] | None) -> str:
    prefix = cut(script().asks(task).runs("ls src", "a.py").trajectory(), 1)
    snapshot = Snapshot(snapshot_id=snapshot_id([], []), exact=True)
    done = perturb(("underspecified_symbol@1",), snapshot, build_view("repo", prefix), 1, prefix=prefix, base=base)
    return done.reason if isinstance(done, Reject) else parts(done.view.text).task


def test_what_only_the_task_names_is_still_named(script: Any) -> None:
    base = {"src/store.py": b"class TileStore:\n    def put(self):\n        pass\n"}
    task = "src/numbers.py is missing: `ratio(store)` is the share that `put()` of src/store.py and a TileStore tell."
    told = vague(script, task, {})
    assert told == "underspecified_symbol: the task names nothing in prose"
    assert "nothing in prose" in vague(script, "Add `Router.include(other)` for all that.", {"a.py": b"# include it\n"})
    told = vague(script, task, base)
    assert told.startswith("src/numbers.py is missing: `ratio(store)` is the share")
    assert told.endswith("that that function of that file and that class tell.")
    assert "nothing in prose" in vague(script, "Add src/numbers.py, in which `ratio(store)` is to stand.", None)


def test_a_program_is_no_class(script: Any) -> None:
    told = vague(script, "Read what OpenHands wrote, and judge it as `slug()` in src/judge.py says.", None)
    assert "OpenHands wrote" in told
    assert "that class" not in told
    assert "that file says" in told
    assert "nothing in prose" in vague(script, "Create a TODO app with the help of Next.js.", None)
