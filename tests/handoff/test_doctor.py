"""`passdown doctor`: what would be lost, each thing with a command that really keeps it, and nothing changed by asking."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.health.doctor import Diagnosis, examine
from passdown.model.finding import Finding

IDENTITY = {
    "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.com",
    "GIT_COMMITTER_NAME": "Dev", "GIT_COMMITTER_EMAIL": "dev@example.com",
}  # fmt: skip


class Patient:
    """A repository with a remote in which all is pushed, and the real command over it."""

    def __init__(self, repository: Any, run: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
        self.repository, self.root, self.run = repository, repository.root, run
        remote = self.root.parent / "remote.git"
        repository.git("init", "-q", "--bare", "-b", "main", str(remote))
        repository.git("remote", "add", "origin", str(remote))
        repository.write("src/app.py", "A = 1\n")
        repository.write("src/hidden.py", "A = 1\n")
        repository.write("src/old.py", "A = 1\n")
        repository.write(".gitignore", "*.log\nfeedback_record.jsonl\n")
        repository.commit("Add the app")
        repository.git("push", "-q", "-u", "origin", "main")

    def doctor(self, *, portable: bool = False) -> Diagnosis:
        """Ask, and require that exit code and answer agree."""
        found = examine(self.root, portable=portable)
        assert (found.exit_code == 0) == found.healthy == (not found.lost)
        return found

    def codes(self, *, portable: bool = False) -> list[str]:
        """The codes of what would be lost."""
        return [finding.code for finding in self.doctor(portable=portable).lost]

    def mend(self, finding: Finding) -> None:
        """Run the command printed for a finding, as a person would."""
        environment = os.environ | IDENTITY | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["sh", "-c", finding.fix], cwd=self.root, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, (finding, done.stderr.decode())


@pytest.fixture
def patient(make_repository: Any, passdown: Any, monkeypatch: pytest.MonkeyPatch) -> Patient:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.file.allow")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "always")
    return Patient(make_repository(), passdown)


def changed(p: Patient) -> None:
    p.repository.write("src/app.py", "A = 2\n")


def deleted(p: Patient) -> None:
    (p.root / "src/old.py").unlink()


def untracked(p: Patient) -> None:
    p.repository.write("new file.py", "B = 1\n")


def hidden(p: Patient) -> None:
    p.repository.git("update-index", "--assume-unchanged", "src/hidden.py")
    p.repository.write("src/hidden.py", "A = 3\n")


def stashed(p: Patient) -> None:
    changed(p)
    p.repository.git("stash", "push", "-q", "-m", "half of the parser, kept for later")


def ignored(p: Patient) -> None:
    row = {"command": ["pytest"], "exit_code": 1, "started_at": 1760009100.0, "stdout_tail": "1 failed"}
    p.repository.write("feedback_record.jsonl", json.dumps(row) + "\n")


def worktree(p: Patient) -> None:
    p.repository.git("worktree", "add", "-q", "../second", "-b", "second")
    (p.root.parent / "second" / "src/app.py").write_text("A = 9\n")


def detached_worktree(p: Patient) -> None:
    p.repository.git("worktree", "add", "-q", "--detach", "../third")
    third = p.root.parent / "third"
    p.repository.git("-C", str(third), "commit", "-q", "--allow-empty", "-m", "Only here")


def submodule(p: Patient) -> None:
    source = p.root.parent / "library"
    p.repository.git("init", "-q", "-b", "main", str(source))
    p.repository.git("-C", str(source), "commit", "-q", "--allow-empty", "-m", "start")
    bare = p.root.parent / "library.git"
    p.repository.git("clone", "-q", "--bare", str(source), str(bare))
    p.repository.git("submodule", "add", "-q", str(bare), "library")
    p.repository.git("-C", "library", "commit", "-q", "--allow-empty", "-m", "A fix")
    p.repository.git("add", "library")
    p.repository.git("commit", "-q", "-m", "Move the library")
    p.repository.git("push", "-q")


def unpushed(p: Patient) -> None:
    p.repository.git("commit", "-q", "--allow-empty", "-m", "Not pushed")


def other_branch(p: Patient) -> None:
    p.repository.git("branch", "-q", "lonely", p.repository.git("commit-tree", "-m", "Lonely", "HEAD^{tree}"))


SPOIL = {
    "lost.stash": stashed, "lost.submodule_unpushed": submodule, "lost.worktree": worktree,
    "lost.worktree_commits": detached_worktree, "lost.unpushed": unpushed, "lost.branch": other_branch,
    "lost.ignored": ignored, "lost.hidden": hidden, "lost.untracked": untracked, "lost.uncommitted": changed,
}  # fmt: skip
DEVICE = {"lost.unpushed", "lost.branch"}
"""What is in this machine's git, and lost only with the device."""


