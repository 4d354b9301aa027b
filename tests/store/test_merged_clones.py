"""Two clones go on from one packet, each in its way, and git merges them, in both orders and with the mirror tracked or
not: nothing is lost, nothing is in git's way, and two active packets are always a reported conflict.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.archive import archive
from passdown.handoff.draft import draft
from passdown.handoff.log import read_log
from passdown.handoff.options import Options
from passdown.handoff.publish import publish
from passdown.handoff.resolve import resolve
from passdown.handoff.restore import restore
from passdown.handoff.shelves import place_of
from passdown.store.chain import StoredPacket, conflicts, heads
from passdown.store.shelves import read_store

MIRROR = ".ai/HANDOFF.md"


def git(root: Path, *words: str) -> str:
    """Run git as a person would, with fixed dates."""
    stamp = "1760001000 +0000"
    env = os.environ | {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
    done = subprocess.run(["git", *words], cwd=root, env=env, capture_output=True, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.decode().strip()


def wrap(root: Path, name: str, *, local: bool = False) -> None:
    """Do something and wrap it."""
    (root / f"src/{name}.py").write_text(f"{name} = 1\n")
    publish(draft(root, Options(interim=True)), local=local)


def packets(root: Path) -> tuple[StoredPacket, ...]:
    """Return what lies on both shelves."""
    store = read_store(place_of(root).shelves)
    assert store.findings == ()
    return store.packets


def old(root: Path) -> str:
    """Return the id of the packet that was superseded first."""
    chosen = [p for p in packets(root) if p.head.status == "superseded" and p.head.supersedes is None]
    return chosen[0].packet_id


def nothing(root: Path, side: str) -> None:
    """Leave it."""


def wrap_own(root: Path, side: str) -> None:
    """Wrap work of this side alone."""
    wrap(root, side)


def wrap_same(root: Path, side: str) -> None:
    """Wrap the same work on both sides."""
    wrap(root, "same")


def wrap_twice(root: Path, side: str) -> None:
    """Wrap, and wrap again."""
    wrap(root, f"{side}1")
    wrap(root, f"{side}2")


def archive_active(root: Path, side: str) -> None:
    """Put the active packet aside."""
    archive(root, ["active"])


def archive_and_back(root: Path, side: str) -> None:
    """Put it aside, and take that back."""
    [packet] = archive(root, ["active"]).packets
    archive(root, [packet.packet_id], undo=True)


def sweep(root: Path, side: str) -> None:
    """Archive what is superseded."""
    archive(root, all_superseded=True)


def restore_old(root: Path, side: str) -> None:
    """Go back to the first packet."""
    restore(root, old(root))


def wrap_and_restore(root: Path, side: str) -> None:
    """Wrap, and go back to the first packet over that."""
    wrap(root, side)
    restore(root, old(root))


def local_then_promoted(root: Path, side: str) -> None:
    """Wrap locally, go on, and wrap into the project."""
    wrap(root, f"{side}1", local=True)
    wrap(root, f"{side}2")


ACTIONS: tuple[Callable[[Path, str], None], ...] = (
    wrap_own, wrap_same, archive_active, restore_old, local_then_promoted,
)  # fmt: skip
if os.environ.get("PASSDOWN_LOAD"):  # everything, once for a change rather than on every run of the tests
    ACTIONS += (nothing, wrap_twice, archive_and_back, sweep, wrap_and_restore)


def commit(root: Path, *, tracked: bool) -> None:
    """Commit everything, the mirror too when it is tracked."""
    git(root, "add", "-A")
    if tracked:
        git(root, "add", "-f", MIRROR)
    git(root, "commit", "-q", "--allow-empty", "-m", "side")


@pytest.fixture(scope="module", params=[False, True], ids=["mirror excluded", "mirror tracked"])
def sides(request: Any, template: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bool, dict[Any, Path]]:
    """For each action, a clone on each side in which it was done and committed."""
    tracked = bool(request.param)
    folder = tmp_path_factory.mktemp("sides")
    base = shutil.copytree(template, folder / "base", symlinks=True)
    shutil.rmtree(base / ".git/hooks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        wrap(base, "first")
        wrap(base, "second")
        commit(base, tracked=tracked)
        made = {}
        for action in ACTIONS:
            for side in ("a", "b"):
                root = shutil.copytree(base, folder / f"{side}-{action.__name__}", symlinks=True)
                action(root, side)
                commit(root, tracked=tracked)
                made[action, side] = root
        arena = shutil.copytree(base, folder / "arena", symlinks=True)
        for (action, side), root in made.items():
            git(arena, "fetch", "-q", str(root), f"feat/x:{side}-{action.__name__}")
    made["arena"] = arena
    return tracked, made


def merged(into: Path, other: Path, where: Path) -> Path:
    """Merge one clone's branch into a copy of the other."""
    root = shutil.copytree(into, where, symlinks=True)
    git(root, "fetch", "-q", str(other), "feat/x")
    git(root, "merge", "-q", "--no-edit", "FETCH_HEAD")
    return root


