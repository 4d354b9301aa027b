"""Packets on disk: what is passdown's own in a project, and the store's parts under one roof.

Which packet is active is computed from the files; there is no index to go stale.
"""

from __future__ import annotations

from pathlib import Path

from passdown.agents.table import TABLE
from passdown.config import Config
from passdown.errors import UnsafeError
from passdown.model.pattern import lazy_pattern
from passdown.store.chain import PacketHead, StoredPacket, heads
from passdown.store.shelves import (
    PACKET_LIMIT,
    Shelves,
    Store,
    read_head,
    read_store,
    remove_leftovers,
    shelf,
    shelves,
)

__all__ = [
    "PACKET_LIMIT",
    "PacketHead",
    "Shelves",
    "Store",
    "StoredPacket",
    "check_slug",
    "exclude_mirror",
    "heads",
    "own_paths",
    "read_head",
    "read_store",
    "remove_leftovers",
    "shelf",
    "shelves",
]

_SLUG = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


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


def own_paths(config: Config) -> tuple[str, ...]:
    """Return the repository-relative paths that are passdown's own, or agents' logs, and never count as work."""
    mirror = (config.mirror,) if config.mirror else ()
    traces = (path for row in TABLE for path in row.traces)
    return (config.output.rstrip("/") + "/", ".ai/", *mirror, "clean_state.json", *traces)


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
