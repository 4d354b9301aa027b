"""Usage out of the index against the same question asked of the logs themselves: the same numbers, to the token."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from passdown.agents.table import TABLE
from passdown.handoff.costs.question import Question, read_usage
from passdown.handoff.costs.reading import Usage
from passdown.sessions.index.fill import refresh
from passdown.sessions.index.place import index_path
from passdown.usage.totals import By

FIXTURES = Path(__file__).parents[1] / "fixtures"
WAYS: tuple[By, ...] = ("agent", "model", "day", "subagent", "session")
FOREIGN = "0199c0de-7e57-7000-8000-00000000beef"

PLACES = {
    "claude-code": ".claude/projects/p{n}/{name}", "codex": ".codex/sessions/2026/11/{n:02}/rollout-{name}",
    "pi": ".pi/agent/sessions/p{n}/{name}", "gemini": ".gemini/tmp/{n}/chats/session-{name}",
    "qwen": ".qwen/projects/p{n}/chats/{name}", "copilot-cli": ".copilot/session-state/{n}/events.jsonl",
}  # fmt: skip
"""Where an agent's log goes in a home folder; each in a folder of its own, so that none hides another."""


def both(question: Question) -> tuple[Usage, Usage]:
    """Return the answer of the index, and that of the logs; both find sessions and differ in nothing but their notes."""
    indexed = read_usage(Path.cwd(), question)
    read = read_usage(Path.cwd(), structs.replace(question, logs=True))
    assert indexed.notes == ()
    return indexed, read


def same(**question: Any) -> Usage:
    indexed, read = both(Question(everywhere=True, **question))
    assert indexed == read
    return indexed


def claude_rows(session: str, numbers: range, *, model: str = "claude-sonnet-4-5", command: str = "ls") -> str:
    """Answers with the responses so numbered, one an hour, each with one command."""
    rows = []
    for number in numbers:
        base = {"sessionId": session, "cwd": "/gone/here", "gitBranch": "main", "version": "2.1.0", "isSidechain": False,
                "timestamp": f"2026-10-{1 + number // 24:02}T{number % 24:02}:00:00.000Z"}  # fmt: skip
        usage = {"input_tokens": 100 + number, "cache_read_input_tokens": 120_000, "cache_creation_input_tokens": number,
                 "output_tokens": 7}  # fmt: skip
        use = {"type": "tool_use", "id": f"{session}{number}", "name": "Bash", "input": {"command": command}}
        said = {"id": f"m{number}", "type": "message", "role": "assistant", "model": model, "content": [use],
                "usage": usage}  # fmt: skip
        block = {"type": "tool_result", "tool_use_id": use["id"], "content": "x"}
        rows.append(base | {"type": "assistant", "uuid": f"{session}a{number}", "message": said, "requestId": "r"})
        rows.append(base | {"type": "user", "uuid": f"{session}u{number}", "message": {"role": "user", "content": [block]},
                            "toolUseResult": {"stdout": "x", "stderr": "", "interrupted": False}})  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