def test_each_thing_that_would_be_lost_and_the_command_that_keeps_it(patient: Patient) -> None:
    assert patient.codes(portable=True) == []
    for spoil in SPOIL.values():
        spoil(patient)
    here = patient.doctor()
    known_here = {"lost.chat"}  # the failed run of the feedback log
    assert {finding.code for finding in here.lost} == (set(SPOIL) - DEVICE) | known_here
    assert {finding.code for finding in here.at_risk} == DEVICE
    there = patient.doctor(portable=True)
    assert {finding.code for finding in there.lost} == set(SPOIL) | known_here
    assert all(finding.fix for finding in there.lost)
    for finding in there.lost:
        if finding.code not in known_here:
            patient.mend(finding)
    rest = patient.doctor(portable=True).lost  # what was committed after the push, and the branch of the worktree
    assert {finding.code for finding in rest} <= DEVICE
    for finding in rest:
        patient.mend(finding)
    assert patient.codes(portable=True) == []


@pytest.mark.parametrize("code", ["lost.stash", "lost.unpushed"])
def test_one_thing_alone_is_one_finding(patient: Patient, code: str) -> None:
    SPOIL[code](patient)
    assert patient.codes(portable=True) == [code]


def test_a_deleted_file_counts_and_is_kept_deleted(patient: Patient) -> None:
    deleted(patient)
    (lost,) = patient.doctor().lost
    assert lost.code == "lost.uncommitted"
    patient.mend(lost)
    assert patient.codes() == []
    assert "src/old.py" not in patient.repository.git("ls-files", "src")


def test_without_a_remote_and_without_a_commit(make_repository: Any, passdown: Any) -> None:
    root = str(make_repository("alone").root)
    done = passdown("-C", root, "doctor")
    assert done.returncode == 0, done.stdout.decode()
    assert done.stdout.startswith(b"healthy: from this machine's git: no packet: it starts cold")
    done = passdown("-C", root, "doctor", "--portable", "--json")
    assert done.returncode == 6
    assert [finding["code"] for finding in json.loads(done.stdout)["lost"]] == ["lost.no_remote", "lost.not_ready"]
    empty = passdown("-C", str(make_repository("empty", empty=True).root), "doctor")
    assert empty.returncode == 6
    assert b"nothing to clone" in empty.stdout
    outside = passdown("-C", str(Path(root).parent), "doctor")
    assert outside.returncode == 4


def test_words_that_only_a_session_has_until_they_are_wrapped_and_committed(
    patient: Patient, claude_session: Any, passdown: Any
) -> None:
    session = claude_session(patient.root)
    session.human("Make the app count to three, and never touch the parser")
    session.runs("pytest -x", "E  assert 1 == 3\n1 failed", 1)
    found = patient.doctor()
    lost = {finding.where: finding.detail for finding in found.lost}
    assert {finding.code for finding in found.lost} == {"lost.chat"}
    assert lost["directives"].startswith("1 message of the human is in no commit")
    assert lost["directives"].endswith("Make the app count to three, and never touch the parser")
    assert "pytest -x" in lost["failed_attempts"]

    assert passdown("-C", str(patient.root), "wrap", "--interim").returncode == 0
    found = patient.doctor()
    assert {finding.code for finding in found.lost} == {"lost.packet", "lost.chat"}
    assert found.readings[0].unresolved[0].kind == "packet"
    patient.mend(next(finding for finding in found.lost if finding.code == "lost.packet"))
    found = patient.doctor()
    assert found.lost == ()
    reading = found.readings[0]
    assert reading.verdict == "ready"
    assert reading.resolved == reading.pointers >= 3
    assert reading.packet_id == found.packet_id

    session.human("And keep it under ten lines")
    lost = {finding.where: finding.detail for finding in patient.doctor().lost}
    assert list(lost) == ["directives"]
    assert lost["directives"].endswith(": And keep it under ten lines")


def test_a_packet_of_the_local_shelf_and_one_that_only_the_mirror_shows(
    patient: Patient, claude_session: Any, passdown: Any
) -> None:
    claude_session(patient.root).human("Make the app count to three")
    written = json.loads(passdown("-C", str(patient.root), "wrap", "--interim", "--json").stdout)
    local = patient.root / ".git/passdown/packets"
    local.parent.mkdir(exist_ok=True)
    shutil.move(patient.root / "outputs/handoff", local)
    (lost,) = [finding for finding in patient.doctor().lost if finding.code == "lost.packet"]
    assert written["packet_id"][:12] in lost.detail
    assert "local shelf" in lost.detail
    shutil.move(local, patient.root.parent / "aside")
    assert "lost.mirror_only" in patient.codes()
    shutil.move(patient.root.parent / "aside", local)
    patient.mend(lost)
    assert patient.codes() == []


