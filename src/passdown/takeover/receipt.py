"""Takeover receipts: small files on the local shelf, named by time and content, that say who took which packet.

They lie in `passdown/receipts/` in git's common directory, mode 0600, shared by all worktrees. They never travel.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from passdown.agents.nested import agent_around
from passdown.errors import FormatError, UnsafeError
from passdown.io.files import read_bounded, write_files
from passdown.model.digest import sha256
from passdown.model.finding import Finding
from passdown.model.moment import to_milliseconds
from passdown.model.pattern import lazy_pattern

if TYPE_CHECKING:
    from passdown.model.brief import TakeoverReceipt

FOLDER = "passdown/receipts"
LIMIT = 16 << 10
"""Largest receipt that is read, in bytes."""

MOST = 1_000
"""Most receipts that are read, the newest ones."""

_FILE = lazy_pattern(r"\d{8}T\d{6}Z-([0-9a-f]{32})\.json")


def who_takes(variables: Mapping[str, str]) -> str:
    """Return the id of the agent in whose shell this runs, as its environment says, or `human`."""
    around = agent_around(variables)
    return around.agent if around is not None else "human"


def receipts_folder(common_dir: Path) -> Path:
    """Return the folder of the receipts of a repository, given git's common directory."""
    return common_dir / FOLDER


def write_receipt(common_dir: Path, receipt: TakeoverReceipt) -> Path:
    """Write a receipt and return its path. Raises `UnsafeError` when the folder, or the file, is a symlink."""
    folder = receipts_folder(common_dir)
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise UnsafeError("is a symlink; not writing through it", where=str(place), next_step="Remove the link.")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = msgspec.json.format(msgspec.json.encode(receipt, order="sorted"), indent=2) + b"\n"
    stamp = receipt.at.replace("-", "").replace(":", "")
    path = folder / f"{stamp}-{sha256(data).hexdigest()[:32]}.json"
    write_files([(path, data)], mode=0o600)
    return path


def read_receipts(common_dir: Path, most: int = MOST) -> tuple[list[TakeoverReceipt], list[Finding]]:
    """Return the newest receipts, newest first, and what was wrong with those that could not be read."""
    folder = receipts_folder(common_dir)
    if folder.is_symlink() or folder.parent.is_symlink() or not folder.is_dir():
        return [], []
    receipts: list[TakeoverReceipt] = []
    findings: list[Finding] = []
    for name in _newest_first(folder)[:most]:
        try:
            receipts.append(_read(folder / name))
        except (FormatError, UnsafeError, OSError) as error:
            findings.append(Finding(code="receipt.unreadable", severity="warn", detail=str(error), where=name))
    return receipts, findings


def _newest_first(folder: Path) -> list[str]:
    """Return the receipts' names by the second they say, and within it by when they were written."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if _FILE.fullmatch(entry.name):
                stamp, _, _ = entry.name.partition("-")
                found.append((stamp, entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
    return [name for _, _, name in sorted(found, reverse=True)]


def _read(path: Path) -> TakeoverReceipt:
    from passdown.model.brief import TakeoverReceipt  # most repositories have no receipt, and no use for its records

    data = read_bounded(path, LIMIT)
    named = _FILE.fullmatch(path.name)
    if named is None or not sha256(data).hexdigest().startswith(named[1]):
        raise FormatError("is not what its name says", where=path.name)
    try:
        receipt = msgspec.json.decode(data, type=TakeoverReceipt)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"is no receipt: {error}", where=path.name) from error
    if to_milliseconds(receipt.at) is None:
        raise FormatError("has no time", where=path.name)
    return receipt


def last_takeover(receipts: list[TakeoverReceipt], branch: str, topic: str = "") -> TakeoverReceipt | None:
    """Return the takeover that the present work on a branch began with, given receipts newest first.

    That is the first receipt of the packet taken last: who reads a brief again does not begin anew. Only packets that
    lie on a shelf count, and only those found ready.
    """
    fit = [
        receipt
        for receipt in receipts
        if receipt.branch == branch
        and receipt.shelved
        and receipt.verdict in ("ready", "ready_with_drift")
        and (not topic or receipt.topic == topic)
    ]
    return next((receipt for receipt in reversed(fit) if receipt.packet_id == fit[0].packet_id), None)
