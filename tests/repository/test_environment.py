"""The environment of the work."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from passdown.repository.environment import probe_environment


def test_what_is_told_by_default(repository: Any) -> None:
    assert list(probe_environment(repository.root).tools) == ["git"]
    repository.write("pyproject.toml", "")
    found = probe_environment(repository.root)
    assert (found.os, found.arch) == (platform.system().lower(), platform.machine())
    assert sorted(found.tools) == ["git", "python"]
    assert repository.git("version").startswith(f"git version {found.tools['git']}")
    assert found.tools["python"].count(".") == 2
    assert (found.env_names, found.fs_case, found.eol) == ([], "sensitive", "autocrlf=false")
    assert found.head_actual == repository.git("rev-parse", "HEAD")


def test_names_of_variables_and_never_values(repository: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2")
    monkeypatch.delenv("UNSET_NAME", raising=False)
    found = probe_environment(repository.root, env_names=["API_TOKEN", "UNSET_NAME", "API_TOKEN", "NOT A NAME", "A=B"])
    assert found.env_names == ["API_TOKEN"]
    assert "hunter2" not in repr(found)


def fake_tool(folder: Path, name: str, answer: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\ntouch {folder}/ran-{name}\necho '{answer}'\n")
    (folder / name).chmod(0o755)


def test_tools_are_asked_outside_the_repository_only(
    repository: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tool(tmp_path / "bin", "node", "v22.11.0")
    fake_tool(tmp_path / "bin", "mystery", "1.0")
    fake_tool(repository.root / "bin", "cargo", "cargo 1.80.0 (abc 2024)")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "rustc").symlink_to(repository.root / "bin" / "cargo")
    folders = [repository.root / "bin", tmp_path / "links", tmp_path / "bin"]
    monkeypatch.setenv("PATH", os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]))
    tools = ["node", "mystery", "cargo", "rustc", "./bin/cargo", "../evil", "no-such-tool", "a b"]
    found = probe_environment(repository.root, tools=tools).tools
    assert (found["node"], found["mystery"]) == ("22.11.0", "present")
    assert {found[name] for name in ("./bin/cargo", "../evil", "no-such-tool", "a b")} == {""}
    assert not list(repository.root.rglob("ran-*"))
    assert not (tmp_path / "bin" / "ran-mystery").exists()


def test_the_projects_own_virtual_environment_is_read_not_run(repository: Any) -> None:
    repository.write("setup.py", "")
    repository.write(".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.9.18\n")
    assert probe_environment(repository.root).tools["python"] == "3.9.18"
    repository.write(".venv/pyvenv.cfg", "home = /usr/bin\nversion_info = 3.12.4.final.0\n")
    assert probe_environment(repository.root).tools["python"] == "3.12.4"


def test_line_endings(repository: Any) -> None:
    repository.git("config", "core.autocrlf", "input")
    repository.git("config", "core.eol", "lf")
    repository.write(".gitattributes", "*.py text eol=lf\n")
    assert probe_environment(repository.root).eol == "autocrlf=input,eol=lf,gitattributes"


def test_an_unborn_head(make_repository: Any) -> None:
    assert probe_environment(make_repository(empty=True).root).head_actual == ""


def test_the_interpreter_stands_in_where_no_python_is_found(repository: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("requirements.txt", "")
    folder = repository.root.parent / "only-git"
    folder.mkdir()
    real = next(Path(part) / "git" for part in os.environ["PATH"].split(os.pathsep) if (Path(part) / "git").exists())
    (folder / "git").symlink_to(real)
    monkeypatch.setenv("PATH", str(folder))
    expected = ".".join(map(str, sys.version_info[:3]))
    assert probe_environment(repository.root).tools["python"] == expected
