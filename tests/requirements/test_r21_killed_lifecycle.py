"""R21 for the whole lifecycle: archive, restore, resolve and wrap are killed at every step of their writing, 200 times in all.

After each kill the store is readable, nothing is lost and nothing is active that was not; the same command, run again,
ends where an undisturbed one ends.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.draft import draft
from passdown.handoff.options import Options
from passdown.handoff.publish import publish
from passdown.handoff.shelves import place_of
from passdown.packet.encode import decode_packet
from passdown.packet.identity import packet_id
from passdown.packet.render import render_markdown
from passdown.store.chain import conflicts, heads
from passdown.store.shelves import Store, read_store

SCRIPT = Path(__file__).with_name("kill_at_step.py")
EVERY_STEP = bool(os.environ.get("PASSDOWN_LOAD"))


def run_killed(home: Path, runs: list[tuple[list[str], int]]) -> list[tuple[int, int]]:
    """Run the commands, each killed at its step; return the wait statuses and the steps taken."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], input=json.dumps(runs).encode(), env=environment, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return [(status, steps) for status, steps in json.loads(done.stdout)]


def files_of(root: Path) -> dict[str, bytes]:
    """Everything passdown wrote, leftovers included, but the lock, which names a process."""
    places = [*root.glob("outputs/**/*"), *root.glob(".ai/*"), *root.glob(".ai/.*"),
              *root.glob(".git/passdown/packets/**/*"), *root.glob(".git/info/*"), *root.glob(".git/info/.*")]  # fmt: skip
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in places if path.is_file()}


def read(root: Path) -> Store:
    """Read both shelves and require that every packet there is what its id says."""
    store = read_store(place_of(root).shelves)
    assert store.findings == ()
    for packet in store.packets:
        for path in (packet.path, *packet.copies):
            assert packet_id(json.loads(path.read_bytes())) == packet.packet_id
    return store


def fork(bench: Any) -> tuple[str, str]:
    """Make two active packets, as two devices do. Return their ids."""
    bench.wrap()
    root = bench.root
    kept = shutil.copytree(root / "outputs", root.parent / "kept")
    bench.put({"src/left.py": "left = 1\n"})
    left = bench.wrap()
    theirs = {path.relative_to(root / "outputs"): path.read_bytes() for path in root.glob("outputs/**/handoff.*")}
    shutil.rmtree(root / "outputs")
    shutil.copytree(kept, root / "outputs")
    bench.put({"src/right.py": "right = 1\n"})
    right = bench.wrap()
    for name, data in theirs.items():
        path = root / "outputs" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return left["packet_id"], right["packet_id"]


@pytest.fixture
def stages(bench: Any, tmp_path: Path) -> list[tuple[Path, list[str]]]:
    """A repository for each command, and the command."""
    left, right = fork(bench)
    conflict = shutil.copytree(bench.root, tmp_path / "conflict", symlinks=True)
    bench.passdown("resolve", "--keep", left)
    one = shutil.copytree(bench.root, tmp_path / "one", symlinks=True)
    bench.passdown("archive", "active")
    put_aside = shutil.copytree(bench.root, tmp_path / "aside", symlinks=True)
    head = json.loads(bench.passdown("archive", "--undo", "--json", _active(one)))["packets"][0]
    more = shutil.copytree(one, tmp_path / "more", symlinks=True)
    (more / "src/more.py").write_text("more = 1\n")
    promoted = shutil.copytree(more, tmp_path / "promoted", symlinks=True)
    publish(draft(promoted, Options(interim=True)), local=True)
    (more / "src/again.py").write_text("again = 1\n")
    return [
        (more, ["wrap", "--interim"]),
        (promoted, ["wrap", "--interim"]),
        (conflict, ["resolve", "--keep", right]),
        (one, ["archive", "active"]),
        (put_aside, ["archive", "--undo", head]),
        (one, ["archive", "--all-superseded"]),
        (one, ["restore", right]),
        (more, ["restore", right]),
        (one, ["wrap", "--interim", "--topic", "another"]),
    ]


def _active(root: Path) -> str:
    [packet] = heads(read(root).packets, "feat/export-limit")
    return packet.packet_id


@pytest.mark.timeout(900)
def test_r21_every_command_killed_at_any_step(
    stages: list[tuple[Path, list[str]]], isolated_home: Path, tmp_path: Path
) -> None:
    killed_in_all = 0
    for at, (root, words) in enumerate(stages):
        whole = shutil.copytree(root, tmp_path / f"whole{at}", symlinks=True)
        [(status, steps)] = run_killed(isolated_home, [(["-C", str(whole), *words], 0)])
        assert status == 0, words
        before, after = files_of(root), files_of(whole)
        assert after != before, words
        share = steps if EVERY_STEP else 3
        chosen = sorted({1 + step * steps // share for step in range(share)})
        copies = [shutil.copytree(root, tmp_path / f"copy{at}-{step}", symlinks=True) for step in chosen]
        killed = run_killed(
            isolated_home, [(["-C", str(copy), *words], step) for step, copy in zip(chosen, copies, strict=True)]
        )
        assert {status for status, _ in killed} == {signal.SIGKILL}
        killed_in_all += len(killed)
        known = {p.packet_id for p in read(root).packets}
        for copy in copies:
            _check_half_way(copy, before, after, known)
        # `archive active` is done when the active one is archived: then there is none to name.
        healed = run_killed(isolated_home, [(["-C", str(copy), *words], 0) for copy in copies])
        assert {os.waitstatus_to_exitcode(status) for status, _ in healed} <= ({0, 4} if words[1] == "active" else {0})
        mended = run_killed(isolated_home, [(["-C", str(copy), "archive", "--all-superseded", "--undo"], 0)
                                            for copy in (whole, *copies)])  # fmt: skip
        assert {status for status, _ in mended} == {0}
        for copy in copies:
            assert files_of(copy) == files_of(whole), (words, copy.name)
            shutil.rmtree(copy)
    assert killed_in_all >= (200 if EVERY_STEP else 24)


def _check_half_way(copy: Path, before: dict[str, bytes], after: dict[str, bytes], known: set[str]) -> None:
    for name, data in files_of(copy).items():
        if not name.endswith(".tmp"):
            assert data in (before.get(name), after.get(name)), name
    store = read(copy)
    assert known <= {packet.packet_id for packet in store.packets}
    active = heads(store.packets, "feat/export-limit")
    for group in conflicts(active):
        assert len(group) == 2, "only the conflict that was there"
        assert {packet.packet_id for packet in group} <= known


def test_r21_markdown_follows_the_json_after_each_command(bench: Any) -> None:
    first = bench.wrap()
    bench.put({"src/more.py": "more = 1\n"})
    bench.wrap()
    for words in (["restore", first["packet_id"][:8]], ["archive", "active"], ["archive", "--all-superseded"]):
        bench.passdown(*words)
        for path in bench.root.glob("outputs/handoff/*/handoff.json"):
            packet = decode_packet(path.read_bytes())
            assert path.with_name("handoff.md").read_text("utf-8") == render_markdown(packet)
