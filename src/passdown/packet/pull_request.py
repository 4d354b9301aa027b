"""A pull request's title and body from a packet: what a reviewer needs, readable without another file."""

from __future__ import annotations

from msgspec import structs

from passdown.model.packet import Packet
from passdown.packet import sections
from passdown.packet.escape import code
from passdown.packet.headings import words
from passdown.packet.receipts import receipts
from passdown.packet.sections import Room
from passdown.redact.neutralise import one_line

TITLE_LENGTH = 72
"""Most characters of a title: what the sites that host pull requests show on one line."""

_ORDER = (
    ("goal", sections.goal),
    ("completed", sections.completed),
    ("changed", sections.changed),
    ("decisions", sections.decisions),
    ("tests", sections.tests),
    ("verification", sections.verification),
    ("problems", sections.problems),
    ("questions", sections.questions),
    ("remaining", sections.remaining),
    ("next", sections.next_step),
    ("receipts", receipts),
)
_OPTIONAL = frozenset({"questions", "receipts"})
_ROOM = Room(100, 600, 30)
"""All that the packet holds: a reviewer has no handoff.json beside the text."""


def pull_request_title(packet: Packet) -> str:
    """Return a title of at most 72 characters, plain text on one line: the task and its goal, else the topic."""
    goal = one_line(packet.goal or packet.topic.replace("-", " "), 300)
    text = f"{packet.task_id}: {goal}" if packet.task_id and packet.goal else goal
    text = text.partition(". ")[0].rstrip(".")
    return text if len(text) <= TITLE_LENGTH else text[: TITLE_LENGTH - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def render_pull_request(packet: Packet, *, language: str = "en") -> str:
    """Return the body: goal, completed, changed files, decisions, tests, verification, known problems, remaining, next
    step. What is only of use on the machine it was written on, or while working, is left out.
    """
    names = words(language)
    pushed = [risk for risk in packet.open_risks if risk.code != "branch.unpushed"]  # a pull request has it pushed
    packet = structs.replace(packet, open_risks=pushed)
    lines: list[str] = []
    for key, section in _ORDER:
        body = section(packet, _ROOM)
        if body or key not in _OPTIONAL:
            lines += [f"## {names[key]}", *(body or [names["none"]]), ""]
    base, head = packet.git.base, packet.git.head
    span = f"{code(base[:12])}…{code(head[:12])}" if base and head else code(head[:12]) if head else "no commit yet"
    lines.append(f"{span} · {packet.kind} · passdown packet {code(packet.packet_id[:12])}")
    return "\n".join(lines) + "\n"
