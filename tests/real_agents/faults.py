"""What hooks meet on bad days must not reach the agent: each real agent works through, and the hook log tells of it.

    python tests/real_agents/faults.py [--only git-hangs] [--agents claude_code,codex,…]

The agent mends one bug, runs the tests (red) and stops half way, as ever, while a fault lasts. It must end well with its
last word, no hook may take long, `passdown hooks log` must show the fault, and when it is over, the next session's start
must have the work all the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clients
import endings
from stage import AGENTS, Stage, run_scenes

LONGEST = 3_000
"""Milliseconds that a hook may take; a session's start is answered within 2 s."""

RUBBISH = [b"", b"{", b"\xff\xfe", b"[" * 5_000, b'{"v": 1}', b'{"v": 9, "cwd": "/"}', b"x" * 100_000]
ON_A_FULL_DISK = """
mount -t tmpfs -o size=4k full "$1" && printf '%s' "$2" >"$1/hooks.log" || exit 77
shift 2
"$@"; code=$?
for _ in $(seq 300); do
  [ "$(grep -c 'drain started' "$HOME/.local/state/passdown/hooks.log")" = \
    "$(grep -c '	passdown	drain	' "$HOME/.local/state/passdown/hooks.log")" ] && break
  sleep 0.1
done
"$PASSDOWN_PYTHON" -m passdown hooks log -n 100 --json >"$PASSDOWN_LOG"
exit $code
"""
"""Its block holds the log's first line: there is room to write on in the log, and for no other file."""

GIT = """#!/bin/sh
asking=$(tr '\\0' ' ' <"/proc/$PPID/cmdline")
case $asking in *passdown/hooks/* | *passdown.hooks.* | *"-m passdown "*)
  sleep 5; exit 1 ;;
esac
exec /usr/bin/git "$@"
"""
"""A git that hangs when it is passdown that asks; the agents ask it things, too."""

LINE = "2026-01-01T00:00:00Z\tpassdown\tnote\t0\tthe disk is full\n"


def full_disk(stage: Stage, agent: str, folder: Path) -> list[str]:
    """Return what has a command find a full disk at a folder, in a mount namespace of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    return [*mounting(), "sh", "-c", ON_A_FULL_DISK, "sh", str(folder), LINE]


def disk_full(stage: Stage, agent: str) -> list[str]:
    """The disk with passdown's own state is full: nothing can be spooled."""
    return full_disk(stage, agent, stage.home / ".local/state/passdown")


def shelf_full(stage: Stage, agent: str) -> list[str]:
    """The disk with the repository is full: no packet can be written."""
    return full_disk(stage, agent, stage.root / ".git/passdown")


def git_hangs(stage: Stage, agent: str) -> list[str]:
    """Git does not answer passdown."""
    folder = stage.place / "bin"
    folder.mkdir()
    (folder / "git").write_text(GIT)
    (folder / "git").chmod(0o755)
    stage.env[agent]["PATH"] = f"{folder}{os.pathsep}{stage.base()['PATH']}"
    return []


def git_gone(stage: Stage, agent: str) -> list[str]:
    """The repository goes while the agent works; its folder stays."""
    del stage, agent
    return []


def folder_gone(stage: Stage, agent: str) -> list[str]:
    """The repository goes with its folder while the agent works in it."""
    del stage, agent
    return []


def spool_corrupt(stage: Stage, agent: str) -> list[str]:
    """The spool holds what no hook wrote."""
    del agent
    spool = stage.home / ".local/state/passdown/spool"
    spool.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(RUBBISH):
        (spool / f"0{number}-1.json").write_bytes(data)
    (spool / "08-1.json").symlink_to("/etc/passwd")
    (spool / "09-1.json").mkdir()
    return []


def no_spool(stage: Stage, agent: str) -> list[str]:
    """A file lies where the spool should be."""
    del agent
    (stage.home / ".local/state/passdown").mkdir(parents=True, exist_ok=True)
    (stage.home / ".local/state/passdown/spool").write_text("not a folder")
    return []


FAULTS: dict[str, tuple[Callable[[Stage, str], list[str]], str]] = {
    "disk-full": (disk_full, "not spooled: No space left on device"),
    "shelf-full": (shelf_full, "No space left on device"),
    "git-hangs": (git_hangs, "TimeoutError: git status took too long"),
    "git-gone": (git_gone, "no repository for "),
    "folder-gone": (folder_gone, ""),
    "spool-corrupt": (spool_corrupt, "broken records put aside"),
    "no-spool": (no_spool, "not spooled: Not a directory"),
}
"""What sets a fault up and returns the words before the agent's command, and what the hook log says of it."""

