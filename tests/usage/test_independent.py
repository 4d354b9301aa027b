"""The sums against a count that shares no code with the readers: the log's own JSON, each answer once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passdown.errors import PassdownError
from passdown.sessions.read import read_session
from passdown.usage.calls import read_account
from passdown.usage.totals import check_convention, owned, sum_up

Sums = tuple[int, int, int, int]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def claude(path: Path) -> Sums:
    """The main agent's answers by message and request, the row with most output of each."""
    best: dict[tuple[str, str], dict[str, int]] = {}
    for row in rows(path):
        message = row.get("message")
        if row.get("type") != "assistant" or row.get("isSidechain") or not isinstance(message, dict):
            continue
        usage = {key: value for key, value in (message.get("usage") or {}).items() if isinstance(value, int)}
        key = (str(message.get("id")), str(row.get("requestId")))
        if usage and usage.get("output_tokens", 0) >= best.get(key, {}).get("output_tokens", -1):
            best[key] = usage
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    return tuple(sum(usage.get(name, 0) for usage in best.values()) for name in names)  # type: ignore[return-value]


def codex(path: Path) -> Sums:
    """The last running total of a log whose totals only grow; of another one nothing."""
    total: dict[str, int] = {}
    for row in rows(path):
        info = (row.get("payload") or {}).get("info") if row.get("type") == "event_msg" else None
        found = info.get("total_token_usage") if isinstance(info, dict) else None
        if found:
            if any(found[name] < total.get(name, 0) for name in ("input_tokens", "output_tokens")):
                return 0, 0, 0, 0
            total = found
    cached = total.get("cached_input_tokens", 0)
    return total.get("input_tokens", 0) - cached, cached, 0, total.get("output_tokens", 0)


def ours(path: Path, *, main_only: bool) -> Sums:
    account = read_account(read_session(path))
    check_convention(account)
    sums = sum_up(one.call for one in owned(account) if not (main_only and one.call.agent_id))
    return sums.input, sums.cache_read, sums.cache_write, sums.output


MADE = {"fixture-claude-small.jsonl"}
"""Its one answer stands under another session's id: it is a copy, and not counted."""


def test_claude_code(corpus: Path) -> None:
    compared = 0
    for path in sorted((corpus / "claude-code").glob("*.jsonl")):
        expected = claude(path)
        if any(expected) and path.name not in MADE:
            assert ours(path, main_only=True) == expected, path.name
            compared += 1
    assert compared >= 30


def test_codex(corpus: Path) -> None:
    compared = 0
    for path in sorted((corpus / "codex").glob("*.jsonl")):
        expected = codex(path)
        if any(expected):
            assert ours(path, main_only=False) == expected, path.name
            compared += 1
    assert compared >= 5


@pytest.mark.parametrize("kind", ["gemini", "pi", "opencode", "qwen", "copilot-cli"])
def test_no_recorded_session_contradicts_itself(kind: str, corpus: Path) -> None:
    measured = 0
    for path in sorted((corpus / kind).glob("*")):
        try:
            account = read_account(read_session(path))
        except (PassdownError, IsADirectoryError):
            continue
        check_convention(account)
        measured += bool(account.calls)
    assert measured >= 1
