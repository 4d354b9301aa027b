"""The two shelves of a repository, read as one store.

The project shelf, `<output>/<folder>/handoff.json|md`, lies in the working tree and travels with git. The local shelf,
`passdown/packets/<folder>/…` in git's common directory, is shared by all worktrees and never leaves this machine.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from passdown.config import Config
from passdown.errors import FormatError, PassdownError, UnsafeError
from passdown.io.files import join_inside, read_bounded
from passdown.model.finding import Finding
from passdown.store.archive import last_turn
from passdown.store.chain import PacketHead, ShelfName, StoredPacket

PACKET_LIMIT = 256 << 10
"""Largest handoff.json that is read, in bytes; ours are capped at 24 KB."""

LOCAL_FOLDER = "passdown/packets"
LOCK = "passdown/lock"

NAMES = ("handoff.json", "handoff.md")


class Shelves(Struct, frozen=True, kw_only=True):
    """Where a repository's packets lie; `lock` is what every writer of either shelf holds."""

    project: Path
    local: Path
    lock: Path

    def folder(self, name: ShelfName) -> Path:
        """Return a shelf's folder."""
        return self.local if name == "local" else self.project


class Store(Struct, frozen=True, kw_only=True):
    """The packets of both shelves, each id once, in order of shelf and name; what could not be read; what a killed
    writer left (files before the folders they lie in).
    """

    packets: tuple[StoredPacket, ...] = ()
    findings: tuple[Finding, ...] = ()
    leftovers: tuple[Path, ...] = ()


def shelf(root: Path, config: Config) -> Path:
    """Return the folder of the project's packets. Raises `UnsafeError` when it leads outside the repository."""
    try:
        return join_inside(root, config.output)
    except UnsafeError as error:
        where = f"output = {config.output!r} in the configuration"
        raise UnsafeError(error.what, where=where, next_step=error.next_step) from error


def shelves(root: Path, common_dir: Path, config: Config) -> Shelves:
    """Return the shelves of a worktree, given git's common directory.

    Raises `UnsafeError` when the project's leads outside the repository or the local one is a symlink.
    """
    local = common_dir / LOCAL_FOLDER
    for place in (local.parent, local):
        if place.is_symlink():
            raise UnsafeError("is a symlink; not following it", where=str(place), next_step="Remove the link.")
    return Shelves(project=shelf(root, config), local=local, lock=common_dir / LOCK)


def read_store(places: Shelves) -> Store:
    """Return the union of both shelves: a packet on both is the project's, archived when one of them is."""
    found: dict[str, StoredPacket] = {}
    findings: list[Finding] = []
    leftovers: list[Path] = []
    for name, folder in (("project", places.project), ("local", places.local)):
        packets, off, left = _scan(folder, "local" if name == "local" else "project")
        findings += off
        leftovers += left
        for packet in packets:
            first = found.get(packet.head.packet_id)
            found[packet.head.packet_id] = _both(first, packet) if first is not None else packet
    return Store(packets=tuple(found.values()), findings=tuple(findings), leftovers=tuple(leftovers))


def read_head(path: Path) -> PacketHead:
    """Read a packet's head. Raises `FormatError` when it is none."""
    return decode_head(read_bounded(path, PACKET_LIMIT), path.name)


def decode_head(data: bytes, name: str) -> PacketHead:
    """Return the head of a packet's JSON. Raises `FormatError`, naming the file, when it is none."""
    try:
        return msgspec.json.decode(data, type=PacketHead)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"is not a handoff packet: {error}", where=name) from error


def private(folder: Path, places: Shelves) -> None:
    """Make a folder of the local shelf, and those above it, for this user alone. Raises `UnsafeError` for a symlink."""
    for place in (places.local.parent, places.local, folder):
        if place.is_symlink():
            raise UnsafeError("is a symlink; not writing through it", where=str(place), next_step="Remove the link.")
        place.mkdir(parents=True, exist_ok=True, mode=0o700)


def remove_leftovers(store: Store) -> None:
    """Remove what a killed writer left on the shelves: staged files, and folders that hold nothing.

    Call it under the store's lock, with a store that was read under it.
    """
    for path in store.leftovers:
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        else:
            path.unlink(missing_ok=True)


def _both(first: StoredPacket, second: StoredPacket) -> StoredPacket:
    """Return one packet out of two files of the same content; a copy that is superseded says so for both."""
    status = "active" if (first.head.status, second.head.status) == ("active", "active") else "superseded"
    head = structs.replace(first.head, status=status, supersedes=first.head.supersedes or second.head.supersedes)
    archived = first.archived or second.archived
    return structs.replace(first, head=head, archived=archived, copies=(*first.copies, second.path))


def _scan(folder: Path, name: ShelfName) -> tuple[list[StoredPacket], list[Finding], list[Path]]:
    packets: list[StoredPacket] = []
    findings: list[Finding] = []
    leftovers: list[Path] = []
    for folder_name, linked in _folders(folder):
        place = f"{folder}/{folder_name}"
        try:
            files = _names(place)
            if linked:
                if "handoff.json" in files:
                    raise UnsafeError("its folder is a symlink")
                continue
            leftovers += [Path(place, file) for file in files if is_staged(file)]
            if "handoff.json" in files:
                path = Path(place, "handoff.json")
                head = read_head(path)
                markers = [file for file in files if file.startswith("archive-")]
                turn = last_turn(head.packet_id, markers) if markers else 0
                packets.append(StoredPacket(path=path, head=head, shelf=name, archived=turn % 2 == 1))
            elif all(map(is_staged, files)):
                leftovers.append(Path(place))
        except (PassdownError, OSError) as error:
            where = f"{folder_name}/handoff.json"
            findings.append(Finding(code="packet.unreadable", severity="warn", detail=str(error), where=where))
    return packets, findings, leftovers


def is_staged(name: str) -> bool:
    """Say whether a file of a packet's folder is one that a killed writer staged."""
    return name.startswith((".handoff.json.", ".handoff.md.", ".archive-")) and name.endswith(".tmp")


def _folders(folder: Path) -> list[tuple[str, bool]]:
    """Return the names of the folders on a shelf, in order, and which are only links to one."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_symlink()) for entry in entries if _is_folder(entry))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def _names(place: str) -> list[str]:
    """Return the names of what lies in a folder, in order."""
    return sorted(os.listdir(place))  # noqa: PTH208 - thousands of folders: no object for each name
