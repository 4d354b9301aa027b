"""Every real trajectory of the corpus, and the counts of the hardest ones against an independent count."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from passdown.errors import PassdownError
from passdown.model.session import AnyEvent, SessionEnd, SessionStart, ToolCall, ToolResult
from passdown.sessions.read import read_session, recognise
from passdown.sessions.summary import summarize

TESTS = Path(__file__).resolve().parent.parent
FOLDERS = {
    "atif": ("atif",), "mini_swe_agent": ("mini-swe-agent",), "swe_agent": ("swe-agent",),
    "chat": ("openai-chat", "swe-smith"), "openhands_results": ("openhands",),
}  # fmt: skip
REDACTED = "polylogue-nemo-relay-v1_7-real.json"
"""Somebody has replaced the source of every step, so that of most nobody can tell whose they are."""
OTHER = {
    "v0-swebench-example.json": "patches that were predicted, without a history",
    "sdk-base_state-v1_11_5.json": "the state of a conversation whose events are not there",
}
GOLDENS = [
    pytest.param(form, path, id=f"{form}-{path.stem}")
    for form in FOLDERS
    for path in sorted((TESTS / "goldens" / "sessions" / form).glob("*.json"))
]


def independent_count(form: str, path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(f"count_{form}", TESTS / "goldens" / f"count_{form}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    counted: dict[str, Any] = module.count(path)
    return counted


def sessions_in(path: Path) -> list[list[AnyEvent]]:
    try:
        return [list(read_session(path))]
    except PassdownError as error:
        several = int(str(error).split("holds ")[1].split()[0])
        return [list(read_session(path, inner=str(number + 1))) for number in range(several)]


def files_of(form: str, corpus: Path) -> list[Path]:
    folders = [corpus / name for name in FOLDERS[form]]
    return [
        path for folder in folders for path in sorted(folder.iterdir()) if path.is_file() and path.name not in OTHER
    ]


@pytest.mark.parametrize("form", FOLDERS)
def test_every_trajectory_reads(corpus: Path, form: str) -> None:
    files = files_of(form, corpus)
    assert files
    for path in files:
        expected = "openhands" if form == "openhands_results" else form
        assert recognise(path).id == expected, path.name
        for events in sessions_in(path):
            start, end = events[0], events[-1]
            assert isinstance(start, SessionStart), path.name
            assert isinstance(end, SessionEnd), path.name
            assert start.session_id, path.name
            summary = summarize(events)
            if path.name != REDACTED:
                assert sum(summary.unknown.values()) <= 0.02 * end.records, path.name
                assert summary.assistant_messages + summary.tool_calls > 0, path.name


@pytest.mark.parametrize(("form", "golden"), GOLDENS)
def test_counts_agree(corpus: Path, form: str, golden: Path) -> None:
    [path] = [path for path in files_of(form, corpus) if path.stem == golden.stem]
    expected = json.loads(golden.read_text())
    assert independent_count(form, path) == expected
    for inner, counts in [("", expected)] if "tool_calls" in expected else expected.items():
        summary = summarize(read_session(path, inner=inner))
        found = {name: getattr(summary, name) for name in counts}
        assert found | {"models": sorted(summary.models)} == counts


def test_results_belong_to_calls(corpus: Path) -> None:
    for form in FOLDERS:
        for path in files_of(form, corpus):
            for events in sessions_in(path):
                called = {event.call_id for event in events if isinstance(event, ToolCall)}
                orphans = [e.call_id for e in events if isinstance(e, ToolResult) and e.call_id not in called]
                # One conversation of the SDK begins in the middle.
                assert not orphans or path.name == "sdk-goal-events.jsonl", path.name
