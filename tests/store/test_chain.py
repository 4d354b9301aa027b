"""Which packets are active, computed from what each says it supersedes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.model.lineage import Lineage
from passdown.store.chain import Chain, PacketHead, StoredPacket, _Ext, _Git, conflicts, heads


def stored(name: str, *, over: tuple[str, ...] = (), status: str = "active", topic: str = "t", archived: bool = False,
           branch: str | None = "b") -> StoredPacket:  # fmt: skip
    """A packet of a name that supersedes others."""
    head = PacketHead(
        packet_id=name, session_id=f"s-{name}", status=status, topic=topic, supersedes=over[0] if over else None,
        git=_Git(branch=branch), ext=_Ext(lineage=Lineage(of=over[1] if over[1:] else "", over=over[2:])),
    )  # fmt: skip
    return StoredPacket(path=Path(f"/{name}/handoff.json"), head=head, archived=archived)


def names(packets: list[StoredPacket]) -> list[str]:
    """Return ids in order."""
    return sorted(packet.packet_id for packet in packets)


def test_the_end_of_a_chain_is_active_whatever_the_files_say() -> None:
    packets = [stored("a"), stored("b", over=("a",)), stored("c", over=("b",))]
    assert names(heads(packets, "b")) == ["c"]
    assert [Chain(packets).state(packet) for packet in packets] == ["superseded", "superseded", "active"]


def test_a_packet_that_supersedes_something_unknown_is_active() -> None:
    assert names(heads([stored("b", over=("gone",))], "b")) == ["b"]


def test_two_successors_are_a_conflict_and_one_over_both_settles_it() -> None:
    packets = [stored("a"), stored("b", over=("a",)), stored("c", over=("a",))]
    [group] = conflicts(heads(packets, "b"))
    assert names(group) == ["b", "c"]
    packets.append(stored("d", over=("b", "c")))
    assert names(heads(packets, "b")) == ["d"]


def test_topics_and_branches_do_not_disturb_each_other() -> None:
    packets = [stored("a"), stored("b", topic="u"), stored("c", branch="other"), stored("d", branch=None)]
    assert conflicts(heads(packets, "b")) == []
    assert names(heads(packets, "b")) == ["a", "b"]
    assert names(heads(packets, "b", "u")) == ["b"]
    assert names(heads(packets, None)) == ["d"]


def test_an_archived_packet_is_not_active_but_still_supersedes() -> None:
    packets = [stored("a"), stored("b", over=("a",), archived=True)]
    assert heads(packets, "b") == []
    assert Chain(packets).state(packets[0]) == "superseded"


def test_a_circle_is_a_conflict_until_something_supersedes_it() -> None:
    packets = [stored("a", over=("b",)), stored("b", over=("a",))]
    assert names(heads(packets, "b")) == ["a", "b"]
    packets.append(stored("c", over=("a", "b")))
    assert names(heads(packets, "b")) == ["c"]


def test_a_packet_does_not_supersede_itself() -> None:
    assert names(heads([stored("a", over=("a",))], "b")) == ["a"]


EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


@settings(deadline=None, max_examples=200)
@given(EDGES)
def test_something_is_always_active(edges: list[tuple[int, int]]) -> None:
    """Whatever supersedes whatever: as long as no file says superseded, at least one packet is active."""
    packets = [stored(str(n), over=tuple(dict.fromkeys(str(old) for new, old in edges if new == n))) for n in range(8)]
    active = heads(packets, "b")
    assert active
    chain = Chain(packets)
    reached = chain.ancestors(packet.packet_id for packet in active)
    assert reached == {packet.packet_id for packet in packets}, "everything is an active packet or behind one"


def test_a_long_chain_is_walked_without_recursion() -> None:
    packets = [stored("0")] + [stored(str(n), over=(str(n - 1),)) for n in range(1, 5000)]
    assert names(heads(packets, "b")) == ["4999"]


@pytest.mark.parametrize("status", ["superseded", "archived", "whatever"])
def test_a_file_that_says_it_is_not_active_is_believed(status: str) -> None:
    assert heads([stored("a", status=status)], "b") == []
