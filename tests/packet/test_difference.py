"""What one packet knows that another did not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from passdown.model.packet import CompletedItem, Decision, FailedAttempt, NextAction, Packet, Question, RemainingItem
from passdown.packet.difference import difference, items_of
from passdown.packet.encode import decode_packet

GOLDEN = Path(__file__).resolve().parents[1] / "goldens" / "packets" / "session_only" / "handoff.json"
PACKET = decode_packet(GOLDEN.read_bytes())


@pytest.fixture
def packet() -> Packet:
    return PACKET


def test_a_packet_differs_in_nothing_from_itself(packet: Packet) -> None:
    assert difference(packet, packet).same


def test_an_attempt_that_was_resolved_and_one_that_is_new(packet: Packet) -> None:
    before = structs.replace(packet, failed_attempts=[FailedAttempt(id="F-1", what="pytest -x", exit=1, why="boom")])
    after = structs.replace(packet, failed_attempts=[
        FailedAttempt(id="F-1", what="pytest -x", exit=1, why="boom", resolved=True),
        FailedAttempt(id="F-2", what="make lint", exit=2, why="E501"),
    ])  # fmt: skip
    found = difference(before, after).list_of("failed_attempts")
    assert [(item.id, item.note) for item in found.new] == [("F-2", "E501")]
    assert [(c.id, [(v.field, v.before, v.after) for v in c.changes]) for c in found.changed] == [
        ("F-1", [("resolved", "no", "yes")])
    ]
    assert found.gone == ()


def test_what_became_of_open_things_and_questions(packet: Packet) -> None:
    before = structs.replace(
        packet,
        remaining=[RemainingItem(id="T-1", text="Document it"), RemainingItem(id="T-2", text="Ship it")],
        questions_for_human=[Question(id="Q-1", question="User or key?", default="user")],
    )
    after = structs.replace(
        packet,
        remaining=[],
        completed=[*packet.completed, CompletedItem(id="P-9", text="document it.")],
        questions_for_human=[],
        decisions=[Decision(id="D-Q-1", choice="User or key? — key", why="asked", by="human", anchor="Q-1")],
    )
    found = difference(before, after)
    assert {item.id: item.note for item in found.list_of("remaining").gone} == {"T-1": "done", "T-2": ""}
    assert [item.note for item in found.list_of("questions_for_human").gone] == ["answered: User or key? — key"]
    assert [item.id for item in found.list_of("decisions").new] == ["D-Q-1"]


def test_the_next_step_before_and_after_and_what_had_no_room(packet: Packet) -> None:
    before = structs.replace(packet, next_action=NextAction(text="Do the first"))
    after = structs.replace(
        packet, next_action=NextAction(text="Do the\x1b[2J second"), decisions=[], omitted={"decisions": 7}
    )
    before = structs.replace(before, decisions=[Decision(id="D-1", choice="so", why="because")])
    found = difference(before, after)
    assert [(v.before, v.after) for v in found.values if v.field == "next_action.text"] == [
        ("Do the first", "Do the second")
    ]
    assert found.list_of("decisions").left_out == 7


@settings(deadline=None, max_examples=50)
@given(old=st.lists(st.text(max_size=8), max_size=6), new=st.lists(st.text(max_size=8), max_size=6))
def test_new_and_gone_mirror_each_other(old: list[str], new: list[str]) -> None:
    def made(texts: list[str]) -> Packet:
        return structs.replace(PACKET, remaining=[RemainingItem(id=text, text=text) for text in texts])

    forth, back = difference(made(old), made(new)), difference(made(new), made(old))
    assert len(forth.list_of("remaining").new) == len(set(new) - set(old))
    assert [i.id for i in forth.list_of("remaining").new] == [i.id for i in back.list_of("remaining").gone]
    assert len(items_of(made(old), "remaining")) == len(set(old))
    assert all("\n" not in item.text for item in items_of(made(new), "remaining"))
