"""Changes between the base and the working tree, compared with a private index."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.model.evidence import Change, RepositoryFacts
from passdown.repository.snapshot import snapshot

Agree = Callable[..., RepositoryFacts]


def by_path(facts: RepositoryFacts) -> dict[str, Change]:
    return {change.path: change for change in facts.changes}


def test_a_clean_repository_has_no_changes(repository: Any, agree: Agree) -> None:
    facts = agree(repository.root)
    assert (facts.changes, facts.commits, facts.base_rule) == ((), (), "head")
    assert facts.base == facts.head == facts.effective_head == facts.identity == repository.git("rev-parse", "HEAD")
    assert facts.effective_head_tree == repository.git("rev-parse", "HEAD^{tree}")
    assert facts.head_at == int(repository.git("log", "-1", "--format=%ct")) * 1000


def test_every_kind_of_uncommitted_change(repository: Any, agree: Agree) -> None:
    for name in ("edit", "stage", "both", "gone", "removed", "chmod", "link", "unlink"):
        repository.write(f"{name}.txt", f"{name}\nline\n")
    (repository.root / "to").symlink_to("edit.txt")
    repository.commit("files")
    repository.write("edit.txt", "edit\nanother\nmore\n")
    repository.write("stage.txt", "staged\n")
    repository.write("both.txt", "staged\n")
    repository.git("add", "stage.txt", "both.txt")
    repository.write("both.txt", "staged\nand more\n")
    (repository.root / "gone.txt").unlink()
    repository.git("rm", "-q", "removed.txt")
    (repository.root / "chmod.txt").chmod(0o755)
    (repository.root / "link.txt").unlink()
    (repository.root / "link.txt").symlink_to("edit.txt")
    (repository.root / "to").unlink()
    repository.write("to", "a file now\n")
    repository.write("new.py", "one\ntwo\nthree")
    repository.write("intent.py", "later\n")
    repository.git("add", "-N", "intent.py")
    repository.write("binary.bin", b"\x00\x01\n")
    repository.write("empty", "")
    repository.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    changes = by_path(agree(repository.root))
    assert all(change.uncommitted for change in changes.values())
    untracked = {path for path, change in changes.items() if change.untracked}
    assert untracked == {"new.py", "binary.bin", "empty", "run.sh"}
    assert changes["link.txt"].status == changes["to"].status == "T"
    assert changes["new.py"].added == 3
    assert changes["run.sh"].mode == "100755"


def test_a_file_taken_out_of_the_index_but_kept(repository: Any) -> None:
    repository.git("rm", "-q", "--cached", "README.md")
    repository.write("README.md", "other\nlines\n")
    (change,) = snapshot(repository.root).changes
    assert (change.status, change.untracked, change.added, change.deleted) == ("M", True, 2, 1)
    assert change.blob == repository.git("hash-object", "README.md")


def test_committed_and_uncommitted_work_since_a_base(repository: Any, agree: Agree) -> None:
    base = repository.git("rev-parse", "HEAD")
    repository.write("one.py", "1\n")
    repository.write("two.py", "2\n")
    repository.commit("first")
    repository.write("one.py", "1\n1\n")
    repository.commit("second")
    repository.write("two.py", "2\n2\n2\n")
    repository.write("three.py", "3\n")
    facts = agree(repository.root, base=base)
    changes = by_path(facts)
    assert facts.base_rule == "explicit"
    assert [commit.subject for commit in facts.commits] == ["second", "first"]
    assert facts.commits_total == 2
    assert (changes["one.py"].uncommitted, changes["two.py"].uncommitted) == (False, True)
    assert (changes["two.py"].status, changes["two.py"].added) == ("A", 3)


def test_an_edit_that_undoes_a_commit_is_still_dirt(repository: Any) -> None:
    base = repository.git("rev-parse", "HEAD")
    repository.write("README.md", "changed\n")
    repository.commit("change")
    repository.write("README.md", "# project\n")
    changes = by_path(snapshot(repository.root, base=base))
    assert (changes["README.md"].uncommitted, changes["README.md"].added, changes["README.md"].deleted) == (True, 0, 0)


def test_renames_are_delete_and_add(repository: Any, agree: Agree) -> None:
    for number in range(30):
        repository.write(f"old/{number}.py", f"# file {number}\n" * 20)
    repository.commit("files")
    repository.git("config", "diff.renames", "copies")
    repository.git("config", "status.renames", "true")
    (repository.root / "old").rename(repository.root / "new")
    assert len(agree(repository.root).changes) == 60
    repository.git("add", "-A")
    base = repository.git("rev-parse", "HEAD")
    assert len(agree(repository.root).changes) == 60
    repository.commit("moved")
    assert {change.status for change in agree(repository.root, base=base).changes} == {"A", "D"}


def test_paths_in_any_script_and_any_bytes(repository: Any, agree: Agree) -> None:
    names = [
        "文档/说明.md".encode(), "プロジェクト/メモ.txt".encode(),
        b"caf\xe9/\xff.txt", b"back\\slash", b'"quoted"', b"tab\there",
        b"line\nfeed", b"carriage\r", b" leading", b"trailing ", b"-dash", b":(glob)*", b"a*b?[c]", b"\x01start",
        "é-composed".encode(), "é-decomposed".encode(),
    ]  # fmt: skip
    for name in names[:-4]:
        repository.write(os.fsdecode(name), name + b"\n")
    repository.commit("half")
    for name in names:
        repository.write(os.fsdecode(name), name + b"\nmore\n")
    facts = agree(repository.root)
    assert len(facts.changes) == len(names)
    assert {"文档/说明.md", "caf\\xe9/\\xff.txt", "back\\\\slash"} <= by_path(facts).keys()
    agree(repository.root, base=facts.head)


def test_line_endings_are_hashed_as_git_would_store_them(repository: Any, agree: Agree) -> None:
    repository.write(".gitattributes", "*.txt text eol=crlf\n")
    repository.write("a.txt", "one\r\ntwo\r\n")
    repository.commit("endings")
    assert agree(repository.root).changes == ()
    repository.write("a.txt", "one\r\ntwo\r\nthree\r\n")
    repository.write("new.txt", "x\r\ny\r\n")
    assert len(agree(repository.root).changes) == 2


def test_touched_files_are_no_changes(repository: Any, agree: Agree) -> None:
    os.utime(repository.root / "README.md", (1, 1))
    base = repository.git("rev-parse", "HEAD")
    repository.commit("more", **{"more.py": "x\n"})
    os.utime(repository.root / "more.py", (1, 1))
    assert [change.path for change in agree(repository.root, base=base).changes] == ["more.py"]


def test_hidden_untracked_files_are_seen(repository: Any, agree: Agree) -> None:
    repository.git("config", "status.showUntrackedFiles", "no")
    repository.write("deep/er/new.py", "x\n")
    assert [change.path for change in agree(repository.root).changes] == ["deep/er/new.py"]


def test_ignored_files_are_counted_not_listed(repository: Any, agree: Agree) -> None:
    repository.write(".gitignore", "*.log\nnode_modules/\noutputs/\n")
    repository.commit("ignore")
    repository.write("a.log", "x")
    for number in range(20):
        repository.write(f"node_modules/{number}.js", "x")
    repository.write("outputs/handoff/s/handoff.json", "{}")
    facts = agree(repository.root, own_paths=["outputs/handoff/"])
    assert (facts.changes, facts.ignored_count) == ((), 2)


def test_a_merge_in_progress(repository: Any) -> None:
    repository.git("checkout", "-q", "-b", "side")
    repository.write("README.md", "side\n")
    repository.commit("side")
    repository.git("checkout", "-q", "main")
    repository.write("README.md", "main\n")
    repository.commit("main")
    repository.git("merge", "side", check=False)
    facts = snapshot(repository.root)
    assert facts.operation == "merge"
    assert [(change.path, change.status, change.uncommitted) for change in facts.changes] == [("README.md", "U", True)]
    assert facts.changes[0].blob == repository.git("hash-object", "README.md")


@pytest.mark.parametrize(
    ("command", "operation"), [("rebase", "rebase"), ("cherry-pick", "cherry-pick"), ("revert", "revert")]
)
def test_other_operations_in_progress(repository: Any, command: str, operation: str) -> None:
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("side", **{"README.md": "side\n"})
    repository.git("checkout", "-q", "main")
    repository.commit("main", **{"README.md": "main\n"})
    repository.commit("later", **{"README.md": "later\n"})
    target = {"rebase": "side", "cherry-pick": "side", "revert": "HEAD~1"}[command]
    repository.git(command, *(["--no-edit"] if command == "revert" else []), target, check=False)
    facts = snapshot(repository.root)
    assert facts.operation == operation
    assert facts.detached == (command == "rebase")


def test_submodules(repository: Any, make_repository: Callable[..., Any], agree: Agree) -> None:
    library = make_repository("library")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "lib")
    repository.commit("add a submodule")
    facts = agree(repository.root)
    recorded = library.git("rev-parse", "HEAD")
    assert [(item.path, item.commit, item.moved, item.dirty, item.untracked) for item in facts.submodules] == [
        ("lib", recorded, False, False, False)
    ]
    repository.git("config", "submodule.lib.ignore", "all")
    repository.write("lib/new.txt", "x\n")
    untracked = snapshot(repository.root)
    assert (untracked.submodules[0].untracked, untracked.submodules[0].dirty) == (True, False)
    assert [(change.path, change.blob) for change in untracked.changes] == [("lib", recorded)]
    inner = type(repository)(repository.root / "lib")
    moved_to = inner.commit("inside")
    moved = agree(repository.root)
    assert (moved.submodules[0].moved, moved.submodules[0].commit) == (True, recorded)
    assert (moved.changes[0].mode, moved.changes[0].blob, moved.changes[0].status) == ("160000", moved_to, "M")
    repository.write("lib/README.md", "dirty\n")
    assert snapshot(repository.root).submodules[0].dirty


def test_a_nested_repository_is_told(repository: Any, make_repository: Callable[..., Any]) -> None:
    nested = type(repository)(repository.root / "inner")
    nested.root.mkdir()
    nested.git("init", "-q")
    nested.commit("inside", **{"a.txt": "x\n"})
    facts = snapshot(repository.root)
    assert facts.changes == ()
    assert [(finding.code, finding.where) for finding in facts.findings] == [("tree.nested_repo", "inner/")]


def test_devices_and_pipes_are_not_opened(repository: Any) -> None:
    repository.write("pipe", "x\n")
    repository.commit("file")
    (repository.root / "pipe").unlink()
    os.mkfifo(repository.root / "pipe")
    os.mkfifo(repository.root / "other")
    facts = snapshot(repository.root)
    assert {change.path for change in facts.changes} <= {"pipe"}


def test_links_are_hashed_not_followed(repository: Any, agree: Agree, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret\n" * 100)
    (repository.root / "leak").symlink_to(tmp_path / "outside.txt")
    (repository.root / "loop").symlink_to("loop")
    (repository.root / "folder").symlink_to(tmp_path)
    changes = by_path(agree(repository.root))
    assert {change.mode for change in changes.values()} == {"120000"}


def test_five_thousand_files(repository: Any, agree: Agree) -> None:
    for number in range(5000):
        repository.write(f"src/{number % 50}/{number}.py", f"value = {number}\n")
    base = repository.git("rev-parse", "HEAD")
    repository.commit("many")
    for number in range(40):
        repository.write(f"src/{number}/{number}.py", "changed\n")
    for number in range(10):
        repository.write(f"new/{number}.py", "new\n")
    assert agree(repository.root).changes_total == 50
    facts = snapshot(repository.root, base=base)
    assert (facts.changes_total, len(facts.changes)) == (5010, 2000)
    assert sum(change.uncommitted for change in facts.changes) == 50
    assert all(change.added == 1 for change in facts.changes)


def test_more_untracked_files_than_are_listed(repository: Any) -> None:
    for number in range(2500):
        repository.write(f"dump/{number}.txt", f"{number}\n")
    facts = snapshot(repository.root)
    assert (facts.changes_total, len(facts.changes)) == (2500, 2000)
    repository.write("dump/999.txt", "other\n")
    assert snapshot(repository.root).tree_fingerprint != facts.tree_fingerprint


def test_sha256_repositories(tmp_path: Path, repository: Any, agree: Agree) -> None:
    other = type(repository)(tmp_path / "sha256")
    other.root.mkdir()
    other.git("init", "-q", "-b", "main", "--object-format=sha256")
    other.write("a.txt", "x\n")
    (other.root / "link").symlink_to("a.txt")
    unborn = snapshot(other.root)
    assert len(unborn.base) == 64
    assert {change.blob for change in unborn.changes} == {
        other.git("hash-object", "a.txt"), other.git("rev-parse", f":{_added(other, 'link')}"),
    }  # fmt: skip
    other.commit("start")
    other.write("a.txt", "y\n")
    assert len(agree(other.root).changes[0].blob) == 64


def _added(repository: Any, path: str) -> str:
    repository.git("add", path)
    return path
