"""Which file an edit changes that names none: the one that was opened, or that the state of the step tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import RepositoryFacts
from passdown.model.session import AnyEvent, ToolCall
from passdown.packet.build import build_packet
from passdown.sessions.read import read_ref, refer_to

Told = Callable[..., list[AnyEvent]]


def document(states: list[Any], *actions: str, tools: bool = False) -> dict[str, Any]:
    history: list[dict[str, Any]] = [{"role": "user", "content": "Mend it.", "agent": "main"}]
    for number, action in enumerate(actions):
        name, _, rest = action.partition(" ")
        said = {"role": "assistant", "content": "So.", "thought": "So.", "action": action, "agent": "main"}
        if tools:
            arguments = json.dumps({"path": rest} if name == "open" else {"search": rest, "replace": "x"})
            call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            said |= {"tool_calls": [call]}
        history += [said, {"role": "tool" if tools else "user", "content": "OBSERVATION:\nok", "agent": "main",
                           "tool_call_ids": [f"c{number}"] if tools else None}]  # fmt: skip
    steps = [
        {"action": action, "observation": "ok", "state": state} for action, state in zip(actions, states, strict=False)
    ]
    return {"trajectory": steps, "history": history, "info": {"exit_status": "submitted"}}


def state(path: str) -> dict[str, str]:
    return {"open_file": path, "working_dir": "/w"}


@pytest.mark.parametrize("before", [True, False], ids=["text-before", "object-after"])
def test_the_state_that_holds_is_the_one_before_the_edit(written: Told, before: bool) -> None:
    files = ["n/a", "/w/a.py", "/w/b.py"]
    states: list[Any] = (
        [json.dumps(state(path)) for path in files] if before else [state(path) for path in files[1:]] + [state("")]
    )
    events = written(document(states, "open a.py", "open b.py", "edit 1:1\nx\nend_of_edit"), agent="swe_agent")
    edits = [e.paths for e in events if isinstance(e, ToolCall) and e.tool == "edit"]
    assert edits == [("/w/b.py",)]


def test_without_states_the_file_that_was_opened_last(written: Told) -> None:
    events = written(document([], "open a.py", "edit b", "open c.py", "edit d", tools=True), agent="swe_agent")
    assert [e.paths for e in events if isinstance(e, ToolCall) and e.tool == "edit"] == [("a.py",), ("c.py",)]


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (("ls",), "Take up the last request"),
        (("ls", "submit"), "Ask the human what is next; the agent's turn is closed after the last request"),
    ],
    ids=["cut-off", "handed-in"],
)
def test_work_that_was_handed_in_closes_the_turn_without_times(
    tmp_path: Path, actions: tuple[str, ...], expected: str
) -> None:
    path = tmp_path / "run.traj"
    path.write_text(json.dumps(document([], *actions)))
    ref = refer_to(path)
    facts = RepositoryFacts(root="/x", branch="main", head="a" * 40)
    packet = build_packet(collect_evidence(facts, sessions=[(ref, read_ref(ref))]))
    assert packet.next_action.text.startswith(expected)


def test_an_answer_closes_the_turn_without_times(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    facts = RepositoryFacts(root="/x", branch="main", head="a" * 40)
    messages = [
        {"role": "user", "content": "What is the sum of two and two?"},
        {"role": "assistant", "content": "It is four."},
    ]
    for more, expected in (
        ([], "Ask the human"),
        ([{"role": "user", "content": "And of three and three?"}], "Take up"),
    ):
        path.write_text(json.dumps(messages + more))
        ref = refer_to(path)
        packet = build_packet(collect_evidence(facts, sessions=[(ref, read_ref(ref))]))
        assert packet.next_action.text.startswith(expected)
