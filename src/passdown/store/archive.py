"""Archiving: small files beside a packet, named by their content, only ever added.

The n-th turn of a packet writes `archive-<n>-<hash>.json`; an odd turn archives it, an even one takes that back. The
same turn has the same name and bytes on every device, and nothing is ever changed or removed, so that git merges them
by itself in any order.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

from passdown.model.digest import sha256
from passdown.model.pattern import lazy_pattern

_NAME = lazy_pattern(r"archive-([1-9][0-9]{0,5})-[0-9a-f]{16}\.json")


def is_marker(name: str) -> bool:
    """Say whether a file's name is that of an archive marker."""
    return _NAME.fullmatch(name) is not None


def marker(packet_id: str, turn: int) -> tuple[str, bytes]:
    """Return the name and the bytes of a packet's marker for a turn."""
    state = "archived" if turn % 2 else "not archived"
    content = {"packet_id": packet_id, "schema_version": 1, "state": state, "turn": turn}
    data = msgspec.json.format(msgspec.json.encode(content, order="sorted"), indent=2) + b"\n"
    return f"archive-{turn}-{sha256(data).hexdigest()[:16]}.json", data


def last_turn(packet_id: str, names: Collection[str]) -> int:
    """Return a packet's last turn among the names of the files in its folder, 0 for none.

    The name alone says which packet's turn it is: nothing has to be read, and a mark of another packet does not count.
    """
    turns = sorted({int(found[1]) for name in names if (found := _NAME.fullmatch(name))}, reverse=True)
    present = set(names)
    return next((turn for turn in turns if marker(packet_id, turn)[0] in present), 0)


def markers_in(folder: Path) -> list[str]:
    """Return the names of the marker files in a packet's folder, in order."""
    return sorted(path.name for path in folder.glob("archive-*.json") if is_marker(path.name))
