"""Every real session of the corpus, for each agent, and the counts of the hardest ones against an independent count."""

from __future__ import annotations

import importlib.util
import json
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from passdown.agents.opencode.database import sessions_in
from passdown.agents.table import AGENTS, Sessions, sessions_of
from passdown.model.session import Session, SessionEnd, SessionRef, SessionStart, ToolCall, ToolResult
from passdown.sessions.summary import summarize

TESTS = Path(__file__).resolve().parent.parent
HEAD = 64 << 10


class Material(NamedTuple):
    """Where an agent's real sessions lie, and what holds for all of them.

    `folder` is the one in the corpus and in the lab (`lab` where that one has another name), `patterns` are the corpus'
    and the lab's files, `also` more of the corpus', `over` is a number that there are more sessions than, `damaged`
    names the files with more unknown records than 2 in 100, `other` those that are no session, and why.
    `bytes` compares the bytes read with the file's size; `rewinds` is false where nobody went back in any of them.
    """

    folder: str
    patterns: tuple[str, str]
    over: int
    bytes: Callable[[int, int], bool] | None = operator.eq
    damaged: Mapping[str, str] = {}
    rewinds: bool = True
    in_order: bool = False
    lab: str = ""
    also: str = ""
    other: Mapping[str, str] = {}


MATERIAL = {
    "claude_code": Material(
        folder="claude-code",
        patterns=("**/*.json*", "*.session.jsonl"),
        over=40,
        bytes=operator.ge,  # subagents' files beside the log are read as well
        damaged={
            "fixture-edge-cases.jsonl": "rows of the wrong shape were put in by hand",
            "fixture-truncated.jsonl": "three rows, the last one cut by hand",
        },
        rewinds=False,
    ),
    "codex": Material(folder="codex", patterns=("*.jsonl", "*.session.jsonl"), over=25, in_order=True),
    "opencode": Material(
        folder="opencode",
        patterns=("*.json", "*.session.json"),
        over=20,
        bytes=None,  # its bytes are those of the rows, not of a file
    ),
    "pi": Material(
        folder="pi",
        patterns=("*.jsonl", "*.session.jsonl"),
        over=15,
        damaged={"fixture-agentsview.jsonl": "a broken line and an unknown kind were put in by hand"},
    ),
    "copilot": Material(
        folder="copilot-cli", patterns=("*.jsonl", "*.session.jsonl"), over=8, rewinds=False, in_order=True
    ),
    "gemini": Material(
        folder="gemini",
        lab="gemini-cli",
        patterns=("*.json*", "*.session.jsonl"),
        over=11,
        rewinds=False,
        in_order=True,
        other={"fixture-sdk-resume.jsonl": "a model's answers for a test of the program, not a session"},
    ),
    "qwen": Material(folder="qwen", lab="qwen-code", patterns=("*.jsonl", "*.session.jsonl"), over=3, in_order=True),
    "openhands": Material(
        folder="openhands",
        patterns=("*.json*", "*.session.jsonl"),
        also="sdk-cli/*/event-00000-*.json",
        over=12,
        bytes=None,  # its bytes are those of all the events that a file stands for
        rewinds=False,
        in_order=True,
        other={
            "v0-resolver-output.jsonl": "results of an evaluation, each with a history of its own",
            "v0-multi-swe-output.jsonl": "results of an evaluation, each with a history of its own",
            "v0-swebench-example.json": "patches that were predicted, without a history",
        },
    ),
    "kimi": Material(folder="kimi", patterns=("*.jsonl", "*.session.jsonl"), over=2, rewinds=False, in_order=True),
    "droid": Material(folder="droid", patterns=("*.jsonl", "*.session.jsonl"), over=3, rewinds=False, in_order=True),
    "cursor": Material(folder="cursor", patterns=("*.jsonl", "*.session.jsonl"), over=1, rewinds=False, in_order=True),
}
GOLDENS = [
    pytest.param(agent, path, id=f"{agent}-{path.stem}")
    for agent in MATERIAL
    for path in sorted((TESTS / "goldens" / "sessions" / agent).glob("*.json"))
]


def sessions(agent: str) -> Sessions:
    return next(sessions_of(row) for row in AGENTS if row.id == agent)


def laboratory(agent: str, corpus: Path) -> Path:
    return corpus.parent / "agent-lab" / "real-sessions" / (MATERIAL[agent].lab or MATERIAL[agent].folder)


def files_of(agent: str, corpus: Path) -> list[Path]:
    material, lab = MATERIAL[agent], laboratory(agent, corpus)
    ours, made = material.patterns
    found = sorted((corpus / material.folder).glob(ours)) + sorted(lab.glob(made))
    found += sorted((corpus / material.folder).glob(material.also)) if material.also else []
    found = [path for path in found if path.name not in material.other]
    return found + (sorted(lab.glob("*.db")) if agent == "opencode" else [])