def test_asking_changes_nothing(patient: Patient, claude_session: Any, passdown: Any) -> None:
    claude_session(patient.root).human("Make the app count to three")
    assert passdown("-C", str(patient.root), "wrap", "--interim").returncode == 0
    for spoil in (stashed, changed, untracked, worktree):
        spoil(patient)
    patient.repository.git("status")

    def state() -> dict[str, tuple[int, int, str]]:
        found = {}
        for folder, folders, names in os.walk(patient.root.parent):
            for name in (*names, *folders):
                path = Path(folder, name)
                status = path.lstat()
                data = path.read_bytes() if path.is_file() else b""
                found[str(path)] = (status.st_mtime_ns, status.st_mode, hashlib.sha256(data).hexdigest())
        return found

    before = state()
    done = passdown("-C", str(patient.root), "doctor", "--portable", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 6
    assert found["score"] == f"{found['readings'][1]['resolved']} of {found['readings'][1]['pointers']}"
    passdown("-C", str(patient.root), "status")
    passdown("-C", str(patient.root), "diff")
    assert state() == before


def test_the_clones_are_kept_where_asked_and_nowhere_else(patient: Patient, tmp_path: Path) -> None:
    root = str(patient.root)
    done = patient.run("-C", root, "doctor", "--portable", "--keep", str(tmp_path / "kept"))
    assert done.returncode == 0, done.stdout
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["machine", "remote"]
    assert (tmp_path / "kept/machine/src/app.py").read_text() == "A = 1\n"
    again = patient.run("-C", root, "doctor", "--keep", str(tmp_path / "kept"))
    assert again.returncode == 2
    inside = patient.run("-C", root, "doctor", "--keep", str(patient.root / "kept"))
    assert inside.returncode == 2
    assert patient.codes() == []


def test_what_no_ref_leads_to_is_not_in_the_clone(patient: Patient, tmp_path: Path) -> None:
    stashed(patient)
    stash = patient.repository.git("rev-parse", "refs/stash")
    examine(patient.root, keep=tmp_path / "kept")
    asked = ["git", "cat-file", "-e", stash]
    assert subprocess.run(asked, cwd=tmp_path / "kept/machine", capture_output=True, check=False).returncode != 0
    assert not (tmp_path / "kept/machine/.git/objects/info/alternates").exists()


def test_hooks_filters_and_attributes_of_the_repository_run_nothing(patient: Patient, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    hook = patient.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    patient.repository.write(".gitattributes", "*.py filter=trap\n")
    patient.repository.commit("Set a trap")
    patient.repository.git("push", "-q")
    patient.repository.git("config", "filter.trap.smudge", f"touch {trap}; cat")
    patient.repository.git("config", "uploadpack.packObjectsHook", f"touch {trap}; exec")
    assert patient.codes(portable=True) == []
    assert not trap.exists()


def test_a_detached_head_a_linked_worktree_and_a_subfolder(patient: Patient, passdown: Any) -> None:
    patient.repository.git("worktree", "add", "-q", "../linked", "-b", "linked")
    linked = patient.root.parent / "linked"
    done = passdown("-C", str(linked / "src"), "doctor")
    assert done.returncode == 0, done.stdout.decode()
    patient.repository.git("switch", "-q", "--detach")
    patient.repository.git("commit", "-q", "--allow-empty", "-m", "On no branch")
    assert "lost.unpushed" in patient.codes(portable=True)


def test_a_partial_clone_that_cannot_be_copied_says_how_it_is_completed(patient: Patient) -> None:
    for number in (6, 7):
        patient.repository.write("src/app.py", f"A = {number}\n")
        patient.repository.commit("Leave an older content behind")
    patient.repository.git("push", "-q")
    patient.repository.git("-C", "../remote.git", "config", "uploadpack.allowFilter", "true")
    address = f"file://{patient.root.parent / 'remote.git'}"
    patient.repository.git("clone", "-q", "--filter=blob:none", address, "../partial")
    patient.root = patient.root.parent / "partial"
    (lost,) = patient.doctor().lost
    assert lost.code == "lost.not_ready"
    patient.mend(lost)
    assert patient.codes() == []


def test_a_packet_of_another_branch_is_not_lost(patient: Patient, claude_session: Any, passdown: Any) -> None:
    patient.repository.git("branch", "-q", "before")
    claude_session(patient.root).human("Make the app count to three")
    assert passdown("-C", str(patient.root), "wrap").returncode == 0
    patient.repository.git("add", "-f", "outputs/handoff")
    patient.repository.git("commit", "-q", "-m", "Hand over")
    patient.repository.git("switch", "-q", "before")
    assert "lost.mirror_only" not in patient.codes()


def test_a_local_packet_of_another_branch_is_put_into_the_project_there(
    patient: Patient, claude_session: Any, passdown: Any
) -> None:
    patient.repository.git("switch", "-q", "-c", "feat/count")
    session = claude_session(patient.root)
    session.branch = "feat/count"
    session.human("Make the app count to three")
    assert passdown("-C", str(patient.root), "wrap", "--local", "--interim").returncode == 0
    patient.repository.git("switch", "-q", "main")
    (lost,) = [finding for finding in patient.doctor().lost if finding.code == "lost.packet"]
    assert lost.fix.startswith("git switch feat/count && passdown wrap ")
    patient.mend(lost)
    assert patient.repository.git("branch", "--show-current") == "feat/count"
    assert "lost.packet" not in patient.codes()
