"""Events of a session as steps: what belongs together, and that nothing is told before it was known."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from passdown.data.actions.coverage import Coverage, coverage
from passdown.data.records import Provenance, Trajectory
from passdown.data.trajectory import Steps, assemble
from passdown.errors import PassdownError
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)  # fmt: skip
from passdown.sessions.read import read_session

START = SessionStart(session_id="s", agent="codex", cwd="/testbed")
MAX_BYTES = 1_500_000


def call(number: str, response: str = "") -> ToolCall:
    return ToolCall(call_id=number, tool="bash", action="run", command=f"cat {number}", response_id=response)


def result(number: str, outcome: str = "ok") -> ToolResult:
    return ToolResult(call_id=number, outcome=outcome, text=f"text {number}")  # type: ignore[arg-type]


def said(text: str, response: str = "", *, reasoning: bool = False) -> AssistantMessage:
    return AssistantMessage(text=text, response_id=response, reasoning=reasoning)


def steps_of(*events: AnyEvent) -> list[tuple[str, list[str]]]:
    run = assemble([START, *events, SessionEnd()], Provenance(source="made"))
    return [
        (step.role, [getattr(e, "call_id", "") or getattr(e, "text", "") or type(e).__name__ for e in step.events])
        for step in run.steps
    ]


def test_a_response_with_its_thinking_calls_and_results_is_one_step() -> None:
    assert steps_of(
        UserMessage(text="do"), said("hm", "r1", reasoning=True), said("I", "r1"), call("a", "r1"), call("b", "r1"),
        result("b"), result("a"), said("done", "r2"),
    ) == [("user", ["SessionStart", "do"]), ("agent", ["hm", "I", "a", "b", "b", "a"]), ("agent", ["done"])]  # fmt: skip


def test_results_between_the_calls_of_one_response_do_not_end_it() -> None:
    assert [step for _, step in steps_of(call("a", "r1"), result("a"), call("b", "r1"), result("b"), call("c", "r2"))] == [
        ["SessionStart"], ["a", "a", "b", "b"], ["c"],
    ]  # fmt: skip


def test_without_names_of_responses_an_answer_ends_the_step() -> None:
    assert [step for _, step in steps_of(said("I"), call("a"), result("a"), said("you"), call("b"), result("b"))] == [
        ["SessionStart"], ["I", "a", "a"], ["you", "b", "b"],
    ]  # fmt: skip


def test_a_late_result_belongs_where_it_came() -> None:
    events = [UserMessage(text="do"), call("a", "r1"), said("on", "r2"), call("b", "r2"), result("a"), result("b")]
    assert [step for _, step in steps_of(*events)] == [["SessionStart", "do"], ["a"], ["on", "b", "a", "b"]]
    run = assemble([START, *events], Provenance(source="made"))
    assert [action.ok for step in run.steps for action in step.actions] == [None, True]


def test_a_person_in_between_does_not_make_a_result_late() -> None:
    assert [step for _, step in steps_of(call("a", "r1"), UserMessage(text="wait"), result("a"))] == [
        ["SessionStart"], ["a", "a"], ["wait"],
    ]  # fmt: skip


def test_tokens_written_before_their_response_belong_to_it() -> None:
    usage = Usage(response_id="r2", output=5)
    assert [step for _, step in steps_of(call("a", "r1"), result("a"), usage, said("b", "r2"))] == [
        ["SessionStart"], ["a", "a"], ["Usage", "b"],
    ]  # fmt: skip


def test_calls_that_share_an_id_are_answered_in_order() -> None:
    run = assemble(
        [START, call("a", "r"), call("a", "r"), result("a", "failed"), result("a")], Provenance(source="made")
    )
    assert [action.ok for action in run.steps[1].actions] == [False, True]


def test_what_was_taken_back_or_is_another_agents_is_left_out() -> None:
    steps = Steps()
    for event in (
        UserMessage(text="a", agent_id="x"), UserMessage(text="b", active=False), UserMessage(text="c", copied=True), START,
    ):  # fmt: skip
        steps.take(event)
    assert steps.left_out == {"subagent": 1, "rewound": 1, "copied": 1, "reminder": 0}
    assert [event for step in steps.finish() for event in step.events] == [START]


def test_the_name_is_made_of_the_content(small_trajectory: Trajectory) -> None:
    events = [event for step in small_trajectory.steps for event in step.events]
    again = assemble(events, Provenance(source="made", file="other", row=7))
    assert again.content_hash == small_trajectory.content_hash
    assert again.trajectory_id == small_trajectory.trajectory_id
    assert assemble(events[:-1], Provenance(source="made")).content_hash != again.content_hash


@pytest.fixture(scope="module")
def runs() -> dict[str, list[tuple[list[AnyEvent], Trajectory]]]:
    """Every session of the corpus and of the live agents, by source, as far as one file is one session."""
    shared = Path(os.environ.get("PASSDOWN_SHARED") or Path(__file__).resolve().parents[4] / "shared")
    found: dict[str, list[tuple[list[AnyEvent], Trajectory]]] = {}
    for top in (shared / "corpus", shared / "agent-lab" / "real-sessions"):
        for path in sorted(top.rglob("*")):
            if not path.is_file() or path.suffix in (".tsv", ".md", ".history", ".yaml", ".db"):
                continue
            if path.stat().st_size > MAX_BYTES or ".hooks." in path.name or ".requests." in path.name:
                continue
            try:
                events = list(read_session(path))
            except PassdownError:
                continue
            source = f"{top.name}/{path.relative_to(top).parts[0]}"
            found.setdefault(source, []).append((events, assemble(events, Provenance(source=source))))
    if not found:
        pytest.skip("the corpus is not beside this checkout")
    return found


def test_nearly_every_action_of_every_source_is_understood(
    runs: dict[str, list[tuple[list[AnyEvent], Trajectory]]],
) -> None:
    counts = coverage(run for rows in runs.values() for _, run in rows)
    assert sum(count.trajectories for count in counts.values()) >= 60
    for source, count in counts.items():
        trimmed = sum(
            action.kind == "OTHER" and action.tool.startswith("[trimmed")
            for _, run in runs[source]
            for step in run.steps
            for action in step.actions
        )
        if count.actions > trimmed:
            other = count.kinds.get("OTHER", 0) - trimmed
            assert 1 - other / (count.actions - trimmed) >= 0.95, (source, count)


def test_every_event_of_every_session_is_in_one_step(runs: dict[str, list[tuple[list[AnyEvent], Trajectory]]]) -> None:
    for rows in runs.values():
        for events, run in rows:
            kept = [
                e for e in events if not (e.agent_id or not e.active or e.copied) and not isinstance(e, SessionEnd)
            ]  # fmt: skip
            inside = [event for step in run.steps for event in step.events]
            assert sorted(map(_as_read, kept)) == sorted(map(_as_read, inside))


def _as_read(event: AnyEvent) -> tuple[int, int, str, str]:
    """Return what tells an event from others; a reminder of the harness is taken off a result's end."""
    text = getattr(event, "text", "").partition("<system-reminder>")[0].rstrip()
    return event.line, event.offset, type(event).__name__, f"{getattr(event, 'call_id', '')} {text}"


