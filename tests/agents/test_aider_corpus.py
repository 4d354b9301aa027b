"""Every run of the real Aider histories, against a second count; the hardest ones against their goldens."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.aider.runs import runs_of
from passdown.agents.aider.sessions import read, recognise
from passdown.model.session import Session, SessionRef
from passdown.sessions.summary import summarize

GOLDENS = Path(__file__).resolve().parent.parent / "goldens"
SAME = (
    "human_messages", "responses", "tokens_input", "tokens_cache_read", "tokens_cache_write", "tokens_output",
)  # fmt: skip


def counted(path: Path, names: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    spec = importlib.util.spec_from_file_location("count_aider", GOLDENS / "count_aider.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, dict[str, Any]] = module.count(path, names)
    return found


def histories(corpus: Path) -> list[Path]:
    lab = corpus.parent / "agent-lab" / "real-sessions" / "aider"
    return sorted((corpus / "aider").glob("*.md")) + sorted(lab.glob("*.md"))


def summary(path: Path, name: str) -> Session:
    return summarize(read(SessionRef(agent="aider", path=str(path), session_id=name, inner=name)))


def test_every_run_reads_and_adds_up(corpus: Path) -> None:
    paths = histories(corpus)
    assert len(paths) >= 2
    off = calls = 0
    for path in paths:
        assert recognise(path.read_bytes()[: 64 << 10], path.name)
        second = counted(path)
        runs = [run for run in runs_of(path) if run.name in second]
        assert len(runs) == len(second)
        for run in runs:
            ours, theirs = summary(path, run.name), second[run.name]
            assert {name: getattr(ours, name) for name in SAME} == {name: theirs[name] for name in SAME}, run.name
            assert not ours.unknown
            off += abs(ours.tool_calls - theirs["tool_calls"]) + abs(ours.failures - theirs["failures"])
            calls += ours.tool_calls
    # Where an answer is broken off, the two ways of finding its edits differ.
    assert off <= 0.02 * calls


@pytest.mark.parametrize("golden", sorted((GOLDENS / "sessions" / "aider").glob("*.json")), ids=lambda path: path.stem)
def test_counts_agree(corpus: Path, golden: Path) -> None:
    [path] = [path for path in histories(corpus) if path.stem == golden.stem]
    expected = json.loads(golden.read_text())
    assert counted(path, tuple(expected)) == expected
    for name, counts in expected.items():
        ours = summary(path, name)
        assert {key: getattr(ours, key) for key in counts} | {"models": sorted(ours.models)} == counts, name
