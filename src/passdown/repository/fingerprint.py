"""The tree fingerprint: one hash that changes when HEAD or anything uncommitted changes."""

from __future__ import annotations

from collections.abc import Iterable

from passdown.model.digest import sha256


def tree_fingerprint(head: str, entries: Iterable[tuple[bytes, str, str]]) -> str:
    """Return the SHA-256 of HEAD's id and the (path, mode, blob) of every changed or untracked path, in hex.

    The order given does not matter. A deleted path has an empty mode and blob.
    """
    digest = sha256(head.encode() + b"\n")
    for path, mode, blob in sorted(entries):
        digest.update(f"{mode} {blob}\t".encode() + path + b"\0")
    return digest.hexdigest()
