"""handoff.md: a pure function of the packet, in a fixed order, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable

from passdown.model.packet import Packet
from passdown.packet import sections
from passdown.packet.escape import code
from passdown.packet.headings import words
from passdown.packet.receipts import receipts
from passdown.packet.sections import Room
from passdown.packet.tokens import estimate_tokens

TOKEN_BUDGET = 1_500
"""Most tokens of handoff.md, by `estimate_tokens`."""

_Section = Callable[[Packet, Room], list[str]]

_ORDER: tuple[tuple[str, _Section, bool], ...] = (
    ("next", sections.next_step, True),
    ("questions", sections.questions, False),
    ("load", sections.load_first, False),
    ("goal", sections.goal, True),
    ("directives", sections.directives, False),
    ("completed", sections.completed, True),
    ("remaining", sections.remaining, True),
    ("changed", sections.changed, True),
    ("decisions", sections.decisions, True),
    ("tests", sections.tests, True),
    ("problems", sections.problems, True),
    ("verification", sections.verification, True),
    ("commands", sections.commands, False),
    ("clues", sections.clues, False),
    ("summaries", sections.summaries, False),
    ("local", sections.local_only, False),
    ("receipts", receipts, True),
)
"""Sections in order, and whether an empty one is said to be empty rather than left away."""

_DROPPABLE = frozenset({"commands", "summaries"})

_ROOMS = (
    Room(12, 200, 12),
    Room(10, 160, 8),
    Room(8, 140, 6),
    Room(8, 120, 4),
    Room(6, 120, 4, optional=False),
    Room(6, 90, 0, optional=False, path=200),
    Room(4, 80, 0, optional=False, path=120),
    Room(3, 60, 0, optional=False, path=80),
    Room(2, 40, 0, optional=False, path=60),
    Room(1, 24, 0, optional=False, path=40),
    Room(1, 12, 0, optional=False, path=24),
)


def render_markdown(packet: Packet, *, language: str = "en") -> str:
    """Return handoff.md. Headings are in `language` (`en`, `zh`); texts are never translated.

    The most detailed form that stays within 1,500 estimated tokens is chosen; what is not shown is counted.
    """
    text = ""
    for room in _ROOMS:
        text = _render(packet, room, words(language))
        if estimate_tokens(text) <= TOKEN_BUDGET:
            break
    return text


def _render(packet: Packet, room: Room, names: dict[str, str]) -> str:
    lines = sections.title(packet, room, names["title"])
    for key, section, always in _ORDER:
        if key in _DROPPABLE and not room.optional:
            continue
        body = section(packet, room)
        if not body and not always:
            continue
        heading = f"## {names[key]}"
        if key == "changed" and packet.git.base:
            heading += f" (base {code(packet.git.base[:12])})"
        lines += [heading, *(body or [names["none"]]), ""]
    name = "".join(c for c in packet.packet_id if c in "0123456789abcdef")
    lines.append(f"<!-- passdown packet {name[:64]} -->")
    return "\n".join(lines) + "\n"
