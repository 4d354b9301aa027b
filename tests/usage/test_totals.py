"""Sums, and whose a call's tools are in every order that agents write them in."""

from __future__ import annotations

import pytest

from passdown.errors import FormatError
from passdown.model.session import SessionStart, ToolCall, ToolResult, Usage
from passdown.usage.calls import read_account
from passdown.usage.switches import find_switches, switch_findings
from passdown.usage.totals import check_convention, grouped, owned, sum_up

DAY = 86_400_000


def spent(number: int, **fields: object) -> Usage:
    given = {"response_id": f"r{number}", "model": "m", "input": 10, "output": 1, "context": 10, "at": number * DAY}
    return Usage(**given | fields)  # type: ignore[arg-type]


def called(number: int, tool: str, *, named: bool) -> list[object]:
    call = ToolCall(call_id=f"t{number}", tool=tool, response_id=f"r{number}" if named else "")
    return [call, ToolResult(call_id=f"t{number}", outcome="ok", text="x")]


@pytest.mark.parametrize("order", ["usage first", "usage last", "usage between", "without ids"])
def test_a_call_has_its_own_tools_in_whatever_order_they_are_told(order: str) -> None:
    events: list[object] = []
    for number, tool in enumerate(("Read", "Bash", "")):
        usage = spent(number, **({"response_id": ""} if order == "without ids" else {}))
        call, result = called(number, tool, named=order != "without ids")
        told = {"usage first": [usage, call, result], "usage between": [call, usage, result]}.get(
            order, [call, result, usage]
        )
        events += [usage] if not tool else told
    account = read_account(events)  # type: ignore[arg-type]
    assert [[step.tool for step in call.steps] for call in account.calls] == [["Read"], ["Bash"], []]
    assert account.tool_calls == 2


def test_every_way_to_group() -> None:
    events = [
        SessionStart(session_id="s", agent="pi"), spent(0, cache_read=5), *called(0, "Read", named=True),
        spent(1, model="n", agent_id="sub", input=100), spent(2, model="", copied=True), spent(3, at=None),
    ]  # fmt: skip
    account = read_account(events)  # type: ignore[arg-type]
    calls = owned(account)
    keys = {by: list(grouped(calls, by)) for by in ("agent", "model", "day", "subagent", "tool", "session")}  # type: ignore[arg-type]
    assert keys == {
        "agent": ["pi"], "model": ["n", "m"], "day": ["(no time)", "1970-01-01", "1970-01-02"],
        "subagent": ["sub", "(main)"], "tool": ["(answer)", "Read"], "session": ["s"],
    }  # fmt: skip
    assert account.copied == 1
    totals = sum_up(priced.call for priced in calls)
    assert (totals.calls, totals.input, totals.cache_read, totals.output, totals.prompt) == (3, 120, 5, 3, 125)
    assert totals.hit_rate == 5 / 125
    assert sum_up([]).hit_rate is None


def test_a_subagents_own_log_is_the_subagents() -> None:
    start = SessionStart(session_id="child", agent="codex", parent_id="p", parent_kind="subagent")
    assert list(grouped(owned(read_account([start, spent(1)])), "subagent")) == ["child"]


def test_more_cached_than_input_is_refused_with_the_reason() -> None:
    account = read_account([SessionStart(session_id="s", agent="x"), spent(0), spent(1, cache_read=11, context=10)])
    with pytest.raises(FormatError, match="call 2 has 11 cached tokens in 10 of input"):
        check_convention(account)
    check_convention(read_account([spent(0, cache_read=10, input=0), spent(1, context=0, cache_read=5)]))


def test_a_switch_in_a_short_context_is_told_and_not_warned_of() -> None:
    events = [spent(0, model="claude-opus-4-6", context=90_000), spent(1, model="claude-sonnet-4-5", context=91_000)]
    (switch,) = find_switches(read_account(events))
    assert (switch.before, switch.after, switch.long, switch.at_boundary) == (
        "claude-opus-4-6", "claude-sonnet-4-5", False, False
    )  # fmt: skip
    assert switch_findings([switch]) == []


@pytest.mark.parametrize(
    ("between", "boundary"),
    [(["passdown wrap --interim"], True), (["passdown -C . wrap", "passdown status"], True), (["git status"], False),
     (["passdown wrap", "make"], False), (["passdown status"], False), (["echo passdown wrap"], False),
     (["cd x && passdown wrap"], True), (["/usr/bin/passdown wrap"], True)],
)  # fmt: skip
def test_only_passdowns_own_commands_may_stand_between_packet_and_switch(between: list[str], boundary: bool) -> None:
    events: list[object] = []
    for number, command in enumerate(between):
        events.append(spent(number, model="a", context=200_000, input=200_000))
        events.append(
            ToolCall(call_id=f"t{number}", tool="Bash", action="run", command=command, response_id=f"r{number}")
        )
    events.append(spent(9, model="b", context=200_000, input=150_000, cache_write=20_000))
    (switch,) = find_switches(read_account(events))  # type: ignore[arg-type]
    assert (switch.at_boundary, switch.uncached, switch.long) == (boundary, 170_000, True)
    assert len(switch_findings([switch])) == (not boundary)
