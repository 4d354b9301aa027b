"""A log whose beginning is damaged: it is found all the same, and what is whole of it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from log_formats import events_of, said, sessions

from passdown.model.session import SessionStart

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
LOGS = {
    "claude_code": "claude_code/home/projects/-home-dev-slug/11111111-1111-4111-8111-111111111111.jsonl",
    "codex": "codex/real-0.171-background-and-resume.jsonl", "pi": "pi/tree.jsonl", "copilot": "",
    "gemini": "gemini/store/tmp/slug/chats/session-2026-03-01T11-00-bbbb2222.jsonl", "qwen": "", "kimi": "", "droid": "",
    "cursor": "", "goose": "goose/sessions/20250801_101112.jsonl", "hermes": "hermes/sessions/20260301_120000_ab12cd.jsonl",
}  # fmt: skip
LONG = b'"padding":"' + b"x" * (70 << 10) + b'"'
DAMAGE: dict[str, Callable[[bytes, bytes], bytes]] = {
    "torn": lambda first, rest: first[: len(first) // 2] + b"\n" + rest,
    "empty": lambda first, rest: b"\n" + rest,
    "glued": lambda first, rest: first + rest,
    "surrogate": lambda first, rest: first[:-1] + b',"padding":"\\ud83d"}\n' + rest,
    "control": lambda first, rest: first[:-1] + b',"padding":"\x1b[0m"}\n' + rest,
    "long": lambda first, rest: first[:-1] + b"," + LONG + b"}\n" + rest,
    "blank": lambda first, rest: b"\r\n\n" + first + b"\n" + rest,
    "nul": lambda first, rest: b"\x00\x00" + first + b"\n" + rest,
    "mark": lambda first, rest: b"\xef\xbb\xbf" + first + b"\n" + rest,
}


def log_of(agent: str) -> Path:
    """Return a log of the agent's among the fixtures."""
    if LOGS[agent]:
        return FIXTURES / LOGS[agent]
    return next(path for path in sorted((FIXTURES / agent).rglob("*.jsonl")) if sessions(agent).refer(path))


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("agent", LOGS)
def test_it_is_found_and_read(tmp_path: Path, agent: str, damage: str) -> None:
    source = log_of(agent)
    path = tmp_path / "session" / source.name
    path.parent.mkdir()
    first, _, rest = source.read_bytes().partition(b"\n")
    path.write_bytes(DAMAGE[damage](first, rest))
    whole, found = sessions(agent).refer(source), sessions(agent).refer(path)
    assert whole is not None
    assert found is not None, "nobody would know that it is there"
    events, plain = (
        [event for event in events_of(agent, file) if agent != "claude_code" or not event.agent_id]  # it lies beside
        for file in (path, source)
    )
    spoken = said(plain)
    assert spoken
    if damage in ("torn", "empty"):  # the first line is lost, with what was said in it
        left = said(events)
        assert left == spoken[-len(left) :]
        assert len(left) >= len(spoken) / 2
    else:
        assert said(events) == spoken
        assert isinstance(events[0], SessionStart)
        assert damage == "glued" or found.started_at == whole.started_at
