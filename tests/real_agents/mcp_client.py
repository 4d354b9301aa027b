"""A real agent calls passdown's MCP server: take, note, wrap. Its model is told the brief, and the packet is there.

    python tests/real_agents/mcp_client.py [--agents claude_code,codex,copilot,opencode,gemini,qwen] [--keep DIR]

The agent is told of the server by what `passdown mcp --config AGENT` prints, in its user's settings; no hooks are
installed. The model works half way, leaves a note, and wraps; in the agent's next session it takes the packet.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import clients
import jsonschema_rs
from stage import HERE, Stage, fenced, run_scenes, texts

AGENTS = ("claude_code", "codex", "copilot")
FILES = {"claude_code": ".claude.json", "codex": ".codex/config.toml", "copilot": ".copilot/mcp-config.json",
         "opencode": ".config/opencode/opencode.json", "gemini": ".gemini/settings.json", "qwen": ".qwen/settings.json"}  # fmt: skip
NAMES = {"copilot": "passdown-{}", "opencode": "passdown_{}", "gemini": "mcp_passdown_{}"}
NOTE = "str.casefold is not wanted: the tests ask for lower"
STEP = "Cut to n-1 in src/slug.py, then run tests/test_slug.py"


def play(name: str, place: Path, cache: Path) -> list[str]:
    """Let an agent take, work, note and wrap; return what is wrong."""
    stage = Stage(place, cache, (name,), hooks=False)
    stage.env[name]["PATH"] = f"{Path(sys.executable).parent}:{stage.base()['PATH']}"
    register(stage, name)
    read, edit, run, last = clients.steps(name, stage.root)
    script = [
        call(name, "take", {}), read, edit, run,
        call(name, "note", {"kind": "decision", "text": NOTE, "why": "test_slugify"}),
        # No model answers at once, and Copilot writes its log a moment behind what it does.
        call(name, "wrap", {"interim": True, "next": STEP}) | {"sleep": 1.5}, last,
    ]  # fmt: skip
    told = list(texts([line["body"] for line in stage.play(name, {"steps": script})]))
    wrong = [*answered(told, stage), *written(stage, name)]
    again = stage.play(name, {"steps": [call(name, "take", {}), {"text": "I have read it."}]})
    return [*wrong, *taken(list(texts([line["body"] for line in again])), stage, name)]


def register(stage: Stage, name: str) -> None:
    """Put what `passdown mcp --config` prints into the agent's settings, beside what is there."""
    words = [sys.executable, "-m", "passdown", "mcp", "--config", name]
    text = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    path = stage.home / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text() if path.exists() else ""
    if path.suffix == ".toml":
        path.write_text(f"{before}\n{text}")
    else:
        path.write_text(json.dumps((json.loads(before) if before else {}) | json.loads(text)))


def call(agent: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the step in which the model calls a tool of the server, under the name that the agent gives it."""
    called = {"name": NAMES.get(agent, "mcp__passdown__{}").format(tool)}
    if agent == "codex":
        called = {"name": tool, "namespace": "mcp__passdown"}
    return {"text": f"Calling {tool}.", "tool": {**called, "args": arguments}}


def answered(told: list[str], stage: Stage) -> list[str]:
    """Return which answers the model did not get."""
    note = json.loads((stage.root / "decisions.jsonl").read_text())
    wanted = {
        "the answer to take": "Nothing to take: a cold start.",
        "the note's id": note["id"],
        "the packet": "handoff.md",
    }
    missing = [
        f"{what} did not reach the model" for what, text in wanted.items() if not any(text in one for one in told)
    ]
    return missing if note["by"] == "agent" else [*missing, "the note is not the agent's"]


def taken(told: list[str], stage: Stage, name: str) -> list[str]:
    """Return what is wrong with what the agent's next session took."""
    receipts = [json.loads(path.read_bytes()) for path in (stage.root / ".git/passdown/receipts").glob("*.json")]
    wrong = [] if [row["by"] for row in receipts] == [name] else [f"the receipts are {receipts}"]
    briefs = [one for one in told if "[passdown] Handoff for" in one]
    return wrong if any(STEP in one and "instructions" in one for one in briefs) else [*wrong, "no brief was told"]


def written(stage: Stage, name: str) -> list[str]:
    """Return what is wrong with the packet that the agent had written."""
    paths = sorted((stage.root / "outputs/handoff").glob("*/handoff.json"))
    if len(paths) != 1:
        return [f"{len(paths)} packets were written"]
    packet = json.loads(paths[0].read_bytes())
    schema = json.loads((HERE.parent.parent / "schema/handoff-v1.schema.json").read_bytes())
    errors = [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(packet)]
    expected = {
        "the session is not this agent's": [line["agent"] for line in packet["sessions"]] == [name],
        "the note is missing": NOTE in [one["choice"] for one in packet["decisions"]],
        "the next step is not the one given": packet["next_action"]["text"] == STEP,
        "git's change is missing": "src/slug.py" in [one["path"] for one in packet["changed_files"]],
        "the red run is missing": any(clients.RUN in item["what"] for item in packet["failed_attempts"]),
    }
    brief = subprocess.run(
        [sys.executable, "-m", "passdown", "-C", str(stage.root), "take", "--no-receipt", "--format", "agent"],
        env=stage.base() | {"GIT_CONFIG_GLOBAL": os.devnull}, capture_output=True, check=False, text=True,
    )  # fmt: skip
    if brief.returncode != 0 or STEP not in (fenced(brief.stdout) or ""):
        errors.append(f"the packet cannot be taken: {brief.stdout}{brief.stderr}")
    return [*errors, *(what for what, holds in expected.items() if not holds)]


if __name__ == "__main__":
    run_scenes(__file__, lambda agents: agents, play, AGENTS)
