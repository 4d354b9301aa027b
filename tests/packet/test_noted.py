"""The noted next step: the newest of this work counts, an earlier session's does not outlive its work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from passdown.model.evidence import Commit, Evidence, SessionUse
from passdown.model.identifier import content_id
from passdown.model.moment import to_rfc3339
from passdown.model.packet import Packet
from passdown.model.workbench import NoteRow, QuestionRow, State, Workbench
from passdown.packet.build import build_packet
from passdown.packet.caps import LISTS, first, last

MAKE = Callable[..., Evidence]
T = 1_763_700_000_000


def step(text: str, at: int | None, **fields: Any) -> NoteRow:
    return NoteRow(id=fields.pop("id", content_id("N-", text)), text=text, kind="next", by="agent", at=at, **fields)


def text_of(packet: Packet) -> str:
    return packet.next_action.text


def test_the_newest_step_wins_over_the_state(make_evidence: MAKE) -> None:
    rows = (step("Mend src/a.py", T + 2000), step("Mend src/b.py", T + 3000), step("Mend src/c.py", T + 1000))
    bench = Workbench(notes=rows, state=State(next_action="Mend src/d.py"))
    packet = build_packet(make_evidence(workbench=bench, since=T))
    assert text_of(packet) == "Mend src/b.py"
    assert packet.next_action.basis == "declared" and packet.next_action.by == "agent"
    assert (
        text_of(build_packet(make_evidence(workbench=bench, since=T), next_action="Mend src/e.py")) == "Mend src/e.py"
    )


def test_a_step_that_was_taken_back_does_not_count(make_evidence: MAKE) -> None:
    rows = (step("Mend src/a.py", T + 1), step("Mend src/b.py", T + 2, withdrawn=True))
    assert text_of(build_packet(make_evidence(workbench=Workbench(notes=rows), since=T))) == "Mend src/a.py"


@pytest.mark.parametrize(("at", "counts"), [(T - 1, False), (T, False), (T + 1, True), (None, True)])
def test_a_step_counts_when_it_came_after_the_work_began(at: int | None, counts: bool, make_evidence: MAKE) -> None:
    evidence = make_evidence(workbench=Workbench(notes=(step("Mend src/a.py", at),)), since=T)
    assert (text_of(build_packet(evidence)) == "Mend src/a.py") is counts


def test_a_step_of_an_earlier_session_is_over_once_the_next_one_began(make_evidence: MAKE) -> None:
    bench = Workbench(notes=(step("Mend src/a.py", T + 5000),))
    for started, counts in ((T + 4000, True), (T + 6000, False)):
        uses = (SessionUse(agent="pi", session_id="s", started_at=started, ended_at=T + 9000, primary=True),)
        packet = build_packet(make_evidence(workbench=bench, since=T, sessions=uses))
        assert (text_of(packet) == "Mend src/a.py") is counts


def test_where_git_cannot_say_when_work_began_its_date_ends_no_step(
    make_evidence: MAKE, make_repository_facts: Any
) -> None:
    facts = make_repository_facts(base_rule="head")
    evidence = make_evidence(repository=facts, workbench=Workbench(notes=(step("Mend src/a.py", T - 5000),)), since=T)
    assert text_of(build_packet(evidence)) == "Mend src/a.py"


def test_a_step_that_was_handed_on_is_over_for_the_work_after_it(
    make_evidence: MAKE, make_repository_facts: Any
) -> None:
    """Within the second in which the packet was written, taken and work went on, times alone cannot tell."""
    row = step("Mend src/a.py", T + 300)
    bench = Workbench(notes=(row,))
    before = make_evidence(workbench=bench, since=T - 60_000, as_of=T)
    packet = build_packet(before)
    assert text_of(packet) == row.text
    again = build_packet(before, previous=packet)
    assert text_of(again) == row.text, "wrapping the same work again changes nothing"
    after = structs.replace(before, since=T)
    assert text_of(build_packet(after, previous=packet)) != row.text
    noted_anew = structs.replace(after, workbench=Workbench(notes=(structs.replace(row, at=T + 1500),)))
    assert text_of(build_packet(noted_anew, previous=packet)) == row.text


def test_a_vague_step_written_by_hand_is_reported(make_evidence: MAKE) -> None:
    rows = (step("Mend src/a.py", T + 1), step("continue", T + 2))
    packet = build_packet(make_evidence(workbench=Workbench(notes=rows), since=T))
    assert text_of(packet) != "continue"
    assert "next_action.vague" in [risk.code for risk in packet.open_risks]


def test_a_step_that_ignores_an_open_question_gives_way_to_it(make_evidence: MAKE) -> None:
    asked = QuestionRow(id="Q-1", question="Drop the table?", irreversibility=2, authority=2, blocks=("next_action",))
    for text, counts in (("Mend src/a.py", False), ("Mend src/a.py once Q-1 is answered", True)):
        bench = Workbench(notes=(step(text, T + 1),), questions=(asked,))
        packet = build_packet(make_evidence(workbench=bench, since=T))
        assert (text_of(packet) == text) is counts
        assert packet.next_action.question_id == "Q-1"


def test_notes_of_one_text_in_state_and_log_are_one_assumption(make_evidence: MAKE) -> None:
    noted = NoteRow(
        id="A-1", text="One worker per tenant.", kind="assumption", check="pytest -k one", by="human", score=1
    )
    bench = Workbench(notes=(noted,), state=State(assumptions=("One  worker per tenant", "Other")))
    found = build_packet(make_evidence(workbench=bench)).assumptions_to_validate
    assert [(a.text, a.score, a.by) for a in found] == [("Other", None, ""), ("One worker per tenant.", 1, "human")]
    assert "assumptions.none_recorded" not in [r.code for r in build_packet(make_evidence(workbench=bench)).open_risks]


@pytest.mark.parametrize("count", [0, 1, 8, 9, 40])
def test_noted_attempts_have_room_beside_recorded_ones(
    count: int, make_evidence: MAKE, make_chain: Any, make_run: Any
) -> None:
    chains = tuple(make_chain(f"make step{n}", make_run(n + 1, 1), final="failed") for n in range(20))
    notes = tuple(NoteRow(id=f"F-{n}", text=f"approach {n}", kind="attempt", pinned=n == 0) for n in range(count))
    packet = build_packet(make_evidence(chains=chains, workbench=Workbench(notes=notes)))
    declared = [a for a in packet.failed_attempts if a.basis == "declared"]
    assert len(packet.failed_attempts) == 15
    assert len(declared) == min(count, 8)
    assert packet.omitted["failed_attempts"] == 20 + count - 15
    assert count == 0 or declared[0].id == "F-0", "what is pinned has room before what is newer"


def test_pinned_items_have_room_first_and_keep_their_place() -> None:
    rows = [NoteRow(id=f"R-{n}", text="t", kind="risk", pinned=n in (0, 29)) for n in range(30)]
    cap = LISTS["open_risks"]
    kept, left = first(rows, "open_risks")
    assert ([row.id for row in kept], left) == ([f"R-{n}" for n in (*range(cap - 1), 29)], 30 - cap)
    kept, left = last(rows, "open_risks")
    assert ([row.id for row in kept], left) == ([f"R-{n}" for n in (0, *range(31 - cap, 30))], 30 - cap)


def test_as_of_is_when_the_newest_step_was_noted(repository: Any) -> None:
    from passdown.config import Config
    from passdown.evidence.collect import collect_evidence
    from passdown.repository.snapshot import snapshot
    from passdown.workbench.load import load_workbench

    at = 1_795_000_000_123
    repository.write("decisions.jsonl", f'{{"kind": "next", "text": "Mend src/a.py", "at": {at}}}\n')
    evidence = collect_evidence(snapshot(repository.root), load_workbench(repository.root, Config()))
    assert to_rfc3339(evidence.as_of) == to_rfc3339(at + 877)
    assert evidence.as_of is not None and evidence.as_of >= at, "what comes after the packet comes after the note"


@pytest.mark.parametrize(
    ("branch", "head", "counts"),
    [("", "", True), ("main", "", True), ("feat", "f" * 40, True), ("main", "b" * 40, True), ("main", "c" * 40, True),
     ("other", "f" * 40, False)],
)  # fmt: skip
def test_a_step_of_another_branch_is_not_this_works(
    branch: str, head: str, counts: bool, make_evidence: MAKE, make_repository_facts: Any
) -> None:
    """A branch that was begun since, and an amended commit on the same one, hold the step still."""
    commits = (Commit(id="c" * 40, subject="Work", at=T),)
    facts = make_repository_facts(branch="feat", base="b" * 40, base_rule="merge_base", commits=commits)
    bench = Workbench(notes=(step("Mend src/a.py", T + 1, branch=branch, head=head),))
    packet = build_packet(make_evidence(repository=facts, workbench=bench, since=T))
    assert (text_of(packet) == "Mend src/a.py") is counts
