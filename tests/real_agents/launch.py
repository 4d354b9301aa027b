"""`passdown launch` starts each real agent: the brief of what another one left is in its first request, just once.

    python tests/real_agents/launch.py [--agents claude_code,codex,…] [--only nested] [--keep DIR]

Three scenes for each: without hooks, with passdown's hooks (which would tell the brief, too), and an agent whose model
tries to launch another one: it is refused, by the agent's variables and, where those are gone, by its program. A fourth,
`terminal`, starts the agent as a person does, without a word that keeps it off the screen, on a pseudo terminal.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import clients
from model.start import requests
from stage import Stage, first_body, run_scenes, texts

WANTED = {"the next action": "n-1", "the failed attempt": f"{clients.RUN}  (red"}
TOLD = "[passdown] Handoff for"
ASKED = "[passdown] Take over the work of the brief"
SHELLS = {"claude_code": "Bash", "codex": "exec_command", "pi": "bash", "copilot": "bash", "opencode": "bash",
          "gemini": "run_shell_command", "qwen": "run_shell_command"}  # fmt: skip
PATIENCE = 150.0
_NUMBERED = re.compile(r"(?m)^ *\d+(?:\t|: )")
"""How Claude Code and OpenCode show a file."""


def play(name: str, place: Path, cache: Path) -> list[str]:
    """Play a scene; return what is wrong."""
    agent, _, scene = name.partition(":")
    first = "claude_code" if agent != "claude_code" else "codex"
    stage = Stage(place, cache, (first, agent), hooks=scene == "hooks")
    stage.play(first, {"steps": stage.steps(first)})
    if scene == "hooks" and not stage.drained():
        return [f"no drain came to its end: {stage.log()}"]
    stage.env[agent]["PATH"] = f"{programs(agent, place, stage)}:{stage.base()['PATH']}"
    if scene == "nested":
        return nested(stage, agent)
    if scene == "terminal":
        prepare_terminal(agent, stage)
        words = [sys.executable, __file__, "--terminal", *launching(stage, agent, in_terminal(agent))]
        asked = stage.play(agent, {"steps": [{"text": "Read.", "sleep": 1}]}, words, end=once_asked)
    else:
        asked = stage.play(
            agent, {"steps": [{"text": "I have read it."}]}, launching(stage, agent, alone(stage, agent))
        )
    wrong = judge(stage, agent, asked)
    if scene == "hooks" and not any("started with the brief" in line for line in stage.log()):
        wrong.append(f"the hook did not see that it was launched: {stage.log()}")
    return wrong


def programs(agent: str, place: Path, stage: Stage) -> Path:
    """Return a folder with the agent's program under its own name."""
    words = clients.command(agent, stage.cache)
    if agent != "qwen":
        return Path(words[0]).parent
    folder = place / "programs"
    folder.mkdir()
    script = f'#!/bin/sh\nexec {shlex.join(words[:2])} "$@"\n'
    (folder / "qwen").write_text(script)
    (folder / "qwen").chmod(0o755)
    return folder


def launching(stage: Stage, agent: str, extra: list[str]) -> list[str]:
    """Return the command line that launches an agent."""
    return [sys.executable, "-m", "passdown", "-C", str(stage.root), "launch", agent, "--", *extra]


def alone(stage: Stage, agent: str) -> list[str]:
    """Return the words of an agent that has no terminal, without a prompt."""
    words = stage.command(agent)
    return [word for word in words[2 if agent == "qwen" else 1 :] if word != clients.PROMPT]


def in_terminal(agent: str) -> list[str]:
    """Return the words of an agent in a terminal, where it needs some to find the scripted model."""
    return {"pi": ["--provider", "mock", "--model", "mock-model"], "gemini": ["-m", "gemini-2.5-pro"],
            "qwen": ["-m", "mock-model"], "copilot": ["--allow-all-tools"],
            "codex": ["--dangerously-bypass-approvals-and-sandbox"]}.get(agent, [])  # fmt: skip


