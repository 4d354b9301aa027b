"""`passdown hooks install` and `uninstall` on real files: what is written, what is refused, what is restored."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.hook_command import HookCommand
from passdown.agents.table import TABLE, home_of, hooks_of
from passdown.errors import ConflictError
from passdown.hooks.change import apply_plan
from passdown.hooks.install import hooked_agents, plan_install, plan_uninstall

COMMAND = HookCommand("/usr/bin/python3", "/opt/passdown/hooks/entry.py")
MOVED = HookCommand("/opt/new/bin/python3", "/opt/new/passdown/hooks/entry.py")
THEIRS = '{"hooks": [{"type": "command", "command": "echo theirs"}]}'
AGENTS = [row.id for row in TABLE if row.hooks]


@pytest.fixture(autouse=True)
def home(isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "XDG_STATE_HOME",
        "QWEN_HOME",
        "COPILOT_HOME",
        "GEMINI_CLI_HOME",
        "OPENCODE_CONFIG_DIR",
        "OH_PERSISTENCE_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    return isolated_home


def passdown(*words: str, code: int = 0, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "passdown", *words], capture_output=True, text=True, check=False,
                          env=os.environ | (env or {}))  # fmt: skip
    assert done.returncode == code, done.stderr
    return done


def everything(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder under a folder, passdown's own state apart."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if not path.relative_to(folder).as_posix().startswith(".local")
    }


def install(agent: str, root: Path, command: HookCommand = COMMAND, scope: Any = "user") -> list[Path]:
    return apply_plan(plan_install(hooked_agents([agent]), scope, root, command))


def uninstall(agent: str, root: Path, scope: Any = "user") -> list[Path]:
    return apply_plan(plan_uninstall(hooked_agents([agent]), scope, root))


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_made_is_gone_afterwards_with_its_folders(agent: str, scope: str, home: Path, tmp_path: Path) -> None:
    before = everything(home), everything(tmp_path)
    install(agent, tmp_path, scope=scope)
    assert (everything(home), everything(tmp_path)) != before
    assert install(agent, tmp_path, scope=scope) == []
    assert len(install(agent, tmp_path, MOVED, scope=scope)) == 1
    uninstall(agent, tmp_path, scope=scope)
    assert (everything(home), everything(tmp_path)) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_a_folder_that_was_there_or_is_used_by_now_stays(agent: str, home: Path, tmp_path: Path) -> None:
    row = hooked_agents([agent])[0]
    path = hooks_of(row).file("user", tmp_path, home_of(row))
    path.parent.mkdir(parents=True)
    before = everything(home)
    install(agent, tmp_path)
    uninstall(agent, tmp_path)
    assert everything(home) == before
    path.parent.rmdir()
    install(agent, tmp_path)
    (path.parent / "mine").write_text("x")
    uninstall(agent, tmp_path)
    assert [child.name for child in path.parent.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\xef\xbb\xbf",
        b"// x\n",
        b"{}",
        b"{ }\n",
        b"{\n}\n",
        b'{\r\n\t"a": 1,\r\n}',
        b'{"hooks": {"Stop": []}}',
    ],
)
def test_a_file_that_was_there_is_restored_to_the_byte(content: bytes, home: Path, tmp_path: Path) -> None:
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_bytes(content)
    path.chmod(0o600)
    install("claude_code", tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    install("claude_code", tmp_path, MOVED)
    uninstall("claude_code", tmp_path)
    assert path.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_what_was_remembered_our_entries_go_all_the_same(home: Path, tmp_path: Path) -> None:
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "a": 1\n}\n')
    for agent in ("claude_code", "codex"):
        install(agent, tmp_path)
    (home / ".local/state/passdown/hooks/files.json").write_text("not JSON")
    for agent in ("claude_code", "codex"):
        uninstall(agent, tmp_path)
    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert not (home / ".codex/hooks.json").exists()


def test_somebodys_edit_stays_and_then_the_file_stays(home: Path, tmp_path: Path) -> None:
    install("copilot", tmp_path)
    path = home / ".copilot/hooks/passdown.json"
    told = json.loads(path.read_text())
    told["hooks"]["agentStop"].insert(0, {"type": "command", "bash": "echo theirs"})
    path.write_text(json.dumps(told, indent=4))
    uninstall("copilot", tmp_path)
    assert json.loads(path.read_text()) == {
        "version": 1,
        "hooks": {"agentStop": [{"type": "command", "bash": "echo theirs"}]},
    }


def test_a_link_into_the_home_folder_is_followed_and_said(home: Path, tmp_path: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles/claude.json").write_text('{"a": 1}')
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").symlink_to("../dotfiles/claude.json")
    said = passdown("-C", str(tmp_path), "hooks", "install", "claude").stdout
    assert f"(a link; the file is {(home / 'dotfiles/claude.json').resolve()})" in said
    assert (home / ".claude/settings.json").is_symlink()
    assert "entry.py" in (home / "dotfiles/claude.json").read_text()
    passdown("-C", str(tmp_path), "hooks", "uninstall")
    assert (home / "dotfiles/claude.json").read_text() == '{"a": 1}'
    assert (home / ".claude/settings.json").is_symlink()


@pytest.mark.parametrize("kind", ["file outside", "folder outside", "nowhere", "circle", "folder", "pipe"])
def test_what_is_no_file_of_the_home_folder_is_refused(kind: str, home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text("{}")
    path = home / ".claude/settings.json"
    if kind == "folder outside":
        (home / ".claude").symlink_to(outside)
    else:
        (home / ".claude").mkdir()
    if kind == "file outside":
        path.symlink_to(outside / "settings.json")
    elif kind == "nowhere":
        path.symlink_to(home / "missing")
    elif kind == "circle":
        path.symlink_to(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    done = passdown("-C", str(tmp_path), "hooks", "install", "claude", "codex", code=8)
    assert "claude_code: " in done.stderr
    assert (outside / "settings.json").read_text() == "{}"
    assert (home / ".codex/hooks.json").is_file()


def test_a_project_that_links_elsewhere_is_refused(home: Path, repository: Any) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text("{}")
    (repository.root / ".claude").mkdir()
    (repository.root / ".claude/settings.local.json").symlink_to(home / ".claude/settings.json")
    passdown("-C", str(repository.root), "hooks", "install", "claude", "--project", code=8)
    assert (home / ".claude/settings.json").read_text() == "{}"


@pytest.mark.parametrize("exclude", [None, b"", b"*.log\n", b"*.log", b"\xff\n"])
def test_what_is_made_in_a_project_stays_out_of_commits(exclude: bytes | None, repository: Any) -> None:
    path = repository.root / ".git/info/exclude"
    path.unlink(missing_ok=True)
    if exclude is None:
        path.parent.rmdir()
    else:
        path.write_bytes(exclude)
    repository.write(".gemini/settings.json", "{}")
    repository.git("add", "-f", ".gemini/settings.json")
    repository.git("commit", "-qm", "Settings")
    before = everything(repository.root)
    agents = [agent for agent in AGENTS if agent != "gemini"]
    passdown("-C", str(repository.root), "hooks", "install", "--project", *agents)
    assert repository.git("status", "--porcelain") == ""
    passdown("-C", str(repository.root), "hooks", "install", "--project", "gemini")
    assert repository.git("status", "--porcelain") == "M .gemini/settings.json"
    passdown("-C", str(repository.root), "hooks", "uninstall", "--project", "codex")
    assert repository.git("status", "--porcelain") == "M .gemini/settings.json"
    passdown("-C", str(repository.root), "hooks", "uninstall", "--project")
    after = everything(repository.root)
    assert {name: data for name, data in after.items() if not name.endswith(".git/index")} == {
        name: data for name, data in before.items() if not name.endswith(".git/index")
    }


@pytest.mark.parametrize("content", [b'{"a": 1', b"\xff\xfe{}", b'{"hooks": 1}'])
def test_what_cannot_be_read_is_left_alone_and_the_others_are_done(content: bytes, home: Path, tmp_path: Path) -> None:
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_bytes(content)
    done = passdown("-C", str(tmp_path), "hooks", "install", "claude", "qwen", code=4)
    assert str(path) in done.stderr
    assert path.read_bytes() == content
    assert (home / ".qwen/settings.json").is_file()
    passdown("-C", str(tmp_path), "hooks", "uninstall")
    assert path.read_bytes() == content


def test_a_file_that_changes_between_plan_and_deed_is_left_alone(home: Path, tmp_path: Path) -> None:
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text("{}")
    plan = plan_install(hooked_agents(["claude"]), "user", tmp_path, COMMAND)
    path.write_text('{"a": 1}')
    with pytest.raises(ConflictError):
        apply_plan(plan)
    assert path.read_text() == '{"a": 1}'


def test_a_dry_run_prints_a_diff_and_writes_nothing(home: Path, tmp_path: Path) -> None:
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    key = "sk-ant-" + "api03-" + "Zq8" * 12
    path.write_text(f'{{\n  "env": {{"ANTHROPIC_API_KEY": "{key}"}}\n}}\n')
    before = everything(home)
    said = passdown("-C", str(tmp_path), "hooks", "install", "claude", "--dry-run").stdout
    assert said.startswith(f"--- {path}\n+++ {path}\n")
    assert '+  "hooks": {' in said
    assert key not in said
    assert everything(home) == before
    told = json.loads(passdown("-C", str(tmp_path), "hooks", "install", "claude", "--dry-run", "--json").stdout)
    assert told["schema_version"] == 1
    assert told["files"][0]["changed"] is True
    assert everything(home) == before


def test_install_without_names_takes_the_agents_that_are_here(home: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "pi").write_text("#!/bin/sh\nexit 1\n")
    (programs / "pi").chmod(0o755)
    (home / ".codex").mkdir()
    done = passdown("-C", str(tmp_path), "hooks", "install", env={"PATH": f"{programs}:/usr/bin:/bin"})
    assert [line.split(":")[0] for line in done.stdout.splitlines() if line[0] != " "] == ["codex", "pi"]
    assert "trust" in done.stdout
    passdown("-C", str(tmp_path), "hooks", "install", "emacs", code=2)


def test_what_is_installed_runs_and_ends_well(home: Path, tmp_path: Path) -> None:
    passdown("-C", str(tmp_path), "hooks", "install", "claude")
    told = json.loads((home / ".claude/settings.json").read_text())
    line = told["hooks"]["Stop"][0]["hooks"][0]["command"]
    payload = json.dumps({"session_id": "abc", "cwd": str(tmp_path), "hook_event_name": "Stop"})
    done = subprocess.run(["sh", "-c", line], input=payload, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    fired = json.loads(passdown("-C", str(tmp_path), "hooks", "status", "claude", "--json").stdout)["agents"][0]
    assert (fired["last_event"], fired["last_error"]) == ("stop", "")
