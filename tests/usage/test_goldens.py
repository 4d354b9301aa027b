"""`usage`'s totals against the golden summaries, which a second count of each log, sharing no code, was checked with.

How each format was counted stands in `tests/goldens/count_<agent>.py`: run one of them on a log to see its numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from passdown.handoff.costs.question import Question, read_usage

GOLDENS = Path(__file__).parents[1] / "goldens" / "sessions"
FOLDERS = {
    "claude_code": ("claude-code",), "codex": ("codex",), "copilot": ("copilot-cli",), "gemini": ("gemini", "gemini-cli"),
    "opencode": ("opencode",), "openhands": ("openhands",), "pi": ("pi",), "qwen": ("qwen", "qwen-code"),
}  # fmt: skip
LEAST = {"claude_code": 8, "codex": 10, "copilot": 6, "gemini": 7, "opencode": 6, "openhands": 4, "pi": 6, "qwen": 3}
"""Sessions with tokens that each format has a golden of: 50 in all, where 28 are asked for."""


def log_of(agent: str, stem: str, corpus: Path) -> Path | None:
    for folder in FOLDERS[agent]:
        for base in (corpus, corpus.parent / "agent-lab" / "real-sessions"):
            found = [path for path in sorted((base / folder).rglob(f"{stem}.json*")) if path.is_file()]
            if found:
                return found[0]
    return None


@pytest.mark.parametrize("agent", FOLDERS)
def test_the_totals_are_those_of_the_goldens(agent: str, corpus: Path, isolated_home: Path) -> None:
    compared = 0
    for golden in sorted((GOLDENS / agent).glob("*.json")):
        counted = json.loads(golden.read_bytes())
        expected = [counted.get(f"tokens_{name}", 0) for name in ("input", "cache_read", "cache_write", "output")]
        path = log_of(agent, golden.stem, corpus)
        if path is None or not any(expected):
            continue
        usage = read_usage(isolated_home, Question(session=str(path), agent=agent))
        totals = usage.totals
        assert [totals.input, totals.cache_read, totals.cache_write, totals.output] == expected, golden.stem
        assert (totals.calls, usage.tool_calls) == (counted["responses"], counted["tool_calls"]), golden.stem
        compared += 1
    assert compared >= LEAST[agent]


def test_there_are_as_many_as_were_asked_for() -> None:
    counted = [json.loads(path.read_bytes()) for agent in FOLDERS for path in (GOLDENS / agent).glob("*.json")]
    assert sum(bool(golden.get("tokens_output")) for golden in counted) >= sum(LEAST.values()) >= 28