def on_shelf(root: Path) -> dict[str, bytes]:
    """Return the files of the project shelf."""
    found = [path for path in (root / "outputs").rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


@pytest.mark.timeout(900)
def test_every_pair_of_actions_merges(sides: tuple[bool, dict[Any, Path]]) -> None:
    tracked, made = sides
    root = made["arena"]
    known = {key: {p.packet_id for p in packets(made[key]) if p.shelf == "project"} for key in made if key != "arena"}
    reported = 0
    for left, right in itertools.combinations_with_replacement(ACTIONS, 2):
        name = f"{left.__name__} and {right.__name__}"
        shelves = []
        for first, second in (
            (f"a-{left.__name__}", f"b-{right.__name__}"),
            (f"b-{right.__name__}", f"a-{left.__name__}"),
        ):
            git(root, "checkout", "-q", "-B", "feat/x", first)
            git(root, "merge", "-q", "--no-edit", second)
            assert git(root, "status", "--porcelain") == "", name
            shelves.append(on_shelf(root))
        assert shelves[0] == shelves[1], name
        files = [*shelves[0].values(), *([(root / MIRROR).read_bytes()] if tracked else [])]
        assert not any(mark in data for data in files for mark in (b"<<<<<<<", b">>>>>>>")), name
        found = packets(root)
        assert known[left, "a"] | known[right, "b"] <= {p.packet_id for p in found}, name
        active = heads(found, "feat/x")
        codes = [finding.code for finding in read_log(root).findings]
        assert ("packet.several_active" in codes) == (len(active) > 1) == bool(conflicts(active)), name
        if len(active) > 1:
            reported += 1
            assert len(resolve(root).conflicts[0]) == len(active), name
        given_up = archive_active in (left, right) and {left, right} <= {
            nothing,
            archive_active,
            sweep,
            archive_and_back,
        }
        assert active or given_up, f"{name}: no packet is active any more"
    assert reported > 5


def settled(root: Path, name: str) -> Path:
    """Keep one of the packets in conflict."""
    resolve(root, keep=name)
    return root


def test_a_conflict_settled_on_two_devices_converges(sides: tuple[bool, dict[Any, Path]], tmp_path: Path) -> None:
    tracked, made = sides
    one = merged(made[wrap_own, "a"], made[wrap_own, "b"], tmp_path / "one")
    first, second = sorted(packet.packet_id for packet in heads(packets(one), "feat/x"))
    two = shutil.copytree(one, tmp_path / "two", symlinks=True)
    for keep_two, count in ((first, 1), (second, 2)):
        a = settled(shutil.copytree(one, tmp_path / f"a{count}", symlinks=True), first)
        b = settled(shutil.copytree(two, tmp_path / f"b{count}", symlinks=True), keep_two)
        commit(a, tracked=tracked)
        commit(b, tracked=tracked)
        ab, ba = merged(a, b, tmp_path / f"ab{count}"), merged(b, a, tmp_path / f"ba{count}")
        assert on_shelf(ab) == on_shelf(ba)
        active = heads(packets(ab), "feat/x")
        assert len(active) == count, "settled in two ways, it is a conflict again"
        if count > 1:
            resolve(ab, keep=active[0].packet_id)
            assert len(heads(packets(ab), "feat/x")) == 1
        else:
            wrap(ab, "afterwards")
            assert (ab / MIRROR).read_text().count("# Handoff:") == 1, "the next writer puts the mirror right"
            assert len(heads(packets(ab), "feat/x")) == 1
