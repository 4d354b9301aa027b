"""Discovery with the index finds what it finds without, of every agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passdown import __version__
from passdown.handoff.session_list import moment
from passdown.sessions.discover import all_sessions
from passdown.sessions.index.changes import find_changes
from passdown.sessions.index.fill import refresh
from passdown.sessions.index.place import index_path
from passdown.sessions.index.schema import reading


def test_discovery_with_the_index_finds_what_it_finds_without(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 30):
        store.save(number, "mend the bucket", branch=f"b{number}", cwd=f"/gone/{number}")
    without = all_sessions().refs
    refresh()
    monkeypatch.setattr("passdown.sessions.index.known._FEW", 5)
    assert all_sessions().refs == without
    store.save(3, "changed", cwd="/elsewhere")
    store.path(4).unlink()
    store.save(31, "new")
    again = {ref.session_id[:8]: ref.cwd for ref in all_sessions().refs}
    assert (len(again), again["00000003"], again["0000001f"]) == (29, "/elsewhere", "/gone/here")
    index_path().write_bytes(b"broken" * 1000)
    assert len(all_sessions().refs) == 29


def test_every_agents_patterns_name_what_its_reader_finds(isolated_home: Path, store: Any) -> None:
    from passdown.sessions.index.stores import list_files, rows

    _every_agent(isolated_home, store)
    seen = set()
    for agent, home, logs in rows():
        if logs is None or not logs.whole:
            continue
        from passdown.agents.table import sessions_of

        listing = list_files(home, logs)
        files = [Path(path, stamp.name) for path, folder in listing.items() for stamp in folder.files]
        refs = {ref for path in files if (ref := sessions_of(agent).refer(path)) is not None}
        assert refs == set(sessions_of(agent).find(home)), agent.id
        assert refs, agent.id
        seen.add(agent.id)
    assert {"claude_code", "codex", "pi"} <= seen


def _every_agent(home: Path, store: Any) -> None:
    """Lay one or two fixtures of each agent where it keeps its sessions, with what must not be taken beside them."""
    store.save(1, "hello")
    store.path(1).with_name("agent-x.jsonl").write_text(store.rows(1, "from a subagent"))
    codex = home / ".codex/sessions/2025/10/09"
    codex.mkdir(parents=True)
    (home / ".codex/archived_sessions").mkdir()
    meta = {"timestamp": "2025-10-09T08:53:20.000Z", "type": "session_meta", "payload": {"id": "x", "cwd": "/x", "timestamp": "2025-10-09T08:53:20.000Z"}}  # fmt: skip
    names = [f"rollout-2025-10-09T08-53-2{n}-0000000{n}-0000-4000-8000-000000000000.jsonl" for n in range(3)]
    for name in names[:2]:
        (codex / name).write_text(json.dumps(meta) + "\n")
    (home / ".codex/archived_sessions" / names[1]).write_text(json.dumps(meta) + "\n")
    (home / ".codex/archived_sessions" / names[2]).write_text(json.dumps(meta) + "\n")
    (codex / (names[0] + ".zst")).write_bytes(b"packed")
    pi = home / ".pi/agent/sessions/--x--"
    pi.mkdir(parents=True)
    row = {"type": "session", "version": 3, "id": "abcd", "timestamp": "2025-10-09T08:53:20.000Z", "cwd": "/x"}
    (pi / "a_b.jsonl").write_text(json.dumps(row) + "\n")
    (pi.parent / "flat.jsonl").write_text(json.dumps(row) + "\n")
    qwen = home / ".qwen/projects/x/chats"
    qwen.mkdir(parents=True)
    said = {"uuid": "a", "parentUuid": None, "sessionId": "q1", "timestamp": "2025-10-09T08:53:20.000Z", "type": "user",
            "cwd": "/x", "version": "0.14.0", "message": {"role": "user", "parts": [{"text": "hi"}]}}  # fmt: skip
    (qwen / "q1.jsonl").write_text(json.dumps(said) + "\n")
    gemini = home / ".gemini/tmp/x/chats"
    gemini.mkdir(parents=True)
    head = {"sessionId": "g1", "projectHash": "x", "startTime": "2025-10-09T08:53:20.000Z", "lastUpdated": "2025-10-09T08:53:20.000Z"}  # fmt: skip
    (gemini / "session-2025-10-09T08-53-g1.jsonl").write_text(json.dumps(head | {"kind": "main"}) + "\n")
    (gemini / "session-2025-10-09T08-53-g1.json").write_text(json.dumps(head | {"messages": []}))
    (gemini / "session-2025-10-09T08-54-g2.json").write_text(json.dumps(head | {"messages": []}))
    copilot = home / ".copilot/session-state"
    (copilot / "c1").mkdir(parents=True)
    start = {"type": "session.start", "id": "1", "timestamp": "2025-10-09T08:53:20.000Z", "parentId": None,
             "data": {"sessionId": "c1", "startTime": "2025-10-09T08:53:20.000Z", "copilotVersion": "1.0.0"}}  # fmt: skip
    (copilot / "c1/events.jsonl").write_text(json.dumps(start) + "\n")
    (copilot / "c2.jsonl").write_text(json.dumps(start) + "\n")


def test_times_that_people_write() -> None:
    assert moment("2d", now=1_000_000.0) == (1_000_000 - 2 * 86400) * 1000
    assert moment("90 m", now=10_000.0) == (10_000 - 5400) * 1000
    assert moment("2025-10-09T08:53:20+00:00") == 1_760_000_000_000
    with pytest.raises(Exception, match="no time"):
        moment("yesterday-ish")


def test_what_it_was_made_with_is_noted(store: Any) -> None:
    store.save(1, "x")
    store.all()
    with reading(index_path()) as database:
        assert database is not None
        assert database.execute("SELECT value FROM facts WHERE name = 'passdown'").fetchone() == (__version__,)
        assert not any(find_changes(database))