def claude_log(home: Path, session: str, text: str) -> Path:
    path = home / ".claude/projects/p" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def name(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def test_the_fixtures_of_every_agent(isolated_home: Path) -> None:
    for agent in TABLE:
        folder = FIXTURES / agent.id
        for store in (folder / "store", folder / "tree", folder / "home"):
            if store.is_dir():
                place = isolated_home if store.name == "home" else isolated_home / agent.home
                shutil.copytree(store, place, dirs_exist_ok=True)
    for way in WAYS:
        found = same(by=way)
    assert found.sessions >= 8 and found.totals.calls >= 20


def test_copies_count_once_where_they_were_first(isolated_home: Path) -> None:
    first, second, third = name(1), name(2), name(3)
    claude_log(isolated_home, first, claude_rows(first, range(30)))
    claude_log(isolated_home, second, claude_rows(second, range(20, 40)))
    claude_log(isolated_home, third, claude_rows(third, range(60, 90)))
    found = same(by="session")
    assert {key: row.calls for key, row in found.rows.items()} == {first: 30, second: 10, third: 30}
    assert (found.copied, found.tool_calls) == (10, 30 + 10 + 30)
    found = same(by="day", since="2026-10-01T21:00+00:00", until="2026-10-03T13:00+00:00")
    assert list(found.rows) == ["2026-10-01", "2026-10-02", "2026-10-03"]
    assert found.totals.calls == 9 + 10 + 1 and found.copied == 0
    assert same(by="model", agent="claude").totals.calls == 70


def test_model_switches_and_nested_agents_are_warned_of_all_the_same(isolated_home: Path) -> None:
    own, other = name(1), FOREIGN
    changed = claude_rows(own, range(2, 4), model="claude-opus-4-5", command=f"claude --resume {FOREIGN} -p 'go on'")
    claude_log(isolated_home, own, claude_rows(own, range(2)) + changed)
    claude_log(isolated_home, other, claude_rows(other, range(1, 40)).replace('"id": "m', '"id": "n'))
    wrapped = claude_rows(name(3), range(50, 52), command="passdown wrap")
    wrapped += claude_rows(name(3), range(52, 54), model="claude-opus-4-5")
    claude_log(isolated_home, name(3), wrapped)
    found = same()
    assert [one.code for one in found.findings] == ["model.switched", "agent.nested"]
    assert found.nested.sessions == (FOREIGN,) and found.nested.share is not None
    assert found.nested.totals.calls == 38


def test_a_log_that_contradicts_itself_is_left_out_both_ways(isolated_home: Path) -> None:
    claude_log(isolated_home, name(1), claude_rows(name(1), range(3)))
    log = isolated_home / ".codex/sessions/rollout-2026-10-01-x.jsonl"
    log.parent.mkdir(parents=True)
    info = {"last_token_usage": {"input_tokens": 5, "cached_input_tokens": 600, "output_tokens": 1},
            "total_token_usage": {"input_tokens": 5, "cached_input_tokens": 600, "output_tokens": 1}}  # fmt: skip
    rows = [("session_meta", {"id": FOREIGN, "timestamp": "2026-10-01T10:00:00Z", "cwd": "/gone", "originator": "codex"}),
            ("event_msg", {"type": "token_count", "info": info})]  # fmt: skip
    stamp = "2026-10-01T10:00:00.000Z"
    log.write_text("".join(json.dumps({"timestamp": stamp, "type": kind, "payload": it}) + "\n" for kind, it in rows))
    found = same()
    assert [one.code for one in found.findings] == ["usage.contradicts"]
    assert (found.sessions, found.totals.calls) == (1, 3)


def test_a_large_log_that_grew_is_read_itself(isolated_home: Path) -> None:
    filler = json.dumps({"type": "progress", "data": "x" * 1_000_000}) + "\n"
    path = claude_log(
        isolated_home, name(1), claude_rows(name(1), range(1)) + filler * 17 + claude_rows(name(1), range(1, 5))
    )
    other = claude_log(isolated_home, name(2), claude_rows(name(2), range(20, 23)))
    for log in (path, other):  # what was written a moment ago is looked at once more
        os.utime(log, ns=(log.stat().st_atime_ns, log.stat().st_mtime_ns - 60_000_000_000))
    assert same().totals.calls == 8
    with path.open("a") as stream:
        stream.write(claude_rows(name(1), range(5, 9)))
    index_path().with_suffix(".checked").unlink()
    assert refresh().read == 0, "the index leaves it for now"
    assert same().totals.calls == 12


def test_what_changes_and_what_goes_is_counted_anew(isolated_home: Path) -> None:
    path = claude_log(isolated_home, name(1), claude_rows(name(1), range(5)))
    claude_log(isolated_home, name(2), claude_rows(name(2), range(3, 7)))
    assert same(by="session").totals.calls == 7
    path.write_text(claude_rows(name(1), range(4)))
    assert same(by="session").rows[name(2)].calls == 3
    path.unlink()
    assert same(by="session").rows[name(2)].calls == 4


def test_no_secret_of_a_command_that_names_an_agent_is_written(isolated_home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    command = f"GH_TOKEN={secret} codex exec 'open the pull request'"
    claude_log(isolated_home, name(1), claude_rows(name(1), range(3), command=command))
    found = read_usage(isolated_home, Question(everywhere=True))
    assert [one.kind for one in found.nested.found] == ["launch"] * 3
    files = [path.read_bytes() for path in index_path().parent.iterdir()]
    assert files and not any(secret.encode() in data for data in files)


def test_what_cannot_be_made_out_in_the_index_is_read_from_the_log(isolated_home: Path) -> None:
    claude_log(isolated_home, name(1), claude_rows(name(1), range(3)))
    claude_log(isolated_home, name(2), claude_rows(name(2), range(5, 9)))
    assert same().totals.calls == 7
    with closing(sqlite3.connect(index_path())) as database, database:
        database.execute("UPDATE spent SET tally = x'93c0' WHERE session = 1")
    assert same().totals.calls == 7


@pytest.mark.parametrize("number", [2**62, 2**64, 2**90])
def test_numbers_beyond_the_database_break_nothing(number: int, isolated_home: Path, passdown: Any) -> None:
    huge = claude_rows(name(1), range(3)).replace('"output_tokens": 7', f'"output_tokens": {number}')
    claude_log(isolated_home, name(1), huge)
    claude_log(isolated_home, name(2), claude_rows(name(2), range(5, 9)))
    assert same(by="session").totals.output == 3 * number + 4 * 7
    listed = passdown("sessions", "--all", "--json", folder=isolated_home)
    assert len(json.loads(listed.stdout)["sessions"]) == 2


def test_many_changes_of_model_are_told_of_together(isolated_home: Path) -> None:
    models = ("claude-sonnet-4-5", "claude-opus-4-5")
    rows = [claude_rows(name(1), range(at, at + 1), model=models[at % 2]) for at in range(9)]
    claude_log(isolated_home, name(1), "".join(rows))
    found = same()
    assert [one.code for one in found.findings] == ["model.switched"] * 4
    assert found.findings[-1].detail.startswith("5 more changes of model")


def test_one_repository_asks_the_index_where_there_is_one(isolated_home: Path, repository: Any) -> None:
    session = name(1)
    text = claude_rows(session, range(4)).replace("/gone/here", str(repository.root))
    claude_log(isolated_home, session, text)
    claude_log(isolated_home, name(2), claude_rows(name(2), range(10, 13)))
    asked = Question(by="day")
    before = read_usage(repository.root, asked)
    assert not index_path().exists() and before.totals.calls == 4
    assert same().totals.calls == 7
    assert read_usage(repository.root, asked) == before


def test_by_tool_is_read_from_the_logs(isolated_home: Path) -> None:
    claude_log(isolated_home, name(1), claude_rows(name(1), range(4)))
    found = read_usage(isolated_home, Question(everywhere=True, by="tool"))
    assert list(found.rows) == ["Bash"]
    assert not index_path().exists()


def test_prices_are_the_same(isolated_home: Path) -> None:
    pytest.importorskip("genai_prices")
    claude_log(isolated_home, name(1), claude_rows(name(1), range(4)))
    claude_log(isolated_home, name(2), claude_rows(name(2), range(10, 13), model="unheard-of-1"))
    found = same(cost=True)
    assert found.cost is not None and found.cost.priced == 4 and found.cost.unpriced == {"unheard-of-1": 3}


def test_the_corpus(isolated_home: Path, corpus: Path) -> None:
    copied = 0
    for folder, place in PLACES.items():
        for number, path in enumerate(sorted((corpus / folder).glob("*.json*"))):
            if path.stat().st_size < 3_000_000:
                target = isolated_home / place.format(n=number, name=path.name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                copied += 1
    found = same(by="session")
    assert found.sessions >= 60 and found.totals.calls > 2_000, (copied, found.sessions, found.totals)
    for way in ("model", "day"):
        same(by=way)
    same(by="model", since="2026-01-20", until="2026-03-05T12:00")