def refs_in(agent: str, path: Path) -> list[SessionRef]:
    inner = [str(info.id) for info in sessions_in(path)] if path.suffix == ".db" else [""]
    return [SessionRef(agent=agent, path=str(path), session_id=name, inner=name) for name in inner]


def summary_of(agent: str, path: Path, inner: str = "") -> Session:
    return summarize(sessions(agent).read(SessionRef(agent=agent, path=str(path), session_id=inner, inner=inner)))


def independent_count(agent: str, path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(f"count_{agent}", TESTS / "goldens" / f"count_{agent}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    counted: dict[str, Any] = module.count(path)
    return counted


def others_than_claude_code(corpus: Path) -> list[Path]:
    mixed = ("claude-code", "entire", "corpus")
    return [path for path in sorted(corpus.glob("*/*.json*")) if path.parent.name not in mixed]


def others_than_codex(corpus: Path) -> list[Path]:
    folders = ("claude-code", "pi", "gemini", "qwen", "copilot-cli", "droid", "cursor", "opencode")
    return [path for folder in folders for path in sorted((corpus / folder).glob("*.json*"))[:8]]


@pytest.mark.parametrize("agent", MATERIAL)
def test_every_session_reads(corpus: Path, agent: str) -> None:
    files = files_of(agent, corpus)
    for path in files:
        assert sessions(agent).recognise(path.read_bytes()[:HEAD], path.name), path.name
    refs = [ref for path in files for ref in refs_in(agent, path)]
    assert len(refs) > MATERIAL[agent].over
    for ref in refs:
        check_session(agent, ref)


def check_session(agent: str, ref: SessionRef) -> None:
    material, path = MATERIAL[agent], Path(ref.path)
    events = list(sessions(agent).read(ref))
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart), path.name
    assert isinstance(end, SessionEnd), path.name
    assert start.session_id, path.name
    if material.bytes is not None:
        assert material.bytes(end.bytes, path.stat().st_size), path.name
    summary = summarize(events)
    if not material.rewinds:
        assert summary.rewound == 0, path.name
    if path.name not in material.damaged:
        assert sum(summary.unknown.values()) <= 0.02 * end.records, path.name
    if material.in_order:
        offsets = [event.offset for event in events]
        assert offsets == sorted(offsets), path.name


def others_than(*folders: str) -> Callable[[Path], list[Path]]:
    return lambda corpus: [path for path in sorted(corpus.glob("*/*.json*")) if path.parent.name not in folders]


@pytest.mark.parametrize(
    ("agent", "others"),
    [
        pytest.param("claude_code", others_than_claude_code, id="claude_code"),
        pytest.param("codex", others_than_codex, id="codex"),
        pytest.param("copilot", others_than("copilot-cli"), id="copilot"),
        pytest.param("gemini", others_than("gemini"), id="gemini"),
        pytest.param("qwen", others_than("qwen"), id="qwen"),
        pytest.param("openhands", others_than("openhands"), id="openhands"),
        pytest.param("kimi", others_than("kimi"), id="kimi"),
        pytest.param("droid", others_than("droid"), id="droid"),
        pytest.param("cursor", others_than("cursor"), id="cursor"),
    ],
)
def test_no_other_agents_session_is_taken_for_one(
    corpus: Path, agent: str, others: Callable[[Path], list[Path]]
) -> None:
    for path in others(corpus):
        with path.open("rb") as stream:
            assert not sessions(agent).recognise(stream.read(HEAD), path.name), path


@pytest.mark.parametrize(("agent", "golden"), GOLDENS)
def test_counts_agree(corpus: Path, agent: str, golden: Path) -> None:
    [path] = [path for path in files_of(agent, corpus) if path.stem == golden.stem]
    expected = json.loads(golden.read_text())
    assert independent_count(agent, path) == expected
    # Of a database, each session is counted by itself.
    for inner, counts in expected.items() if path.suffix == ".db" else [("", expected)]:
        summary = summary_of(agent, path, inner)
        found = {name: getattr(summary, name) for name in counts}
        assert found | {"models": sorted(summary.models)} == counts


def test_a_plan_handed_over_names_its_session(corpus: Path) -> None:
    planned = summary_of("claude_code", corpus / "claude-code" / "pair-impl-a2762c98.jsonl")
    assert planned.parent_id.startswith("0ab42e8f")
    assert planned.other_user_messages == {"plan": 1}
    assert planned.human_messages == 0


def test_results_belong_to_calls(corpus: Path) -> None:
    for path in files_of("codex", corpus):
        events = list(sessions("codex").read(SessionRef(agent="codex", path=str(path), session_id="")))
        called = {event.call_id for event in events if isinstance(event, ToolCall)}
        orphans = [event for event in events if isinstance(event, ToolResult) and event.call_id not in called]
        # The sanitised union of records holds one output without its call.
        assert len(orphans) <= ("codex-small" in path.name), path.name
