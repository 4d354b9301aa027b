"""The project shelf: `<output>/<session_id>/handoff.json` and `handoff.md`, and the mirror of the active Markdown.

Which packet is active is computed from the files; there is no index to go stale.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from passdown.config import Config
from passdown.errors import FormatError, PassdownError, UnsafeError
from passdown.io.files import join_inside, read_bounded, remove_staged
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern

PACKET_LIMIT = 256 << 10
"""Largest handoff.json that is read, in bytes; ours are capped at 24 KB."""

_SLUG = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class _Git(Struct, frozen=True):
    branch: str | None = None
    head: str | None = None


class PacketHead(Struct, frozen=True, kw_only=True):
    """What the store needs to know of a packet without understanding the rest."""

    packet_id: str
    session_id: str
    status: str
    topic: str = ""
    supersedes: str | None = None
    git: _Git = _Git()


class StoredPacket(Struct, frozen=True, kw_only=True):
    """A packet file and its head."""

    path: Path
    head: PacketHead


def check_slug(value: str, what: str) -> str:
    """Return `value` when it may name a folder: letters, digits, `.`, `_`, `-`, at most 64, no leading dot.

    Raises `UnsafeError` otherwise.
    """
    if not _SLUG.fullmatch(value) or ".." in value:
        raise UnsafeError(
            f"{value!r} cannot be used as {what}",
            next_step="Use letters, digits, '.', '_' and '-', at most 64 characters, starting with a letter or digit.",
        )
    return value


def shelf(root: Path, config: Config) -> Path:
    """Return the folder of the project's packets. Raises `UnsafeError` when it leads outside the repository."""
    return join_inside(root, config.output)


def own_paths(config: Config) -> tuple[str, ...]:
    """Return the repository-relative paths that are passdown's own and never count as work."""
    mirror = (config.mirror,) if config.mirror else ()
    return (config.output.rstrip("/") + "/", ".ai/", *mirror, "clean_state.json")


def read_shelf(folder: Path) -> tuple[list[StoredPacket], list[Finding]]:
    """Return the packets of a shelf in name order, and what could not be read there."""
    packets: list[StoredPacket] = []
    findings: list[Finding] = []
    if not folder.is_dir():
        return packets, findings
    for path in sorted(folder.glob("*/handoff.json")):
        where = f"{path.parent.name}/{path.name}"
        try:
            if path.parent.is_symlink():
                raise UnsafeError("its folder is a symlink")
            packets.append(StoredPacket(path=path, head=read_head(path)))
        except (PassdownError, OSError) as error:
            findings.append(Finding(code="packet.unreadable", severity="warn", detail=str(error), where=where))
    return packets, findings


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed writer left on the shelf: staged files, and folders that hold nothing.

    Call it under the store's lock.
    """
    for place in [path for path in folder.glob("*") if path.is_dir() and not path.is_symlink()]:
        for name in ("handoff.json", "handoff.md"):
            remove_staged(place / name)
        if not any(place.iterdir()):
            place.rmdir()


def read_head(path: Path) -> PacketHead:
    """Read a packet's head. Raises `FormatError` when it is none."""
    data = read_bounded(path, PACKET_LIMIT)
    try:
        return msgspec.json.decode(data, type=PacketHead)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"is not a handoff packet: {error}", where=path.name) from error


def active_packets(packets: list[StoredPacket], branch: str | None, topic: str | None = None) -> list[StoredPacket]:
    """Return the heads of the chains for a branch (and topic): active, and superseded by no other packet here."""
    replaced = {packet.head.supersedes for packet in packets}
    return [
        packet
        for packet in packets
        if packet.head.status == "active"
        and packet.head.packet_id not in replaced
        and packet.head.git.branch == branch
        and (topic is None or packet.head.topic == topic)
    ]


def exclude_mirror(common_dir: Path, mirror: str) -> tuple[Path, bytes] | None:
    """Return the new content of git's own exclude file so that the mirror never shows up, None when it is there."""
    path = common_dir / "info" / "exclude"
    try:
        present = path.read_bytes()
    except FileNotFoundError:
        present = b""
    line = f"/{mirror}".encode()
    if line in present.splitlines():
        return None
    if present and not present.endswith(b"\n"):
        present += b"\n"
    return path, present + line + b"\n"
