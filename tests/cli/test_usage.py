"""`passdown usage` over the sessions of a repository, in a period, by groups, and along a chain of handoffs."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import Any

import pytest

A, B, C = (f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in "123")


@pytest.fixture
def made(claude_session: Any, repository: Any) -> Any:
    """A function that makes a session whose answers have the prompts the test says."""

    def make(session_id: str, *prompts: int, model: str = "claude-sonnet-4-5", at: int = 1_760_000_600) -> Any:
        session = claude_session(repository.root, session_id)
        session.clock = at
        session.human("Go on.")
        for number, prompt in enumerate(prompts):
            usage = {"input_tokens": 100, "cache_read_input_tokens": prompt - 100, "output_tokens": 7}
            message = {"id": f"{session_id[-2:]}msg{number}", "type": "message", "role": "assistant", "model": model,
                       "content": [{"type": "text", "text": "Done."}], "usage": usage}  # fmt: skip
            session.row("assistant", message=message, requestId=f"req{number}")
        os.utime(session.path, (session.clock, session.clock))
        return session

    return make


@pytest.fixture
def ask(passdown: Any, repository: Any) -> Any:
    """A function that asks for JSON and returns it."""

    def run(*words: str) -> Any:
        done = passdown("usage", "--json", *words, folder=repository.root)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return run


def test_the_repositorys_sessions_together(made: Any, ask: Any, passdown: Any, repository: Any) -> None:
    made(A, 1_000, 2_000)
    made(B, 5_000, model="claude-opus-4-6")
    report = ask()
    assert (report["scope"], report["sessions"], report["turns"]) == ("repository", 2, 3)
    assert report["totals"] == {
        "calls": 3, "input": 300, "cache_read": 7_700, "cache_write": 0, "output": 21, "reasoning": None,
        "all_input": 8_000, "hit_rate": 0.9625,
    }  # fmt: skip
    rows = ask("--by", "model")["rows"]
    assert [(row["key"], row["calls"], row["all_input"]) for row in rows] == [
        ("claude-opus-4-6", 1, 5_000), ("claude-sonnet-4-5", 2, 3_000)
    ]  # fmt: skip
    shown = passdown("usage", "--by", "agent", folder=repository.root).stdout.decode()
    assert shown.split("\t")[:2] == ["claude_code", "3"]


def test_a_forks_copied_answers_count_once(made: Any, ask: Any) -> None:
    first = made(A, 1_000, 2_000)
    fork = made(B, 4_000)
    copied = first.path.read_text().replace(A, B)
    fork.path.write_text(copied + fork.path.read_text())
    report = ask()
    assert (report["turns"], report["totals"]["all_input"], report["copied_calls"]) == (3, 7_000, 2)


def test_a_period_counts_calls_and_not_sessions(made: Any, ask: Any, passdown: Any, repository: Any) -> None:
    made(A, 1_000, at=1_759_960_000)  # 8 October 2025
    made(B, 3_000, at=1_760_050_000)  # 9 October
    rows = ask("--by", "day")["rows"]
    assert [(row["key"], row["all_input"]) for row in rows] == [("2025-10-08", 1_000), ("2025-10-09", 3_000)]
    assert ask("--since", "2025-10-09T08:00")["totals"]["all_input"] == 3_000
    assert ask("--until", "2025-10-09T08:00")["totals"]["all_input"] == 1_000
    done = passdown("usage", "--since", "yesterdayish", folder=repository.root)
    assert (done.returncode, b"is no time" in done.stderr) == (2, True)


def test_csv_is_read_back_as_it_is_and_holds_no_formula(made: Any, passdown: Any, repository: Any) -> None:
    made(A, 1_000, model="=cmd|' /C calc'!A0")
    made(B, 1_000, 2_000, model='with "quotes", and comma')
    text = passdown("usage", "--csv", "--by", "model", folder=repository.root).stdout.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["model"] for row in rows] == ['with "quotes", and comma', "'=cmd|' /C calc'!A0"]
    assert (rows[0]["calls"], rows[0]["all_input"], rows[0]["reasoning"]) == ("2", "3000", "")
    by_session = passdown("usage", "--csv", folder=repository.root).stdout.decode().splitlines()
    assert by_session[0].startswith("session,calls,") and len(by_session) == 3


def test_the_chain_of_handoffs_has_its_sessions_alone(made: Any, ask: Any, passdown: Any, repository: Any) -> None:
    session = made(A, 1_000)
    session.runs("pytest -q", "1 failed", 1)
    done = passdown("wrap", "--interim", "--session", A, folder=repository.root)
    assert done.returncode == 0, done.stderr.decode()
    made(C, 9_000)
    report = ask("--chain")
    assert (report["scope"], report["sessions"], report["totals"]["all_input"]) == ("chain", 1, 1_110)
    done = passdown("usage", "--chain", "--all", folder=repository.root)
    assert done.returncode == 2


def test_what_cannot_be_counted_is_told_of(
    made: Any, ask: Any, passdown: Any, repository: Any, isolated_home: Any
) -> None:
    assert passdown("usage", folder=repository.root).returncode == 4
    made(A, 1_000)
    folder = isolated_home / ".gemini/tmp/x/chats"
    folder.mkdir(parents=True)
    (isolated_home / ".gemini/tmp/x/.project_root").write_text(str(repository.root))
    row = {"id": "g1", "timestamp": "2026-10-01T10:00:00.000Z", "type": "gemini", "content": "Yes.", "model": "gemini-2.5-pro",
           "tokens": {"input": 10, "cached": 50, "output": 1, "thoughts": 0, "tool": 0, "total": 11}}  # fmt: skip
    head = {
        "sessionId": "ggggggg1-0000",
        "projectHash": "x",
        "startTime": "2026-10-01T10:00:00.000Z",
        "lastUpdated": "2026-10-01T10:00:00.000Z",
    }
    (folder / "session-2026-10-01T10-00-ggggggg1.jsonl").write_text(json.dumps(head) + "\n" + json.dumps(row) + "\n")
    report = ask()
    assert report["totals"]["all_input"] == 1_000
    assert [finding["code"] for finding in report["findings"]] == ["usage.contradicts"]
    assert "50 cached tokens in 10 of input" in report["findings"][0]["detail"]


def test_nothing_of_a_log_reaches_the_terminal_as_it_is(made: Any, passdown: Any, repository: Any) -> None:
    session = made(A, 1_000)
    secret = "ghp_" + "a1B2" * 9
    session.calls("Ba\x1b[31msh", {"command": f"curl -H 'Authorization: token {secret}' x\x07"}, "y" * 100)
    made_big = {"id": "big", "type": "message", "role": "assistant", "model": "m\x1b]0;x",
                "content": [{"type": "text", "text": "x"}], "usage": {"input_tokens": 90_000, "output_tokens": 1}}  # fmt: skip
    session.row("assistant", message=made_big, requestId="big")
    for words in ((), ("--json",), ("--by", "model"), ("--by", "tool", "--csv")):
        out = passdown("usage", "--session", str(session.path), *words, folder=repository.root).stdout
        assert b"\x1b" not in out and b"\x07" not in out and secret.encode() not in out
    assert b"jump  110" in passdown("usage", "--session", str(session.path), folder=repository.root).stdout


def test_input_that_no_log_tells_is_not_zero(ask: Any, passdown: Any, repository: Any, isolated_home: Any) -> None:
    folder = isolated_home / ".copilot/session-state/cccccccc-0000-4000-8000-000000000001"
    folder.mkdir(parents=True)
    stamp = "2026-10-01T10:00:00.000Z"
    rows = [
        {"type": "session.start", "id": "1", "timestamp": stamp, "data": {
            "sessionId": folder.name, "copilotVersion": "1.0.0", "startTime": stamp, "context": {"cwd": str(repository.root)}}},
        {"type": "user.message", "id": "2", "timestamp": stamp, "data": {"content": "Go on."}},
        {"type": "assistant.message", "id": "3", "timestamp": stamp, "data": {"messageId": "m1", "content": "Yes.", "outputTokens": 12}},
    ]  # fmt: skip
    (folder / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = ask("--session", folder.name)
    assert (report["totals"]["output"], report["totals"]["all_input"], report["totals"]["input"]) == (12, None, None)
    assert (report["unmeasured_calls"], report["growth"]["first"]) == (1, None)
    shown = passdown("usage", "--session", folder.name, folder=repository.root).stdout.decode()
    assert "input   not in the log" in shown
    assert "hit " not in shown and "context" not in shown


def test_a_compaction_is_told_with_what_it_left(made: Any, ask: Any, passdown: Any, repository: Any) -> None:
    session = made(A, 1_000, 160_000)
    session.row("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 161_000})
    usage = {"input_tokens": 30_000, "output_tokens": 7}
    message = {"id": "after", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
               "content": [{"type": "text", "text": "On."}], "usage": usage}  # fmt: skip
    session.row("assistant", message=message, requestId="after")
    (one,) = ask("--session", A)["shortened"]
    assert (one["tokens_before"], one["next_prompt"], one["after_call"]) == (161_000, 30_000, 2)
    shown = passdown("usage", "--session", A, folder=repository.root).stdout.decode()
    assert "compacted 1 time: 161.0k → 30.0k" in shown


def test_the_cost_is_at_list_price_and_says_what_it_leaves_out(
    made: Any, ask: Any, passdown: Any, repository: Any
) -> None:
    pytest.importorskip("genai_prices")
    made(A, 1_000, 2_000)
    made(B, 5_000, model="nobodys-model")
    cost = ask("--cost")["cost"]
    assert (cost["calls"], cost["calls_without_price"]) == (2, {"nobodys-model": 1})
    assert float(cost["usd"]) > 0
    assert cost["prices"].startswith("genai-prices ")
    shown = passdown("usage", "--cost", folder=repository.root).stdout.decode()
    assert "at list price for 2 calls" in shown
    assert "no price is known for nobodys-model: 1 calls" in shown
    assert "cost" not in ask()
