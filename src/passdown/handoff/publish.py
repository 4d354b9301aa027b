"""Publish a drafted packet on the project shelf: atomic, under the store's lock."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from passdown.errors import ConflictError, FormatError
from passdown.handoff.draft import Draft
from passdown.handoff.gather import Gathered, branch_on_shelf, previous_packet
from passdown.io.files import join_inside, lock, read_bounded, remove_staged, write_files
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.packet.encode import decode_packet, decode_plain, encode_plain
from passdown.packet.render import render_markdown
from passdown.store.packets import (
    PACKET_LIMIT,
    StoredPacket,
    exclude_mirror,
    read_store,
    remove_leftovers,
    shelf,
    shelves,
)


class Wrapped(Struct, frozen=True, kw_only=True):
    """What publishing did: repository-relative paths, Markdown first; `changed` are the ones whose bytes are new."""

    packet: Packet
    markdown: str
    paths: tuple[str, ...]
    changed: tuple[str, ...]
    findings: tuple[Finding, ...] = ()

    def headline(self) -> str:
        """Return one line for the person who wrapped."""
        if not self.changed:
            return f"unchanged: packet {self.packet.packet_id[:12]} already says this"
        return f"packet {self.packet.packet_id[:12]} ({self.packet.kind}). Next step: {self.packet.next_action.text}"

    def report(self) -> dict[str, Any]:
        """Return what `wrap --json` prints."""
        return {
            "schema_version": 1,
            "packet_id": self.packet.packet_id,
            "session_id": self.packet.session_id,
            "kind": self.packet.kind,
            "outcome": self.packet.outcome,
            "next_action": self.packet.next_action.text,
            "paths": self.paths,
            "changed": self.changed,
            "findings": self.findings,
        }


def publish(drafted: Draft) -> Wrapped:
    """Write the packet, its Markdown and the mirror, and mark the packet it supersedes. Atomic, under the store's lock.

    What an earlier run that was killed left half done is put right. Raises `ConflictError` when another passdown is
    writing, or has written since the evidence was gathered.
    """
    gathered, packet = drafted.gathered, drafted.packet
    root, config = gathered.root, gathered.config
    with lock(Path(gathered.repository.common_dir) / "passdown" / "lock"):
        store = read_store(shelves(root, Path(gathered.repository.common_dir), config))
        stored = store.packets
        _require_unchanged(gathered, stored)
        remove_leftovers(store)
        folder = drafted.same_as.parent if drafted.same_as else _free_folder(shelf(root, config), packet.session_id)
        files = [(folder / "handoff.json", drafted.json), (folder / "handoff.md", drafted.markdown.encode())]
        replaced = {packet.supersedes, *(other.head.supersedes for other in stored)} - {packet.packet_id}
        for old in stored:
            if old.head.status == "active" and old.head.packet_id in replaced:
                files += _superseded(old.path, config.heading_language)
        if config.mirror:
            files.append((join_inside(root, config.mirror), drafted.markdown.encode()))
            remove_staged(files[-1][0])
        changed = write_files(files)
        if config.mirror and (line := exclude_mirror(Path(gathered.repository.common_dir), config.mirror)):
            remove_staged(line[0])
            write_files([line])
    names = [path.relative_to(root).as_posix() for path, _ in (files[1], files[0])]
    return Wrapped(
        packet=packet,
        markdown=drafted.markdown,
        paths=(*names, *((config.mirror,) if config.mirror else ())),
        changed=tuple(path.relative_to(root).as_posix() for path in changed),
        findings=drafted.findings,
    )


def _require_unchanged(gathered: Gathered, stored: Sequence[StoredPacket]) -> None:
    now = previous_packet(stored, branch_on_shelf(gathered.root), gathered.topic)
    before = gathered.previous.packet_id if gathered.previous else None
    if (now.path if now else None, now.head.packet_id if now else None) != (gathered.previous_path, before):
        raise ConflictError(
            "another packet was written here in the meantime", next_step="Run `passdown wrap` again: it builds on it."
        )


def _free_folder(parent: Path, session_id: str) -> Path:
    """Return the packet's folder, with a number behind its name where another packet, readable or not, lies there."""
    name, number = session_id, 1
    while os.path.lexists(parent / name / "handoff.json"):
        number += 1
        name = f"{session_id}-{number}"
    return parent / name


def _superseded(path: Path, language: str) -> list[tuple[Path, bytes]]:
    """Return a packet's files with its status rewritten and nothing else; one that cannot be read stays as it is.

    The Markdown comes first: as long as the JSON still says `active`, the next wrap knows that there is work left.
    """
    try:
        plain = decode_plain(read_bounded(path, PACKET_LIMIT)) | {"status": "superseded"}
        data = encode_plain(plain)
        markdown = render_markdown(decode_packet(data), language=language)
    except FormatError:
        return []
    return [(path.with_name("handoff.md"), markdown.encode()), (path, data)]
