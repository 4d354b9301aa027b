"""A packet that operators changed is another packet: it has an id of its own, which anybody can work out again."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec import structs

from passdown.data.perturb.identity import derived_packet_id, packet_named_in
from passdown.data.perturb.table import NAMES
from passdown.data.prefix import cut
from passdown.data.records import Perturbed
from passdown.data.views.material import material_of
from passdown.data.views.preamble import parts
from passdown.data.views.table import build_view
from passdown.packet.identity import packet_id

PACKET = re.compile(r"(?s)# Handoff: .*?\n<!-- passdown packet [0-9a-f]{64} -->")


def shown(text: str) -> str:
    """Return the packet in a view, without its ids: what it says."""
    found = PACKET.search(text)
    assert found is not None
    return re.sub(r"packet `?[0-9a-f]+", "packet", found[0])


@pytest.fixture(scope="module")
def written(work: Any) -> str:
    """The id of the packet that was really written at the cut: the hash of its content."""
    packet = material_of(work.prefix).packet
    assert packet.packet_id == packet_id(packet) == packet_named_in(work.views["structured"])
    return packet.packet_id


@pytest.mark.parametrize("name", NAMES)
def test_two_packets_that_say_different_things_have_different_ids(work: Any, written: str, name: str) -> None:
    made = work.perturb(f"{name}@1")
    if not isinstance(made, Perturbed):
        return
    named = packet_named_in(made.view)
    if PACKET.search(made.view.text) and shown(made.view.text) == shown(work.views["structured"].text):
        assert (named, made.packet_id, made.derived_from) == (written, "", "")  # the tree or the task was changed
    elif name == "stale_note":
        earlier = structs.replace(work.prefix, k=1, steps=work.prefix.steps[:1])
        assert (named, made.packet_id) == (material_of(earlier).packet.packet_id, "")  # a real packet, only older
    else:
        assert made.derived_from == written
        assert named in ("", made.packet_id)  # a section that went may have taken the last line with it
        assert made.packet_id == derived_packet_id(made.view, written, made.packet_id) != written
        assert written not in made.view.text
        assert written[:12] not in made.view.text
        assert f"packet `{made.packet_id[:12]}`" in made.view.text
        assert work.perturb(f"{name}@1") == made


def test_at_least_these_operators_change_what_a_packet_says(work: Any) -> None:
    changed = {name for name in NAMES if getattr(work.perturb(f"{name}@1"), "packet_id", "")}
    assert changed >= {"drop_fact", "drop_section", "blur", "flipped_test_status"}


def test_a_packet_that_was_old_and_then_changed_comes_from_the_old_one(work: Any, written: str) -> None:
    made = work.done("stale_note@0.3", "drop_fact@1")
    at = int(made.truths[0].params["as_of"])
    earlier = structs.replace(work.prefix, k=at, steps=work.prefix.steps[:at])
    assert made.derived_from == material_of(earlier).packet.packet_id != written
    assert (
        packet_named_in(made.view) == made.packet_id == derived_packet_id(made.view, made.derived_from, made.packet_id)
    )


def test_what_stands_beside_the_packet_does_not_make_it_another(work: Any, written: str) -> None:
    view = work.views["structured"]
    below = structs.replace(view, text=view.text + "- One of these statements may be wrong\n")
    assert packet_named_in(below) == written
    assert derived_packet_id(below, written) == derived_packet_id(view, written)


def test_a_trace_that_prints_such_a_line_names_no_packet(work: Any, script: Any) -> None:
    line = f"<!-- passdown packet {'a' * 64} -->"
    trajectory = script().asks("Mend it.").runs("cat handoff.md", line).trajectory()
    view = build_view("trace", cut(trajectory, len(trajectory.steps)))
    assert line in parts(view.text).notes
    assert packet_named_in(view) == ""