def prepare_terminal(agent: str, stage: Stage) -> None:
    """Answer beforehand what an agent asks a person at its first start in a folder."""
    root = str(stage.root)
    if agent == "claude_code":
        key = clients.DUMMY[-20:]
        known = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [key]},
                 "projects": {root: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}}  # fmt: skip
        (stage.home / ".claude.json").write_text(json.dumps(known))
    if agent == "codex":
        with (stage.home / ".codex/config.toml").open("a") as config:
            config.write(f'[projects."{root}"]\ntrust_level = "trusted"\n')
    if agent == "copilot":
        (stage.home / ".copilot").mkdir(exist_ok=True)
        (stage.home / ".copilot/config.json").write_text(json.dumps({"trustedFolders": [root]}))


def judge(stage: Stage, agent: str, asked: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong with the first request and with what is recorded."""
    told = [_NUMBERED.sub("", text) for text in texts(first_body(asked))]
    times = sum(text.count(TOLD) for text in told)
    if times != 1:
        return [f"the brief is {times} times in the first request"]
    brief = next(text for text in told if TOLD in text)
    wrong = [f"{what} is not in the brief" for what, text in WANTED.items() if text not in brief]
    if "\n[passdown] End of the data." not in brief:
        wrong.append("the brief has no end")
    if sum(text.count(ASKED) for text in told) != 1:
        wrong.append("the agent is not told what the brief is for")
    receipts = [json.loads(path.read_bytes()) for path in (stage.root / ".git/passdown/receipts").glob("*.json")]
    if [(one["by"], one["started_by"], one["verdict"][:5]) for one in receipts] != [(agent, "human", "ready")]:
        wrong.append(f"the takeover is not recorded as it was: {receipts}")
    return wrong


def nested(stage: Stage, agent: str) -> list[str]:
    """Let the model try to launch an agent from its shell; return what is wrong with the answers."""
    line = shlex.join([sys.executable, "-m", "passdown", "-C", str(stage.root), "launch", "pi"])
    bare = f"env -i HOME={stage.home} PATH={stage.env[agent]['PATH']}"
    command = "; ".join(
        f"{before} {line} >{stage.place}/{name}.said 2>&1; echo $? >{stage.place}/{name}.code"
        for name, before in (("variables", ""), ("programs", bare))
    )
    arguments = {"cmd": command} if agent == "codex" else {"command": command, "description": "Launch another"}
    arguments |= {"is_background": False} if agent == "qwen" else {}
    call = {"text": "Asking another one.", "tool": {"name": SHELLS[agent], "args": arguments}}
    stage.play(agent, {"steps": [call, {"text": "It was refused."}]})
    wrong = []
    for name, how in (("variables", "the variable"), ("programs", "it was started from the program")):
        code = (stage.place / f"{name}.code").read_text().strip()
        said = (stage.place / f"{name}.said").read_text()
        if code != "8" or f"this runs inside {TITLES[agent]} ({how}" not in said or "passdown prompt take" not in said:
            wrong.append(f"known by {name}: exit {code}, {said!r}")
    if (stage.root / ".git/passdown/receipts").exists():
        wrong.append("a takeover was recorded")
    return wrong


TITLES = {"claude_code": "Claude Code", "codex": "Codex", "pi": "Pi", "copilot": "Copilot CLI", "opencode": "OpenCode",
          "gemini": "Gemini CLI", "qwen": "Qwen Code"}  # fmt: skip


def once_asked(client: subprocess.Popen[bytes], asked: Path) -> None:
    """Wait until the model was asked with tools on offer, then end the agent."""
    end = time.monotonic() + PATIENCE
    while first_body(requests(asked)) is None and time.monotonic() < end and client.poll() is None:
        time.sleep(0.2)
    os.killpg(client.pid, signal.SIGTERM)


def run_in_terminal(words: list[str]) -> None:
    """Run a program on a pseudo terminal, answer what it asks the terminal, and write what it shows to our own output."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(words[0], words)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 960, 800))
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    answers = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62c", b"\x1b[?u": b"\x1b[?0u",
               b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\"}  # fmt: skip
    while True:
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            break
        if not shown:
            break
        os.write(1, shown)
        for asked, answer in answers.items():
            os.write(terminal, answer * shown.count(asked))
    os.waitpid(child, 0)


def scenes(agents: list[str]) -> list[str]:
    """Name the scenes of each agent."""
    return [f"{agent}:{scene}" for agent in agents for scene in ("plain", "hooks", "nested", "terminal")]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--terminal"]:
        run_in_terminal(sys.argv[2:])
    else:
        run_scenes(__file__, scenes, play)
