"""`passdown check` as a person and an agent run it."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec

from passdown.model.clean import CleanState
from passdown.packet.seal import summary_of


def dirty(repo: Any) -> None:
    """A changed file, a new one, and debugging in it."""
    repo.write("src/a.py", "A = 1\n")
    repo.commit("begin")
    repo.write("src/a.py", "A = 2\n")
    repo.write("src/limits.py", "def take(n):\n    breakpoint()\n    return n\n")


def test_clean_is_exit_0(passdown: Any, repository: Any) -> None:
    done = passdown("check", folder=repository.root)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"clean")


def test_blocked_is_exit_3_and_lists_everything_in_one_pass(passdown: Any, repository: Any) -> None:
    dirty(repository)
    done = passdown("check", folder=repository.root)
    assert done.returncode == 3
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "3 things to settle before this can be handed over:"
    rows = [line for line in lines if line.startswith("  block")]
    assert [row.split()[1] for row in rows] == ["temp.debug_print", "tree.uncommitted", "tree.untracked"]
    assert "src/limits.py:2  breakpoint()" in rows[0]
    assert "git add -- src/a.py && git commit" in rows[1]
    assert len({row.index(row.split()[1]) for row in rows}) == 1
    assert len({row.index(word) for row, word in zip(rows, ("src/limits", "1 file", "1 file"), strict=True)}) == 1


def test_json_has_a_schema_and_the_file_is_the_same(passdown: Any, repository: Any, tmp_path: Path) -> None:
    dirty(repository)
    output = tmp_path / "out.json"
    done = passdown("check", "--json", "-o", str(output), folder=repository.root)
    assert done.returncode == 3
    value = json.loads(done.stdout)
    assert value == json.loads(output.read_text())
    assert value["schema_version"] == 1
    assert value["clean"] is False
    assert value["blocking"] == ["temp.debug_print", "tree.uncommitted", "tree.untracked"]
    assert [check["id"] for check in value["checks"]] == ["branch", "tree", "leftovers", "board", "tests"]
    assert jsonschema_rs.is_valid(msgspec.json.schema(CleanState), value)
    finding = value["checks"][2]["findings"][0]
    assert finding == {
        "code": "temp.debug_print", "severity": "block", "detail": "breakpoint()", "where": "src/limits.py", "line": 2,
        "fix": finding["fix"], "mend_kind": "command",
    }  # fmt: skip
    assert re.fullmatch(r"passdown check --mend [0-9a-f]{8}", finding["fix"])


def test_the_local_shelf_keeps_it_for_this_tree_alone(passdown: Any, repository: Any) -> None:
    dirty(repository)
    passdown("check", folder=repository.root)
    path = repository.root / ".git/passdown/clean_state.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert repository.git("status", "--porcelain") == "M src/a.py\n?? src/limits.py"
    state = msgspec.json.decode(path.read_bytes(), type=CleanState)
    assert state.blocking == ("temp.debug_print", "tree.uncommitted", "tree.untracked")
    repository.write("src/a.py", "A = 3\n")
    passdown("check", folder=repository.root)
    later = msgspec.json.decode(path.read_bytes(), type=CleanState)
    assert later.tree_fingerprint != state.tree_fingerprint
    path.write_text("{")
    assert passdown("check", folder=repository.root).returncode == 3, "a broken one is written anew"
    assert msgspec.json.decode(path.read_bytes(), type=CleanState) == later


def test_the_shelf_is_shared_and_no_symlink_is_written_through(passdown: Any, repository: Any, tmp_path: Path) -> None:
    (repository.root / ".git/passdown").mkdir()
    (tmp_path / "elsewhere").write_text("mine")
    (repository.root / ".git/passdown/clean_state.json").symlink_to(tmp_path / "elsewhere")
    done = passdown("check", folder=repository.root)
    assert done.returncode == 8
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_a_person_may_allow_a_code_with_a_reason(passdown: Any, repository: Any) -> None:
    dirty(repository)
    allow = ("--allow", "tree.untracked", "--allow", "tree.uncommitted", "--allow", "temp.debug_print")
    done = passdown("check", "--json", *allow, "--reason", "kept for the demo", folder=repository.root)
    value = json.loads(done.stdout)
    assert done.returncode == 0
    assert value["clean"]
    assert value["blocking"] == []
    assert {"code": "tree.untracked", "reason": "kept for the demo", "by": "command line"} in value["overrides"]
    assert {f["severity"] for check in value["checks"] for f in check["findings"] if f["code"] == "tree.untracked"} == {
        "block"
    }
    state = msgspec.json.decode(done.stdout, type=CleanState)
    assert "tree.untracked" in summary_of(state).warnings
    text = passdown("check", *allow, "--reason", "kept for the demo", folder=repository.root).stdout.decode()
    assert text.startswith("clean")
    assert "allowed" in text


def test_an_agent_without_a_terminal_may_not(passdown: Any, repository: Any) -> None:
    dirty(repository)
    for marker in ("CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE"):
        done = passdown(
            "check", "--allow", "tree.untracked", "--reason", "fine", folder=repository.root, **{marker: "1"}
        )
        assert done.returncode == 8
        assert marker.encode() in done.stderr
    assert not (repository.root / ".git/passdown").exists()
    assert passdown("check", folder=repository.root, CLAUDECODE="1").returncode == 3


def test_a_person_at_an_agents_terminal_may(repository: Any, isolated_home: Path) -> None:
    dirty(repository)
    leader, follower = pty.openpty()
    env = {"PATH": os.environ["PATH"], "HOME": str(isolated_home), "CLAUDECODE": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    words = ["check", "--allow", "tree.untracked", "--reason", "kept for the demo"]
    done = subprocess.run(
        [sys.executable, "-m", "passdown", *words], cwd=repository.root, env=env, stdin=follower, capture_output=True,
        check=False,
    )  # fmt: skip
    os.close(leader)
    os.close(follower)
    assert done.returncode == 3
    assert b"allowed" in done.stdout


def test_wrong_overrides(passdown: Any, repository: Any) -> None:
    assert passdown("check", "--allow", "tree.untracked", folder=repository.root).returncode == 2
    assert passdown("check", "--allow", "x y", "--reason", "because", folder=repository.root).returncode == 2
    assert passdown("check", "--reason", "because", folder=repository.root).returncode == 2
    assert passdown("check", "--allow", "--reason", folder=repository.root).returncode == 2


def test_a_configured_override_counts_once_it_is_the_base(passdown: Any, repository: Any) -> None:
    repository.write("passdown.toml", '[allow]\n"tree.untracked" = "scratch files are fine here"\n')
    repository.write("src/new.py", "A = 1\n")
    value = json.loads(passdown("check", "--json", folder=repository.root).stdout)
    assert "tree.untracked" in value["blocking"]
    assert "override.unreviewed" in {f["code"] for f in value["checks"][1]["findings"]}
    repository.git("add", "passdown.toml")
    repository.git("commit", "-qm", "configure")
    value = json.loads(passdown("check", "--json", folder=repository.root).stdout)
    assert value["blocking"] == []
    assert value["overrides"][0]["by"] == "configuration"
    repository.write("passdown.toml", '[allow]\n"tree.untracked" = "another reason"\n')
    assert "tree.untracked" in json.loads(passdown("check", "--json", folder=repository.root).stdout)["blocking"]


def test_portable_blocks_what_is_here_alone(passdown: Any, repository: Any) -> None:
    repository.write("src/a.py", "A = 1\n")
    repository.commit("begin")
    repository.write("src/a.py", "A = 2\n")
    repository.git("stash", "push", "-q", "-m", "another idea for the limit")
    assert passdown("check", folder=repository.root).returncode == 0
    value = json.loads(passdown("check", "--json", "--portable", folder=repository.root).stdout)
    assert value["blocking"] == ["branch.unpushed", "stash.local_only"]


def test_from_a_subfolder_it_says_where_to_run(passdown: Any, repository: Any) -> None:
    dirty(repository)
    done = passdown("check", folder=repository.root / "src")
    assert str(repository.root).encode() in done.stderr


def test_outside_a_repository(passdown: Any, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    done = passdown("check", folder=folder)
    assert done.returncode == 3
    assert b"git init" in done.stdout


def test_no_folder_for_the_output(passdown: Any, repository: Any) -> None:
    assert passdown("check", "-o", "no/such/folder/x.json", folder=repository.root).returncode == 4


def test_hostile_names_and_texts_do_not_reach_the_terminal(passdown: Any, repository: Any) -> None:
    repository.write("src/a\x1b[31m\u202e.py", "def f(x):\n    print('\x1b]0;here', x)\n")
    repository.write("src/$(touch owned).py", "A = 1\n")
    done = passdown("check", folder=repository.root)
    assert b"\x1b" not in done.stdout
    assert "\u202e".encode() not in done.stdout
    value = json.loads(passdown("check", "--json", folder=repository.root).stdout)
    fix = next(f["fix"] for f in value["checks"][1]["findings"] if f["code"] == "tree.untracked")
    subprocess.run(["bash", "-c", fix], cwd=repository.root, capture_output=True, check=False)
    assert not (repository.root / "owned").exists()
