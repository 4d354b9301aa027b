"""Every real Pi session of the corpus, and the counts of the hardest ones against an independent count."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.pi.sessions import read, recognise
from passdown.model.session import SessionEnd, SessionRef, SessionStart
from passdown.sessions.summary import summarize

TESTS = Path(__file__).resolve().parent.parent
GOLDENS = sorted((TESTS / "goldens" / "sessions" / "pi").glob("*.json"))
DAMAGED = {"fixture-agentsview.jsonl": "a broken line and an unknown kind were put in by hand"}


def independent_count(path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("count_pi", TESTS / "goldens" / "count_pi.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    counted: dict[str, Any] = module.count(path)
    return counted


def summary_of(path: Path) -> Any:
    return summarize(read(SessionRef(agent="pi", path=str(path), session_id="")))


def sessions_under(corpus: Path) -> list[Path]:
    lab = corpus.parent / "agent-lab" / "real-sessions" / "pi"
    return sorted(corpus.glob("pi/*.jsonl")) + sorted(lab.glob("*.session.jsonl"))


def test_every_session_reads(corpus: Path) -> None:
    paths = sessions_under(corpus)
    assert len(paths) > 15
    for path in paths:
        assert recognise(path.read_bytes()[: 64 << 10], path.name), path.name
        events = list(read(SessionRef(agent="pi", path=str(path), session_id="")))
        start, end = events[0], events[-1]
        assert isinstance(start, SessionStart), path.name
        assert isinstance(end, SessionEnd), path.name
        assert start.session_id, path.name
        assert end.bytes == path.stat().st_size, path.name
        if path.name not in DAMAGED:
            assert sum(summarize(events).unknown.values()) <= 0.02 * end.records, path.name


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_counts_agree(corpus: Path, golden: Path) -> None:
    path = corpus / "pi" / f"{golden.stem}.jsonl"
    expected = json.loads(golden.read_text())
    assert independent_count(path) == expected
    summary = summary_of(path)
    assert {name: getattr(summary, name) for name in expected} | {"models": sorted(summary.models)} == expected
