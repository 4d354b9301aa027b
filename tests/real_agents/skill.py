"""A real agent follows the skill and nothing else: what it leaves must make a packet that holds to the shipped schema.

    python tests/real_agents/skill.py [--agents claude_code,codex,…] [--only plain]

The agent finds the skill where it looks for skills, and is told of it in its first request. The scripted model asks for it
in the agent's own way; its commands are then taken out of the text that the agent sent, and run through the agent's shell,
in three layouts of a project, and once without passdown, by hand.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import clients
import jsonschema_rs
from stage import AGENTS, Stage, first_body, run_scenes, texts

SCHEMA = Path(__file__).resolve().parents[2] / "schema/handoff-v1.schema.json"
TITLE = "# Handing work over"
FILLED = {
    "<what you chose>": "Cut at n-1", "<why>": "the ellipsis counts", "<what you turned down>": "Cut at n",
    "<the wish>": "Do not change the tests", "<what you tried>": "Cutting at n", "<why it failed>": "one too long",
    "<what is wrong, with the test's name>": "test_truncate stays red", "<the question>": "May a title be empty?",
    "<what you do until it is answered>": "Allow it", "<what you found out>": "The ellipsis is one character",
    "<path:line>": "src/slug.py:8", "<the test command>": clients.RUN, "<the next step>": "Cut at n-1 in src/slug.py:8",
    "<its last lines>": "AssertionError",
}  # fmt: skip
LAYOUTS: dict[str, dict[str, str]] = {
    "plain": {},
    "lesson": {
        "outputs/decisions.jsonl": "", "outputs/questions.jsonl": "", "outputs/clues.jsonl": "",
        "outputs/feedback_record.jsonl": "", "agent_state.json": '{"active_task_id": "T-1"}',
        "task_board.json": '[{"id": "T-1", "title": "Mend the helpers", "status": "in_progress"}]',
    },
    "docs": {
        "passdown.toml": f'output = "docs/handoff"\nmirror = ".ai/STATE.md"\ntest-command = "{clients.RUN}"\n'
        '[artifacts]\ndecisions = "docs/agent/decisions.jsonl"\nquestions = "docs/agent/questions.jsonl"\n'
        'clues = "docs/agent/clues.jsonl"\nfeedback = "docs/agent/feedback_record.jsonl"\n',
        "docs/agent-rules.md": "# Rules\n\n## keep-names\n\nKeep the names.\n",
    },
    "by-hand": {},
}  # fmt: skip


def play(name: str, place: Path, cache: Path) -> list[str]:
    """Let an agent load the skill, work, and do what it says; return what is wrong with what it left."""
    agent, _, layout = name.partition(":")
    stage = Stage(place, cache, (agent,))
    by_hand = layout == "by-hand"
    furnish(stage, agent, LAYOUTS[layout], with_passdown=not by_hand)
    asked = stage.play(agent, {"steps": [*loading(agent, stage), {"text": "I have read it."}]})
    listed = [text for text in texts(first_body(asked)) if "Continue another session" in text]
    text = next((text for body in asked for text in texts(body.get("body")) if TITLE in text), "")
    if not listed or not text:
        return [
            "the agent did not tell the model of the skill" if not listed else "the skill did not come to the model"
        ]
    loaded = len(loading(agent, stage))
    work = stage.steps(agent)
    lines = [shell(agent, work, line) for line in obeyed(text, by_hand=by_hand)]
    script = [*[{"text": "-"}] * loaded, lines[0], *work[:-1], *lines[1:], work[-1]]
    told = stage.play(agent, {"steps": script}, clients.again(agent, stage.command(agent)))
    ended = max((line["step"] for line in told if isinstance(line.get("step"), int)), default=-1)
    wrong = [] if ended == len(script) - 1 else [f"it went no further than step {ended} of {len(script) - 1}"]
    return wrong + judge(stage, layout)


def furnish(stage: Stage, agent: str, files: dict[str, str], *, with_passdown: bool) -> None:
    """Give the project its layout and the skill, and the agent's shell the command, as a person would."""
    for path, text in files.items():
        (stage.root / path).parent.mkdir(parents=True, exist_ok=True)
        (stage.root / path).write_text(text, "utf-8")
    passdown(stage, "skill", "install", agent)
    git = ["git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    for words in (["add", "-A"], ["commit", "-q", "-m", "Teach agents to hand over"]):
        subprocess.run([*git, *words], cwd=stage.root, check=True)
    if with_passdown:
        folder = stage.home / "bin"
        folder.mkdir()
        program = folder / "passdown"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m passdown "$@"\n')
        program.chmod(0o755)
        stage.env[agent]["PATH"] = f"{folder}{os.pathsep}{stage.base()['PATH']}"
        (stage.home / ".profile").write_text(f'PATH="{folder}:$PATH"\n')  # Codex runs commands in a login shell


def passdown(stage: Stage, *words: str) -> bytes:
    """Run passdown as a person would."""
    line = [sys.executable, "-m", "passdown", "-C", str(stage.root), *words]
    done = subprocess.run(line, env=stage.base(), capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"passdown {' '.join(words)} exited {done.returncode}:\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def loading(agent: str, stage: Stage) -> list[dict[str, Any]]:
    """Return how the model asks for a skill: with the agent's tool for it, else by reading the file.

    OpenCode's own tool wants ripgrep, which it downloads where there is none.
    """
    path = ".agents/skills/passdown/SKILL.md"
    tools: dict[str, tuple[str, dict[str, Any]]] = {
        "claude_code": ("Skill", {"skill": "passdown"}), "codex": ("exec_command", {"cmd": f"cat {path}"}),
        "pi": ("read", {"path": str(stage.root / path)}), "copilot": ("skill", {"skill": "passdown"}),
        "opencode": ("bash", {"command": f"cat {path}", "description": "Read the skill"}),
        "gemini": ("activate_skill", {"name": "passdown"}),
        "qwen": ("skill", {"skill": "passdown"}),
    }  # fmt: skip
    name, args = tools[agent]
    return [{"text": "There is a skill for this.", "tool": {"name": name, "args": args}}]


def obeyed(text: str, *, by_hand: bool) -> list[str]:
    """Return the commands that the skill's text holds, its places filled in; with or without passdown."""
    given, _, without = text[text.index(TITLE) :].partition("\n## Without passdown\n")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", without if by_hand else given, re.DOTALL)
             for line in block.splitlines()]  # fmt: skip
    for place, words in FILLED.items():
        lines = [line.replace(place.replace("'", "'\\''"), words).replace(place, words) for line in lines]
    if open_places := [line for line in lines if "<" in line]:
        sys.exit(f"nobody says what goes here: {open_places}")
    # What it says of exit code 3: the tests are red, so the last packet is an interim one.
    return lines if by_hand else [*lines, *re.findall(r"`(passdown wrap --interim)`", given)]


def shell(agent: str, work: list[dict[str, Any]], line: str) -> dict[str, Any]:
    """Return the step in which the agent's shell runs a line: the one that ran the tests, with another command."""
    tool = work[-2]["tool"]
    key = "cmd" if agent == "codex" else "command"
    return {"text": "As the skill says.", "tool": {"name": tool["name"], "args": {**tool["args"], key: line}}}


def judge(stage: Stage, layout: str) -> list[str]:
    """Return what is wrong with the packet, and with what `take` says of it."""
    if layout == "by-hand":  # nobody ran passdown: the hooks did
        if not stage.drained():
            return ["no drain came to its end"]
        packets = stage.packets()
    else:
        folder = stage.root / ("docs/handoff" if layout == "docs" else "outputs/handoff")
        packets = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*/handoff.json"))]
    if not packets:
        return ["there is no packet"]
    packet = max(packets, key=lambda packet: str(packet["as_of"]))
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_bytes()))
    wrong = [f"the schema says: {error.message[:200]}" for error in validator.iter_errors(packet)]
    taken = json.loads(passdown(stage, "take", "--json", "--no-receipt"))
    expected = {
        "take took another packet": taken.get("packet_id") == packet["packet_id"],
        f"take says {taken.get('verdict')}": taken.get("verdict") in ("ready", "ready_with_drift"),
        "the decision is missing": [d["choice"] for d in packet["decisions"]] == ["Cut at n-1"],
        "the failed attempt is missing": "Cutting at n" in [f["what"] for f in packet["failed_attempts"]],
        "the risk is missing": "test_truncate stays red" in [r["detail"] for r in packet["open_risks"]],
        "the question is missing": "May a title be empty?" in [q["question"] for q in packet["questions_for_human"]],
        "the clue is missing": ["src/slug.py:8"] in [c["anchors"] for c in packet["clues"]],
        "the next step is not the noted one": packet["next_action"]["text"] == "Cut at n-1 in src/slug.py:8",
        "the tests are not red": packet["tests"].get("state") == "red",
        "the change is missing": "src/slug.py" in [c["path"] for c in packet["changed_files"]],
        "an agent spoke for a person": {i.get("by", "agent") for i in packet["decisions"]} == {"agent"},
    }
    return wrong + [what for what, holds in expected.items() if not holds]


def scenes(agents: list[str]) -> list[str]:
    """Name each layout for each agent."""
    return [f"{agent}:{layout}" for agent in agents for layout in LAYOUTS]


if __name__ == "__main__":
    run_scenes(__file__, scenes, play, AGENTS)
