"""`passdown take` and `passdown log` as a person or an agent runs them, from a killed session to the next packet."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest


def work(repository: Any, session: Any) -> None:
    """A branch with a commit, a dirty file, and a session that was killed while it edited."""
    repository.git("switch", "-q", "-c", "feat/limit")
    repository.write("AGENTS.md", "# Rules\n")
    repository.write("src/limits.py", "LIMIT = 10\n")
    repository.write("tests/test_limits.py", "def test_eleventh():\n    assert False\n")
    repository.commit("Add the limit")
    repository.write("src/limits.py", "LIMIT = 11\n")
    session.branch = "feat/limit"
    session.human("Refuse the eleventh call with 429. Don't touch src/session.py.")
    session.edits("src/limits.py")
    session.runs(
        "pytest -q tests/test_limits.py", "FAILED tests/test_limits.py::test_eleventh - assert False\n1 failed", 1
    )
    session.human("Per user, not per key, please.")
    session.says("Next: set LIMIT back to 10 in src/limits.py.")


def settle(session: Any) -> None:
    """The session ended a while ago."""
    old = time.time() - 3600
    os.utime(session.path, (old, old))


def test_a_killed_session_where_passdown_was_never_set_up(passdown: Any, repository: Any, claude_session: Any) -> None:
    session = claude_session(repository.root)
    work(repository, session)
    session.calls(
        "Edit", {"file_path": str(repository.root / "src/limits.py"), "old_string": "1", "new_string": "2"}, None
    )
    with session.path.open("ab") as stream:
        stream.write(b'{"type": "assistant", "message": {"role": "assi')
    status = repository.git("status", "--porcelain", "--ignored")
    done = passdown("take", folder=repository.root)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert text.startswith("[passdown] Handoff for feat/limit")
    assert "Built on the spot" in text.splitlines()[0]
    assert "Settle first: the last edit was cut short: src/limits.py" in text
    assert "Make `tests/test_limits.py::test_eleventh` pass" in text
    assert '"Per user, not per key, please."' in text
    assert "Don't touch src/session.py" in text
    assert "Do not retry" not in text  # the failing test is the next step, not a dead end
    assert "Changed: src/limits.py (A, uncommitted), " in text
    assert "claude --resume aaaaaaaa-0000-4000-8000-000000000001" in text
    assert "0 contradicted" in text
    assert repository.git("status", "--porcelain", "--ignored") == status
    assert not (repository.root / "outputs").exists()
    full = re.search(r"Full: (\S+) \(\.json beside it\)", text)
    assert full is not None
    assert "src/limits.py" in (repository.root / full[1]).read_text("utf-8")


def test_outside_a_repository(passdown: Any, tmp_path: Path) -> None:
    done = passdown("take", folder=tmp_path)
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"git" in done.stderr
    assert passdown("log", folder=tmp_path).returncode == 4


def test_cold_start(passdown: Any, repository: Any) -> None:
    repository.write("feature_list.json", json.dumps({
        "features": [{"id": "limit", "status": "in_progress", "goal": "Refuse the eleventh call."},
                     {"id": "docs", "status": "todo", "goal": "Document it."}],
    }))  # fmt: skip
    repository.commit("Plan the work")
    repository.write("src/x.py", "1\n")
    done = passdown("take", folder=repository.root)
    assert done.returncode == 4
    text = done.stdout.decode()
    assert "a cold start" in text.splitlines()[0]
    assert "Plan the work" in text
    assert "src/x.py (new)" in text
    assert '"limit Refuse the eleventh call." (in_progress)' in text
    report = json.loads(passdown("take", "--json", folder=repository.root).stdout)
    assert (report["verdict"], report["schema_version"], report["receipt"]) == ("cold_start", 1, "")
    assert not (repository.root / ".git/passdown/receipts").exists()


def test_cold_start_before_the_first_commit(passdown: Any, make_repository: Any) -> None:
    done = passdown("take", folder=make_repository("new", empty=True).root)
    assert done.returncode == 4
    assert b"no commit yet" in done.stdout


def test_from_wrap_to_take_to_wrap(passdown: Any, repository: Any, claude_session: Any) -> None:
    first = claude_session(repository.root)
    work(repository, first)
    settle(first)
    one = json.loads(passdown("wrap", "--interim", "--interim", "--json", folder=repository.root).stdout)
    taken = json.loads(passdown("take", "--json", folder=repository.root).stdout)
    assert (taken["packet_id"], taken["verdict"]) == (one["packet_id"], "ready")
    receipt = repository.root / ".git/passdown/receipts" / taken["receipt"]
    assert receipt.stat().st_mode & 0o777 == 0o600
    assert json.loads(receipt.read_text())["by"] == "human"
    head = repository.git("rev-parse", "HEAD")
    # A wrap with nothing new after it changes nothing.
    assert (
        json.loads(passdown("wrap", "--interim", "--interim", "--json", folder=repository.root).stdout)["changed"] == []
    )
    # The next session works from there: its packet begins at the receipt.
    repository.write("src/limits.py", "LIMIT = 10\n")
    second = claude_session(repository.root, "bbbbbbbb-0000-4000-8000-000000000002")
    second.branch, second.clock = "feat/limit", int(time.time()) - 30
    second.human("Go on from the packet; and use 429.")
    second.clock = int(time.time()) + 2
    second.runs("pytest -q tests/test_limits.py", "1 passed", 0)
    repository.write("src/late.py", "1\n")
    repository.commit("Late work")
    os.utime(second.path, (time.time() + 5, time.time() + 5))
    two = json.loads(passdown("wrap", "--interim", "--interim", "--json", folder=repository.root).stdout)
    packet = json.loads((repository.root / two["paths"][1]).read_text())
    assert (packet["git"]["base_rule"], packet["git"]["base"]) == ("receipt", head)
    assert packet["supersedes"] == one["packet_id"]
    assert [line["id"][:4] for line in packet["sessions"]] == ["bbbb"]
    assert "Go on from the packet; and use 429." in [line["text"] for line in packet["directives"]]
    assert "src/late.py" in [file["path"] for file in packet["changed_files"]]
    assert (
        json.loads(passdown("wrap", "--interim", "--interim", "--json", folder=repository.root).stdout)["changed"] == []
    )
    # Reading the brief again moves nothing.
    assert passdown("take", one["packet_id"], folder=repository.root).returncode == 6
    assert (
        json.loads(passdown("wrap", "--interim", "--interim", "--json", folder=repository.root).stdout)["changed"] == []
    )
    entries = json.loads(passdown("log", "--json", folder=repository.root).stdout)["entries"]
    takeovers = [entry for entry in entries if entry["what"] == "takeover"]
    assert {entry["state"] for entry in takeovers} == {"ready", "stale"}
    ready = next(entry for entry in takeovers if entry["state"] == "ready")
    assert ready["came_of"].startswith(two["packet_id"][:12])
    assert ready["held"] <= ready["checked"]
    assert [entry["at"] for entry in entries] == sorted((entry["at"] for entry in entries), reverse=True)


def test_a_packet_older_than_the_last_sessions_work(passdown: Any, repository: Any, claude_session: Any) -> None:
    session = claude_session(repository.root)
    work(repository, session)
    one = json.loads(passdown("wrap", "--interim", "--interim", "--json", folder=repository.root).stdout)
    assert json.loads(passdown("take", "--json", folder=repository.root).stdout)["built_now"] is False
    session.human("One more thing: log the refusals.")
    session.says("Next: add a log line in src/limits.py.")
    taken = json.loads(passdown("take", "--json", folder=repository.root).stdout)
    assert taken["built_now"] is True
    assert taken["packet_id"] != one["packet_id"]
    assert "One more thing: log the refusals." in [quote["text"] for quote in taken["human_said"]]
    # Named, the packet is taken as it is.
    assert json.loads(passdown("take", one["packet_id"], "--json", folder=repository.root).stdout)["built_now"] is False
    # What was built on the spot lies nowhere, so the next packet does not begin at it.
    packet = json.loads(passdown("wrap", "--interim", "--dry-run", "--json", folder=repository.root).stdout)
    assert packet["git"]["base_rule"] != "receipt"


def test_an_agents_own_session_is_not_taken_for_the_predecessors(
    passdown: Any, repository: Any, claude_session: Any
) -> None:
    first = claude_session(repository.root)
    work(repository, first)
    settle(first)
    passdown("wrap", "--interim", "--interim", folder=repository.root)
    own = claude_session(repository.root, "bbbbbbbb-0000-4000-8000-000000000002")
    own.branch, own.clock = "feat/limit", int(time.time()) - 20
    own.human("Please take over with passdown.")
    own.calls("Bash", {"command": "passdown take"}, None)
    done = passdown("take", "--json", folder=repository.root, CLAUDECODE="1")
    taken = json.loads(done.stdout)
    assert (done.returncode, taken["built_now"]) == (0, False)
    receipt = json.loads((repository.root / ".git/passdown/receipts" / taken["receipt"]).read_text())
    assert receipt["by"] == "claude_code"


@pytest.mark.parametrize("env", [{"CLAUDECODE": "1"}, {"CODEX_SANDBOX": "seatbelt"}])
def test_an_agent_cannot_acknowledge(env: dict[str, str], passdown: Any, repository: Any, claude_session: Any) -> None:
    work(repository, claude_session(repository.root))
    passdown("wrap", "--interim", "--interim", "--next", "git push origin feat/limit", folder=repository.root)
    blocked = passdown("take", folder=repository.root)
    assert blocked.returncode == 8
    assert b"BLOCKED" in blocked.stdout
    assert b"--ack" in blocked.stdout
    assert not (repository.root / ".git/passdown/receipts").exists()
    refused = passdown("take", "--ack", folder=repository.root, **env)
    assert (refused.returncode, refused.stdout) == (8, b"")
    assert b"human" in refused.stderr
    assert passdown("take", "--ack", folder=repository.root).returncode == 0
    entry = json.loads(passdown("log", "--json", folder=repository.root).stdout)["entries"][0]
    assert (entry["what"], entry["acknowledged"]) == ("takeover", True)


def test_two_live_sessions(passdown: Any, repository: Any, claude_session: Any) -> None:
    work(repository, claude_session(repository.root))
    second = claude_session(repository.root, "bbbbbbbb-0000-4000-8000-000000000002")
    second.branch = "feat/limit"
    second.human("Something else.")
    done = passdown("take", folder=repository.root)
    assert done.returncode == 7
    assert b"aaaaaaaa" in done.stderr
    assert b"bbbbbbbb" in done.stderr


def test_no_receipt_records_nothing(passdown: Any, repository: Any, claude_session: Any) -> None:
    work(repository, claude_session(repository.root))
    passdown("wrap", "--interim", "--interim", folder=repository.root)
    assert passdown("take", "--no-receipt", folder=repository.root).returncode == 0
    assert not (repository.root / ".git/passdown/receipts").exists()
    assert passdown("take", "--format", "person", "--tokens", "300", folder=repository.root).returncode == 0
    assert len(list((repository.root / ".git/passdown/receipts").iterdir())) == 1


def test_options_and_names(passdown: Any, repository: Any, claude_session: Any) -> None:
    work(repository, claude_session(repository.root))
    report = json.loads(passdown("wrap", "--interim", "--interim", "--json", folder=repository.root).stdout)
    for name in (
        report["packet_id"],
        report["packet_id"][:6],
        report["session_id"],
        str(repository.root / report["paths"][1]),
    ):
        assert passdown("take", name, folder=repository.root).returncode == 0
    human = passdown("take", "--format", "person", folder=repository.root).stdout.decode()
    assert human.startswith("Handoff for feat/limit — READY")
    assert "```" not in human
    for wrong in (["nope"], ["--tokens", "3"], ["--format", "html"], ["x/handoff.json"]):
        done = passdown("take", *wrong, folder=repository.root)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"Traceback" not in done.stderr


def test_log_survives_broken_receipts(passdown: Any, repository: Any, claude_session: Any) -> None:
    work(repository, claude_session(repository.root))
    passdown("wrap", "--interim", "--interim", folder=repository.root)
    passdown("take", folder=repository.root)
    folder = repository.root / ".git/passdown/receipts"
    good = next(folder.iterdir())
    forged = good.with_name(f"20300101T000000Z-{'0' * 32}.json")
    forged.write_bytes(good.read_bytes().replace(b"human", b"robot"))
    (folder / "notes.txt").write_text("mine")
    (folder / f"20300101T000001Z-{'1' * 32}.json").symlink_to("/etc/passwd")
    done = passdown("log", folder=repository.root)
    assert done.returncode == 0
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert sorted(row[1] for row in rows) == ["packet", "takeover"]
    assert done.stderr.count(b"receipt.unreadable") == 2
    assert b"robot" not in done.stdout


def test_a_clone_takes_what_was_committed(passdown: Any, repository: Any, claude_session: Any, tmp_path: Path) -> None:
    session = claude_session(repository.root)
    work(repository, session)
    repository.commit("Set it")
    passdown("wrap", "--interim", "--interim", folder=repository.root)
    repository.git("add", "outputs")
    repository.git("commit", "-q", "-m", "Hand over", "--", "outputs")
    shutil.rmtree(session.path.parent)
    repository.git("clone", "-q", str(repository.root), str(tmp_path / "clone"))
    done = passdown("take", folder=tmp_path / "clone")
    assert done.returncode == 0
    assert b"READY" in done.stdout
    assert b"0 contradicted" in done.stdout
    assert str(repository.root).encode() not in done.stdout
