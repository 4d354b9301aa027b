"""A real agent's session is compacted again and again: after the second time the model is advised to stop, once.

    python tests/real_agents/advice.py [--agents claude_code,codex,…]

Each compaction is the agent's own: by `/compact` where a command line takes that, by an order (Pi), or because the model
says that its context is full (Codex, OpenCode).
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import clients
import hooks_fire
from stage import AGENTS, Stage, run_scenes, texts

ADVICE = "This session was compacted "
TIMES = 4
OBEY = "--obey"


def play(name: str, place: Path, cache: Path) -> list[str]:
    """Let an agent work, be compacted, and go on; return what is wrong with what it was told."""
    stage = Stage(place, cache, (name,))
    if name == "pi":  # it keeps the last 20,000 tokens as they are; here that is all there is
        (stage.home / ".pi/agent/settings.json").write_text('{"compaction": {"keepRecentTokens": 1}}')
    stage.play(name, {"steps": stage.steps(name)})
    asked: list[tuple[int, dict[str, Any]]] = []
    for time in range(1, TIMES + 1):
        script, words = compacting(name, stage)
        asked += [(time, line) for line in stage.play(name, script, words)]
        onward = {"steps": [stage.steps(name)[-2], {"text": "Going on."}], "mode": "sequence"}
        asked += [(time, line) for line in stage.play(name, onward, clients.again(name, stage.command(name)))]
    events = Counter(line.split("\t")[2] for line in stage.log() if line.split("\t")[1] == name)
    if max(events["compact"], events["compacted"]) != TIMES:
        return [f"it was not compacted {TIMES} times: {dict(events)}"]
    told = [(time, said(line["body"])) for time, line in asked if isinstance(line.get("step"), int)]
    counts = [count for _, count in told]
    came = sum(1 for before, now in zip([0, *counts], counts, strict=False) if now and not before)
    when = next((time for time, count in told if count), 0)
    wrong = [] if max(counts, default=0) <= 1 else ["one request holds it twice"]
    wrong += [] if came == 1 else [f"it came {came} times: {told}"]
    return wrong + ([] if when in (0, 2) else [f"it came after compaction {when}"])


def said(body: Any) -> int:
    """Return how often a request holds the advice, whatever the number of compactions it names."""
    return sum(text.count(ADVICE) for text in texts(body))


def compacting(agent: str, stage: Stage) -> tuple[dict[str, Any], list[str]]:
    """Return the script and the command line of a run in which the session is compacted once."""
    onward = clients.again(agent, stage.command(agent))
    after = [{"text": "Compacted."}]
    if agent in ("claude_code", "copilot"):
        return {"steps": after, "mode": "sequence"}, [*onward[:-1], "/compact"]
    run = clients.compacting(agent, stage.command(agent), stage.steps(agent)) or {}
    if agent == "pi":
        words = [sys.executable, __file__, OBEY, json.dumps(run["orders"]), *run["command"]]
        return {"steps": after, "mode": "sequence"}, words
    full = {**stage.steps(agent)[-2], "usage_in": 260_000 if agent == "codex" else 199_000}
    limits = ["-c", "model_context_window=272000", "-c", "model_auto_compact_token_limit=200000"]
    words = [*onward[:-1], *(limits if agent == "codex" else []), onward[-1]]
    return {"steps": [full, *after], "mode": "sequence"}, words


def scenes(agents: list[str]) -> list[str]:
    """Name a scene for each agent that can be compacted without a terminal."""
    return [agent for agent in agents if agent not in ("gemini", "qwen", "openhands")]


if __name__ == "__main__":
    if sys.argv[1:2] == [OBEY]:
        run = {"command": sys.argv[3:], "orders": json.loads(sys.argv[2])}
        sys.exit(hooks_fire.obey(run, Path.cwd(), dict(os.environ), sys.stdout.buffer))
    run_scenes(__file__, scenes, play, AGENTS)
