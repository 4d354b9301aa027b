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

from clients import (  # noqa: F401 - what the other scripts know by these names
    LAST,
    NEW,
    OLD,
    PORT,
    PROMPT,
    RUN,
    URL,
    VERSIONS,
    base_env,
    command,
    configure,
    steps,
)

SLUG = '''def slugify(text):
    """Lower-case, words joined by single dashes."""
    return text.replace(" ", "-")


def truncate(text, n):
    """At most n characters, the last one an ellipsis if cut."""
    return text[:n] + "…" if len(text) > n else text
'''
TEST = """import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "src"))
from slug import slugify, truncate


class SlugTest(unittest.TestCase):
    def test_slugify(self):
        self.assertEqual(slugify("  Hello   World "), "hello-world")

    def test_truncate(self):
        self.assertEqual(truncate("abcdef", 4), "abc…")
"""


def make_project(root: Path) -> None:
    """Make a repository with two bugs and their tests."""
    for name, text in {"src/slug.py": SLUG, "tests/test_slug.py": TEST, ".gitignore": "__pycache__/\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    git = ["git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Two helpers and their tests"]):
        subprocess.run([*git, *words], cwd=root, check=True)


def play(agent: str, place: Path, cache: Path, lab: Path) -> list[str]:
    """Let an agent work; return what is wrong with the packet of what it left."""
    from stage import Stage

    stage = Stage(place, cache, lab, (agent,), hooks=False)
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
    from stage import run_scenes

    run_scenes(__file__, list, play, tuple(VERSIONS))
