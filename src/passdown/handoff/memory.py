"""Memory that lasts: what other packets of this repository hold for every topic, read from both shelves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from passdown.config import Config
from passdown.errors import PassdownError
from passdown.io.files import is_inside, join_inside, read_bounded
from passdown.model.brief import TakeoverReceipt
from passdown.model.finding import Finding
from passdown.model.identifier import content_id, normalize_text
from passdown.model.memory import PacketLine, Ranked, Remembered
from passdown.model.packet import Packet
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import Role
from passdown.packet.paths import is_relative
from passdown.redact.neutralise import one_line
from passdown.store.chain import StoredPacket
from passdown.store.shelves import PACKET_LIMIT
from passdown.takeover.memory import choose_memory
from passdown.takeover.outcome import past_takeovers
from passdown.takeover.validate import validate
from passdown.workbench.clues import read_clues
from passdown.workbench.document import Notes
from passdown.workbench.locate import candidates
from passdown.workbench.notes import read_log

MOST_PACKETS = 200
"""Most packets that are remembered from, the newest ones."""

_ARTIFACT = 4 << 20
_LINE = lazy_pattern(r":\d+(?:-\d+)?$")


class _Git(Struct, frozen=True):
    branch: str | None = None
    head: str | None = None


class _Line(Struct, frozen=True, kw_only=True):
    topic: str = ""
    outcome: str = "unknown"
    as_of: str | None = None
    git: _Git = _Git()


def packet_lines(stored: Iterable[StoredPacket], findings: list[Finding] | None = None) -> list[PacketLine]:
    """Return what history needs of each packet that can be read; what could not be is added to `findings`."""
    found = []
    for item in stored:
        try:
            line = msgspec.json.decode(read_bounded(item.path, PACKET_LIMIT), type=_Line)
        except (msgspec.DecodeError, RecursionError, PassdownError, OSError) as error:
            where = f"{item.path.parent.name}/{item.path.name}"
            if findings is not None:
                findings.append(Finding(code="packet.unreadable", severity="warn", detail=str(error), where=where))
            continue
        found.append(
            PacketLine(
                packet_id=one_line(item.packet_id, 64), replaces=item.head.replaces(),
                branch=one_line(line.git.branch or "", 120), topic=one_line(line.topic, 64),
                outcome=one_line(line.outcome, 20), as_of=one_line(line.as_of or "", 20),
                status="archived" if item.archived else one_line(item.head.status, 20),
                head=one_line(line.git.head or "", 64),
            )
        )  # fmt: skip
    return found


def recall(
    root: Path,
    stored: Sequence[StoredPacket],
    lines: Sequence[PacketLine],
    receipts: Sequence[TakeoverReceipt],
    *,
    packet: Packet | None = None,
    withdrawn: Iterable[str] = (),
    tokens: int,
) -> tuple[Ranked, ...]:
    """Return the memories for a brief of so many tokens; what its own `packet` says is left out.

    Only the newest packet of each chain speaks, and only when its id is right: what a later packet left out was
    withdrawn, and nobody may slip a wish in by editing a file.
    """
    taken = past_takeovers(receipts, lines)
    gone = {normalize_text(text) for text in withdrawn}
    memories = [m for m in _memories(root, stored, lines, packet) if normalize_text(m.text) not in gone]
    return choose_memory(memories, taken, tokens=tokens, known=_said(packet)) if memories else ()


def withdrawn(root: Path, config: Config) -> list[str]:
    """Return the texts that this project's own files take back: decisions and wishes withdrawn, clues unpinned."""
    notes = Notes()
    made = read_log(_artifact(root, config, "decisions"), notes).decisions
    clues = read_clues(_artifact(root, config, "clues"), notes)
    taken_back = [row.choice for row in made if row.state == "withdrawn"]
    return taken_back + [row.text for row in clues if row.withdrawn or not row.pinned]


def _artifact(root: Path, config: Config, role: Role) -> bytes:
    for path in candidates(role, config):
        try:
            return read_bounded(join_inside(root, path), _ARTIFACT)
        except (PassdownError, OSError):
            continue
    return b""


def _said(packet: Packet | None) -> list[str]:
    if packet is None:
        return []
    return [
        *(item.text for item in packet.preferences), *(item.choice for item in packet.decisions),
        *(clue.text for clue in packet.clues), *(line.text for line in packet.directives),
    ]  # fmt: skip


def _memories(
    root: Path, stored: Sequence[StoredPacket], lines: Sequence[PacketLine], packet: Packet | None
) -> Iterator[Remembered]:
    replaced = frozenset[str]().union(*(line.replaces for line in lines))
    if packet is not None:
        replaced |= {packet.packet_id, packet.supersedes or ""}
    ends = {line.packet_id: line.as_of for line in lines if line.packet_id not in replaced}
    newest = sorted((item for item in stored if item.packet_id in ends), key=lambda item: ends[item.packet_id])[::-1]
    for item in newest[:MOST_PACKETS]:
        try:
            valid = validate(read_bounded(item.path, PACKET_LIMIT))
        except (PassdownError, OSError):
            continue
        if not valid.tampered:
            yield from _of_packet(root, valid.packet)


def _of_packet(root: Path, packet: Packet) -> Iterator[Remembered]:
    for wish in packet.preferences:
        yield _remembered(root, packet, "preference", wish.text, by=wish.by, standing=wish.by == "human")
    for made in packet.decisions:
        if made.state == "made" and made.basis == "declared":
            why = "" if made.why.startswith("reason not recorded") else made.why
            yield _remembered(root, packet, "decision", made.choice, by=made.by, why=why, anchors=_paths([made.anchor]))
    for clue in packet.clues:
        if clue.pinned:
            yield _remembered(root, packet, "clue", clue.text, standing=True, anchors=_paths(clue.anchors))


def _remembered(
    root: Path,
    packet: Packet,
    kind: Literal["preference", "decision", "clue"],
    text: str,
    *,
    by: str = "",
    why: str = "",
    standing: bool = False,
    anchors: tuple[str, ...] = (),
) -> Remembered:
    return Remembered(
        id=content_id("M-", f"{kind} {text}"), kind=kind, text=one_line(text, 300), why=one_line(why, 200), by=by,
        standing=standing, anchors=anchors, broken=tuple(a for a in anchors if not _leads_somewhere(root, a)),
        branch=one_line(packet.git.branch or "", 120), topic=one_line(packet.topic, 64), packet_id=packet.packet_id,
        at=one_line(packet.as_of or "", 20),
    )  # fmt: skip


def _paths(anchors: Iterable[str]) -> tuple[str, ...]:
    """Return the anchors that name files of the repository."""
    return tuple(anchor for anchor in anchors if anchor and _is_path(_LINE.sub("", anchor)))


def _is_path(path: str) -> bool:
    return is_relative(path) and ("/" in path or "." in path)


def _leads_somewhere(root: Path, anchor: str) -> bool:
    try:
        place = join_inside(root, _LINE.sub("", anchor))
        return is_inside(root, place) and place.exists()
    except (PassdownError, OSError, ValueError):
        return False
