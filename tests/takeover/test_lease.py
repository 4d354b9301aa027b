"""One main agent per task: who is refused, who is not, and how a claim ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from msgspec import structs

from passdown.handoff.lease import find_holder
from passdown.io.ancestry import ancestors, is_over
from passdown.model.brief import TakeoverReceipt
from passdown.model.memory import PacketLine
from passdown.model.session import SessionRef
from passdown.takeover.lease import Taker, holder_of

NOW = 1_772_000_000_000
AT = "2026-02-25T06:13:00Z"  # 20 seconds before NOW
CLAIM = TakeoverReceipt(
    packet_id="1" * 64, branch="main", topic="t", at=AT, by="claude_code", verdict="ready", taker="aaaaaaaa"
)  # fmt: skip
OTHER = Taker(by="codex", session="bbbbbbbb")


def holder(claims: list[TakeoverReceipt], taker: Taker = OTHER, **change: Any) -> str:
    """Who holds the topic, empty when nobody does."""
    terms: dict[str, Any] = {"packets": (), "grew": {}, "now": NOW, "minutes": 5, "over": False} | change
    found = holder_of(
        claims, terms["packets"], taker, ("main", terms.get("topic", "t")), grew=terms["grew"], now=terms["now"],
        minutes=terms["minutes"], is_over=lambda _: terms["over"],
    )  # fmt: skip
    return found.by if found is not None else ""


LATER = PacketLine(packet_id="2", branch="main", topic="t", as_of="2026-02-25T06:13:10Z")


@pytest.mark.parametrize(
    ("claims", "taker", "change", "expected"),
    [
        ([CLAIM], OTHER, {}, "claude_code"),
        ([CLAIM], Taker(by="claude_code", session="cccccccc"), {}, "claude_code"),
        ([CLAIM], Taker(by="claude_code", session="aaaaaaaa"), {}, ""),
        ([CLAIM], OTHER, {"topic": "u"}, ""),
        ([CLAIM], OTHER, {"now": NOW + 300_000}, ""),
        ([CLAIM], OTHER, {"now": NOW + 300_000, "grew": {"aaaaaaaa": NOW + 200_000}}, "claude_code"),
        ([CLAIM], OTHER, {"now": NOW + 300_000, "grew": {"bbbbbbbb": NOW + 200_000}}, ""),
        ([CLAIM], OTHER, {"over": True}, ""),
        ([CLAIM], OTHER, {"packets": (LATER,)}, ""),
        ([CLAIM], OTHER, {"packets": (structs.replace(LATER, topic="u"),)}, "claude_code"),
        ([CLAIM], OTHER, {"packets": (structs.replace(LATER, packet_id="1" * 64),)}, "claude_code"),
        ([structs.replace(CLAIM, by="human", taker="")], OTHER, {}, ""),
        ([structs.replace(CLAIM, by="human", steal=True), CLAIM], OTHER, {}, ""),
        ([structs.replace(CLAIM, by="human"), CLAIM], OTHER, {}, "claude_code"),
        ([structs.replace(CLAIM, verdict="stale")], OTHER, {}, ""),
        ([structs.replace(CLAIM, taker="")], Taker(by="claude_code"), {}, ""),
        ([structs.replace(CLAIM, taker="", processes=("x:1:2",))], Taker(by="claude_code", processes=("x:3:4",)), {},
         "claude_code"),
        ([structs.replace(CLAIM, at="2030-01-01T00:00:00Z")], OTHER, {}, "claude_code"),
        ([structs.replace(CLAIM, taker="")], OTHER, {"now": NOW + 300_000}, ""),
        ([structs.replace(CLAIM, taker="")], OTHER, {"now": NOW + 300_000, "grew": {"claude_code": NOW + 200_000}},
         "claude_code"),
        ([structs.replace(CLAIM, at="soon")], OTHER, {}, ""),
    ],
)  # fmt: skip
def test_who_holds_a_topic(claims: Any, taker: Any, change: Any, expected: str) -> None:
    assert holder(claims, taker, **change) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_a_program_is_over_when_it_has_ended() -> None:
    code = "import sys; from passdown.io.ancestry import ancestors; print(*ancestors()); sys.stdout.flush(); sys.stdin.read()"
    child = subprocess.Popen(  # the sleeping child of a child, as an agent's shell is
        ["sh", "-c", f"{sys.executable} -c '{code}'; true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    names = tuple(child.stdout.readline().split())
    here = names[1:]  # this program, and what it runs in
    assert here[1:] == ancestors()
    assert not is_over(names, here)
    child.communicate("")
    assert is_over(names, here)
    assert not is_over(names, ancestors())
    assert not is_over((), here)
    assert not is_over(("another.1:2:3", *names), here)


def wrapped(passdown: Any, repository: Any, claude_session: Any) -> None:
    """A packet of a session that ended an hour ago."""
    repository.git("switch", "-q", "-c", "feat/limit")
    repository.write("src/limits.py", "LIMIT = 11\n")
    session = claude_session(repository.root)
    session.branch = "feat/limit"
    session.human("Refuse the eleventh call.")
    os.utime(session.path, (time.time() - 3600, time.time() - 3600))
    assert passdown("wrap", "--interim", folder=repository.root).returncode == 0


def test_two_live_agents(passdown: Any, repository: Any, claude_session: Any) -> None:
    wrapped(passdown, repository, claude_session)
    root = repository.root
    codex = {"CODEX_THREAD_ID": "01a22855-7004-79f3-96dd-4cc9a54c9b8b"}
    claude = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "bbbbbbbb-0000-4000-8000-000000000002"}
    assert passdown("take", folder=root, **codex).returncode == 0
    assert passdown("take", folder=root, **codex).returncode == 0  # the holder reads it again
    refused = passdown("take", folder=root, **claude)
    assert (refused.returncode, refused.stdout) == (7, b"")
    assert b"codex (session 01a22855-700) took it" in refused.stderr
    assert b"s ago" in refused.stderr
    assert b"--steal" in refused.stderr
    assert passdown("take", "--no-receipt", folder=root, **claude).returncode == 0  # looking is free
    # A person is never refused, twice in a row neither; they are told.
    for _ in range(2):
        looked = passdown("take", folder=root)
        assert looked.returncode == 0
        assert b"lease.held" in looked.stderr
    assert passdown("take", folder=root, **claude).returncode == 7
    # Only a person says that it is over.
    assert passdown("take", "--steal", folder=root, **claude).returncode == 8
    assert passdown("take", "--steal", folder=root).returncode == 0
    assert passdown("take", folder=root, **claude).returncode == 0
    assert passdown("take", folder=root, **codex).returncode == 7
    entries = json.loads(passdown("log", "--json", folder=root).stdout)["entries"]
    assert [entry["by"] for entry in entries if entry["what"] == "takeover"][:1] == ["claude_code"]


def test_a_project_may_do_without(passdown: Any, repository: Any, claude_session: Any) -> None:
    wrapped(passdown, repository, claude_session)
    repository.write("passdown.toml", "lease-minutes = 0\n")
    assert passdown("take", folder=repository.root, CODEX_THREAD_ID="01a22855").returncode == 0
    assert passdown("take", folder=repository.root, CLAUDECODE="1").returncode == 0


def test_eight_at_once_one_gets_it(passdown: Any, repository: Any, claude_session: Any) -> None:
    wrapped(passdown, repository, claude_session)

    def take(number: int) -> int:
        code: int = passdown("take", folder=repository.root, CODEX_THREAD_ID=f"01a2285{number}-7004").returncode
        return code

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(take, range(8)))
    assert codes == [0, *[7] * 7]


def test_a_launched_agent_is_at_it_as_long_as_a_session_of_its_own_grows() -> None:
    launched = structs.replace(CLAIM, taker="", started_by="human", processes=("x:1:2",))
    began = NOW - 10_000

    def seen(refs: list[SessionRef], taker: Taker = OTHER) -> str:
        found = find_holder([launched], (), taker, ("main", "t"), refs, now=NOW + 300_000, minutes=5)
        return found.by if found is not None else ""

    def session(agent: str, name: str, started: int, grew: int) -> SessionRef:
        return SessionRef(agent=agent, path="/l", session_id=name, started_at=started, modified_at=grew)

    assert seen([]) == ""
    assert seen([session("claude_code", "dddddddd", began, NOW + 200_000)]) == "claude_code"
    assert seen([session("claude_code", "dddddddd", began - 3_600_000, NOW + 200_000)]) == ""  # an older one
    assert seen([session("codex", "dddddddd", began, NOW + 200_000)]) == ""
    own = Taker(by="claude_code", session="dddddddd", processes=("x:5:6",))
    assert seen([session("claude_code", "dddddddd", began, NOW + 200_000)], own) == ""  # the one that asks
