"""Every real OpenCode session of the corpus, and the counts of the hardest ones against an independent count."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.opencode.database import sessions_in
from passdown.agents.opencode.sessions import read, recognise
from passdown.model.session import SessionEnd, SessionRef, SessionStart
from passdown.sessions.summary import summarize

TESTS = Path(__file__).resolve().parent.parent
GOLDENS = sorted((TESTS / "goldens" / "sessions" / "opencode").glob("*.json"))


def independent_count(path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("count_opencode", TESTS / "goldens" / "count_opencode.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    counted: dict[str, Any] = module.count(path)
    return counted


def counts_of(path: Path, inner: str, names: dict[str, Any]) -> dict[str, Any]:
    summary = summarize(read(SessionRef(agent="opencode", path=str(path), session_id=inner, inner=inner)))
    return {name: getattr(summary, name) for name in names} | {"models": sorted(summary.models)}


def laboratory(corpus: Path) -> Path:
    return corpus.parent / "agent-lab" / "real-sessions" / "opencode"


def test_every_session_reads(corpus: Path) -> None:
    paths = sorted(corpus.glob("opencode/*.json")) + sorted(laboratory(corpus).glob("*.session.json"))
    refs = [SessionRef(agent="opencode", path=str(path), session_id="") for path in paths]
    for path in sorted(laboratory(corpus).glob("*.db")):
        paths.append(path)
        refs += [
            SessionRef(agent="opencode", path=str(path), session_id=str(info.id), inner=str(info.id))
            for info in sessions_in(path)
        ]
    assert len(refs) > 20
    for path in paths:
        assert recognise(path.read_bytes()[: 64 << 10], path.name), path.name
    for ref in refs:
        events = list(read(ref))
        start, end = events[0], events[-1]
        assert isinstance(start, SessionStart), ref.path
        assert isinstance(end, SessionEnd), ref.path
        assert start.session_id, ref.path
        assert sum(summarize(events).unknown.values()) <= 0.02 * end.records, ref.path


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_counts_agree(corpus: Path, golden: Path) -> None:
    expected = json.loads(golden.read_text())
    database = laboratory(corpus) / f"{golden.stem}.db"
    if database.exists():
        assert independent_count(database) == expected
        for session, counts in expected.items():
            assert counts_of(database, session, counts) == counts
    else:
        path = corpus / "opencode" / f"{golden.stem}.json"
        assert independent_count(path) == expected
        assert counts_of(path, "", expected) == expected