def test_a_shorter_session_has_the_same_first_steps(runs: dict[str, list[tuple[list[AnyEvent], Trajectory]]]) -> None:
    chosen = random.Random(7)
    for rows in runs.values():
        for events, run in rows[:4]:
            cut = chosen.randint(1, len(events))
            part = assemble(events[:cut], run.provenance)
            whole = max(0, len(part.steps) - 2)  # the last steps may still have been open
            shown = [[event for event in step.events if not isinstance(event, Usage)] for step in part.steps[:whole]]
            assert shown == [
                [event for event in step.events if not isinstance(event, Usage)] for step in run.steps[:whole]
            ]


def test_no_actions_have_no_share() -> None:
    assert Coverage(source="x").share is None


def test_a_command_to_the_agent_is_no_task(script: Any) -> None:
    assert script().asks("/mode").says("Dark.").asks("Colour the footer.").says("Done.").trajectory().task_text == (
        "Colour the footer."
    )
    assert script().asks("hi").says("Hello.").trajectory().task_text == "hi"


def test_what_a_command_was_given_is_the_task_where_nobody_asked_for_anything_else(script: Any) -> None:
    run = script()
    run.events.append(UserMessage(text="Bring @CLAUDE.md up to date", origin="command"))
    assert run.says("On it.").trajectory().task_text == "Bring @CLAUDE.md up to date"
    assert run.asks("Colour the footer of the page.").trajectory().task_text == "Colour the footer of the page."
    opened = script()
    opened.events.append(UserMessage(text="/model", origin="command"))
    assert opened.says("Which?").trajectory().task_text == ""
