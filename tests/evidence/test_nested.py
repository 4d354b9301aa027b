"""Agents started by agents, against hand-labelled commands: rules were tuned on the `tune` half, the bar is on `hold`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.errors import PassdownError
from passdown.evidence.nested import NestedReader, nested_findings, nested_in
from passdown.model.session import SessionStart, ToolCall, ToolResult
from passdown.sessions.read import read_session

LABELS = Path(__file__).parents[1] / "labels" / "nested_agents.tsv"
OWN = "aaaaaaaa-0000-4000-8000-000000000001"


class Label(NamedTuple):
    half: str
    agent: str
    kind: str
    command: str


def labels(half: str) -> list[Label]:
    rows = [line.split("\t") for line in LABELS.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert rows[0] == list(Label._fields)
    return [Label(*row[:3], json.loads(row[3])) for row in rows[1:] if row[0] == half]


def said(label: Label) -> str:
    found = nested_in(label.command, agent=label.agent, session_id=OWN)
    return found.kind if found is not None else "none"


def test_the_tuned_half_is_right() -> None:
    assert [label for label in labels("tune") if said(label) != label.kind] == []


def test_precision_and_recall_on_the_half_that_was_not_tuned_on() -> None:
    counts: Counter[str] = Counter()
    kinds = 0
    for label in labels("hold"):
        told = said(label)
        nested, found = label.kind != "none", told != "none"
        counts["hit" if nested and found else "missed" if nested else "wrong" if found else "right"] += 1
        kinds += nested and told == label.kind
    assert sum(counts.values()) >= 60
    precision = counts["hit"] / (counts["hit"] + counts["wrong"])
    recall = counts["hit"] / (counts["hit"] + counts["missed"])
    assert (precision >= 0.95, recall >= 0.95) == (True, True), (precision, recall, counts)
    assert kinds >= 0.95 * counts["hit"]


def test_a_sessions_nested_agents_with_their_time() -> None:
    reader = NestedReader()
    events = [
        SessionStart(session_id=OWN, agent="claude_code"),
        ToolCall(call_id="a", tool="Bash", action="run", command="codex exec 'x'", at=10),
        ToolResult(call_id="a", outcome="ok", at=90),
        ToolCall(call_id="b", tool="Bash", action="run", command=f"claude --resume {OWN}", at=100),
        ToolCall(call_id="c", tool="Bash", action="run", command="codex exec 'y'", at=110, copied=True),
        ToolCall(call_id="d", tool="Bash", action="run", command="codex resume 0199-beef", at=120),
        ToolCall(call_id="e", tool="Read", action="read", paths=("codex exec",)),
    ]
    for event in events:
        reader.add(event)
    assert [(one.kind, one.agent, one.session_id, one.at, one.until) for one in reader.found] == [
        ("launch", "codex", "", 10, 90), ("resume", "codex", "0199-beef", 120, None)
    ]  # fmt: skip
    findings = nested_findings(reader.found, OWN)
    assert [finding.code for finding in findings] == ["agent.nested", "agent.nested"]
    assert all("passdown wrap" in finding.fix and finding.severity == "warn" for finding in findings)


def test_only_so_many_are_kept() -> None:
    reader = NestedReader()
    for number in range(250):
        reader.add(ToolCall(call_id=str(number), tool="Bash", action="run", command="codex exec 'x'"))
    assert (len(reader.found), reader.omitted) == (200, 50)
    (finding,) = nested_findings(reader.found)
    assert "started codex 200 times" in finding.detail


@given(st.text(alphabet="claudex -p'\"`$(){}\\\n;&|<>#=exc", max_size=200))
@settings(deadline=None, max_examples=300)
def test_no_text_breaks_it(text: str) -> None:
    found = nested_in(f"{text} claude -p x {text}", agent="codex")
    assert found is None or found.program in ("claude", "codex")
    assert nested_in(f"make\nclaude -p y\n{text}", agent="codex") is not None


@pytest.mark.parametrize(
    "text", ["$(" * 5000, "`" * 9999, "(" * 9999, "bash -c '" * 3000, "; claude --version" * 4000, "'" * 9999]
)
def test_a_long_text_is_looked_at_in_bounds(text: str) -> None:
    assert nested_in(text + " gemini --version", agent="codex") is None


def test_no_recorded_command_is_taken_for_one(corpus: Path) -> None:
    """No session of the corpus starts an agent: every one that is found would be wrong."""
    wrong, commands = [], 0
    for path in sorted(corpus.rglob("*.jsonl")):
        try:
            for event in read_session(path):
                if isinstance(event, ToolCall) and event.action == "run" and event.command:
                    commands += 1
                    if nested_in(event.command, agent="codex", session_id=OWN):
                        wrong.append(event.command)
        except PassdownError:
            continue
    assert commands > 2_000
    assert wrong == []
