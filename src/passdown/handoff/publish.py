"""Publish a drafted packet on a shelf: atomic, under the store's lock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from passdown.errors import ConflictError
from passdown.handoff.commit import is_ignored, is_uncommitted
from passdown.handoff.draft import Draft
from passdown.handoff.gather import Gathered, previous_packet
from passdown.handoff.named import several_active
from passdown.handoff.shelves import Place, place_at, writing
from passdown.handoff.shelving import put_packet, repeat_packet
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.packet.encode import decode_packet, encode_plain
from passdown.packet.plain import plain_packet
from passdown.packet.render import render_markdown
from passdown.store.chain import ShelfName, StoredPacket, heads
from passdown.store.shelves import Store


class Wrapped(Struct, frozen=True, kw_only=True):
    """What publishing did: repository-relative paths, Markdown first; `changed` are the ones whose bytes are new."""

    packet: Packet
    markdown: str
    paths: tuple[str, ...]
    changed: tuple[str, ...]
    shelf: ShelfName = "project"
    findings: tuple[Finding, ...] = ()
    commit: str = ""
    uncommitted: bool = False

    def hint(self) -> str:
        """Return what to do so that the packet reaches another clone; empty where there is nothing to say."""
        if self.commit:
            return f"committed as {self.commit[:12]}; push the branch, and the others have it"
        if self.shelf == "local":
            return "it stays on this device; `passdown wrap` puts it into the project"
        return "it is not committed yet; `passdown wrap --commit` commits it and nothing else" * self.uncommitted

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
            "shelf": self.shelf,
            "paths": self.paths,
            "changed": self.changed,
            "commit": self.commit,
            "findings": self.findings,
        }


def publish(drafted: Draft, *, local: bool = False) -> Wrapped:
    """Write the packet, its Markdown and the mirror, and mark the packet it supersedes. Atomic, under the store's lock.

    `local` writes the local shelf instead of the project's. What a local packet says already is promoted to the
    project under the same id. What an earlier run that was killed left half done is put right. Raises `ConflictError`
    when another passdown goes on writing, or has written since the evidence was gathered.
    """
    gathered = drafted.gathered
    place = place_at(gathered.root, gathered.config, Path(gathered.repository.common_dir))
    with writing(place) as store:
        _require_unchanged(gathered, store.packets, place.branch)
        data = drafted.json
        known = {packet.packet_id for packet in store.packets}
        if drafted.same_as is None and drafted.packet.packet_id in known:
            before = gathered.previous.packet_id if gathered.previous else None
            over = (before,) if before else ()
            data = encode_plain(repeat_packet(store, plain_packet(drafted.packet), supersedes=before, over=over))
        shelved = put_packet(place, store, data, "local" if local else "project")
    packet = decode_packet(data)
    folder = shelved.packet.path.parent
    names = [place.name(folder / name) for name in ("handoff.md", "handoff.json")]
    mirrored = place.config.mirror and (place.root / place.config.mirror).exists()
    return Wrapped(
        packet=packet,
        markdown=render_markdown(packet, language=place.config.heading_language),
        shelf=shelved.packet.shelf,
        paths=(*names, *((place.config.mirror,) if mirrored else ())),
        changed=tuple(place.name(path) for path in shelved.changed),
        findings=(*drafted.findings, *_warnings(place, store, shelved.packet)),
        uncommitted=shelved.packet.shelf == "project" and is_uncommitted(place, names),
    )


def _require_unchanged(gathered: Gathered, stored: Sequence[StoredPacket], branch: str | None) -> None:
    now = previous_packet(stored, branch, gathered.topic)
    before = gathered.previous.packet_id if gathered.previous else None
    if (now.path if now else None, now.packet_id if now else None) != (gathered.previous_path, before):
        raise ConflictError(
            "another packet was written here in the meantime", next_step="Run `passdown wrap` again: it builds on it."
        )


def _warnings(place: Place, store: Store, new: StoredPacket) -> Iterator[Finding]:
    """Yield what the one who publishes should know: the shelf does not travel, or another packet is active, too."""
    if new.shelf == "project" and is_ignored(place, new.path):
        yield Finding(
            code="store.ignored",
            severity="warn",
            detail=f"git ignores {place.config.output}: the packet stays on this device",
            where=place.config.output,
            fix=f"git check-ignore -v {place.config.output}/x",
        )
    after = [new, *(packet for packet in store.packets if packet.packet_id != new.packet_id)]
    yield from several_active(heads(after, new.head.git.branch, new.head.topic))
