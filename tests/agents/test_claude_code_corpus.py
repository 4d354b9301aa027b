"""Every real Claude Code session of the corpus, and the counts of the hardest ones against an independent count."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.claude_code.sessions import read, recognise
from passdown.model.session import Session, SessionEnd, SessionRef, SessionStart
from passdown.sessions.summary import summarize

TESTS = Path(__file__).resolve().parent.parent
GOLDENS = sorted((TESTS / "goldens" / "sessions" / "claude_code").glob("*.json"))
DAMAGED = {
    "fixture-edge-cases.jsonl": "rows of the wrong shape were put in by hand",
    "fixture-truncated.jsonl": "three rows, the last one cut by hand",
}


def independent_count(path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("count_claude_code", TESTS / "goldens" / "count_claude_code.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    counted: dict[str, Any] = module.count(path)
    return counted


def summary_of(path: Path) -> Session:
    return summarize(read(SessionRef(agent="claude_code", path=str(path), session_id="")))


def sessions_under(corpus: Path) -> list[Path]:
    lab = corpus.parent / "agent-lab" / "real-sessions" / "claude-code"
    return sorted(corpus.glob("claude-code/**/*.json*")) + sorted(lab.glob("*.session.jsonl"))


def test_every_session_reads(corpus: Path) -> None:
    paths = sessions_under(corpus)
    assert len(paths) > 40
    for path in paths:
        assert recognise(path.read_bytes()[: 64 << 10], path.name), path.name
        events = list(read(SessionRef(agent="claude_code", path=str(path), session_id="")))
        start, end = events[0], events[-1]
        assert isinstance(start, SessionStart), path.name
        assert isinstance(end, SessionEnd), path.name
        assert start.session_id, path.name
        assert end.bytes >= path.stat().st_size, path.name
        summary = summarize(events)
        assert summary.rewound == 0, path.name
        if path.name not in DAMAGED:
            assert sum(summary.unknown.values()) <= 0.02 * end.records, path.name


def test_no_other_agents_session_is_taken_for_one(corpus: Path) -> None:
    for path in sorted(corpus.glob("*/*.json*")):
        if path.parent.name not in ("claude-code", "entire", "corpus"):
            with path.open("rb") as stream:
                assert not recognise(stream.read(64 << 10), path.name), path


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_counts_agree(corpus: Path, golden: Path) -> None:
    path = corpus / "claude-code" / f"{golden.stem}.jsonl"
    expected = json.loads(golden.read_text())
    assert independent_count(path) == expected
    summary = summary_of(path)
    found = {name: getattr(summary, name) for name in expected}
    assert found | {"models": sorted(summary.models)} == expected


def test_a_plan_handed_over_names_its_session(corpus: Path) -> None:
    planned = summary_of(corpus / "claude-code" / "pair-impl-a2762c98.jsonl")
    assert planned.parent_id.startswith("0ab42e8f")
    assert planned.other_user_messages == {"plan": 1}
    assert planned.human_messages == 0
