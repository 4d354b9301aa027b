"""An agent whose logs have another form than any that is known: it is named, instead of having no sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from passdown.sessions.discover import all_sessions

PLACES = {
    "claude_code": "projects/-w/11111111-1111-4111-8111-111111111111.jsonl",
    "pi": "sessions/--w--/2026_a.jsonl", "gemini": "tmp/w/chats/session-2026-03-01T10-00-a.jsonl",
    "qwen": "projects/w/chats/a.jsonl", "copilot": "session-state/a/events.jsonl", "kimi": "sessions/w/a/wire.jsonl",
    "droid": "sessions/w/a.jsonl",
}  # fmt: skip
NEW = {"v": 9, "op": "turn", "who": "person", "body": "words of a session in a form that nobody knows yet"}


@pytest.mark.parametrize("agent", PLACES)
def test_it_is_named(tmp_path: Path, agent: str) -> None:
    path = tmp_path / PLACES[agent]
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(NEW | {"n": number}) + "\n" for number in range(9)))
    found = all_sessions(homes={agent: tmp_path}, agents=[agent])
    assert not found.refs
    [finding] = found.findings
    assert (finding.code, finding.severity) == ("session.unknown_logs", "warn")
    assert "newest logs (1) is in a form that is known" in finding.detail
    assert str(tmp_path) not in finding.detail


@pytest.mark.parametrize("agent", PLACES)
@pytest.mark.parametrize("data", [b"", b'{"type":"mode"}\n'])
def test_a_log_that_was_only_begun_is_nothing_to_name(tmp_path: Path, agent: str, data: bytes) -> None:
    path = tmp_path / PLACES[agent]
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    assert all_sessions(homes={agent: tmp_path}, agents=[agent]).findings == ()


def test_a_log_without_any_talk_is_known_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / PLACES["claude_code"]
    path.parent.mkdir(parents=True)
    rows = [
        {
            "type": "file-history-snapshot",
            "messageId": "m",
            "snapshot": {"trackedFileBackups": {}},
            "isSnapshotUpdate": False,
        }
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert all_sessions(homes={"claude_code": tmp_path}, agents=["claude_code"]).findings == ()
