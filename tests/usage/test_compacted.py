"""What compactions lost: made logs where the packet's facts and the summary's words are known, and recorded ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.costs.compacted import Comparison, compare_compactions
from passdown.sessions.read import refer_to

KEPT = "Never touch the vendored parser in third_party, ask me first."
LOST = "The deadline for anonymous callers is Thursday evening, Zürich time."


def summarised(session: Any, *texts: str) -> Path:
    """A session with two requests of a person and a failing command, compacted once for each text."""
    session = session(Path("/gone/project"))
    session.human(KEPT)
    session.human(LOST)
    session.calls("Bash", {"command": "pytest -q tests/test_bucket.py"}, "Exit code 1\nFAILED tests/test_bucket.py::test_refill",
                  error=True)  # fmt: skip
    session.says("I look into it.")
    for text in texts:
        session.row("system", subtype="compact_boundary", content="Conversation compacted",
                    compactMetadata={"trigger": "auto", "preTokens": 150_000})  # fmt: skip
        session.row("user", message={"role": "user", "content": text}, isCompactSummary=True)
        session.says("Going on.")
    return Path(session.path)


def sections(one: Comparison) -> dict[str, tuple[int, int]]:
    return {part.section: (part.facts, part.lost) for part in one.sections}


def test_what_the_summary_has_and_what_it_lost(claude_session: Any) -> None:
    path = summarised(claude_session, f"1. The user said: {KEPT}\n2. Work goes on.")
    (one,) = compare_compactions(refer_to(path))
    assert one.readable and sections(one)["human_words"] == (2, 1)
    assert sections(one)["failed_attempts"][1] == sections(one)["failed_attempts"][0] >= 1
    assert sections(one)["tests"] == (1, 1)
    words = next(part for part in one.sections if part.section == "human_words")
    assert words.examples == (LOST,)


def test_a_summary_with_all_of_it_lost_nothing(claude_session: Any) -> None:
    whole = f"{KEPT} {LOST} `pytest -q tests/test_bucket.py` fails with Exit code 1: FAILED tests/test_bucket.py::test_refill"
    (one,) = compare_compactions(refer_to(summarised(claude_session, whole)))
    assert one.facts >= 3 and one.lost == 0


def test_an_earlier_summary_is_no_fact_of_a_later_one(claude_session: Any) -> None:
    path = summarised(claude_session, "nothing much", *["more of it"] * 6)
    found = compare_compactions(refer_to(path))
    assert [one.number for one in found] == [3, 4, 5, 6, 7]
    assert {one.facts for one in found} == {found[0].facts}
    assert all(one.lost == one.facts for one in found)


def test_usage_tells_it(claude_session: Any, passdown: Any, tmp_path: Path) -> None:
    path = summarised(claude_session, f"{KEPT} Token: ghp_{'a1B2' * 9}", "")
    shown = passdown("usage", "--session", str(path), folder=tmp_path).stdout.decode()
    assert "summary 1 holds 1 of the" in shown and "1 of 2 messages of people" in shown and LOST in shown
    told = json.loads(passdown("usage", "--session", str(path), "--json", folder=tmp_path).stdout)
    assert told["compactions"] == len(told["summaries"])
    first = told["summaries"][0]
    assert {part["section"] for part in first["sections"]} >= {"human_words", "failed_attempts"}
    assert first["lost"] == sum(part["lost"] for part in first["sections"])


@pytest.mark.parametrize(
    ("log", "readable", "least"),
    [("claude-code/compact-errors-cipher-12f1f541.jsonl", True, 20), ("pi/pimono-before-compaction.jsonl", True, 10),
     ("opencode/export-bridge-compact-13dddd41-0.json", True, 2), ("codex/agentv-compact1-335841c2.jsonl", False, 0)],
)  # fmt: skip
def test_recorded_compactions(log: str, readable: bool, least: int, corpus: Path) -> None:
    found = compare_compactions(refer_to(corpus / log))
    assert found and all(one.readable == readable for one in found)
    assert found[0].facts >= least
    assert all(0 <= one.lost <= one.facts for one in found)


def test_what_people_said_stands_in_claude_codes_summaries(corpus: Path) -> None:
    # Its summaries list every message of the user: what does not find them there cannot tell what is lost.
    (one,) = compare_compactions(refer_to(corpus / "claude-code/compact-errors-cipher-12f1f541.jsonl"))
    assert sections(one)["human_words"] == (7, 0)
