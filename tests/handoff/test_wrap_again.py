"""Wrapping twice on the same state writes nothing; place, zone, locale, umask and a commit of the packet change nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any


def contents(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of passdown's own in the repository, with its bytes and its time of change."""
    found = [*root.glob("outputs/handoff/*/*"), *root.glob(".ai/*")]
    return {path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def prepare(repository: Any, session: Any) -> None:
    """A branch with a commit, a dirty file, a workbench file and a session with a plan and a failure."""
    repository.git("switch", "-q", "-c", "feat/limit")
    repository.write("src/limits.py", "LIMIT = 10\n")
    repository.commit("Add the limit")
    repository.write("src/limits.py", "LIMIT = 11\n")
    repository.write("feature_list.json", json.dumps({
        "project": "exporter", "active": "limit",
        "features": [{"id": "limit", "status": "in_progress", "goal": "Refuse the eleventh call.", "done_when": "pytest -q"}],
    }))  # fmt: skip
    session.branch = "feat/limit"
    session.human("Refuse the eleventh call, please. 不要改动 session 中间件。")
    session.edits("src/limits.py")
    session.runs("pytest -q", "FAILED tests/test_limits.py::test_eleventh - assert 11 == 10\n1 failed", 1)
    session.runs("pytest -q", "FAILED tests/test_limits.py::test_eleventh - assert 11 == 10\n1 failed", 1)
    session.says("Next: set LIMIT back to 10 in src/limits.py.")


def test_twice_writes_nothing(repository: Any, claude_session: Any, passdown: Any) -> None:
    prepare(repository, claude_session(repository.root))
    assert passdown("-C", str(repository.root), "wrap", "--interim").returncode == 0
    before = contents(repository.root)
    assert len(before) == 3
    status = repository.git("status", "--porcelain")
    again = passdown("-C", str(repository.root), "wrap", "--interim", "--json")
    assert json.loads(again.stdout)["changed"] == []
    assert contents(repository.root) == before
    assert repository.git("status", "--porcelain") == status


def test_place_zone_locale_and_seed_do_not_matter(repository: Any, claude_session: Any, passdown: Any) -> None:
    prepare(repository, claude_session(repository.root))
    variants = [
        ({}, repository.root),
        ({"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "1"}, repository.root / "src"),
        ({"TZ": "America/Lima", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "77"}, Path("/")),
        ({"PYTHONUTF8": "0", "LANG": "POSIX", "COLUMNS": "20"}, repository.root),
    ]
    outputs = {
        passdown("-C", str(repository.root), "wrap", "--dry-run", "--json", folder=folder, **env).stdout
        for env, folder in variants
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["topic"]
    assert contents(repository.root) == {}


def test_committing_the_packet_changes_nothing(repository: Any, claude_session: Any, passdown: Any) -> None:
    prepare(repository, claude_session(repository.root))
    assert passdown("-C", str(repository.root), "wrap", "--interim").returncode == 0
    before = contents(repository.root)
    repository.git("add", "outputs")
    repository.git("commit", "-q", "-m", "Hand over", "--", "outputs")
    again = passdown("-C", str(repository.root), "wrap", "--interim", "--json")
    assert json.loads(again.stdout)["changed"] == []
    assert contents(repository.root) == before


def test_a_copy_elsewhere_gives_the_same_bytes(repository: Any, passdown: Any, tmp_path: Path) -> None:
    repository.git("switch", "-q", "-c", "feat/limit")
    repository.write("src/limits.py", "LIMIT = 11\n")
    repository.write("feature_list.json", json.dumps({
        "project": "exporter", "active": "limit",
        "features": [{"id": "limit", "status": "in_progress", "goal": "Refuse the eleventh call.", "done_when": "pytest -q"}],
    }))  # fmt: skip
    copy = tmp_path / "deep" / "er" / "copy"
    shutil.copytree(repository.root, copy, symlinks=True)
    subprocess.run(["git", "gc", "-q"], cwd=copy, check=True)
    old = os.umask(0o077)
    try:
        second = passdown("-C", str(copy), "wrap", "--interim", TZ="Asia/Kolkata").returncode
    finally:
        os.umask(old)
    assert (passdown("-C", str(repository.root), "wrap", "--interim").returncode, second) == (0, 0)
    here, there = contents(repository.root), contents(copy)
    assert {name: data for name, (data, _) in here.items()} == {name: data for name, (data, _) in there.items()}


def test_new_work_supersedes(repository: Any, claude_session: Any, passdown: Any) -> None:
    session = claude_session(repository.root)
    prepare(repository, session)
    first = json.loads(passdown("-C", str(repository.root), "wrap", "--interim", "--json").stdout)
    session.runs("pytest -q", "1 passed in 0.1s")
    second = json.loads(passdown("-C", str(repository.root), "wrap", "--interim", "--json").stdout)
    assert first["packet_id"] != second["packet_id"]
    packets = {
        packet["packet_id"]: packet
        for packet in (json.loads(path.read_text()) for path in repository.root.glob("outputs/handoff/*/handoff.json"))
    }
    assert packets[first["packet_id"]]["status"] == "superseded"
    assert packets[second["packet_id"]]["status"] == "active"
    assert packets[second["packet_id"]]["supersedes"] == first["packet_id"]
    assert packets[second["packet_id"]]["failed_attempts"][0]["resolved"] is True
    shown = json.loads(passdown("-C", str(repository.root), "show", "--json").stdout)
    assert shown["packet_id"] == second["packet_id"]
    assert json.loads(passdown("-C", str(repository.root), "wrap", "--interim", "--json").stdout)["changed"] == []


def test_the_library_gives_the_same_bytes(repository: Any, claude_session: Any, passdown: Any) -> None:
    prepare(repository, claude_session(repository.root))
    code = (
        "import sys, msgspec\n"
        "from passdown import WorkbenchSnapshot, generate_handoff\n"
        "markdown, payload = generate_handoff(WorkbenchSnapshot.take(sys.argv[1]))\n"
        "data = msgspec.json.format(msgspec.json.encode(payload, order='sorted'), indent=2) + b'\\n'\n"
        "sys.stdout.buffer.write(msgspec.json.encode({'markdown': markdown, 'json': data.decode()}))\n"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        [sys.executable, "-c", code, str(repository.root)], env=environment, capture_output=True, check=True
    )
    library = json.loads(done.stdout)
    report = json.loads(passdown("-C", str(repository.root), "wrap", "--interim", "--json").stdout)
    assert (repository.root / report["paths"][0]).read_text("utf-8") == library["markdown"]
    assert (repository.root / report["paths"][1]).read_text("utf-8") == library["json"]


def test_vendor_folders_deleted(repository: Any, claude_session: Any, passdown: Any, isolated_home: Path) -> None:
    prepare(repository, claude_session(repository.root))
    passdown("-C", str(repository.root), "wrap", "--interim")
    markdown = passdown("-C", str(repository.root), "show").stdout
    shutil.rmtree(isolated_home / ".claude")
    assert passdown("-C", str(repository.root), "show").stdout == markdown
    regenerated = json.loads(passdown("-C", str(repository.root), "wrap", "--dry-run", "--json").stdout)
    assert any("session.missing" in text for text in (*regenerated["unknowns"], json.dumps(regenerated["open_risks"])))
