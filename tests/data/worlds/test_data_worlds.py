"""Every world is admitted by running it: hidden tests fail before, pass after, and each subtask has tests of its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter

import msgspec
import pytest

from passdown.data.records import Provenance, Trajectory
from passdown.data.worlds.build import HIDDEN, replaced
from passdown.data.worlds.desk import desk
from passdown.data.worlds.model import Part, World
from passdown.data.worlds.past import commit_id
from passdown.data.worlds.table import KERNELS, WORLDS, all_worlds, build_world, kernel_called, world_of
from passdown.data.worlds.verify import verify
from passdown.errors import UsageError

FIRST = WORLDS[0]


def mended(world: World, parts: tuple[Part, ...]) -> dict[str, str]:
    """Return the files of a world after some of its subtasks were done."""
    files = dict(world.files)
    for part in parts:
        for swap in part.swaps:
            files[swap.path] = replaced(files[swap.path], swap.bad, swap.good) if swap.bad else swap.good
    return files


def test_the_reference_solves_every_world_and_nothing_else_does() -> None:
    worlds = list(all_worlds())
    asked = [(files, world) for world in worlds for files in (world.files, {**world.files, **world.reference})]
    verdicts = [verify(*one) for one in asked]
    for world, before, after in zip(worlds, verdicts[::2], verdicts[1::2], strict=True):
        assert not before.error, world.id
        assert set(before.failed) == set(world.fail_to_pass), world.id
        assert set(before.passed) == set(world.pass_to_pass), world.id
        assert after.resolved, (world.id, after)
        assert not after.failed
        assert mended(world, world.subtasks) == {**world.files, **world.reference}


def test_each_subtask_has_tests_of_its_own() -> None:
    """All others are done, this one is not: exactly its tests fail. One that others build on: the work up to it."""
    states: list[tuple[World, Part, tuple[Part, ...]]] = []
    for world in all_worlds():
        for number, part in enumerate(world.subtasks):
            needed = any(part.id in other.after for other in world.subtasks)
            others = world.subtasks[:number] + (() if needed else world.subtasks[number + 1 :])
            states.append((world, part, others))
    verdicts = [verify(mended(world, others), world) for world, _, others in states]
    for (world, part, others), verdict in zip(states, verdicts, strict=True):
        done = {test for other in others for test in other.tests}
        assert set(verdict.passed) == done | set(world.pass_to_pass), (world.id, part.id, verdict)
        assert part.tests
        assert set(part.tests).isdisjoint(verdict.passed)


def _visible(world: World) -> World:
    """Return a world whose judge runs the visible tests."""
    path = next(path for path in world.visible if path not in ("tests/test_upstream.py", "tests/__init__.py"))
    text = world.files[path]
    names = tuple(
        f"tests.test_hidden.{part.name}.{method.name}"
        for part in ast.parse(text).body if isinstance(part, ast.ClassDef)
        for method in part.body if isinstance(method, ast.FunctionDef) and method.name.startswith("test_")
    )  # fmt: skip
    return msgspec.structs.replace(world, hidden={HIDDEN: text}, fail_to_pass=(), pass_to_pass=names)


def test_visible_tests_pass_before_and_after_and_a_trap_breaks_one() -> None:
    worlds = [_visible(world) for world in all_worlds()]
    trees = []
    for world in worlds:
        assert world.pass_to_pass
        (trap,) = world.traps
        broken = {**world.files, trap.path: replaced(world.files[trap.path], trap.good, trap.bad)}
        ast.parse(broken[trap.path])
        trees += [world.files, {**world.files, **world.reference}, broken]
    verdicts = [verify(tree, worlds[number // 3]) for number, tree in enumerate(trees)]
    found: Counter[int] = Counter()
    for number, world in enumerate(worlds):
        before, after, broken_now = verdicts[3 * number : 3 * number + 3]
        assert after.resolved, (world.id, after)
        assert before.passed, world.id
        assert set(before.passed) - set(broken_now.passed), world.id
        found[len(before.failed)] += 1
    assert found[0] > len(worlds) // 2, "what is wrong is mostly not seen by the tests that are there"


def test_worlds_differ_in_kind_and_shape() -> None:
    worlds = list(all_worlds())
    assert len(worlds) >= 40
    assert len(KERNELS) >= 10
    for name, variants in KERNELS.items():
        rows = kernel_called(name).variants
        assert tuple(row.id for row in rows) == variants
        assert len(rows) >= 4
        assert len({row.defects for row in rows}) == len({row.names["pkg"] for row in rows}) == len(rows)
        assert len({row.shape for row in rows}) >= 3, "where modules lie differs as well"
    assert len({world.task for world in worlds}) == len(worlds)
    assert sum(any(path not in world.files for path in world.reference) for world in worlds) >= 5, "files are missing"
    assert sum(any(part.after for part in world.subtasks) for world in worlds) >= 10, "subtasks build on each other"
    assert sum(any(part.wrong for part in world.subtasks) for world in worlds) >= 30, "there is a second plausible way"


@pytest.mark.parametrize("world_id", WORLDS)
def test_a_world_is_whole(world_id: str) -> None:
    world = build_world(world_id)
    assert 3 <= len(world.subtasks) <= 6
    assert world.visible
    assert not set(world.hidden) & set(world.files)
    names = [*world.fail_to_pass, *world.pass_to_pass]
    assert len(set(names)) == len(names)
    assert sorted(world.fail_to_pass) == sorted(test for part in world.subtasks for test in part.tests)
    seen: set[str] = set()
    for part in world.subtasks:
        assert set(part.after) <= seen
        assert part.ask in world.task
        seen.add(part.id)
    for path, text in {**world.files, **world.hidden}.items():
        assert not [name for name in ("@pkg@", "@thing@") if name in path + text]
        if path.endswith(".py"):
            ast.parse(text)
    files: dict[str, str] = {}
    for commit in world.history:
        assert commit.message
        assert any(files.get(path) != text for path, text in commit.files.items()), "no empty commit"
        files.update(commit.files)
    assert files == world.files
    assert len(world.history) >= 4


def test_half_of_the_reference_is_not_enough() -> None:
    world = build_world(FIRST)
    path = next(iter(world.reference))
    assert not verify({**world.files, path: world.reference[path]}, world).resolved


def test_files_that_cannot_be_imported_are_no_solution() -> None:
    world = build_world(FIRST)
    for text in ("raise SystemExit(0)\n", "import os\nos._exit(0)\n", "this is no program\n"):
        broken = {path: text if path.endswith(".py") else other for path, other in world.files.items()}
        verdict = verify(broken, world)
        assert not verdict.resolved
        assert verdict.passed == ()
        assert verdict.error


def test_a_broken_tree_does_not_touch_its_neighbours() -> None:
    world = build_world(FIRST)
    solved = {**world.files, **world.reference}
    killing = {**solved, **dict.fromkeys(world.reference, "import os\nos.kill(os.getpid(), 9)\n")}
    verdicts = [verify(files, world) for files in (solved, killing, solved)]
    assert [verdict.resolved for verdict in verdicts] == [True, False, True]
    assert verdicts[1].error == "ended with 137"


def test_a_past_has_the_same_commits_each_time() -> None:
    for world_id in WORLDS[:4]:
        world = build_world(world_id)
        found = []
        for _ in range(2):
            with desk(world.id, world.files) as place:
                found.append(
                    (place.commit(world.history), place.run("git log --format='%h %ad %s'; git status -s").text)
                )
        assert found[0] == found[1]
        assert found[0][0] == commit_id(world.history), "known without asking git"
        assert len(found[0][1].splitlines()) == len(world.history), "nothing differs from the last commit"


def test_worlds_are_the_same_whatever_the_hash_seed() -> None:
    code = (
        "import hashlib, msgspec; from passdown.data.worlds.table import all_worlds\n"
        "print(hashlib.sha256(b''.join(map(msgspec.json.encode, all_worlds()))).hexdigest())"
    )
    found = {
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1


def test_a_run_of_a_world_that_has_changed_is_of_none() -> None:
    world = build_world(FIRST)
    run = Trajectory(
        trajectory_id="x", provenance=Provenance(source="worlds"), steps=(), instance_id=FIRST,
        base_commit=commit_id(world.history),
    )  # fmt: skip
    assert world_of(run) == world
    for other in ({"base_commit": "0" * 40}, {"instance_id": "nowhere-a"}, {"provenance": Provenance(source="chat")}):
        assert world_of(msgspec.structs.replace(run, **other)) is None
    assert commit_id(()) == ""


def test_unknown_names_are_told() -> None:
    with pytest.raises(UsageError):
        build_world("nowhere-a")
