"""What sealing adds to a draft: the clean state, what is to settle first, warnings as risks, overrides, the kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from passdown.errors import NextActionError, NoEvidenceError
from passdown.model.clean import CleanCheck, CleanOverride, CleanState
from passdown.model.evidence import Evidence, RepositoryFacts, TestFacts
from passdown.model.finding import Finding
from passdown.model.workbench import Workbench
from passdown.packet.build import build_packet, draft_packet
from passdown.packet.render import render_markdown
from passdown.packet.seal import seal_packet

UNCOMMITTED = Finding(
    code="tree.uncommitted", severity="block", detail="1 file is changed", fix="git commit", where="a"
)
STALE = Finding(code="stash.legacy", severity="warn", detail="an old stash has no note", where="stash@{0}")
NO_BOARD = Finding(code="board.absent", severity="warn", detail="there is no task board")


def state(*findings: Finding, allow: tuple[str, ...] = ()) -> CleanState:
    """A clean state with these findings; codes in `allow` were let pass by a person."""
    blocking = tuple(sorted({f.code for f in findings if f.severity == "block"} - set(allow)))
    return CleanState(
        tree_fingerprint="ab" * 32,
        checks=(CleanCheck(id="tree", status="warn", findings=findings),),
        blocking=blocking,
        clean=not blocking,
        overrides=tuple(CleanOverride(code=code, reason="kept on purpose", by="command line") for code in allow),
    )


def test_what_blocks_is_settled_first_and_is_no_risk(make_evidence: Callable[..., Evidence]) -> None:
    draft = draft_packet(make_evidence())
    packet = seal_packet(draft, state(UNCOMMITTED, STALE))
    assert packet.clean_state.checked
    assert packet.clean_state.fingerprint == "ab" * 32
    assert packet.clean_state.blocking == ["tree.uncommitted"]
    assert packet.clean_state.warnings == ["stash.legacy"]
    assert "clean_state.not_checked" not in packet.unknowns
    assert [(p.code, p.fix, p.path) for p in packet.settle_first if p.code != "edit.interrupted"] == [
        ("tree.uncommitted", "git commit", "a")
    ]
    assert "tree.uncommitted" not in [risk.code for risk in packet.open_risks]
    (risk,) = [risk for risk in packet.open_risks if risk.code == "stash.legacy"]
    assert (risk.severity, risk.detail, risk.source) == ("warn", "stash@{0}: an old stash has no note", "clean_state")
    assert packet.next_action == build_packet(make_evidence()).next_action, "the real next step stays what it was"


def test_the_same_seal_gives_the_same_bytes_and_another_one_another_id(make_evidence: Callable[..., Evidence]) -> None:
    draft = draft_packet(make_evidence())
    assert seal_packet(draft, state(STALE)) == seal_packet(draft_packet(make_evidence()), state(STALE))
    assert seal_packet(draft, state(STALE)).packet_id != seal_packet(draft, state()).packet_id
    assert seal_packet(draft, state()).packet_id != seal_packet(draft).packet_id


def test_a_warning_of_many_places_is_one_risk_and_most_projects_are_not_told_they_have_no_board(
    make_evidence: Callable[..., Evidence],
) -> None:
    many = [Finding(code="temp.debug_maybe", severity="warn", detail=f"print({n})", where=f"f{n}.py") for n in range(5)]
    packet = seal_packet(draft_packet(make_evidence()), state(*many, NO_BOARD))
    risks = [risk.detail for risk in packet.open_risks if risk.source == "clean_state"]
    assert risks == ["f0.py: print(0) (and 4 more)"]
    assert packet.clean_state.warnings == ["board.absent", "temp.debug_maybe"]


def test_an_override_is_recorded_and_what_it_lets_pass_stays_a_risk(make_evidence: Callable[..., Evidence]) -> None:
    packet = seal_packet(draft_packet(make_evidence()), state(UNCOMMITTED, allow=("tree.uncommitted",)), kind="final")
    assert packet.kind == "final"
    assert [(o.code, o.reason, o.by) for o in packet.overrides][-1:] == [
        ("tree.uncommitted", "kept on purpose", "command line")
    ]
    assert [r.severity for r in packet.open_risks if r.code == "tree.uncommitted"] == ["block"]
    assert packet.clean_state.blocking == []
    assert packet.clean_state.warnings == ["tree.uncommitted"]
    assert "kept on purpose" in render_markdown(packet)


def test_nothing_passes_while_something_blocks(make_evidence: Callable[..., Evidence]) -> None:
    green = make_evidence(tests=TestFacts(state="green", commands=("make test",)), chains=(), workbench=Workbench())
    assert build_packet(green).outcome == "passed"
    blocked = seal_packet(draft_packet(green), state(UNCOMMITTED))
    assert blocked.outcome == "unknown"
    assert "outcome.unknown" in blocked.unknowns
    assert seal_packet(draft_packet(green), state(STALE)).outcome == "passed"


def test_a_final_packet_needs_a_step_and_where_asked_a_verdict(make_evidence: Callable[..., Evidence]) -> None:
    nothing = draft_packet(Evidence(repository=RepositoryFacts(root="/x", branch="main")))
    with pytest.raises(NextActionError, match="no usable next action"):
        seal_packet(nothing, state(), kind="final")
    draft = draft_packet(make_evidence(workbench=Workbench()))
    assert seal_packet(draft, state(), kind="final").kind == "final"
    with pytest.raises(NoEvidenceError, match="verification report"):
        seal_packet(draft, state(), kind="final", require_verdict=True)


def test_the_lists_stay_at_their_caps_and_say_what_they_left_out(make_evidence: Callable[..., Evidence]) -> None:
    many: list[Any] = [
        Finding(code=f"tree.code_{n:02}", severity="block", detail=f"number {n}", fix="git status") for n in range(30)
    ]
    packet = seal_packet(draft_packet(make_evidence()), state(*many))
    assert len(packet.settle_first) <= 10
    assert packet.omitted["settle_first"] >= 20
    assert len(packet.clean_state.blocking) == 20
