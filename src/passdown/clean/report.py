"""The result as it is kept: the summary a packet holds, and `clean_state.json` on the local shelf."""

from __future__ import annotations

from pathlib import Path

import msgspec

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import read_bounded, write_files
from passdown.model.clean import SCHEMA_VERSION, CleanState
from passdown.model.packet import CleanStateSummary

NAME = "clean_state.json"
LIMIT = 8 << 20
"""Largest clean_state.json that is read, in bytes."""


def summary_of(state: CleanState) -> CleanStateSummary:
    """Return what a packet says of the check: its fingerprint, what blocks, and the codes of the warnings."""
    found = [finding for check in state.checks for finding in check.findings]
    allowed = {override.code for override in state.overrides}
    warnings = {f.code for f in found if f.severity == "warn" or (f.severity == "block" and f.code in allowed)}
    return CleanStateSummary(
        checked=True,
        fingerprint=state.tree_fingerprint,
        blocking=list(state.blocking),
        warnings=sorted(warnings - set(state.blocking)),
    )


def encode_clean_state(state: CleanState) -> bytes:
    """Return the bytes of clean_state.json: sorted keys, two spaces."""
    return msgspec.json.format(msgspec.json.encode(state, order="sorted"), indent=2) + b"\n"


def shelf_path(common_dir: Path) -> Path:
    """Return where the local shelf keeps the result: in git's common folder, which never dirties the tree."""
    return common_dir / "passdown" / NAME


def write_clean_state(common_dir: Path, state: CleanState) -> Path:
    """Write the result to the local shelf, readable by its owner alone. Returns its path."""
    path = shelf_path(common_dir)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_files([(path, encode_clean_state(state))], mode=0o600)
    return path


def read_clean_state(common_dir: Path, fingerprint: str) -> CleanState | None:
    """Return the kept result when it was made for the tree with this fingerprint; None otherwise: check again."""
    try:
        data = read_bounded(shelf_path(common_dir), LIMIT)
        state = msgspec.json.decode(data, type=CleanState)
    except (OSError, UnsafeError, FormatError, msgspec.DecodeError, RecursionError):
        return None
    return state if state.tree_fingerprint == fingerprint and state.schema_version == SCHEMA_VERSION else None
