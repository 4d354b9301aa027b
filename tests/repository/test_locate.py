"""Finding the working tree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.errors import GitError
from passdown.repository.locate import locate, read_layout
from passdown.repository.plain import plain_root
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


# --- what is plain is told without git, and is what git says -----------------------------------------------------


def said_by_git(repository: Any) -> tuple[str, ...]:
    asked = ("--is-bare-repository", "--is-shallow-repository", "--show-object-format", "--absolute-git-dir",
             "--git-common-dir", "--show-toplevel")  # fmt: skip
    bare, shallow, form, git_dir, common, top = repository.git("rev-parse", *asked).split("\n")
    return bare, shallow, form, git_dir, str((repository.root / common).resolve()), top


def test_the_layout_of_a_plain_repository_is_what_git_says(repository: Any, tmp_path: Path) -> None:
    repository.git("remote", "add", "origin", "https://example.com/bare/it.git")
    repository.git("remote", "set-url", "origin", "https://example.com/it.git")
    (tmp_path / "link").symlink_to(repository.root)
    repository.git("checkout", "-q", "--detach")
    for folder in (repository.root, tmp_path / "link", tmp_path / "link" / "."):
        assert plain_root(folder) == str(repository.root)
        layout = read_layout(folder)
        assert ("false", "false", "sha1", str(layout.git_dir), str(layout.common_dir), str(layout.root)) == (
            said_by_git(repository)
        )
        assert (layout.bare, layout.shallow, locate(folder)) == (False, False, repository.root)
        assert layout.empty_tree == repository.git("hash-object", "-t", "tree", os.devnull)


def another_hash(repository: Any) -> None:
    for name in ("HEAD", "config"):
        (repository.root / ".git" / name).unlink()
    repository.git("init", "-q", "--object-format=sha256", "-b", "main")


def cut_off(repository: Any) -> None:
    (repository.root / ".git" / "shallow").write_text(repository.git("rev-parse", "HEAD") + "\n")


def appended(text: str) -> Callable[[Any], None]:
    def change(repository: Any) -> None:
        config = repository.root / ".git" / "config"
        config.write_text(config.read_text() + text)

    return change


@pytest.mark.parametrize(
    "change",
    [
        another_hash,
        cut_off,
        lambda repository: repository.git("config", "core.bare", "true"),
        lambda repository: repository.git("config", "--unset", "core.bare"),
        lambda repository: repository.git("config", "core.worktree", ".."),
        lambda repository: repository.git("config", "core.repositoryFormatVersion", "1"),
        lambda repository: repository.git("config", "extensions.worktreeConfig", "true"),
        appended("[core]\n\tbare = true\n"),
        appended("[core] worktree = /\n"),
        appended("[core]\n\tBare\n"),
        appended("[core]\n\tba\\\nre = true\n"),
        appended('[a]\n\tb = "\n'),
        appended("no setting\n"),
        appended("[a_b]\n"),
        lambda repository: (repository.root / ".git" / "HEAD").write_text("main\n"),
        lambda repository: (repository.root / ".git" / "refs").rename(repository.root / ".git" / "gone"),
        lambda repository: (repository.root / ".git").rename(repository.root / "elsewhere"),
    ],
)
def test_what_is_not_plain_is_left_to_git(repository: Any, change: Callable[[Any], object]) -> None:
    assert plain_root(repository.root) == str(repository.root)
    change(repository)
    assert plain_root(repository.root) == ""


def test_other_folders_than_the_root_are_left_to_git(repository: Any, tmp_path: Path) -> None:
    repository.write("a/b.txt", "x\n")
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / ".git").symlink_to(repository.root / ".git")
    for folder in (repository.root / "a", repository.root / ".git", tmp_path, tmp_path / "side", tmp_path / "bare.git",
                   tmp_path / "link", repository.root / "README.md", tmp_path / "gone"):  # fmt: skip
        assert plain_root(folder) == ""
