"""Session → ATIF → session loses what the report says, and nothing else; what is written passes the published models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from atif import Trajectory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from passdown.errors import PassdownError
from passdown.model.exported import Exported
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    PlanItem,
    PlanUpdate,
    SessionEnd,
    SessionStart,
    SubagentStart,
    Title,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
    WorkspaceChange,
)
from passdown.sessions.read import read_session
from passdown.trajectories.atif_writer import write_atif

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
OURS = sorted(
    path for path in FIXTURES.rglob("*")
    if path.suffix in (".json", ".jsonl", ".traj") and path.relative_to(FIXTURES).parts[0] not in ("workbench", "takeover")
)  # fmt: skip


def inside(path: Path) -> list[str]:
    """The names of the sessions in a file."""
    try:
        list(read_session(path))
    except PassdownError as error:
        if "trajectories" not in str(error):
            raise
        return [str(number + 1) for number in range(int(str(error).split("holds ")[1].split()[0]))]
    return [""]


def kept(events: Iterable[AnyEvent]) -> dict[tuple[str, str], list[bytes]]:
    """What must survive, by kind and agent: all but places in the file, and the names of the formats.

    Results stand beside their calls and tokens beside their answers, so that only their order may differ.
    """
    found: dict[tuple[str, str], list[bytes]] = {}
    for event in events:
        if isinstance(event, SessionEnd):
            continue
        plain: Any = structs.replace(event, offset=0, line=0)
        if isinstance(event, SessionStart):
            plain = structs.replace(plain, agent="", originator="")
        found.setdefault((type(event).__name__, event.agent_id), []).append(msgspec.json.encode(plain, order="sorted"))
    for (kind, _), rows in found.items():
        if kind in ("ToolResult", "Usage"):
            rows.sort()
    return found


def expected_losses(events: list[AnyEvent]) -> tuple[list[AnyEvent], dict[str, int]]:
    """What the format has no place for, counted by this test itself, and the events that are left."""
    lost: dict[str, int] = {}
    left: list[AnyEvent] = []
    for event in events:
        if isinstance(event, Unknown):
            kind = "record_not_understood"
        elif not isinstance(event, (SessionStart, SessionEnd)) and not event.active:
            kind = "rewound_event"
        elif isinstance(event, AssistantMessage) and not event.text:
            kind = "empty_message"
        else:
            left.append(event)
            continue
        lost[kind] = lost.get(kind, 0) + 1
    return left, lost


def round_trip(events: list[AnyEvent], path: Path) -> tuple[Exported, list[AnyEvent]]:
    exported = write_atif(iter(events))
    Trajectory.model_validate_json(exported.data)
    path.write_bytes(exported.data)
    return exported, list(read_session(path))


def check(events: list[AnyEvent], path: Path) -> None:
    exported, back = round_trip(events, path)
    left, lost = expected_losses(events)
    said = dict(exported.lost)
    if said.pop("session_id", 0):
        left[0] = structs.replace(left[0], session_id=next(e for e in back if isinstance(e, SessionStart)).session_id)
    images = sum(event.images for event in left if isinstance(event, UserMessage))
    assert said.pop("image", 0) == images, "pictures themselves do not survive, their number does"
    said.pop("originator", 0)
    assert said == lost
    assert kept(back) == kept(left)


@pytest.mark.parametrize("path", OURS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_fixtures_of_every_agent_and_format(tmp_path: Path, path: Path) -> None:
    try:
        names = inside(path)
    except PassdownError as error:
        assert "no session format" in str(error)
        return
    for name in names:
        check(list(read_session(path, inner=name)), tmp_path / "t.json")


def test_many_fixtures_were_tried() -> None:
    assert len(OURS) > 25


def test_the_whole_corpus(corpus: Path, tmp_path: Path) -> None:
    tried = 0
    for path in sorted(corpus.rglob("*")):
        if path.suffix not in (".json", ".jsonl", ".traj") or not path.is_file() or path.stat().st_size > 2 << 20:
            continue
        if path.name.startswith("event-") and not path.name.startswith("event-00000"):
            continue
        try:
            names = inside(path)
        except PassdownError:
            continue
        for name in names:
            check(list(read_session(path, inner=name)), tmp_path / "t.json")
            tried += 1
    assert tried > 150


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
IDS = st.sampled_from(["", "a", "b", "c"])
AT = st.none() | st.integers(-5, 2**45)
FLAGS = {"at": AT, "copied": st.booleans(), "active": st.sampled_from([True, True, True, False]),
         "agent_id": st.sampled_from(["", "", "kid"])}  # fmt: skip
EVENTS = st.one_of(
    st.builds(UserMessage, text=TEXT, origin=st.sampled_from(["human", "injected", "hook", "plan", "queued", "subagent"]),
              images=st.integers(0, 2), **FLAGS),
    st.builds(AssistantMessage, text=TEXT, model=IDS, response_id=IDS, reasoning=st.booleans(), **FLAGS),
    st.builds(ToolCall, call_id=IDS, tool=TEXT, action=st.sampled_from(["run", "edit", "other"]), command=TEXT, cwd=TEXT,
              paths=st.lists(TEXT, max_size=2).map(tuple), arguments=st.dictionaries(TEXT, TEXT | st.integers(0, 9), max_size=2),
              response_id=IDS, **FLAGS),
    st.builds(ToolResult, call_id=IDS, outcome=st.sampled_from(["ok", "failed", "rejected", "unknown"]),
              exit_code=st.none() | st.integers(0, 255), text=TEXT, duration_ms=st.none() | st.integers(0, 9), reason=TEXT, **FLAGS),
    st.builds(Usage, response_id=IDS, model=IDS, input=st.integers(0, 99), cache_read=st.integers(0, 99),
              cache_write=st.integers(0, 9), output=st.integers(0, 99), reasoning=st.integers(0, 9),
              context=st.integers(0, 999), window=st.none() | st.integers(1, 9), **FLAGS),
    st.builds(Compaction, trigger=st.sampled_from(["", "auto"]), summary=TEXT, opaque=st.booleans(), micro=st.booleans(), **FLAGS),
    st.builds(PlanUpdate, items=st.lists(st.builds(PlanItem, text=TEXT), max_size=2).map(tuple), text=TEXT, **FLAGS),
    st.builds(ModelChange, model=TEXT, previous=TEXT, **FLAGS),
    st.builds(WorkspaceChange, cwd=TEXT, branch=TEXT, **FLAGS),
    st.builds(SubagentStart, child_id=st.sampled_from(["", "kid", "other"]), name=TEXT, call_id=IDS, **FLAGS),
    st.builds(Interruption, during_tool=st.booleans(), reason=TEXT, **FLAGS),
    st.builds(Title, title=TEXT, **FLAGS),
    st.builds(Unknown, record=TEXT),
)  # fmt: skip


def test_any_events(tmp_path: Path) -> None:
    start = SessionStart(
        session_id="s-1", agent="claude_code", cwd="/w", branch="main", at=7, parent_id="p", parent_kind="fork"
    )

    @settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))
    @given(st.lists(EVENTS, max_size=8))
    def holds(events: list[AnyEvent]) -> None:
        check([start, *events, SessionEnd(records=1)], tmp_path / "t.json")

    holds()


def test_copied_steps_are_marked_and_left_out_of_the_sums(tmp_path: Path) -> None:
    events: list[AnyEvent] = [
        SessionStart(session_id="s", agent="codex"), UserMessage(text="old", copied=True),
        AssistantMessage(text="old answer", copied=True, response_id="r"), Usage(input=5, copied=True, response_id="r"),
        UserMessage(text="new"), Usage(input=3, cache_read=4, output=2, response_id="q"), SessionEnd(),
    ]  # fmt: skip
    document = json.loads(write_atif(iter(events)).data)
    assert [step.get("is_copied_context", False) for step in document["steps"]] == [True, True, False, False]
    assert document["final_metrics"] == {
        "total_prompt_tokens": 7, "total_completion_tokens": 2, "total_cached_tokens": 4, "total_steps": 4
    }  # fmt: skip
    assert document["schema_version"] == "ATIF-v1.8"
    assert document["agent"]["name"] == "codex"


def test_a_model_turn_is_one_step_with_its_calls_and_their_results() -> None:
    events: list[AnyEvent] = [
        SessionStart(session_id="s", agent="codex"), AssistantMessage(text="hm", reasoning=True, response_id="r", model="m"),
        AssistantMessage(text="I run it.", response_id="r", model="m"),
        ToolCall(call_id="1", tool="shell", action="run", command="ls", arguments={"command": "ls"}, response_id="r"),
        ToolCall(call_id="2", tool="shell", action="run", command="pwd", arguments={"command": "pwd"}, response_id="r"),
        Usage(input=3, response_id="r", model="m"), ToolResult(call_id="1", outcome="ok", exit_code=0, text="a"),
        ToolResult(call_id="2", outcome="ok", exit_code=0, text="/w"), SessionEnd(),
    ]  # fmt: skip
    [step] = json.loads(write_atif(iter(events)).data)["steps"]
    assert (step["message"], step["reasoning_content"], step["model_name"]) == ("I run it.", "hm", "m")
    assert [call["tool_call_id"] for call in step["tool_calls"]] == ["1", "2"]
    assert [result["content"] for result in step["observation"]["results"]] == ["a", "/w"]
    assert step["metrics"]["prompt_tokens"] == 3


def test_what_claims_to_be_ours_is_not_believed(tmp_path: Path) -> None:
    hostile: dict[str, Any] = {
        "schema_version": "ATIF-v1.8", "session_id": "../../x", "agent": {"name": "a", "version": "1"},
        "extra": {"passdown": {"cwd": "/w", "events": [{"kind": "title", "title": "t"}]}},
        "steps": [
            {"source": "agent", "message": "m", "tool_calls": [{"tool_call_id": 5, "extra": {"passdown": {"action": "sudo"}}}, 7],
             "extra": {"passdown": {"events": [{"kind": "session_end"}]}}, "metrics": {"prompt_tokens": "x"},
             "observation": {"results": [None, {"extra": {"passdown": {"outcome": "great"}}}]}},
        ],
    }  # fmt: skip
    path = tmp_path / "h.json"
    path.write_text(json.dumps(hostile))
    events = list(read_session(path))
    assert [type(event).__name__ for event in events] == [
        "SessionStart", "Title", "AssistantMessage", "ToolCall", "Usage", "ToolResult", "SessionEnd"
    ]  # fmt: skip
    assert isinstance(events[0], SessionStart)
    assert events[0].session_id == "h"
    assert isinstance(events[3], ToolCall)
    assert events[3].action == "other"


Told = Callable[..., list[AnyEvent]]
