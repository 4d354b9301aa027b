"""Tokens of every real session at hand, against a second count of its log that shares no code with the reader."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.sessions.read import read_session
from passdown.sessions.summary import summarize

COUNTERS = Path(__file__).parents[1] / "goldens"
FOLDERS = {
    "claude_code": ("claude-code",), "codex": ("codex",), "copilot": ("copilot-cli",), "gemini": ("gemini", "gemini-cli"),
    "opencode": ("opencode",), "openhands": ("openhands",), "pi": ("pi",), "qwen": ("qwen", "qwen-code"),
    "kimi": ("kimi",),
}  # fmt: skip
LEAST = {"claude_code": 44, "codex": 26, "copilot": 8, "gemini": 12, "opencode": 18, "openhands": 5, "pi": 17, "qwen": 3,
         "kimi": 2}  # fmt: skip
BY_HAND = {
    "fixture-codex_050_legacy.jsonl": (1420, 0, 0, 910),  # {"prompt": 1420, "completion": 910}: a shape of one release
    "fixture-edge-cases.jsonl": (488, 0, 0, 435),  # 35 + 200 + 85 + 168, 145 + 25 + 180 + 85; one row ends half way
    "fixture-truncated.jsonl": (10, 0, 0, 5),
    **dict.fromkeys(
        ("fixture-queued-system.jsonl", "fixture-sample-session-web.json", "agent-a0ad4f44468bdf20d.jsonl",
         "fixture-subagent-parent.jsonl", "sdk-base_state-v1_11_5.json"), (0, 0, 0, 0),
    ),
}  # fmt: skip
"""Logs whose shape or damage the second count does not take, added up by hand."""
NO_LOG = (".hooks.jsonl", ".requests.json", ".db-rows.json")
MANY = ("v0-multi-swe-output.jsonl", "v0-resolver-output.jsonl")
"""Files of several trajectories, counted one by one in tests/trajectories."""


def counter(agent: str) -> Callable[[Path], dict[str, Any]]:
    spec = importlib.util.spec_from_file_location(f"second_{agent}", COUNTERS / f"count_{agent}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[Path], dict[str, Any]] = module.count
    return found


@pytest.mark.parametrize("agent", FOLDERS)
def test_tokens_are_those_of_a_second_count(agent: str, corpus: Path) -> None:
    count, compared = counter(agent), 0
    for base in (corpus, corpus.parent / "agent-lab" / "real-sessions"):
        for path in sorted(path for folder in FOLDERS[agent] for path in (base / folder).rglob("*.json*")):
            if path.name.endswith(NO_LOG) or path.name in MANY or not path.is_file():
                continue
            session = summarize(read_session(path, agent=agent))
            ours = (session.tokens_input, session.tokens_cache_read, session.tokens_cache_write, session.tokens_output)
            if path.name in BY_HAND:
                assert ours == BY_HAND[path.name]
                continue
            theirs = count(path)
            names = ("input", "cache_read", "cache_write", "output")
            assert ours == tuple(theirs.get(f"tokens_{name}", 0) for name in names), path.name
            compared += any(ours)
    assert compared >= LEAST[agent]
