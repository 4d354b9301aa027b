"""The whole: no sequence of events breaks it, and no length makes it grow."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import Evidence, RepositoryFacts
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    Outcome,
    PlanItem,
    PlanUpdate,
    SessionEnd,
    SessionRef,
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
from passdown.model.workbench import FeedbackRow, Workbench
from passdown.sessions.read import read_ref, refer_to

REPOSITORY = RepositoryFacts(root="/srv/project", head_at=1_760_000_000_000)
REF = SessionRef(agent="pi", path="/nowhere", session_id="s1", cwd="/srv/project")


def many(count: int) -> Iterator[AnyEvent]:
    """A session without end: commands that fail and pass with long outputs, edits, talk, unanswered calls."""
    yield SessionStart(session_id="s1", agent="pi", cwd="/srv/project")
    for number in range(count // 20):
        at = 1_760_000_000_000 + number * 1000
        yield UserMessage(at=at, text=f"wish {number} " + "w" * 2000)
        yield AssistantMessage(at=at, text=f"I will do {number}. " + "s" * 2000, model=f"m{number}")
        yield ToolCall(at=at, call_id=f"r{number}", tool="bash", action="run", command=f"make t{number} # {'c' * 500}")
        if number % 3:
            text = f"error: number {number}\n" + "x" * 8_000
            outcome: Outcome = "failed" if number % 2 else "ok"
            yield ToolResult(at=at, call_id=f"r{number}", outcome=outcome, exit_code=number % 2, text=text)
        yield ToolCall(at=at, call_id=f"e{number}", tool="edit", action="edit", paths=(f"src/f{number}.py",))
        yield Interruption(at=at, during_tool=True)
        yield Compaction(at=at, summary="x" * 9000)
        yield Unknown(record="new")
        for _ in range(12):
            yield Usage(at=at, model=f"m{number}", input=1)
    yield SessionEnd(records=count, bytes=count * 1000)


def test_memory_does_not_grow_with_the_session() -> None:
    collect_evidence(REPOSITORY, sessions=[(REF, many(1000))])
    tracemalloc.start()
    try:
        evidence = collect_evidence(REPOSITORY, sessions=[(REF, many(100_000))])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(f"peak {peak / 1e6:.1f} MB")
    assert peak < 20_000_000
    assert sum(len(chain.runs) for chain in evidence.chains) + evidence.omitted["runs"] == 5_000
    assert evidence.omitted["directives"] == 5_000 - 40


text = st.text(max_size=40)
path = st.sampled_from(
    ["", "a.py", "/srv/project/src/a.py", "../x", "C:\\w\\a.py", "/etc/x", "a\x00b", "~", "//?/C:/x"]
)
call_id = st.sampled_from(["", "1", "2", "3"])
at = st.none() | st.integers(-(2**63), 2**63 - 1)
flags = {"at": at, "agent_id": st.sampled_from(["", "sub"]), "active": st.booleans(), "copied": st.booleans()}
command = (
    st.sampled_from(
        [
            "pytest",
            "cd x && pytest | tail",
            "grep a b",
            "passdown wrap",
            "",
            "echo '",
            "a <<E\nb\nE",
            "npm run dev &",
            "((",
            "cd ..; ls",
        ]
    )
    | text
)
outcome = st.sampled_from(["ok", "failed", "interrupted", "rejected", "timeout", "running", "unknown"])
output = text | st.sampled_from(
    ["1 failed in 0.1s", "session ID 1", "no tests ran in 0s", "Tests: 99999999999999 failed, 1 total", "\ud800"]
)
events: st.SearchStrategy[AnyEvent] = st.one_of(
    st.builds(SessionStart, session_id=text, agent=text, cwd=path, **flags),
    st.builds(UserMessage, text=text, origin=st.sampled_from(["human", "queued", "hook"]), **flags),
    st.builds(AssistantMessage, text=text, reasoning=st.booleans(), **flags),
    st.builds(
        ToolCall, call_id=call_id, tool=text, action=st.sampled_from(["run", "edit", "write", "delete", "read"]), command=command,
        cwd=path, paths=st.tuples(path, path), arguments=st.dictionaries(st.sampled_from(["session_id", "id"]), text | st.integers()),
        **flags,
    ),
    st.builds(ToolResult, call_id=call_id, outcome=outcome, exit_code=st.none() | st.integers(-9, 255), text=output, reason=text,
              paths=st.tuples(path), **flags),
    st.builds(Compaction, summary=text, micro=st.booleans(), **flags),
    st.builds(PlanUpdate, items=st.lists(st.builds(PlanItem, text=text), max_size=3).map(tuple), text=text, **flags),
    st.builds(Interruption, during_tool=st.booleans(), reason=text, **flags),
    st.builds(WorkspaceChange, cwd=path, **flags),
    st.builds(ModelChange, model=text, **flags),
    st.builds(Usage, model=text, **flags),
    st.builds(SubagentStart, **flags),
    st.builds(Title, title=text, **flags),
    st.builds(Unknown, record=text, **flags),
    st.builds(SessionEnd, records=st.integers(0, 99), **flags),
)  # fmt: skip
feedback_rows = st.builds(
    FeedbackRow, line=st.integers(1, 99), command=command, command_id=call_id, parent_command_id=call_id,
    exit_code=st.none() | st.integers(-9, 255), stdout_tail=output, stderr_tail=output, started_at=at,
    duration_ms=st.none() | st.integers(0, 10**6), agent_note=text, error=text, cwd=path, path=st.just("feedback_record.jsonl"),
)  # fmt: skip


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(events, max_size=25), st.lists(events, max_size=5), st.lists(feedback_rows, max_size=6), at)
def test_any_sequence_of_events_is_evidence(
    first: list[AnyEvent], second: list[AnyEvent], rows: list[FeedbackRow], since: int | None
) -> None:
    def collect() -> Evidence:
        other = SessionRef(agent="codex", path="/x", session_id="s2")
        sessions = [(REF, iter(first)), (other, iter(second))]
        return collect_evidence(REPOSITORY, Workbench(feedback=tuple(rows)), sessions, since=since)

    evidence = collect()
    assert evidence == collect()
    for chain in evidence.chains:
        assert chain.total >= len(chain.runs) >= 1
        assert chain.failures <= chain.total
    assert all(count > 0 for count in evidence.omitted.values())
    for touch in evidence.touches:
        assert not touch.path.startswith(("/", "..", "~"))
    assert all(len(directive.text) <= 600 for directive in evidence.directives)


def test_as_of_is_the_newest_evidence_and_never_a_broken_clock(log) -> None:
    log.human("go")
    assert log.evidence().as_of == log.clock
    log.add(Usage)
    log.add(UserMessage, text="later", at=9_999_999_999_999)
    assert log.evidence().as_of == log.clock - 2000
    assert log.evidence(repository=REPOSITORY, since=log.clock).as_of == REPOSITORY.head_at


def test_session_use_counts_what_was_used(log) -> None:
    log.human("go")
    log.say("ok", model="m1")
    log.add(ModelChange, model="m2")
    log.add(Compaction, summary="s")
    log.add(Unknown, record="x")
    log.add(Title, title="Work")
    log.add(SessionEnd, records=10)
    evidence = log.evidence()
    (use,) = evidence.sessions
    assert (use.unknown, use.records, use.compactions, use.models, use.title, use.primary) == (
        1,
        10,
        1,
        2,
        "Work",
        True,
    )
    assert [finding.code for finding in evidence.findings] == ["session.unread_records"]


def test_every_corpus_session_gives_evidence(corpus: Path) -> None:
    encoder = msgspec.json.Encoder()
    count = 0
    for file in sorted(
        [
            *corpus.glob("claude-code/*.jsonl"),
            *corpus.glob("codex/*.jsonl"),
            *corpus.glob("pi/*.jsonl"),
            *corpus.glob("opencode/*.json"),
        ]
    ):
        ref = refer_to(file)
        evidence = collect_evidence(REPOSITORY, sessions=[(ref, read_ref(ref))])
        assert len(encoder.encode(evidence)) < 3_000_000
        count += 1
    assert count > 90
