"""The one caller of git."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from passdown.errors import GitError
from passdown.io.git import ask_ahead, ask_git, ask_in_passing, git_version, one_moment, require_git, run_git, try_git
from passdown.io.program import find_program, program_version


def test_bytes_come_out(repository: Any) -> None:
    assert run_git(repository.root, "rev-parse", "HEAD").decode().strip() == repository.git("rev-parse", "HEAD")
    assert run_git(repository.root, "hash-object", "--stdin", stdin=b"\xff").endswith(b"\n")


def test_failures_say_why(repository: Any, tmp_path: Path) -> None:
    with pytest.raises(GitError, match=r"git log failed: fatal: bad revision 'nowhere'"):
        run_git(repository.root, "log", "nowhere", "--")
    code, output, message = try_git(repository.root, "rev-parse", "--verify", "nowhere")
    assert (code, output, message) == (128, b"", "fatal: Needed a single revision")
    with pytest.raises(GitError, match="could not start"):
        run_git(tmp_path / "gone", "status")


@pytest.mark.parametrize("argument", ["a\0b", "\ud800", "x" * (4 << 20)])
def test_arguments_no_process_can_take_are_an_error(repository: Any, argument: str) -> None:
    with pytest.raises(GitError, match="could not start"):
        run_git(repository.root, "rev-parse", argument)


def test_a_call_that_takes_too_long_is_given_up(repository: Any) -> None:
    repository.git("config", "filter.slow.clean", "sleep 5")
    repository.write(".gitattributes", "*.slow filter=slow\n")
    repository.write("a.slow", "x")
    with pytest.raises(GitError, match=r"took longer than 0\.2 s"):
        run_git(repository.root, "hash-object", "a.slow", timeout=0.2)


def test_without_git(repository: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for path in (str(tmp_path), "", ".", "relative/bin"):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(GitError, match="not installed") as caught:
            run_git(repository.root, "status")
        assert "2.30" in caught.value.next_step


def test_inherited_variables_are_dropped_and_chosen_ones_kept(
    repository: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    (tmp_path / "config").write_text("[user]\n\tname = From The File\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert run_git(repository.root, "config", "user.name") == b"From The File\n"
    assert b"Somebody" not in run_git(repository.root, "-c", "user.email=a@example.com", "var", "GIT_AUTHOR_IDENT")
    index = tmp_path / "index"
    run_git(repository.root, "read-tree", "HEAD", env={"GIT_INDEX_FILE": str(index)})
    assert index.is_file()


def test_no_transport_unless_asked_for(repository: Any, tmp_path: Path) -> None:
    url = f"file://{repository.root}"
    with pytest.raises(GitError, match="not allowed"):
        run_git(tmp_path, "ls-remote", url)
    assert b"refs/heads/main" in run_git(tmp_path, "ls-remote", url, env={"GIT_ALLOW_PROTOCOL": "file"})


def test_programs_are_found_by_absolute_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").write_text("#!/bin/sh\necho 'tool version 1.2.3-beta1 (2024)'\n")
    (tmp_path / "bin" / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["bin", "./bin", ""]))
    assert find_program("tool") is None
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_program("tool") == tmp_path / "bin" / "tool"
    assert find_program("tool", outside=tmp_path) is None
    for name in ("bin/tool", "../bin/tool", "", "-x", "a" * 100, "to ol", "tool\0"):
        assert find_program(name) is None
    assert program_version("tool", outside=tmp_path / "elsewhere") == "present"


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ("go version go1.22.5 linux/amd64", "1.22.5"),
        ("v20.20.2", "20.20.2"),
        ("no number", "present"),
        ("1.0; exit 3", "present"),
    ],
)
def test_versions_are_read_out_of_what_tools_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, version: str
) -> None:
    said, _, then = answer.partition(";")
    (tmp_path / "go").write_text(f"#!/bin/sh\necho '{said}'\n{then}\n")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    assert program_version("go", outside=tmp_path / "elsewhere") == version


def test_one_moment_asks_once_and_then_afresh(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "-b", "main")
    asked = ("config", "--get", "core.eol")
    with one_moment():
        assert ask_git(tmp_path, *asked)[0] == 1
        run_git(tmp_path, "config", "core.eol", "lf")
        with one_moment():
            assert ask_git(tmp_path, *asked)[0] == 1
        assert ask_git(tmp_path / ".", *asked)[0] == 1
        assert try_git(tmp_path, *asked)[1] == b"lf\n"
    assert ask_git(tmp_path, *asked)[1] == b"lf\n"


def test_what_is_asked_ahead_is_answered_as_of_then_and_once(repository: Any) -> None:
    asked = ("rev-parse", "HEAD")
    before = repository.git("rev-parse", "HEAD").encode() + b"\n"
    with one_moment():
        ask_ahead(repository.root, *asked)
        ask_ahead(repository.root, *asked)
        assert require_git(repository.root, *asked) == before
        repository.git("commit", "-q", "--allow-empty", "-m", "more")
        assert ask_git(repository.root, *asked)[1] == before
        ask_ahead(repository.root, *asked)
        assert ask_git(repository.root, *asked)[1] == before
    assert ask_git(repository.root, *asked)[1] != before
    ask_ahead(repository.root, *asked)  # there is no moment to keep the answer for


def test_an_answer_that_nobody_wants_keeps_nobody_waiting(repository: Any) -> None:
    marker = repository.root / "still-running"
    repository.git("config", "filter.slow.clean", f"sleep 3; touch {marker}")
    repository.write(".gitattributes", "*.slow filter=slow\n")
    repository.write("a.slow", "x")
    with pytest.raises(KeyError), one_moment():
        ask_ahead(repository.root, "hash-object", "a.slow")
        raise KeyError
    assert not marker.exists()


def test_a_refusal_is_kept_and_told_each_time(repository: Any) -> None:
    with one_moment():
        ask_ahead(repository.root, "rev-parse", "--verify", "nowhere")
        for _ in range(2):
            with pytest.raises(GitError, match="rev-parse failed: fatal: Needed a single revision"):
                require_git(repository.root, "rev-parse", "--verify", "nowhere")


def test_an_answer_asked_ahead_may_be_large(repository: Any) -> None:
    repository.write("large", "line\n" * 200_000)
    blob = repository.git("hash-object", "-w", "large")
    with one_moment():
        ask_ahead(repository.root, "cat-file", "blob", blob)
        assert len(require_git(repository.root, "cat-file", "blob", blob)) == 1_000_000


def test_an_answer_asked_ahead_that_takes_too_long_is_given_up(repository: Any) -> None:
    repository.git("config", "filter.slow.clean", "sleep 5")
    repository.write(".gitattributes", "*.slow filter=slow\n")
    repository.write("a.slow", "x")
    with one_moment():
        ask_ahead(repository.root, "hash-object", "a.slow")
        with pytest.raises(GitError, match=r"took longer than 0\.2 s"):
            ask_git(repository.root, "hash-object", "a.slow", timeout=0.2)


def test_git_tells_its_version_in_passing(repository: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = repository.git("version").removeprefix("git version ").split(" ")[0]
    asked = ("rev-parse", "HEAD")
    with one_moment():
        before = ask_git(repository.root, *asked)
    git = find_program("git")
    (tmp_path / "git").write_text(f'#!/bin/sh\n[ "$GIT_TRACE2_EVENT" ] || exit 9\nexec {git} "$@"\n')
    (tmp_path / "git").chmod(0o755)
    with one_moment():
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        assert ask_in_passing(repository.root, *asked) == before
        assert ask_in_passing(repository.root, *asked) == before
        assert plain.startswith(git_version(repository.root))


def test_what_git_complains_of_in_passing_is_told_alone(repository: Any) -> None:
    asked = ("rev-parse", "--verify", "nowhere")
    with one_moment():
        assert ask_in_passing(repository.root, *asked) == (128, b"", "fatal: Needed a single revision")
        assert ask_git(repository.root, *asked)[2] == "fatal: Needed a single revision"
        assert ask_in_passing(repository.root, "config", "--get", "no.such") == (1, b"", "")


def test_a_git_that_tells_nothing_in_passing_is_asked_for_its_version(
    repository: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = repository.git("version").removeprefix("git version ").split(" ")[0]
    (tmp_path / "git").write_text(f'#!/bin/sh\nunset GIT_TRACE2_EVENT\nexec {find_program("git")} "$@"\n')
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert plain.startswith(git_version(repository.root))
    with one_moment():
        assert ask_in_passing(repository.root, "rev-parse", "HEAD")[0] == 0
        assert plain.startswith(git_version(repository.root))
