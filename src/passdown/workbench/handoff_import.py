"""Handoff packets of the lessons (40 and 42) and hand-written HANDOVER.md files: claims, listed and not believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from passdown.config import OUTPUT_FOLDER, Config
from passdown.model.packet import SCHEMA
from passdown.workbench.document import MalformedError, Notes
from passdown.workbench.locate import File, exists, listing, read_file

SEVEN = ("summary", "changed_files", "commands_run", "failed_attempts", "open_risks", "next_action", "verdict_pointer")
"""The fields every packet of the lessons has."""

_PLACES = ("handoff.json", "workdir/handoff.json", "HANDOVER.md", "docs/HANDOVER.md", "workdir/HANDOVER.md")


def imported_packets(root: Path, config: Config, notes: Notes) -> list[File]:
    """Return the packets that other generators left, in path order; passdown's own, known by their schema, are not.

    One that cannot be read is reported, except in the folder of packets, which is the store's to check.
    """
    paths = [path for path in _PLACES if exists(root, path)]
    for folder in dict.fromkeys((config.output, OUTPUT_FOLDER)):
        for name in listing(root, folder):
            path = f"{folder}/{name}/handoff.json"
            if exists(root, path):
                paths.append(path)
    found: list[File] = []
    for path in sorted(set(paths)):
        try:
            file = read_file(root, path)
        except MalformedError as error:
            if path in _PLACES:
                own = Notes(path)
                own.refuse(error)
                notes.take(own.findings)
            continue
        if path.endswith(".md") or _is_lesson_packet(file.data):
            found.append(file)
    return found


def _is_lesson_packet(data: bytes) -> bool:
    try:
        value: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    if not isinstance(value, dict) or value.get("schema") == SCHEMA:
        return False
    return sum(name in value for name in SEVEN) >= 5 and "packet_id" not in value
