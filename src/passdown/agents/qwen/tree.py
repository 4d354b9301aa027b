"""Which records a rewind left behind: those that are not on the way from the last one to the root."""

from __future__ import annotations

from pathlib import Path

from passdown.agents.qwen.records import LINK
from passdown.io.jsonl import open_log, read_file_lines
from passdown.io.log import BAD


def abandoned(path: Path, max_line: int) -> frozenset[int]:
    """Return the numbers of the lines that a rewind left behind. A log without a rewind is not decoded."""
    if not _holds(path, b'"rewind"'):
        return frozenset()
    parents: dict[str, str] = {}
    lines: list[tuple[int, str]] = []
    previous = last = ""
    for line in read_file_lines(path, max_line=max_line):
        try:
            link = LINK.decode(line.data or b"")
        except BAD:
            continue
        if not link.uuid:
            continue
        lines.append((line.number, link.uuid))
        if link.uuid not in parents:
            # A parent that is not there, or stands below its child, is damage: the record follows the one before it.
            known = link.parent_uuid is None or link.parent_uuid in parents
            parents[link.uuid] = (link.parent_uuid or "") if known else previous
        previous = link.uuid
        if link.type != "system" or link.subtype == "rewind":
            last = link.uuid
    kept = set()
    while last:
        kept.add(last)
        last = parents.get(last, "")
    tail = max((number for number, uuid in lines if uuid in kept), default=0)
    return frozenset(number for number, uuid in lines if uuid not in kept and number < tail)


def _holds(path: Path, wanted: bytes) -> bool:
    carry = b""
    with open_log(path) as stream:
        while chunk := stream.read(1 << 20):
            if wanted in carry + chunk:
                return True
            carry = chunk[-len(wanted) :]
    return False
