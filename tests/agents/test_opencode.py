"""One OpenCode session, read from an export."""

from __future__ import annotations

from opencode_documents import DOCUMENT, EXPORT, SESSION, T, events_of, of

from passdown.model.session import (
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
)


def test_an_export_starts_with_its_session_and_ends_with_its_rows() -> None:
    events = events_of(EXPORT)
    start, title, end = events[0], events[1], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.agent_version, start.cwd, start.at) == (SESSION, "1.4.3", "/home/dev/slug", T)
    assert isinstance(title, Title)
    assert title.title == "Slug helpers"
    assert isinstance(end, SessionEnd)
    assert end.records == len(DOCUMENT["messages"]) + sum(len(m["parts"]) for m in DOCUMENT["messages"])
    assert end.ignored == {"step-start": 1, "user/file": 1}
    assert not of(events, Unknown)


def test_who_wrote_a_message() -> None:
    said = [(e.origin, e.text[:30], e.images) for e in of(events_of(EXPORT), UserMessage)]
    assert said == [
        ("human", "Fix the slug helpers.", 1),
        ("injected", "Called the Read tool with the ", 0),
        ("shell", "git status", 0),
        ("injected", "Continue if you have next step", 0),
    ]


def test_what_the_model_said() -> None:
    said = [(e.reasoning, e.text, e.model, e.response_id) for e in of(events_of(EXPORT), AssistantMessage)]
    assert said == [
        (True, "Look first.", "model-a", "msg_02"),
        (False, "Running the tests.", "model-a", "msg_02"),
    ]


def test_calls() -> None:
    calls = {e.call_id: e for e in of(events_of(EXPORT), ToolCall)}
    assert (calls["call_04"].action, calls["call_04"].command, calls["call_04"].cwd) == (
        "run", "pytest -q", "/home/dev/slug",
    )  # fmt: skip
    assert (calls["call_05"].action, calls["call_05"].paths) == ("read", ("/home/dev/slug/src/slug.py",))
    assert (calls["call_03"].action, calls["call_03"].paths) == ("edit", ("src/slug.py", "old.py"))
    assert [e.action for e in of(events_of(EXPORT), ToolCall)] == [
        "run", "read", "plan", "delegate", "edit", "run", "run", "edit",
    ]  # fmt: skip


def test_results() -> None:
    ends = [(e.outcome, e.exit_code, e.reason, e.duration_ms) for e in of(events_of(EXPORT), ToolResult)]
    assert ends == [
        ("failed", 1, "", 300),
        ("ok", None, "", 100),
        ("ok", None, "", 10),
        ("ok", None, "", 100),
        ("ok", None, "", 50),
        ("ok", 0, "", 50),
        ("rejected", None, "use make clean", 100),
        ("interrupted", None, "", 100),
    ]
    assert of(events_of(EXPORT), ToolResult)[4].paths == ("src/slug.py",)


def test_usage_is_counted_once_a_response() -> None:
    usage = of(events_of(EXPORT), Usage)
    assert [(e.response_id, e.input, e.output, e.cache_read, e.cache_write) for e in usage] == [
        ("msg_02", 100, 28, 50, 5),
        ("msg_03", 10, 7, 200, 0),
        ("msg_07", 400, 16, 0, 0),
    ]
    assert (usage[0].reasoning, usage[0].context) == (8, 155)


def test_models_plans_subagents_compactions_interruptions() -> None:
    events = events_of(EXPORT)
    assert [(e.previous, e.model) for e in of(events, ModelChange)] == [("model-a", "model-b")]
    assert of(events, PlanUpdate)[0].items == (
        PlanItem(text="fix", status="in_progress"), PlanItem(text="test", status="pending"),
    )  # fmt: skip
    (task,) = of(events, SubagentStart)
    assert (task.child_id, task.name, task.prompt) == ("ses_0fffffffffeBBBBBBBBBBBBBBB", "explore", "Find the callers.")
    whole, micro = of(events, Compaction)
    assert (whole.trigger, whole.summary, whole.micro) == ("auto", "Goal: slugs.", False)
    assert (micro.micro, micro.at) == (True, T + 60000)
    (stop,) = of(events, Interruption)
    assert (stop.during_tool, stop.reason) == (True, "")


def test_the_place_of_an_event_is_its_row() -> None:
    rows = [row for m in DOCUMENT["messages"] for row in (m["info"], *m["parts"])]
    for event in of(events_of(EXPORT), ToolCall):
        assert rows[event.line - 1]["callID"] == event.call_id
        assert event.offset == event.line
