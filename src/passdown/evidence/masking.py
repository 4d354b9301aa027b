"""Whose exit code a shell text gives back: that of the command meant, or of what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence

from passdown.evidence.kinds import FILTERS, look_at
from passdown.evidence.shell import Part, has_pipefail

_TRIVIAL = frozenset({"true", ":", "echo", "printf", "exit", "date", "pwd"})


def is_masking(parts: Sequence[Part]) -> bool:
    """Say whether the exit code is that of something else than the command meant: a filter, `|| true`, `; echo`."""
    if len(parts) < 2:
        return False
    for index, part in enumerate(parts[1:], 1):
        if part.before == "&&":
            continue
        program = look_at(part.text).program
        if part.before == "||" and program in _TRIVIAL:
            return True
        if part.before == "|" and program in FILTERS and not has_pipefail(parts):
            return True
        if part.before == ";" and (program in _TRIVIAL or program in FILTERS) and index + 1 == len(parts):
            return True
    return False
