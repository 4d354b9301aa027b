"""One real agent stops half way; another goes on: its first request must hold the brief of what the first one left.

    python tests/real_agents/pairs.py [--agents claude_code,codex,…]

For every ordered pair of Claude Code, Codex, Pi and Copilot CLI; the other agents that are in the cache come first once
and second once. The first agent works once; each of those that follow then starts in the same repository, with the home as
the first one left it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import clients
from stage import AGENTS, Stage, run_scenes

WANTED = {"the next action": "n-1", "the failed attempt": f"{clients.RUN}  (red at hand-over"}


def play(name: str, place: Path, cache: Path) -> list[str]:
    """Let the agent named work, then all others start; return what is wrong."""
    first, _, others = name.partition("-to-")
    stage = Stage(place, cache, (first, *others.split("+")))
    stage.play(first, {"steps": stage.steps(first)})
    if not stage.drained():
        return [f"no drain came to its end: {stage.log()}"]
    packets = stage.packets()
    if not packets:
        return [f"nobody wrote a packet: {stage.log()}"]
    wrong = judge(first, packets[-1])
    kept = place / "home-kept"
    shutil.copytree(stage.home, kept, symlinks=True)
    for other in others.split("+"):
        wrong += [f"{other}: {what}" for what in stage.briefed(other, WANTED)]
        if not stage.drained():
            wrong.append(f"{other}: its drain did not come to an end")
        shutil.rmtree(stage.home)
        shutil.copytree(kept, stage.home, symlinks=True)
    return wrong


def judge(agent: str, packet: dict[str, Any]) -> list[str]:
    """Return what is wrong with the packet that nobody asked for."""
    failed = [item for item in packet["failed_attempts"] if clients.RUN in item["what"]]
    expected = {
        "the session is not this agent's": [s["agent"] for s in packet["sessions"]] == [agent],
        "the red run is no failed attempt": len(failed) == 1 and failed[0].get("exit") == 1,
        "git's change is missing": [c["path"] for c in packet["changed_files"]] == ["src/slug.py"],
        "the next action is not the agent's": "n-1" in str(packet["next_action"]),
    }
    return [what for what, holds in expected.items() if not holds]


def scenes(agents: list[str]) -> list[str]:
    """Name a scene for each agent that others may follow; the long ones first."""
    four, more = [agent for agent in agents if agent in AGENTS], [agent for agent in agents if agent not in AGENTS]
    follow = {one: [other for other in four if other != one] for one in four}
    for at, other in enumerate(more):
        if four:
            follow[four[at % len(four)]].append(other)
            follow[other] = [four[(at + 1) % len(four)]]
    return [f"{one}-to-{'+'.join(others)}" for one, others in follow.items() if others]


if __name__ == "__main__":
    run_scenes(__file__, scenes, play, tuple(clients.VERSIONS))
