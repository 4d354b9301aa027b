"""What of a command line runs tests, when the same line also changes files: `sed -i … && pytest`."""

from __future__ import annotations

from collections.abc import Sequence

from passdown.evidence.kinds import look_at
from passdown.evidence.shell import Part, split_shell

_MOST = 2000


def proving_part(command: str) -> str:
    """Return the part of a command that runs tests, without what changes files before or after it.

    It can be run again to prove the work; the whole line would edit, or commit, once more. A line that also changes
    its folder, or that only runs tests, is returned as it is.
    """
    if len(command) > _MOST or not ("&&" in command or ";" in command):
        return command
    parts = split_shell(command)
    tests, moving = _places(parts)
    if not tests or not moving or any(part.text.startswith(("cd ", "pushd ")) for part in parts):
        return command
    end = next((at for at in moving if at > tests[0]), len(parts))
    return _joined(parts[tests[0] : end])


def moves_first(parts: Sequence[Part]) -> bool:
    """Say whether all that changes files in a command line stands before the tests that it runs last."""
    tests, moving = _places(parts)
    return bool(tests and moving) and moving[-1] < tests[-1]


def _places(parts: Sequence[Part]) -> tuple[list[int], list[int]]:
    looks = [look_at(part.text) for part in parts]
    tests = [at for at, look in enumerate(looks) if look.kind == "test"]
    return tests, [
        at
        for at, look in enumerate(looks)
        if at not in tests and (look.moves or (look.kind == "vcs" and not look.reader))
    ]


def _joined(parts: Sequence[Part]) -> str:
    text = parts[0].text
    for part in parts[1:]:
        text += f"; {part.text}" if part.before == ";" else f" {part.before} {part.text}"
    return text
