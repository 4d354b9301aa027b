"""What a person answered to an agent's question, in the form of each agent."""

from __future__ import annotations

import json

import pytest

from passdown.evidence.asked import answers_in
from passdown.model.session import ToolCall, ToolResult
from passdown.packet.build import build_packet

ONE = {"question": "Which database?", "header": "Store", "id": "store", "options": [{"label": "SQLite"}]}
CLAUDE = (
    'User has answered your questions: "Which database?"="SQLite, "not" Redis", "Which port?"="80". '
    "You can now continue with the user's answers in mind."
)
TWO = {"question": "Which port?", "header": "Port", "id": "port"}


@pytest.mark.parametrize(
    ("arguments", "text", "found"),
    [
        (
            {"questions": [ONE, TWO]},
            CLAUDE,
            [("Which database?", 'SQLite, "not" Redis'), ("Which port?", "80")],
        ),
        ({"questions": [ONE, TWO]}, '{"answers":{"0":"SQLite","1":["80","81"]}}',
         [("Which database?", "SQLite"), ("Which port?", "80, 81")]),
        ({"questions": [ONE, TWO]}, json.dumps({"answers": {"port": {"answers": ["80"]}, "store": {"answers": []}}}),
         [("Which port?", "80")]),
        ({"questions": [ONE]}, json.dumps({"answers": {"Which database?": "SQLite"}}), [("Which database?", "SQLite")]),
        ({"questions": [ONE, TWO]}, "User has provided the following answers:\n\n**Store**: SQLite\n**Port**: 80",
         [("Which database?", "SQLite"), ("Which port?", "80")]),
        (
            {"questions": [ONE, TWO]},
            'User has answered your questions: "Which database?"="files, for now" user notes: files, for now, '  # noqa: ISC004
            '"Which port?"="80" selected preview: [80]. You can now continue.',
            [("Which database?", "files, for now"), ("Which port?", "80")],
        ),
        ({"questions": [ONE]}, 'User has answered your questions: "Which database?"="what speaks for SQLite?"', []),
        (ONE, "User responded: none of them,\nuse files", [("Which database?", "none of them, use files")]),
        (ONE, "User selected: SQLite (Recommended)", [("Which database?", "SQLite (Recommended)")]),
        ({"questions": [ONE, TWO]}, "User selected: SQLite", []),
        (ONE, "The dialog was closed.", []),
        ({"questions": [ONE]}, '{"answers": [1, 2]}', []),
        ({"questions": [ONE]}, '{"answers": ', []),
        ({"questions": "what"}, "User responded: yes", []),
        ({"question": 7}, "User responded: yes", []),
        ({}, "", []),
    ],
)  # fmt: skip
def test_answers(arguments: dict, text: str, found: list[tuple[str, str]]) -> None:
    assert answers_in(arguments, text) == found


def test_an_answer_is_the_humans_decision(log) -> None:
    log.add(ToolCall, call_id="a", tool="ask_user", action="ask", arguments=ONE)
    log.add(ToolResult, call_id="a", outcome="ok", text="User responded: " + "files " * 200)
    log.add(ToolCall, call_id="b", tool="ask_user", action="ask", arguments=TWO)
    log.add(ToolResult, call_id="b", outcome="interrupted", text="User responded: 80")
    log.add(ToolCall, call_id="c", tool="ask_user", action="ask", arguments=TWO)
    evidence = log.evidence()
    (answer,) = evidence.answers
    assert (answer.question, len(answer.answer)) == ("Which database?", 300)
    answered = [decision for decision in build_packet(evidence).decisions if decision.choice.startswith("Which")]
    assert [(decision.by, decision.basis) for decision in answered] == [("human", "observed")]
    assert answered[0].choice.startswith("Which database? — files files")


def test_many_answers_are_bounded(log) -> None:
    for number in range(30):
        log.add(ToolCall, call_id=str(number), tool="ask_user", action="ask", arguments=ONE)
        log.add(ToolResult, call_id=str(number), outcome="ok", text=f"User responded: {number}")
    evidence = log.evidence()
    assert [answer.answer for answer in evidence.answers] == [str(number) for number in range(10, 30)]
    assert evidence.omitted["answers"] == 10
