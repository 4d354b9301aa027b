"""Claude Code's branches: what a rewind takes back, and what only looks like one."""

from __future__ import annotations

import json
import time
from pathlib import Path

from claude_code_log import OTHER, Log, events_of, of

from passdown.model.session import UserMessage
from passdown.sessions.summary import summarize


def test_parallel_calls_and_progress_fork_without_a_rewind(log: Log, tmp_path: Path) -> None:
    log.prompt("Go.")
    first = log.call("Read", "t1", {})
    second = log.call("Read", "t2", {})
    log.add("progress", parentUuid=first, data={"type": "hook_progress", "hookEvent": "PostToolUse"})
    log.result("t1", "a", parentUuid=first)
    log.result("t2", "b", parentUuid=second)
    log.say("Done.", "msg_2", parentUuid=first)
    log.prompt("More.")
    assert all(event.active for event in log.events(tmp_path))


def test_an_edited_prompt_leaves_the_old_branch(log: Log, tmp_path: Path) -> None:
    log.prompt("First.")
    tip = log.say("Done.")
    log.prompt("Wrong turn.")
    log.call("Bash", "t1", {"command": "rm x"}, "msg_2")
    log.result("t1", "")
    log.prompt("Right turn.", parentUuid=tip)
    log.say("Better.", "msg_3")
    events = log.events(tmp_path)
    off = [event for event in events if not event.active]
    assert {event.line for event in off} == {3, 4, 5}
    assert [event.text for event in of(events, UserMessage) if event.active] == ["First.", "Right turn."]
    assert summarize(events).rewound == len(off)


def test_going_back_to_the_old_branch_takes_back_the_new_one(log: Log, tmp_path: Path) -> None:
    tip = log.say("Hello.")
    log.prompt("One.")
    one = log.say("1", "msg_2")
    log.prompt("Two.", parentUuid=tip)
    log.say("2", "msg_3")
    log.prompt("On with one.", parentUuid=one)
    events = log.events(tmp_path)
    assert {event.line for event in events if not event.active} == {4, 5}


def test_a_rewind_to_the_very_start(log: Log, tmp_path: Path) -> None:
    log.prompt("First try.")
    log.say("Hm.")
    log.prompt("Second try.", parentUuid=None)
    log.say("Good.", "msg_2")
    assert {event.line for event in log.events(tmp_path) if not event.active} == {1, 2}


def test_a_far_rewind_is_found(log: Log, tmp_path: Path) -> None:
    tip = log.say("Hello.")
    log.prompt("Old.")
    for number in range(40):
        log.call("Read", f"t{number}", {}, f"msg_{number + 2}")
        log.result(f"t{number}", "x" * 80_000)
    log.prompt("New.", parentUuid=tip)
    events = log.events(tmp_path)
    assert [event.text for event in of(events, UserMessage) if event.active] == ["New."]


def test_many_lost_or_far_parents_take_no_longer(tmp_path: Path) -> None:
    rows = ['{"type":"user","uuid":"root","parentUuid":null,"message":{"content":"Hi."}}']
    for number in range(20_000):
        parent = "root" if number % 2 else f"lost{number}"
        rows.append(f'{{"type":"user","uuid":"u{number}","parentUuid":"{parent}","message":{{"content":"x"}}}}')
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(rows))
    started = time.process_time()
    assert len(of(events_of(path), UserMessage)) == 20_001
    assert time.process_time() - started < 10


def test_a_lost_parent_is_no_rewind(log: Log, tmp_path: Path) -> None:
    log.prompt("First.")
    log.say("Done.")
    log.prompt("Second.", parentUuid="99999999-0000-4000-8000-000000000000")
    log.add("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid="9999", compactMetadata={})
    log.prompt("Summary.", isCompactSummary=True)
    log.prompt("Third.")
    assert all(event.active for event in log.events(tmp_path))


def test_a_command_off_the_path_is_not_taken_back(log: Log, tmp_path: Path) -> None:
    tip = log.say("Done.")
    log.prompt("<command-name>/exit</command-name>")
    log.prompt("Back again.", parentUuid=tip)
    assert all(event.active for event in log.events(tmp_path))


def test_rows_without_a_chain_are_all_active(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"type": "user", "uuid": f"u{n}", "message": {"content": f"Message {n}."}} for n in range(3)]
    rows += [{"parentUuid": None, **row} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert all(event.active for event in events_of(path))


def test_a_fork_begins_with_another_sessions_rows(log: Log, tmp_path: Path) -> None:
    log.prompt("Theirs.", sessionId=OTHER)
    log.say("Theirs too.", sessionId=OTHER)
    log.prompt("Ours.")
    events = log.events(tmp_path)
    assert (events[0].parent_id, events[0].parent_kind) == (OTHER, "fork")  # type: ignore[union-attr]
    assert [(event.text, event.copied) for event in of(events, UserMessage)] == [("Theirs.", True), ("Ours.", False)]
    assert summarize(events).human_messages == 1
    assert summarize(events).responses == 0
