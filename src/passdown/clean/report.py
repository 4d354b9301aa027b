"""The result as it is kept: `clean_state.json` on the local shelf."""

from __future__ import annotations

from pathlib import Path

import msgspec

from passdown.io.files import write_files
from passdown.model.clean import CleanState

NAME = "clean_state.json"
LIMIT = 8 << 20
"""Largest clean_state.json that is read, in bytes."""


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