GONE = {"git-gone": "mv .git ../git-elsewhere", "folder-gone": 'mv "$PWD" ../project-elsewhere'}


def play(name: str, place: Path, cache: Path) -> list[str]:
    """Let an agent work through a fault; return what is wrong."""
    agent, _, fault = name.partition(":")
    stage = Stage(place, cache, tuple(dict.fromkeys((agent, endings.SUCCESSOR))))
    set_up, told = FAULTS[fault]
    kept = place / "log.json"
    stage.env[agent] |= {"PASSDOWN_PYTHON": sys.executable, "PASSDOWN_LOG": str(kept)}
    before = set_up(stage, agent)
    steps = stage.steps(agent)
    if fault in GONE:
        steps.insert(3, {"text": "And away with it.", "tool": shell(agent, GONE[fault])})
    stage.play(agent, {"steps": steps}, [*before, *stage.command(agent)])
    wrong = [] if clients.LAST[:40] in stage.said(agent) else ["its last word is missing"]
    if fault != "folder-gone" and not before and not stage.drained():
        wrong.append("the drain did not end")
    lines = json.loads(kept.read_bytes())["lines"] if before else hook_log(stage)
    wrong += judge_log(agent, fault, told, lines)
    undo(stage, agent, fault)
    wanted = {what: text for what, text in endings.SAID.items() if fault not in GONE or what != "the failed run"}
    return wrong + stage.briefed(endings.SUCCESSOR, wanted)  # where it is gone, what took it away came after the tests


def judge_log(agent: str, fault: str, told: str, lines: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong with the hook log."""
    own = [line for line in lines if line["agent"] == agent]
    wanted = {"start"} if fault == "folder-gone" else {"start", "stop"}
    missing = wanted - {line["event"] for line in own}
    wrong = [f"no {event} in the hook log" for event in sorted(missing)]
    wrong += [f"{line['event']} took {line['milliseconds']} ms" for line in own if line["milliseconds"] > LONGEST]
    if not any(told in line["outcome"] for line in lines):
        wrong.append(f"the hook log does not tell: {[line['outcome'] for line in lines]}")
    return wrong


def undo(stage: Stage, agent: str, fault: str) -> None:
    """Take the fault away."""
    if fault == "git-hangs":
        (stage.place / "bin/git").unlink()
    if fault == "git-gone":
        (stage.place / "git-elsewhere").rename(stage.root / ".git")
    if fault == "folder-gone":
        (stage.place / "project-elsewhere").rename(stage.root)
    if fault == "no-spool":
        (stage.home / ".local/state/passdown/spool").unlink()


def hook_log(stage: Stage) -> list[dict[str, Any]]:
    """Return what `passdown hooks log` shows."""
    line = [sys.executable, "-m", "passdown", "hooks", "log", "-n", "100", "--json"]
    done = subprocess.run(line, env=stage.base(), cwd=stage.place, capture_output=True, check=True)
    lines: list[dict[str, Any]] = json.loads(done.stdout)["lines"]
    return lines


def shell(agent: str, line: str) -> dict[str, Any]:
    """Return the call with which an agent runs a command line."""
    if agent == "codex":
        return {"name": "exec_command", "args": {"cmd": line}}
    name = "Bash" if agent == "claude_code" else "bash"
    return {"name": name, "args": {"command": line, "description": "Move it"}}


def mounting() -> list[str]:
    """Return the words before a command that may mount; empty where nobody may."""
    for words in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        line = [*words, "--", "mount", "-t", "tmpfs", "-o", "size=4k", "probe", "/mnt"]
        try:
            if subprocess.run(line, capture_output=True, check=False).returncode == 0:
                return [*words, "--"]
        except FileNotFoundError:
            break
    return []


def scenes(agents: list[str]) -> list[str]:
    """Name each fault for each agent; a full disk needs a small one that may be mounted."""
    if endings.SUCCESSOR not in agents:
        return []
    faults = [fault for fault in FAULTS if not fault.endswith("-full") or mounting()]
    if len(faults) < len(FAULTS):
        print("no disk can be mounted here: a full one is left to tests/hooks and tests/requirements", flush=True)
    return [f"{agent}:{fault}" for fault in faults for agent in agents]


if __name__ == "__main__":
    run_scenes(__file__, scenes, play, AGENTS)
