"""`passdown budget` as an agent and a person meet it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def session(claude_session: Any, repository: Any) -> Any:
    """A session whose contexts are said by the test."""
    made = claude_session(repository.root)
    made.human("Go on.")

    def answer(context: int, model: str = "claude-sonnet-4-5") -> None:
        usage = {"input_tokens": context, "output_tokens": 5}
        message = {"id": f"msg{made.count}", "type": "message", "role": "assistant", "model": model,
                   "content": [{"type": "text", "text": "Done."}], "usage": usage}  # fmt: skip
        made.row("assistant", message=message, requestId=f"req{made.count}")

    made.answer = answer
    return made


def test_the_newest_session_of_the_worktree_on_one_line(session: Any, passdown: Any, repository: Any) -> None:
    session.answer(62_000)
    done = passdown("budget", folder=repository.root)
    assert done.returncode == 0
    assert done.stdout == b"context 31.0% (62,000 of 200,000 tokens): go on\n"
    assert done.stderr == b""
    session.answer(120_000)
    done = passdown("-C", str(repository.root), "budget")
    assert (done.returncode, done.stdout.startswith(b"context 60.0% (120,000")) == (10, True)


def test_the_session_it_runs_in_comes_first(session: Any, passdown: Any, repository: Any, claude_session: Any) -> None:
    session.answer(150_000)
    other = claude_session(repository.root, "aaaaaaaa-0000-4000-8000-000000000002")
    os.utime(session.path, (session.clock, session.clock))
    other.human("Another one.")
    other.says("Yes.")
    done = passdown("budget", "--json", folder=repository.root)
    assert (done.returncode, json.loads(done.stdout)["session_id"]) == (0, other.session_id)
    own = passdown("budget", folder=repository.root, CLAUDE_CODE_SESSION_ID=session.session_id)
    assert (own.returncode, b"75.0%" in own.stdout) == (11, True)


def test_configuration_and_options(session: Any, passdown: Any, repository: Any) -> None:
    session.answer(62_000)
    repository.write(
        "passdown.toml", '[budget]\nprepare = 0.2\nwrap-up = 0.3\nwindows = { "claude-sonnet" = 100_000 }\n'
    )
    done = passdown("budget", folder=repository.root)
    assert (done.returncode, b"62.0%" in done.stdout) == (11, True)
    assert passdown("budget", "--window", "400000", folder=repository.root).returncode == 0
    assert passdown("budget", "--wrap-up", "0.9", folder=repository.root).returncode == 10
    repository.write("passdown.toml", "[budget]\nprepare = 0.9\n")
    done = passdown("budget", folder=repository.root)
    assert (done.returncode, b"no boundaries" in done.stderr) == (2, True)


def test_the_agents_own_compactions_move_the_boundaries(session: Any, passdown: Any, repository: Any) -> None:
    session.answer(101_000)
    session.row("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 100_000})
    done = passdown("budget", folder=repository.root)
    assert (done.returncode, done.stdout) == (0, b"context not measured since the last compaction: go on\n")
    session.answer(96_000)
    done = passdown("budget", "--json", folder=repository.root)
    report = json.loads(done.stdout)
    assert (done.returncode, report["band"], report["compactions"]) == (11, "wrap_up", 1)
    assert report["bands"]["wrap_up"] == pytest.approx(0.475)


def test_without_anything_to_measure(passdown: Any, repository: Any, tmp_path: Path, claude_session: Any) -> None:
    done = passdown("budget", folder=repository.root)
    assert (done.returncode, b"no session worked" in done.stderr) == (4, True)
    assert passdown("budget", folder=tmp_path).returncode == 4
    claude_session(repository.root).human("Nobody answered yet.")
    done = passdown("budget", folder=repository.root)
    assert (done.returncode, b"nothing of the size" in done.stderr) == (4, True)
    assert passdown("budget", "--session", "zzzzzzzz", folder=repository.root).returncode == 2


def status_line(payload: bytes, folder: Path, home: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "passdown", "budget", "--statusline"], input=payload, cwd=folder, capture_output=True,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, check=True,
    )  # fmt: skip
    assert done.stderr == b""
    return done.stdout.decode()


def test_the_status_line_believes_claude_code(repository: Any, isolated_home: Path) -> None:
    window = {
        "context_window_size": 200_000,
        "current_usage": {
            "input_tokens": 8_500, "cache_creation_input_tokens": 51_500, "cache_read_input_tokens": 64_000, "output_tokens": 99
        },
    }  # fmt: skip
    payload = {"session_id": "s", "model": {"id": "claude-opus-4-6"}, "context_window": window, "cost": {"x": 1}}
    line = status_line(json.dumps(payload).encode(), repository.root, isolated_home)
    assert line == "context 62% · prepare a packet before a new phase\n"


def test_the_status_line_never_fails(session: Any, repository: Any, isolated_home: Path, tmp_path: Path) -> None:
    session.answer(20_000)
    for payload in (b"", b"{", b"[" * 5000, b'{"context_window": {"current_usage": null}}', b'{"model": 3}', b"\xff"):
        assert status_line(payload, repository.root, isolated_home) == "context 10%\n"
    assert status_line(b"{}", tmp_path, isolated_home) == "context ?\n"


def test_watching_ends_where_wrapping_up_begins(session: Any, repository: Any, isolated_home: Path) -> None:
    session.answer(30_000)
    watching = subprocess.Popen(
        [sys.executable, "-m", "passdown", "budget", "--watch", "--every", "0.1"], cwd=repository.root,
        stdout=subprocess.PIPE, env={"HOME": str(isolated_home), "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert watching.stdout is not None
    assert watching.stdout.readline().startswith(b"context 15.0%")
    session.answer(110_000)
    assert watching.stdout.readline().startswith(b"context 55.0%")
    session.answer(150_000)
    assert watching.stdout.readline().startswith(b"context 75.0%")
    assert watching.wait(30) == 11
    assert watching.stdout.read() == b""
    watching.stdout.close()
