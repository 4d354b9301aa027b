"""The course of a Codex session: usage, compactions, plans, subagents, what was rolled back or copied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from codex_rows import (
    NEW_TURN,
    OLD_TURN,
    OWN,
    PARENT,
    Events,
    Row,
    call,
    event,
    item,
    meta,
    of,
    prompt,
    row,
    said,
    tokens,
)

from passdown.model.session import (
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    PlanUpdate,
    SessionStart,
    SubagentStart,
    Title,
    Usage,
    UserMessage,
    WorkspaceChange,
)
from passdown.sessions.summary import summarize

# --- the session's course --------------------------------------------------------------------------------------------


def test_usage_is_the_step_of_the_total(events: Events) -> None:
    found = events(
        meta(),
        row("turn_context", {"turn_id": "t", "cwd": "/w", "model": "gpt-5.5"}),
        event("token_count", info=None),
        tokens(100, 100, cached=40),
        tokens(100, 100, cached=40),
        tokens(250, 150, cached=90),
    )
    first, second = of(found, Usage)
    assert (first.input, first.cache_read, first.output, first.reasoning, first.context) == (60, 40, 10, 4, 100)
    assert (second.input, second.cache_read, second.context, second.window, second.model) == (
        100,
        50,
        150,
        900,
        "gpt-5.5",
    )


def test_a_usage_record_and_its_token_count_are_one_response(events: Events) -> None:
    usage = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 10, "reasoning_output_tokens": 4}
    record = row("token_usage_record", {"response_id": "r1", "usage": usage, "thread_token_usage": usage})
    [only] = of(events(meta(), record, tokens(100, 100, cached=40), record), Usage)
    assert (only.response_id, only.input, only.cache_read) == ("r1", 60, 40)


def test_a_compaction_counts_once(events: Events) -> None:
    huge = {"message": "", "replacement_history": [{"type": "message", "content": [{"image_url": "data:" + "A" * 99}]}]}
    found = events(
        meta(),
        tokens(100, 100),
        row("compacted", huge),
        event("context_compacted"),
        event("item_completed", item={"type": "ContextCompaction", "id": "x"}),
        said("assistant", "On."),
        row("compacted", {"message": "So far: nothing."}),
        event("context_compacted"),
    )
    opaque, told = of(found, Compaction)
    assert (opaque.opaque, opaque.tokens_before) == (True, 100)
    assert (told.opaque, told.summary) == (False, "So far: nothing.")


def test_plans(events: Events) -> None:
    plan = {"plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}, {"step": "c"}]}
    found = events(
        meta(),
        call("p", "update_plan", plan),
        event("item_completed", item={"type": "Plan", "id": "x", "text": "# Plan"}),
    )
    first, second = of(found, PlanUpdate)
    assert [(one.text, one.status) for one in first.items] == [
        ("a", "completed"),
        ("b", "in_progress"),
        ("c", "pending"),
    ]
    assert second.text == "# Plan"


def test_models_places_titles_and_interruptions(events: Events) -> None:
    found = events(
        meta(git={"branch": "main", "commit_hash": "1" * 40}),
        row("turn_context", {"cwd": "/w", "model": "a"}),
        call("c", "exec_command", {"cmd": "sleep 9"}),
        event("turn_aborted", reason="interrupted"),
        event("task_started", turn_id="t"),
        row("turn_context", {"cwd": "/w/sub", "model": "b"}),
        meta(cwd="/w/sub", git={"branch": "topic", "commit_hash": "2" * 40}),
        event("thread_name_updated", thread_name="Sleepless"),
        event("turn_aborted", reason="replaced"),
    )
    assert (found[0].branch, found[0].commit) == ("main", "1" * 40)
    assert [(one.previous, one.model) for one in of(found, ModelChange)] == [("a", "b")]
    assert [(one.cwd, one.branch) for one in of(found, WorkspaceChange)] == [("/w/sub", ""), ("", "topic")]
    assert [(one.during_tool, one.reason) for one in of(found, Interruption)] == [(True, ""), (False, "replaced")]
    assert of(found, Title)[0].title == "Sleepless"
    assert len(of(found, SessionStart)) == 1


@pytest.mark.parametrize("told", ["call", "event", "both", "activity"])
def test_a_subagent_starts_once_however_it_is_told(events: Events, told: str) -> None:
    rows = [call("s", "spawn_agent", {"message": "Look."})]
    if told in ("event", "both"):
        rows.append(event("collab_agent_spawn_end", call_id="s", new_thread_id="child-1", prompt="Look."))
    if told == "activity":
        rows.append(
            event("sub_agent_activity", kind="started", event_id="s", agent_thread_id="child-1", agent_path="/r")
        )
    if told != "event":
        rows.append(item("function_call_output", call_id="s", output='{"agent_id":"child-1","nickname":"Ada"}'))
    [start] = of(events(meta(), *rows), SubagentStart)
    assert (start.child_id, start.prompt, start.call_id) == ("child-1", "Look.", "s")


def test_a_subagent_that_did_not_start(events: Events) -> None:
    rows = [call("s", "spawn_agent", {"message": "x"}), item("function_call_output", call_id="s", output="collab spawn failed: no")]  # fmt: skip
    assert not of(events(meta(), *rows), SubagentStart)


def test_rolled_back_turns_are_not_active(events: Events) -> None:
    found = events(
        meta(), *prompt("One"), said("assistant", "1"), *prompt("Two"), said("assistant", "2"),
        *prompt("Three"), said("assistant", "3"), event("thread_rolled_back", num_turns=2),
        *prompt("Four"), said("assistant", "4"),
    )  # fmt: skip
    spoken = [(one.text, one.active) for one in found if isinstance(one, UserMessage | AssistantMessage)]
    assert spoken == [
        ("One", True), ("1", True), ("Two", False), ("2", False), ("Three", False), ("3", False), ("Four", True),
        ("4", True),
    ]  # fmt: skip
    assert summarize(found).rewound == 4


def test_rolling_back_more_than_there_is(events: Events) -> None:
    found = events(
        meta(), *prompt("One"), event("thread_rolled_back", num_turns=9), event("thread_rolled_back", num_turns=1)
    )
    assert [one.active for one in of(found, UserMessage)] == [False]


# --- copied history --------------------------------------------------------------------------------------------------


def forked(turn_of_parent: str, turn_of_child: str, identifier: str = OWN, pause: float = 0) -> list[Row]:
    return [
        meta(identifier, forked_from_id=PARENT),
        meta(PARENT, cwd="/elsewhere"),
        event("task_started", turn_id=turn_of_parent),
        row("turn_context", {"turn_id": turn_of_parent, "cwd": "/elsewhere", "model": "a"}),
        *prompt("Old"),
        said("assistant", "Old answer"),
        tokens(100, 100),
        row("event_msg", {"type": "task_started", "turn_id": turn_of_child}, pause),
        row("turn_context", {"turn_id": turn_of_child, "cwd": "/w", "model": "b"}, pause),
        *[one | {"timestamp": row("", {}, pause)["timestamp"]} for one in [*prompt("New"), tokens(150, 50)]],
    ]


def check_forked(found: list[Any]) -> None:
    assert (found[0].parent_id, found[0].parent_kind) == (PARENT, "fork")
    assert [(one.text, one.copied) for one in of(found, UserMessage)] == [("Old", True), ("New", False)]
    assert [(one.input, one.copied, one.model) for one in of(found, Usage)] == [(100, True, "a"), (50, False, "b")]
    assert not of([one for one in found if not one.copied], ModelChange)


def test_a_fork_by_the_time_in_its_turns_ids(events: Events) -> None:
    check_forked(events(*forked(OLD_TURN, NEW_TURN)))


def test_a_fork_by_its_parents_turns(events: Events, tmp_path: Path) -> None:
    parent = tmp_path / f"rollout-2026-03-01T09-00-00-{PARENT}.jsonl"
    parent.write_text(json.dumps(row("turn_context", {"turn_id": "turn-1"})) + "\n")
    check_forked(events(*forked("turn-1", "turn-2", "fork-0001")))


def test_a_fork_by_the_pause_after_copying(events: Events) -> None:
    check_forked(events(*forked("turn-1", "turn-2", "fork-0001", pause=9)))


def test_a_resumed_session_owns_all_its_rows(events: Events) -> None:
    found = events(meta(), *prompt("One"), meta(), event("task_started", turn_id=NEW_TURN), *prompt("Two"))
    assert not [one for one in found if one.copied]
    assert len(of(found, UserMessage)) == 2
