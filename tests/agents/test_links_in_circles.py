"""Links between records and sessions that go in circles, lead nowhere or are there twice: nothing hangs, nothing is lost."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from claude_code_log import OWN, Log
from claude_code_log import events_of as claude_events
from codex_rows import event, meta, prompt
from codex_rows import said as answered
from log_formats import FORMATS, events_of, head, line, said
from opencode_documents import DOCUMENT, SESSION, closed_database
from row_databases import closed_database as database
from row_databases import rows_of

from passdown.agents.table import AGENTS, sessions_of
from passdown.model.session import AnyEvent, SessionRef, UserMessage
from passdown.sessions.discover import all_sessions

Edit = Callable[[list[dict[str, Any]]], None]


def to_the_last(rows: list[dict[str, Any]]) -> None:
    rows[0]["parentUuid"] = rows[-1]["uuid"]


def to_itself(rows: list[dict[str, Any]]) -> None:
    rows[2]["parentUuid"] = rows[2]["uuid"]


def all_the_same(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["uuid"] = row["parentUuid"] = "same"


def twice(rows: list[dict[str, Any]]) -> None:
    rows[1]["uuid"] = rows[3]["uuid"]


def nowhere(rows: list[dict[str, Any]]) -> None:
    rows[2]["parentUuid"] = "00000000-0000-4000-8000-00000000dead"


EDITS = pytest.mark.parametrize("edit", [to_the_last, to_itself, all_the_same, twice, nowhere])


@EDITS
def test_claude_codes_chain(log: Log, tmp_path: Path, edit: Edit) -> None:
    log.prompt("One.")
    log.say("1")
    log.prompt("Two.")
    log.say("2", "msg_2")
    edit(log.rows)
    path = tmp_path / f"{OWN}.jsonl"
    path.write_bytes(log.bytes())
    assert [(e.text, e.active) for e in claude_events(path) if isinstance(e, UserMessage)] == [
        ("One.", True),
        ("Two.", True),
    ]


@EDITS
def test_qwens_chain_with_a_rewind_in_it(tmp_path: Path, edit: Edit) -> None:
    rows = [FORMATS["qwen"].said(f"{number}", "2026-03-01T10:00:01Z", number) for number in range(1, 5)]
    edit(rows)
    rewind = {"uuid": "r", "parentUuid": rows[-1]["uuid"], "sessionId": "s-1", "type": "system", "subtype": "rewind",
              "timestamp": "2026-03-01T10:00:02Z", "cwd": "/w", "systemPayload": {}}  # fmt: skip
    path = tmp_path / "q.jsonl"
    path.write_bytes(head("qwen") + b"".join(json.dumps(row).encode() + b"\n" for row in (*rows, rewind)))
    assert said(events_of("qwen", path)) == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "links",
    [[("a", "a"), ("b", "a"), ("c", "b")], [("a", "c"), ("b", "a"), ("c", "b")], [("a", None), ("a", "a"), ("a", "a")],
     [("a", None), ("b", "lost"), ("c", "b")]],
    ids=["itself", "circle", "twice", "nowhere"],
)  # fmt: skip
def test_pis_tree(tmp_path: Path, links: list[tuple[str, str | None]]) -> None:
    rows = [
        {"type": "message", "id": own, "parentId": parent, "message": {"role": "user", "content": f"{number}"}}
        for number, (own, parent) in enumerate(links)
    ]
    path = tmp_path / "2026_s-1.jsonl"
    path.write_bytes(head("pi") + b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    events = events_of("pi", path)
    assert said(events) == ["0", "1", "2"]
    assert all(found.active for found in events)


def test_a_pi_session_that_came_out_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "2026_s-1.jsonl"
    header = FORMATS["pi"].head | {"parentSession": str(path)}
    path.write_bytes(json.dumps(header).encode() + b"\n" + line("pi") + b"\n")
    assert [(e.text, e.copied) for e in events_of("pi", path) if isinstance(e, UserMessage)] == [("hello", False)]


@pytest.mark.parametrize("parent", ["fork-0001", "fork-0002", "fork-gone"])
def test_codex_forks_that_name_each_other(tmp_path: Path, parent: str) -> None:
    def rollout(own: str, of: str, *rows: dict[str, Any]) -> Path:
        path = tmp_path / "sessions" / f"rollout-2026-03-01T10-00-00-{own}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in (meta(own, forked_from_id=of), *rows)))
        return path

    rollout("fork-0002", "fork-0001", event("task_started", turn_id="t1"), *prompt("Old"))
    path = rollout("fork-0001", parent, event("task_started", turn_id="t2"), *prompt("New"), answered("assistant", "x"))
    assert said(events_of("codex", path)) == ["New"]
    refs = all_sessions(homes={"codex": tmp_path}, agents=["codex"]).refs
    assert {ref.session_id for ref in refs} == {"fork-0001", "fork-0002"}


def test_opencode_sessions_that_are_each_others_children(tmp_path: Path) -> None:
    other = {**DOCUMENT, "info": DOCUMENT["info"] | {"id": "ses_other", "parentID": SESSION}, "messages": []}
    mine = {**DOCUMENT, "info": DOCUMENT["info"] | {"parentID": "ses_other"}}
    with closed_database(tmp_path / "opencode.db", mine, other):
        refs = all_sessions(homes={"opencode": tmp_path}, agents=["opencode"]).refs
    assert {ref.session_id: ref.parent_id for ref in refs} == {SESSION: "ses_other", "ses_other": SESSION}


@pytest.mark.parametrize(("agent", "place"), [("hermes", "state.db"), ("goose", "sessions/sessions.db")])
def test_sessions_of_a_database_that_are_their_own_parents(tmp_path: Path, agent: str, place: str) -> None:
    with database(agent, tmp_path / place) as path, closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE sessions SET parent_session_id = id")
        connection.commit()
    row = next(row for row in AGENTS if row.id == agent)
    names = {str(session["id"]) for session in rows_of(agent)["sessions"]}
    assert {ref.session_id for ref in sessions_of(row).find(tmp_path) if ref.inner} == names
    for name in names:
        ref = SessionRef(agent=agent, path=str(tmp_path / place), session_id=name, inner=name)
        events: list[AnyEvent] = list(sessions_of(row).read(ref))
        assert len(events) > 2


def test_every_agent_says_a_record_that_is_there_twice_no_more_than_twice(tmp_path: Path) -> None:
    once = {"gemini"}  # a message is written again when its calls have ended
    for agent in FORMATS:
        path = tmp_path / f"{agent}.jsonl"
        path.write_bytes(head(agent) + line(agent) + b"\n" + line(agent) + b"\n")
        assert said(events_of(agent, path)) == ["hello"] * (1 if agent in once else 2), agent
