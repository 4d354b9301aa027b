"""Let each real agent work in a small repository against a scripted model, then wrap and judge the packet.

    python tests/real_agents/drive.py [--agents claude_code,codex,…] [--keep DIR]

No hook is installed: this is what `passdown wrap` makes of what the agent leaves anyway.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from clients import PROMPT, VERSIONS
from stage import Stage, run_scenes


def play(agent: str, place: Path, cache: Path) -> list[str]:
    """Let an agent work; return what is wrong with the packet of what it left."""
    stage = Stage(place, cache, (agent,), hooks=False)
    stage.play(agent, {"steps": stage.steps(agent)})
    return judge(agent, place)


def said(text: str) -> str:
    """Undo the quotes that `opencode run` itself puts round a prompt with spaces before it stores it."""
    return text.removeprefix('"').removesuffix('"')


def judge(agent: str, place: Path) -> list[str]:
    """Wrap what the agent left; return what is wrong with the packet."""
    env = {"HOME": str(place / "home"), "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    wrap = [sys.executable, "-m", "passdown", "-C", str(place / "project"), "wrap", "--interim"]
    first = subprocess.run([*wrap, "--json"], env=env, capture_output=True, check=False)
    if first.returncode != 0:
        return [first.stderr.decode()]
    report = json.loads(first.stdout)
    packet = json.loads((place / "project" / next(p for p in report["paths"] if p.endswith(".json"))).read_text())
    again = json.loads(subprocess.run([*wrap, "--json"], env=env, capture_output=True, check=True).stdout)
    failed = [item for item in packet["failed_attempts"] if "unittest" in item["what"]]
    expected: dict[str, Any] = {
        "the session is this agent's": [s["agent"] for s in packet["sessions"]] == [agent],
        "no record was unknown": all(s.get("unknown", 0) == 0 for s in packet["sessions"]),
        "the human's words are there verbatim": [said(d["text"]) for d in packet["directives"]] == [PROMPT],
        "git's change is there": [c["path"] for c in packet["changed_files"]] == ["src/slug.py"],
        "the red test run is a failed attempt": len(failed) == 1 and failed[0].get("exit") == 1,
        "its error line is there": bool(failed) and "test_truncate" in json.dumps(packet["tests"]) + failed[0]["why"],
        "the tests are red": packet["tests"]["state"] == "red",
        "the next step leans on the failing test": "unittest" in json.dumps(packet["next_action"]),
        "the agent's last word is kept": "n-1" in json.dumps(packet["next_action"], ensure_ascii=False),
        "wrapping again changes nothing": again["changed"] == [],
    }
    return [f"not so: {what}" for what, holds in expected.items() if not holds]


if __name__ == "__main__":
    run_scenes(__file__, list, play, tuple(VERSIONS))
