"""HEAD in all its states, and passdown's own commits looked through."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from passdown.repository.head import current_branch
from passdown.repository.snapshot import snapshot

OWN = ("outputs/handoff/", ".ai/HANDOFF.md")


def packet(repository: Any, name: str = "s-1") -> str:
    repository.write(f"outputs/handoff/{name}/handoff.json", f"{{{name!r}}}\n")
    repository.write(".ai/HANDOFF.md", f"# {name}\n")
    return repository.commit(f"Add handoff packet {name}")


def test_a_detached_head(repository: Any) -> None:
    repository.git("checkout", "-q", "--detach")
    facts = snapshot(repository.root)
    assert (facts.branch, facts.detached, facts.unborn) == ("", True, False)
    assert facts.base == facts.head


def test_a_branch_that_is_called_detached(repository: Any) -> None:
    repository.git("update-ref", "refs/heads/(detached)", "HEAD")
    repository.git("symbolic-ref", "HEAD", "refs/heads/(detached)")
    facts = snapshot(repository.root)
    assert (facts.branch, facts.detached) == ("(detached)", False)


def test_an_unborn_branch(make_repository: Any) -> None:
    repository = make_repository(empty=True)
    repository.write("a.py", "x\ny\n")
    repository.write("b.py", "z\n")
    repository.git("add", "a.py")
    facts = snapshot(repository.root, own_paths=OWN)
    assert (facts.unborn, facts.branch, facts.head, facts.identity, facts.detached) == (True, "main", "", "", False)
    assert (facts.base, facts.base_rule) == (repository.git("hash-object", "-t", "tree", "/dev/null"), "empty_tree")
    assert [(change.path, change.status, change.added, change.untracked) for change in facts.changes] == [
        ("a.py", "A", 2, False),
        ("b.py", "A", 1, True),
    ]


def test_an_orphan_branch_shares_nothing(repository: Any) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "--orphan", "pages")
    assert snapshot(repository.root).unborn
    repository.commit("pages", **{"index.html": "x\n"})
    facts = snapshot(repository.root)
    assert facts.identity not in ("", first)
    assert (facts.base_rule, facts.commits_total, facts.changes_total) == ("empty_tree", 1, 2)
    assert [finding.code for finding in facts.findings] == ["base.unrelated"]


def test_a_bare_repository(repository: Any, tmp_path: Path) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    facts = snapshot(tmp_path / "bare.git", own_paths=OWN)
    assert (facts.bare, facts.branch, facts.head) == (True, "main", repository.git("rev-parse", "HEAD"))
    assert (facts.changes, facts.root) == ((), str(tmp_path / "bare.git"))


def test_committing_a_packet_changes_nothing_that_is_said(repository: Any) -> None:
    repository.write("work.py", "dirty\n")
    before = snapshot(repository.root, own_paths=OWN)
    repository.write("outputs/handoff/s-1/handoff.json", "{}\n")
    written = snapshot(repository.root, own_paths=OWN)
    repository.git("add", "outputs")
    repository.git("commit", "-q", "-m", "Add handoff packet")
    committed = snapshot(repository.root, own_paths=OWN)
    assert before == written
    assert committed.head == repository.git("rev-parse", "HEAD") != before.head
    assert (committed.effective_head, committed.effective_head_tree) == (before.head, before.effective_head_tree)
    assert (committed.head_at, committed.tree_fingerprint) == (before.head_at, before.tree_fingerprint)
    assert (committed.base, committed.base_rule, committed.changes) == (before.base, before.base_rule, before.changes)


def test_several_packets_in_a_row_are_looked_through(repository: Any) -> None:
    work = repository.commit("work", **{"a.py": "x\n"})
    for number in range(3):
        packet(repository, f"s-{number}")
    assert snapshot(repository.root, own_paths=OWN).effective_head == work
    assert snapshot(repository.root).effective_head == repository.git("rev-parse", "HEAD")


def test_what_stops_the_look_through(repository: Any) -> None:
    packet(repository)
    empty = repository.commit("an empty commit")
    assert snapshot(repository.root, own_paths=OWN).effective_head == empty
    packet(repository, "s-2")
    assert snapshot(repository.root, own_paths=OWN).effective_head == empty
    repository.write("a.py", "x\n")
    mixed = packet(repository, "s-3")
    assert snapshot(repository.root, own_paths=OWN).effective_head == mixed


def test_a_merge_is_never_looked_through(repository: Any) -> None:
    repository.git("checkout", "-q", "-b", "side")
    packet(repository)
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert snapshot(repository.root, own_paths=OWN).effective_head == repository.git("rev-parse", "HEAD")


def test_a_history_of_packets_alone_ends_at_its_first_commit(make_repository: Any) -> None:
    repository = make_repository(empty=True)
    first = packet(repository)
    packet(repository, "s-2")
    facts = snapshot(repository.root, own_paths=OWN)
    assert (facts.effective_head, facts.base_rule) == (first, "head")


def test_own_commits_in_the_middle_are_no_work(repository: Any) -> None:
    base = repository.git("rev-parse", "HEAD")
    repository.commit("one", **{"a.py": "1\n"})
    packet(repository)
    repository.commit("nothing")
    repository.commit("two", **{"a.py": "2\n"})
    packet(repository, "s-2")
    facts = snapshot(repository.root, base=base, own_paths=OWN)
    assert [commit.subject for commit in facts.commits] == ["two", "nothing", "one"]
    assert facts.commits_total == 3
    assert [change.path for change in facts.changes] == ["a.py"]


def test_subjects_and_trees_of_commits(repository: Any) -> None:
    base = repository.git("rev-parse", "HEAD")
    repository.write("a", "1")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "修复 解析器\n\nbody\n")
    (commit,) = snapshot(repository.root, base=base).commits
    assert commit.subject == "修复 解析器"
    assert commit.tree == repository.git("rev-parse", "HEAD^{tree}")
    assert commit.at == int(repository.git("log", "-1", "--format=%ct")) * 1000


def test_the_identity_is_the_oldest_root_and_survives_cloning(repository: Any, tmp_path: Path) -> None:
    root = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "--orphan", "second")
    repository.commit("another root", **{"b.txt": "x\n"})
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--allow-unrelated-histories", "-m", "join", "second")
    repository.git("clone", "-q", ".", str(tmp_path / "renamed"))
    assert snapshot(repository.root).identity == snapshot(tmp_path / "renamed").identity == root


def test_a_shallow_clone_says_what_it_cannot_know(repository: Any, tmp_path: Path) -> None:
    for number in range(5):
        repository.commit(f"commit {number}", **{"a.py": f"{number}\n"})
    url = f"file://{repository.root}"
    subprocess.run(["git", "clone", "-q", "--depth", "2", url, str(tmp_path / "shallow")], check=True)
    facts = snapshot(tmp_path / "shallow")
    assert (facts.shallow, facts.identity) == (True, "")
    assert "git.shallow" in [finding.code for finding in facts.findings]


def test_a_shallow_clone_without_a_common_commit(repository: Any, tmp_path: Path) -> None:
    repository.git("checkout", "-q", "-b", "topic")
    repository.commit("t1", **{"t.py": "1\n"})
    repository.commit("t2", **{"t.py": "2\n"})
    repository.git("checkout", "-q", "main")
    repository.commit("m1", **{"m.py": "1\n"})
    url = f"file://{repository.root}"
    clone = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "1", "--no-single-branch", url, str(clone)], check=True)
    subprocess.run(["git", "checkout", "-q", "topic"], cwd=clone, check=True)
    facts = snapshot(clone)
    assert (facts.base, facts.base_rule) == (facts.head, "head")
    assert "base.shallow" in [finding.code for finding in facts.findings]


def test_the_current_branch(repository: Any, make_repository: Any) -> None:
    repository.git("checkout", "-q", "-b", "topic/修复")
    assert current_branch(repository.root) == snapshot(repository.root).branch == "topic/修复"
    repository.git("checkout", "-q", "--detach")
    assert current_branch(repository.root) == ""
    assert current_branch(make_repository("other", empty=True).root) == "main"


@pytest.mark.parametrize("change", ["edit", "untracked", "mode", "delete", "commit"])
def test_the_fingerprint_follows_the_tree(repository: Any, change: str) -> None:
    before = snapshot(repository.root)
    assert snapshot(repository.root).tree_fingerprint == before.tree_fingerprint
    if change == "edit":
        repository.write("README.md", "other\n")
    elif change == "untracked":
        repository.write("new.txt", "x\n")
    elif change == "mode":
        (repository.root / "README.md").chmod(0o755)
    elif change == "delete":
        (repository.root / "README.md").unlink()
    else:
        repository.commit("empty")
    changed = snapshot(repository.root).tree_fingerprint
    assert changed != before.tree_fingerprint
    repository.git("add", "-A")
    assert snapshot(repository.root).tree_fingerprint == changed
