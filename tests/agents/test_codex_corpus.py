"""Every real Codex rollout of the corpus, and the counts of the hardest ones against an independent count."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.codex.sessions import read, recognise
from passdown.model.session import SessionEnd, SessionRef, SessionStart, ToolCall, ToolResult
from passdown.sessions.summary import summarize

TESTS = Path(__file__).resolve().parent.parent
GOLDENS = sorted((TESTS / "goldens" / "sessions" / "codex").glob("*.json"))


def independent_count(path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("count_codex", TESTS / "goldens" / "count_codex.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    counted: dict[str, Any] = module.count(path)
    return counted


def sessions_under(corpus: Path) -> list[Path]:
    lab = corpus.parent / "agent-lab" / "real-sessions" / "codex"
    return sorted(corpus.glob("codex/*.jsonl")) + sorted(lab.glob("*.session.jsonl"))


def test_every_session_reads(corpus: Path) -> None:
    paths = sessions_under(corpus)
    assert len(paths) > 25
    for path in paths:
        assert recognise(path.read_bytes()[: 64 << 10], path.name), path.name
        events = list(read(SessionRef(agent="codex", path=str(path), session_id="")))
        start, end = events[0], events[-1]
        assert isinstance(start, SessionStart), path.name
        assert isinstance(end, SessionEnd), path.name
        assert start.session_id, path.name
        assert end.bytes == path.stat().st_size, path.name
        assert sum(summarize(events).unknown.values()) <= 0.02 * end.records, path.name
        offsets = [event.offset for event in events]
        assert offsets == sorted(offsets), path.name


def test_no_other_agent_is_taken_for_codex(corpus: Path) -> None:
    for folder in ("claude-code", "pi", "gemini", "qwen", "copilot-cli", "droid", "cursor", "opencode"):
        for path in sorted((corpus / folder).glob("*.json*"))[:8]:
            with path.open("rb") as stream:
                assert not recognise(stream.read(64 << 10), path.name), path.name


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_counts_agree(corpus: Path, golden: Path) -> None:
    path = next(path for path in sessions_under(corpus) if path.name == f"{golden.stem}.jsonl")
    expected = json.loads(golden.read_text())
    assert independent_count(path) == expected
    summary = summarize(read(SessionRef(agent="codex", path=str(path), session_id="")))
    ours = {name: getattr(summary, name) for name in expected} | {"models": sorted(summary.models)}
    assert ours == expected


def test_results_belong_to_calls(corpus: Path) -> None:
    for path in sessions_under(corpus):
        events = list(read(SessionRef(agent="codex", path=str(path), session_id="")))
        called = {event.call_id for event in events if isinstance(event, ToolCall)}
        orphans = [event for event in events if isinstance(event, ToolResult) and event.call_id not in called]
        # The sanitised union of records holds one output without its call.
        assert len(orphans) <= ("codex-small" in path.name), path.name
