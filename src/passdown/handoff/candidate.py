"""Which packet is meant: the one named, else the only active one of this branch, under its present or a former name."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec import Struct

from passdown.config import Config
from passdown.errors import PassdownError, StaleError
from passdown.handoff.named import find_stored, require_one
from passdown.handoff.place import branch_on_shelf
from passdown.handoff.shelves import store_of
from passdown.handoff.unwrapped import branches_with_packets
from passdown.io.files import is_inside, join_inside, read_bounded
from passdown.model.brief import Quote
from passdown.model.finding import Finding
from passdown.redact.neutralise import one_line
from passdown.store.chain import Chain, StoredPacket, heads
from passdown.store.shelves import PACKET_LIMIT, read_head
from passdown.takeover.history import former_names

_MARKDOWN_LIMIT = 1 << 20


class Candidate(Struct, frozen=True, kw_only=True):
    """A packet's bytes as they lie there, with the Markdown beside it and the mirror, where there are any.

    `successor` is the id of the packet on this shelf that supersedes it; `shown` the path to name to a reader.
    """

    path: Path
    data: bytes
    shown: str
    markdown: str | None = None
    mirror: str | None = None
    successor: str = ""


class Shelf(Struct, frozen=True, kw_only=True):
    """The packets of the project, and the branch as packets name it (None for a detached HEAD)."""

    root: Path
    config: Config
    branch: str | None
    stored: tuple[StoredPacket, ...] = ()
    findings: tuple[Finding, ...] = ()

    def others(self) -> list[Quote]:
        """Return the active packets of other branches, then the branches with packets that are not checked out here."""
        branches = sorted({p.head.git.branch or "" for p in self.stored if p.head.git.branch != self.branch})
        here = [
            Quote(text=one_line(branch or "a detached HEAD", 120), note=one_line(packet.head.packet_id[:12], 12))
            for branch in branches
            for packet in heads(self.stored, branch or None)
        ]
        waiting = branches_with_packets(self.root, self.config.output, time.time_ns() // 1_000_000)
        return [*here, *(Quote(text=name, note="git switch to it") for name in waiting)]


def open_shelf(root: Path, config: Config) -> Shelf:
    """Read both shelves. Raises `UnsafeError` when it leads outside the repository."""
    store = store_of(root, config)
    return Shelf(
        root=root, config=config, branch=branch_on_shelf(root), stored=store.packets, findings=store.findings
    )  # fmt: skip


def find_candidate(here: Shelf, name: str = "") -> Candidate | None:
    """Return the packet meant, None when this branch has none and none is named.

    Raises `UsageError` for a name that is none or several, `ConflictError` when several are active, `StaleError` for an
    archived one, `FormatError` for a file that is no packet, `UnsafeError` for a symlink.
    """
    if name and Path(name).is_file():
        return _read(here, Path(name), read_head(Path(name)).packet_id, own_file=True)
    chosen = _named(here, name) if name else _active(here)
    return _read(here, chosen.path, chosen.head.packet_id) if chosen is not None else None


def _named(here: Shelf, name: str) -> StoredPacket:
    chosen = find_stored(here.stored, here.branch, name)
    chain = Chain(here.stored)
    if chosen.archived and not chain.is_superseded(chosen):
        short = one_line(chosen.packet_id[:12], 12)
        raise StaleError(
            f"packet {short} is archived; nothing is to be taken from it",
            next_step=f"Read it with `passdown show {short}`; take it back with `passdown archive --undo {short}`.",
        )
    return chosen


def _active(here: Shelf) -> StoredPacket | None:
    chosen = heads(here.stored, here.branch)
    if not chosen and here.branch and any(stored.head.git.branch != here.branch for stored in here.stored):
        former = former_names(here.root, here.branch)
        chosen = [packet for name in sorted(former) for packet in heads(here.stored, name)]
    require_one(chosen, here.branch)
    return chosen[0] if chosen else None


def _last_successor(here: Shelf, packet_id: str) -> str:
    """Return the id at the end of the chain that begins at a packet, the packet that is to be taken in its stead."""
    chain, name, seen = Chain(here.stored), packet_id, {packet_id}
    while later := [packet.packet_id for packet in chain.successors(name) if packet.packet_id not in seen]:
        name = later[-1]
        seen.add(name)
    return "" if name == packet_id else name


def _read(here: Shelf, path: Path, packet_id: str, *, own_file: bool = False) -> Candidate:
    inside = is_inside(here.root, path)
    mirror = _text(join_inside(here.root, here.config.mirror)) if here.config.mirror and not own_file else None
    active = {packet.packet_id for packet in heads(here.stored, here.branch)}
    return Candidate(
        path=path,
        data=read_bounded(path, PACKET_LIMIT),
        shown=path.resolve().relative_to(here.root.resolve()).as_posix() if inside else path.name,
        markdown=_text(path.with_name("handoff.md")) if path.name == "handoff.json" else None,
        mirror=mirror if mirror is not None and packet_id in mirror else None,
        successor="" if packet_id in active else one_line(_last_successor(here, packet_id), 64),
    )


def _text(path: Path) -> str | None:
    try:
        return read_bounded(path, _MARKDOWN_LIMIT).decode("utf-8", "replace")
    except (OSError, PassdownError):
        return None
