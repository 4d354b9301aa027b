"""A real agent's session ends in each of the ways that agents have; the next session's start must have its work.

    python tests/real_agents/endings.py [--only sigkill] [--agents claude_code,codex,…]

The agent mends one bug, runs the tests (red), and is ended while the model is about to answer (`early`: before the
tests). The successor is always Claude Code. Nothing of ours is asked for in between, and nothing waits for a drain: a
killed session has none.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import clients
from stage import Stage, read_lines, run_scenes

SUCCESSOR = "claude_code"
WORK = {"the next action": clients.RUN, "the failed run": "(red at hand-over", "the change": "Changed: src/slug.py"}
EARLY = {"the next action": "Go on with the last request", "the change": WORK["the change"]}
SAID = {**WORK, "the agent's last word": "n-1"}
ANSWER = 3
"""The step in which the model answers after the red run."""

EDITED = 2
"""The step in which the model answers after the edit, before any test."""

ENDINGS = ("normal", "sigterm", "sigint", "sigkill", "sigkill-early", "429")
OWN = {"claude_code": ("clear", "compact"), "codex": ("compact",)}
PATIENCE = 120.0


def play(name: str, place: Path, cache: Path) -> list[str]:
    """Let an agent's session end as the scene's name says, and its successor start; return what is wrong."""
    agent, _, ending = name.partition(":")
    stage = Stage(place, cache, tuple(dict.fromkeys((agent, SUCCESSOR))))
    steps = stage.steps(agent)
    if ending.startswith("sig"):
        last = EDITED if ending.endswith("early") else ANSWER
        slow = [*steps[:last], {**steps[last], "sleep": 60}]
        stage.play(agent, {"steps": slow}, end=signalled(ending.partition("-")[0], last))
    elif ending == "429":
        refused = {"status": 429, "error": "rate_limit_error"}
        stage.play(agent, {"steps": [*steps[:ANSWER], refused]}, without_retries(agent, stage), end=lambda *_: None)
    elif ending == "compact" and agent == "codex":
        run = clients.compacting(agent, stage.command(agent), steps)
        full = [{**step, "usage_in": 260_000} if at == ANSWER - 1 else step for at, step in enumerate(steps)]
        stage.play(agent, {"steps": full, "mode": "sequence"}, run["command"] if run else None)
    else:
        stage.play(agent, {"steps": steps})
        if ending in ("clear", "compact"):
            words = clients.again(agent, stage.command(agent))
            stage.play(agent, {"steps": steps}, [*words[:-1], f"/{ending}"])
    if not any(clients.NEW in line for line in (stage.root / "src/slug.py").read_text().splitlines()):
        return ["the agent did not come so far"]
    told = Counter(line.split("\t")[2] for line in stage.log())
    if (ending == "compact" and not told["compacted"]) or (ending == "clear" and told["start"] < 3):
        return [f"no {ending} took place: {dict(told)}"]
    cut = EARLY if ending.endswith("early") else WORK if ending.startswith("sig") or ending == "429" else SAID
    return stage.briefed(SUCCESSOR, cut)


def signalled(name: str, step: int) -> Callable[[subprocess.Popen[bytes], Path], None]:
    """Return what sends a signal while the model is about to answer in that step."""

    def end(client: subprocess.Popen[bytes], requests: Path) -> None:
        until = time.monotonic() + PATIENCE
        while not any(line.get("step") == step for line in read_lines(requests)):
            if time.monotonic() > until or client.poll() is not None:
                sys.exit("the agent did not come so far")
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(client.pid, getattr(signal, name.upper()))  # what npm put there, and what that started
        client.wait(30)

    return end


def without_retries(agent: str, stage: Stage) -> list[str]:
    """Return the command line of an agent that does not try again for long, where it can be told so."""
    words = stage.command(agent)
    if agent == "claude_code":
        stage.env[agent]["CLAUDE_CODE_MAX_RETRIES"] = "1"
    if agent == "pi":
        (stage.home / ".pi/agent/settings.json").write_text('{"retry": {"enabled": false}}')
    if agent != "codex":
        return words
    never = [f"model_providers.mock.{what}_max_retries=0" for what in ("request", "stream")]
    return [*words[:-1], *(word for setting in never for word in ("-c", setting)), words[-1]]


def scenes(agents: list[str]) -> list[str]:
    """Name each ending of each agent, when the successor is here."""
    if SUCCESSOR not in agents:
        return []
    names = [f"{agent}:{ending}" for agent in agents for ending in (*ENDINGS, *OWN.get(agent, ()))]
    return sorted(names, key=lambda name: name != "copilot:429")  # which cannot be told not to try for a minute


if __name__ == "__main__":
    run_scenes(__file__, scenes, play)
