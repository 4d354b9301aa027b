"""Find a packet on the shelf by whatever a person has at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from passdown.config import load_config
from passdown.errors import FormatError, StaleError, UsageError
from passdown.handoff.named import find_stored, only_head
from passdown.handoff.place import branch_on_shelf, find_root
from passdown.handoff.shelves import common_dir_of, store_of
from passdown.io.files import join_inside, lock, read_bounded, write_files
from passdown.model.packet import Packet
from passdown.packet.encode import decode_packet
from passdown.packet.render import render_markdown
from passdown.redact.neutralise import one_line
from passdown.repository.locate import locate
from passdown.store.shelves import PACKET_LIMIT

_MARKDOWN_LIMIT = 1 << 20


class FoundPacket(Struct, frozen=True, kw_only=True):
    """A packet, its file, and the language its headings are shown in; the worktree and the mirror, where known."""

    packet: Packet
    path: Path
    language: str = "en"
    root: Path | None = None
    mirror: Path | None = None


def find_packet(folder: Path, name: str = "") -> FoundPacket:
    """Find a packet: by file, packet id (or its beginning), session id; without a name, this branch's active one.

    Raises `NoEvidenceError` when there is none, `ConflictError` when several are active, `UsageError` for a wrong name.
    """
    if name and Path(name).is_file():
        path = Path(name)
        try:
            packet = decode_packet(read_bounded(path, PACKET_LIMIT))
        except FormatError as error:
            raise FormatError(error.what, where=error.where or name, next_step="Name a handoff.json.") from error
        root = locate(folder)
        language = load_config(root).heading_language if root is not None else "en"
        return FoundPacket(packet=packet, path=path, language=language)
    root = find_root(folder)
    config = load_config(root)
    packets = store_of(root, config).packets
    branch = branch_on_shelf(root)
    path = (find_stored(packets, branch, name) if name else only_head(packets, branch)).path
    packet = decode_packet(read_bounded(path, PACKET_LIMIT))
    mirror = join_inside(root, config.mirror) if config.mirror else None
    return FoundPacket(packet=packet, path=path, language=config.heading_language, root=root, mirror=mirror)


class Rendering(Struct, frozen=True, kw_only=True):
    """A file derived from a packet, by name, and whether it has the bytes it must have."""

    name: str
    state: Literal["same", "edited", "missing", "written"]


def check_rendering(found: FoundPacket) -> list[Rendering]:
    """Compare what is derived from a packet with what it renders to: its Markdown, and the mirror if it shows it.

    Raises `StaleError` naming those that differ; the JSON is never changed.
    """
    states = [Rendering(name=place.name, state=_state(place.path, found)) for place in _derived(found)]
    off = [one.name for one in states if one.state != "same"]
    if off:
        what = "is not what handoff.json renders to" if len(off) == 1 else "are not what handoff.json renders to"
        raise StaleError(what, where=", ".join(off), next_step="passdown show --render writes it anew from the JSON.")
    return states


def write_rendering(found: FoundPacket) -> list[Rendering]:
    """Write anew what is derived from a packet, and is missing or differs. Under the store's lock, atomic.

    Raises `ConflictError` when another passdown is writing.
    """
    off = [place for place in _derived(found) if _state(place.path, found) != "same"]
    if off and found.root is not None:
        with lock(common_dir_of(found.root) / "passdown" / "lock"):
            write_files([(place.path, _markdown(found)) for place in off])
    elif off:
        write_files([(place.path, _markdown(found)) for place in off])
    written = {place.name for place in off}
    return [Rendering(name=p.name, state="written" if p.name in written else "same") for p in _derived(found)]


class _Place(Struct, frozen=True):
    name: str
    path: Path


def _derived(found: FoundPacket) -> list[_Place]:
    """Return the packet's Markdown and, where it is this packet that the mirror shows, the mirror."""
    own = found.path.with_name("handoff.md") if found.path.name == "handoff.json" else None
    places = [_Place(_named(found, own), own)] if own is not None else []
    if found.mirror is not None and found.packet.packet_id.encode() in (_bytes(found.mirror) or b""):
        places.append(_Place(_named(found, found.mirror), found.mirror))
    return places


def _named(found: FoundPacket, path: Path) -> str:
    return path.relative_to(found.root).as_posix() if found.root and path.is_relative_to(found.root) else path.name


def _state(path: Path, found: FoundPacket) -> Literal["same", "edited", "missing"]:
    present = _bytes(path)
    return "missing" if present is None else "same" if present == _markdown(found) else "edited"


def _markdown(found: FoundPacket) -> bytes:
    return render_markdown(found.packet, language=found.language).encode()


def _bytes(path: Path) -> bytes | None:
    try:
        return read_bounded(path, _MARKDOWN_LIMIT)
    except FileNotFoundError:
        return None


def show_clue(packet: Packet, name: str) -> str:
    """Return one clue, at most 300 characters, with its anchors below. Raises `UsageError` for an unknown id."""
    for clue in packet.clues:
        if clue.id == name:
            anchors = [
                f"  {anchor}{'  (leads nowhere now)' if anchor in clue.broken else ''}" for anchor in clue.anchors
            ]
            return "\n".join([one_line(clue.text, 300), *(anchors or ["  (no anchor)"])])
    known = ", ".join(clue.id for clue in packet.clues) or "none"
    raise UsageError(f"no clue {one_line(name, 80)!r}", next_step=f"This packet has: {known}.")
