"""Finding the working tree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.errors import GitError
from passdown.repository.locate import locate, read_layout
from passdown.repository.snapshot import snapshot


def test_the_root_is_found_from_anywhere_inside(repository: Any) -> None:
    repository.write("a/b/c.txt", "x\n")
    assert locate(repository.root) == repository.root
    assert locate(repository.root / "a" / "b") == repository.root


def test_a_plain_folder_a_file_and_nothing_at_all_are_none(tmp_path: Path, repository: Any) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert locate(plain) is None
    assert locate(repository.root / "README.md") is None
    assert locate(tmp_path / "gone" / "deeper") is None


def test_the_git_folder_and_a_bare_repository_have_no_working_tree(repository: Any, tmp_path: Path) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    assert locate(repository.root / ".git") is None
    assert locate(tmp_path / "bare.git") is None


def test_inherited_variables_do_not_lead_astray(
    repository: Any, make_repository: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository("other")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / "elsewhere"))
    assert locate(repository.root) == repository.root
    assert snapshot(repository.root).root == str(repository.root)


def test_a_refused_repository_is_a_clear_error(repository: Any) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    for path in (repository.root, repository.root / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(GitError, match="somebody else owns it") as caught:
        locate(repository.root)
    assert "safe.directory" in caught.value.next_step


def test_a_broken_link_to_a_repository_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    with pytest.raises(GitError, match="cannot read"):
        locate(tmp_path)


def test_a_working_tree_set_elsewhere_is_refused(repository: Any, isolated_home: Path) -> None:
    (isolated_home / "secret.txt").write_text("x")
    repository.git("config", "core.worktree", str(repository.root.parent))
    with pytest.raises(GitError, match=r"core\.worktree"):
        locate(repository.root)
    with pytest.raises(GitError, match=r"core\.worktree"):
        snapshot(repository.root)


def test_the_layout_of_a_linked_worktree(repository: Any, tmp_path: Path) -> None:
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    layout = read_layout(tmp_path / "side")
    assert layout.root == tmp_path / "side"
    assert layout.git_dir == repository.root / ".git" / "worktrees" / "side"
    assert layout.common_dir == repository.root / ".git"


def test_a_snapshot_of_no_repository_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="cannot read"):
        snapshot(tmp_path)
