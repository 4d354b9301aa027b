"""The mirror: the Markdown of the branch's active packet at a fixed path, for whoever can only read a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from passdown.errors import FormatError
from passdown.handoff.shelves import Place
from passdown.io.files import join_inside, read_bounded, remove_staged, write_files
from passdown.io.git import try_git
from passdown.model.pattern import lazy_pattern
from passdown.packet.encode import decode_packet
from passdown.packet.render import render_markdown
from passdown.redact.neutralise import one_line
from passdown.store.chain import StoredPacket, conflicts, heads
from passdown.store.packets import exclude_mirror
from passdown.store.shelves import PACKET_LIMIT

_PLAIN = lazy_pattern(r"[A-Za-z0-9._/-]+")

_NONE = "# No handoff packet is active on this branch\n\nRun `passdown take`.\n"


def follow_active(
    place: Place, packets: Sequence[StoredPacket], prefer: str = "", *, local: bool = False
) -> list[Path]:
    """Let the mirror follow the active packet of the branch, and return it when it changed.

    `prefer` is the packet that was just written. Several active ones of a topic are named instead of one being chosen.
    A packet of the local shelf is mirrored only where a mirror is already, and never into a file that git tracks; when
    only the local shelf was written (`local`), such a file is not touched at all.
    """
    if not place.config.mirror:
        return []
    path = join_inside(place.root, place.config.mirror)
    tracked = try_git(place.root, "ls-files", "--error-unmatch", "--", f":(top,literal){place.config.mirror}")[0] == 0
    if tracked and local:
        return []
    text = _text(place, [p for p in packets if p.shelf == "project" or not tracked], prefer, present=path.exists())
    changed = []
    if text is not None:
        remove_staged(path)
        changed = write_files([(path, text.encode())])
    _keep_out_of_the_way(place)
    return changed


def _text(place: Place, packets: Sequence[StoredPacket], prefer: str, *, present: bool) -> str | None:
    active = heads(packets, place.branch)
    if several := conflicts(active):
        return _several([packet for group in several for packet in group])
    if not active:
        return _NONE if present else None
    chosen = max(active, key=lambda packet: (packet.packet_id == prefer, packet.head.as_of or "", packet.packet_id))
    if chosen.shelf == "local" and not present:
        return None
    try:
        packet = decode_packet(read_bounded(chosen.path, PACKET_LIMIT))
    except FormatError:
        return None
    return render_markdown(packet, language=place.config.heading_language)


def _several(packets: Sequence[StoredPacket]) -> str:
    names = sorted(one_line(packet.packet_id[:12], 12) for packet in packets)
    lines = "".join(f"- `passdown show {name}`\n" for name in names)
    return f"# {len(names)} handoff packets are active on this branch\n\n{lines}\nRun `passdown resolve`.\n"


def _keep_out_of_the_way(place: Place) -> None:
    """Keep the mirror out of commits, and let git merge one that is tracked all the same without asking.

    A merge then leaves lines of both sides, which the next writer puts right: the mirror is derived.
    """
    wanted = [exclude_mirror(place.common_dir, place.config.mirror)]
    if _PLAIN.fullmatch(place.config.mirror):
        wanted.append(_added_line(place.common_dir / "info" / "attributes", f"/{place.config.mirror} merge=union"))
    for file in wanted:
        if file is not None:
            remove_staged(file[0])
            write_files([file])


def _added_line(path: Path, line: str) -> tuple[Path, bytes] | None:
    present = path.read_bytes() if path.is_file() else b""
    if line.encode() in present.splitlines():
        return None
    gap = b"" if not present or present.endswith(b"\n") else b"\n"
    return path, present + gap + line.encode() + b"\n"
