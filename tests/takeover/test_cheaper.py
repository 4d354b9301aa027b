"""The cheaper road: when it is named, when it is not, and that an id never becomes more than an id."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.resume import cheaper_road
from passdown.model.session import SessionRef

ID = "aaaaaaaa-0000-4000-8000-000000000001"


def answer(session: Any, tokens: int, model: str = "claude-sonnet-4-5") -> None:
    """The agent answers with so many tokens in context."""
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens,
        "output_tokens": 5,
    }
    message = {"id": f"msg{session.count}", "type": "message", "role": "assistant", "model": model,
               "content": [{"type": "text", "text": "Done with the first half."}], "usage": usage}  # fmt: skip
    session.row("assistant", message=message, requestId=f"req{session.count}")


def begin(repository: Any, claude_session: Any, tokens: int = 40_000, **answered: Any) -> Any:
    """A session of an hour ago on a branch of its own."""
    repository.git("switch", "-q", "-c", "feat/limit")
    repository.write("src/limits.py", "LIMIT = 11\n")
    session = claude_session(repository.root)
    session.branch = "feat/limit"
    session.human("Refuse the eleventh call.")
    answer(session, tokens, **answered)
    os.utime(session.path, (time.time() - 3600, time.time() - 3600))
    return session


@pytest.mark.parametrize(
    ("env", "expected"),
    [({"CLAUDECODE": "1"}, True), ({}, True), ({"CODEX_SANDBOX": "1"}, False), ({"AGENT": "1"}, False)],
)
def test_the_same_agent_or_a_person(
    env: Any, expected: bool, passdown: Any, repository: Any, claude_session: Any
) -> None:
    begin(repository, claude_session)
    taken = json.loads(passdown("take", "--json", folder=repository.root, **env).stdout)
    command = f"claude --resume {ID}"
    assert (taken["resume"] or {}).get("command") == (command if expected else None)
    text = passdown("take", "--no-receipt", folder=repository.root, **env).stdout.decode()
    shown = (
        f"Cheaper, if that session has ended: {command}  (the newest session of this branch, 40k of 200k tokens in use)"
    )
    assert (shown in text.splitlines()) is expected


@pytest.mark.parametrize("answered", [{"tokens": 100_000}, {"tokens": 40_000, "model": "somebodys-own"}])
def test_no_room_or_nobody_knows(answered: Any, passdown: Any, repository: Any, claude_session: Any) -> None:
    begin(repository, claude_session, **answered)
    assert json.loads(passdown("take", "--json", folder=repository.root).stdout)["resume"] is None


def test_after_a_compaction_it_is_none(passdown: Any, repository: Any, claude_session: Any) -> None:
    session = begin(repository, claude_session)
    session.row("system", subtype="compact_boundary", content="Conversation compacted",
                compactMetadata={"trigger": "auto", "preTokens": 150_000})  # fmt: skip
    answer(session, 20_000)
    assert json.loads(passdown("take", "--json", folder=repository.root).stdout)["resume"] is None


def test_with_a_packet_too(passdown: Any, repository: Any, claude_session: Any) -> None:
    begin(repository, claude_session)
    passdown("wrap", "--interim", folder=repository.root)
    taken = json.loads(passdown("take", "--json", folder=repository.root).stdout)
    assert (taken["built_now"], taken["resume"]["agent"], taken["resume"]["context"]) == (False, "claude_code", 40_010)


@pytest.mark.parametrize("name", ["x; rm -rf ~", "--help", "$(id)", "a b c d e f", "../../etc/passwd", "abc", "x" * 90])
def test_an_id_that_is_none(name: str, repository: Any, claude_session: Any) -> None:
    session = begin(repository, claude_session)
    ref = SessionRef(agent="claude_code", path=str(session.path), session_id=name, modified_at=1)
    assert cheaper_road([ref], "human") is None


def test_a_file_that_is_gone_or_broken(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    ref = SessionRef(agent="claude_code", path=str(path), session_id=ID, modified_at=1)
    assert cheaper_road([ref], "human") is None
    path.write_bytes(b"\x00\xff{{{")
    assert cheaper_road([ref], "human") is None
    assert cheaper_road([], "human") is None
