"""Git's head start: the same answers as without it, each question put once, and nothing where nothing is to be asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from passdown.cli.ahead import head_start
from passdown.handoff.status import read_status
from passdown.io.program import find_program

_STATUS, _LAYOUT = "status", "rev-parse"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a git before the real one that notes in which folder it was asked what, and return a look at its notes."""
    real, notes, place = find_program("git"), tmp_path / "asked", tmp_path / "bin"
    place.mkdir()
    shim = place / "git"
    shim.write_text(f'#!/bin/sh\necho "$(cd "$2" && pwd -P) $*" >> "{notes}"\nexec "{real}" "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")

    def look(word: str) -> list[str]:
        """Return the folders in which a question that begins with the word was put since the last look."""
        lines = notes.read_text().splitlines() if notes.exists() else []
        return [line.partition(" ")[0] for line in lines if f" {word} " in f"{line} "]

    return look


def started(words: list[str]) -> bool:
    """Whether anything is asked before the command line is loaded."""
    code = (
        "import sys\nfrom passdown.cli.ahead import head_start\n"
        "with head_start(sys.argv[1:]):\n"
        "    from passdown.io.git import _moment\n"
        "    print(bool(_moment.get()), 'click' in sys.modules, 'msgspec' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    begun, *loaded = done.stdout.split()
    assert loaded == ["False", "False"]
    return begun == "True"


@pytest.mark.parametrize("words", [["status"], ["status", "--json"], ["take"], ["-C", ".", "status"]])
def test_git_is_asked_before_the_command_line_is_loaded(
    words: list[str], repository: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.root)
    assert started(words)


@pytest.mark.parametrize(
    "words",
    [
        [], ["--help"], ["status", "--help"], ["-h"], ["status", "--jsno"], ["status", "extra"], ["statu"], ["log"],
        ["-C"], ["-C", "status"], ["-C", "/nowhere/at/all", "status"], ["--json", "status"], ["take", "--ack"],
        ["-C", "f.py", "status"], ["note", "next", "status"], ["-C", "a\udcffb", "status"],
    ],
    ids=str,
)  # fmt: skip
def test_nothing_is_asked_for_any_other_call(
    words: list[str], repository: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("one", **{"f.py": "x"})
    monkeypatch.chdir(repository.root)
    assert not started(words)


def test_nothing_is_asked_outside_of_a_repository(
    passdown: Any, asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not started(["status"])
    done = passdown("-C", str(tmp_path), "status")
    assert done.returncode == 4
    assert b"git init" in done.stderr
    assert asked(_STATUS) == []


@pytest.mark.parametrize("place", ["root", "below", "worktree", "linked"])
def test_each_question_is_put_once_and_answered_as_without(
    place: str, repository: Any, passdown: Any, asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("src/a.py", "a = 1\n")
    repository.commit("one")
    top = folder = repository.root
    if place == "below":
        folder = top / "src"
    elif place == "worktree":
        top = folder = tmp_path / "second"
        repository.git("worktree", "add", "-q", "-b", "other", str(folder))
    elif place == "linked":
        folder = tmp_path / "link"
        folder.symlink_to(top)
    (top / "src/a.py").write_text("a = 2\n")
    (top / "new.txt").write_text("new\n")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    before = read_status(folder)
    assert (before.tree.changed, before.tree.untracked) == (1, 1)
    already = asked(_STATUS), asked(_LAYOUT)
    done = passdown("-C", str(folder), "status", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tree"] == json.loads(json.dumps(_plain(before.tree)))
    assert asked(_STATUS)[len(already[0]) :] == [os.path.realpath(top)]
    plain = place in ("root", "linked")  # then nobody has to ask
    assert asked(_LAYOUT)[len(already[1]) :] == ([] if plain else [os.path.realpath(folder)])


def _plain(tree: Any) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(tree)
    return plain


def test_an_answer_counts_for_its_own_folder_only(repository: Any, tmp_path: Path) -> None:
    repository.commit("one", **{"a.py": "1"})
    repository.write("a.py", "2")
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(repository.root), str(other)], check=True)
    with head_start(["-C", str(repository.root), "status"]):
        assert read_status(other).tree.changed == 0
        assert read_status(repository.root).tree.changed == 1


def test_a_repository_that_git_refuses_is_refused_all_the_same(repository: Any, passdown: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repository.commit("one", **{"a.py": "1"})
    repository.git("config", "core.worktree", str(elsewhere))
    done = passdown("-C", str(repository.root), "status")
    assert done.returncode == 1
    assert b"core.worktree" in done.stderr


def test_without_git_the_command_says_so(repository: Any, passdown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = passdown("-C", str(repository.root), "status")
    assert done.returncode == 1
    assert b"git is not installed" in done.stderr


def test_a_folder_that_was_deleted_is_told_of(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f'cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" -m passdown status'
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert done.returncode in (1, 2, 4)
    assert b"Traceback" not in done.stderr


def test_what_nobody_wanted_is_stopped(repository: Any) -> None:
    repository.write(".gitattributes", "*.slow filter=slow\n")
    repository.commit("one", **{"a.slow": "x"})
    repository.git("config", "filter.slow.clean", "sleep 5")
    repository.write("a.slow", "y")
    with head_start(["-C", str(repository.root), "status"]):
        pass
    waiting = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, check=False)
    assert b"--porcelain=v2" not in waiting.stdout
