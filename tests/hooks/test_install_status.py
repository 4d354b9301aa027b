"""`passdown hooks status`: what is here, installed, trusted, and how the last hook ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.codex.trust import codex_trust, hook_hash, trust_entries
from passdown.agents.hook_command import HookCommand
from passdown.agents.table import TABLE, home_of, hooks_of
from passdown.hooks.change import apply_plan
from passdown.hooks.install import hooked_agents, plan_install
from passdown.hooks.status import hook_status, read_log, seen_version

ROWS = {row.id: row for row in TABLE if row.hooks}


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
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return isolated_home


@pytest.fixture
def command(tmp_path: Path) -> HookCommand:
    """A command whose entry is there."""
    entry = tmp_path / "passdown/hooks/entry.py"
    entry.parent.mkdir(parents=True)
    entry.write_text("")
    return HookCommand(sys.executable, str(entry))


def installed(agent: str, command: HookCommand, root: Path | None = None) -> Any:
    status = hook_status([ROWS[agent]], root, command)[0]
    return {one.scope: one for one in status.installed} if root else status.installed[0]


def install(agent: str, root: Path, command: HookCommand, scope: Any = "user") -> Path:
    return apply_plan(plan_install(hooked_agents([agent]), scope, root, command))[0]


# What `hooks/list` of Codex 0.171.0 itself said of these hooks.
MEASURED = [
    ("session_start", {"command": '"/usr/bin/python3" -I -S "/x/entry.py" codex start', "timeout": 30}, None,
     "1a4397024446942333ad06ca3a6cbd261066b585728880225669efff5c515b4c"),
    ("stop", {"command": "echo hi"}, None, "f2aa169c7a1cf9b7cc9b61ce5ecec0315e0f7d13ac35935b1aa74440f9a839f8"),
    ("stop", {"command": "echo ho", "timeout": 5, "statusMessage": "x"}, None,
     "8a9155bc750e9bef04a7ff93a5663ac1057030f868a7ba54246090525cb43af2"),
]  # fmt: skip


@pytest.mark.parametrize(("event", "hook", "matcher", "digest"), MEASURED)
def test_a_hook_is_known_by_the_digest_codex_gives_it(
    event: str, hook: dict[str, Any], matcher: None, digest: str
) -> None:
    assert hook_hash(event, hook, matcher) == f"sha256:{digest}"


def test_codex_trusts_what_its_user_trusted_and_nothing_else(home: Path, tmp_path: Path, command: HookCommand) -> None:
    path = install("codex", tmp_path, command)
    config = home / ".codex/config.toml"
    assert installed("codex", command).trusted == "not trusted"
    states = [f"[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(digest)}\n"
              for key, digest in trust_entries(path.read_text(), path).items()]  # fmt: skip
    config.write_text("\n".join(states))
    assert installed("codex", command).trusted == "trusted"
    config.write_text("\n".join(states[1:]))
    assert installed("codex", command).trusted == "not trusted"
    config.write_text("\n".join([states[0] + "enabled = false\n", *states[1:]]))
    assert installed("codex", command).trusted == "off"
    config.write_text("[features]\nhooks = false\n" + "\n".join(states))
    assert installed("codex", command).trusted == "off"
    config.write_text("[[[")
    assert installed("codex", command).trusted == "unknown"


def test_a_moved_installation_is_trusted_no_more(home: Path, tmp_path: Path, command: HookCommand) -> None:
    path = install("codex", tmp_path, command)
    states = "\n".join(f"[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(digest)}\n"
                       for key, digest in trust_entries(path.read_text(), path).items())  # fmt: skip
    install("codex", tmp_path, HookCommand("/usr/bin/env", command.entry))
    assert codex_trust(states, path.read_text(), path) == "not trusted"


def test_a_projects_hooks_need_the_projects_trust_as_well(home: Path, repository: Any, command: HookCommand) -> None:
    path = install("codex", repository.root, command, "project")
    states = "\n".join(f"[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(digest)}\n"
                       for key, digest in trust_entries(path.read_text(), path).items())  # fmt: skip
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(states)
    assert installed("codex", command, repository.root)["project"].trusted == "not trusted"
    project = f'[projects.{json.dumps(str(repository.root))}]\ntrust_level = "trusted"\n'
    (home / ".codex/config.toml").write_text(project + states)
    assert installed("codex", command, repository.root)["project"].trusted == "trusted"


@pytest.mark.parametrize("agent", list(ROWS))
def test_the_state_of_the_hooks(agent: str, home: Path, tmp_path: Path, command: HookCommand) -> None:
    assert installed(agent, command).state == "no"
    path = install(agent, tmp_path, command)
    assert installed(agent, command).state == "yes"
    assert installed(agent, HookCommand("/usr/bin/env", command.entry)).state == "old"
    Path(command.entry).unlink()
    assert installed(agent, command).state == "broken"
    status = hook_status([ROWS[agent]], None, command)[0]
    assert any("hooks install" in note for note in status.notes)
    path.write_bytes(b'{"a": entry.py')
    assert installed(agent, command).state == ("no" if agent in ("pi", "opencode") else "unreadable")


def test_installed_twice_is_said(home: Path, repository: Any, command: HookCommand) -> None:
    install("claude_code", repository.root, command)
    install("claude_code", repository.root, command, "project")
    notes = hook_status([ROWS["claude_code"]], repository.root, command)[0].notes
    assert [note.split(":")[0] for note in notes] == ["installed twice"]


def test_the_version_is_the_packages(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "node_modules/@vendor/agent"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@vendor/agent", "version": "1.2.3"}')
    (package / "bin/run.js").write_text("#!/bin/false\n")
    (package / "bin/run.js").chmod(0o755)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gemini").symlink_to(package / "bin/run.js")
    (tmp_path / "2.1.332").write_text("#!/bin/false\n")
    (tmp_path / "2.1.332").chmod(0o755)
    (programs / "claude").symlink_to(tmp_path / "2.1.332")
    monkeypatch.setenv("PATH", str(programs))
    assert seen_version(ROWS["gemini"]) == "1.2.3"
    assert seen_version(ROWS["claude_code"]) == "2.1.332"
    assert seen_version(ROWS["qwen"]) == ""


def test_the_version_is_the_newest_sessions(claude_session: Any, tmp_path: Path) -> None:
    session = claude_session(tmp_path)
    session.human("Go on.")
    assert seen_version(ROWS["claude_code"]) == "2.1.218"


LOG = """\
2026-01-01T10:00:00Z\tclaude_code\tstop\t9\tspooled, drain started
2026-01-01T10:00:01Z\tclaude_code\tend\t11\tnot spooled: No space left on device
a line that is none
2026-01-01T10:00:02Z\tclaude_code\tstart\t30\tstartup: told 812 characters
2026-01-01T10:00:03Z\tcodex\tstart\t40\tValueError: odd
"""


def write_log(home: Path) -> None:
    folder = home / ".local/state/passdown"
    folder.mkdir(parents=True)
    old, new = LOG.splitlines(keepends=True)[:2], LOG.splitlines(keepends=True)[2:]
    (folder / "hooks.log.1").write_text("".join(old))
    (folder / "hooks.log").write_text("".join(new))


def test_the_log_says_what_fired_last_and_what_went_wrong(home: Path, command: HookCommand) -> None:
    write_log(home)
    claude, codex, pi = hook_status([ROWS["claude_code"], ROWS["codex"], ROWS["pi"]], None, command)
    assert (claude.last_fired, claude.last_event) == ("2026-01-01T10:00:02Z", "start")
    assert (claude.last_error, claude.last_error_at) == ("not spooled: No space left on device", "2026-01-01T10:00:01Z")
    assert codex.last_error == "ValueError: odd"
    assert (pi.last_fired, pi.last_error) == ("", "")
    assert len(list(read_log())) == 4


def test_the_table_and_the_json(home: Path, tmp_path: Path) -> None:
    write_log(home)
    (home / ".gemini").mkdir()
    run = [sys.executable, "-m", "passdown", "-C", str(tmp_path), "hooks"]
    table = subprocess.run([*run, "status"], capture_output=True, text=True, check=True, env=os.environ).stdout
    rows = {line.split("\t")[0]: line.split("\t") for line in table.splitlines()}
    assert set(rows) == set(ROWS)
    assert rows["gemini"][1] == "folder"
    assert rows["qwen"][1:4] == ["no", "", "no"]
    told = json.loads(
        subprocess.run([*run, "status", "--json"], capture_output=True, check=True, env=os.environ).stdout
    )
    assert told["schema_version"] == 1
    assert {one["agent"] for one in told["agents"]} == set(ROWS)
    lines = subprocess.run(
        [*run, "log", "-n", "2", "claude"], capture_output=True, text=True, check=True, env=os.environ
    )
    assert [line.split("\t")[2] for line in lines.stdout.splitlines()] == ["end", "start"]


def test_what_the_entry_prints_is_what_the_agents_module_says(home: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from greeting import _as_context as show\nimport json\n"
    code += "for agent in json.loads(sys.argv[2]):\n for event in ('start', 'prompt'):\n"
    code += "  print(json.dumps([agent, event, show('hé', {'agent': agent, 'event': event})]))"
    folder = Path(__file__).parents[2] / "src/passdown/hooks"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), json.dumps(list(ROWS))], capture_output=True, check=True
    )
    for line in done.stdout.splitlines():
        agent, event, printed = json.loads(line)
        assert printed.rstrip("\n") == hooks_of(ROWS[agent]).context_output("hé", event)
    assert home_of(ROWS["gemini"]) == home / ".gemini"
