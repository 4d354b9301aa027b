"""Runs of scripted agents in worlds of our own, made while they are read. The file names which: see `read_file`.

A line is `WORLD [SKILL [SEED]]`, with `*` for all worlds or all skills; without a skill all are meant, without a seed
0. Empty lines and what follows a `#` are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from passdown.data.records import Reject, Trajectory
from passdown.data.sources.origin import Origin
from passdown.data.sources.parts import Part

RUNS_IN_PART = 64
_MOST_BYTES = 1 << 20
_MOST_SEED = 1_000_000


class _Asked(NamedTuple):
    """A run that a line asks for; without a world the line is none, and `skill` holds it."""

    line: int
    world: str
    skill: str
    seed: int = 0


def read_file(path: Path, origin: Origin) -> Iterator[Trajectory | Reject]:
    """Yield the runs that the lines of a file ask for, each line's in the order of the tables."""
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        yield origin.reject("unreadable", detail="not a list of worlds")
        return
    yield from (_run(asked, origin) for asked in _asked(path))


def read_part(path: Path, origin: Origin, part: Part) -> Iterator[Trajectory | Reject]:
    """Yield some of them: `part` counts runs."""
    yield from (_run(asked, origin) for asked in islice(_asked(path), part.begin, part.end))


def parts_of(path: Path) -> list[Part]:
    """Return parts of so many runs that several processes can make them; none where the whole is not more than one."""
    if path.stat().st_size > _MOST_BYTES:
        return []
    count = sum(1 for _ in _asked(path))
    return [Part(begin=at, end=min(at + RUNS_IN_PART, count)) for at in range(0, count, RUNS_IN_PART)]


def _run(asked: _Asked, origin: Origin) -> Trajectory | Reject:
    if not asked.world:
        return origin.reject("unreadable", asked.line, asked.skill)
    from passdown.data.worlds.run import predecessor_run

    run = predecessor_run(asked.world, asked.skill, asked.seed)
    return msgspec.structs.replace(run, provenance=origin.at(asked.line))


def _asked(path: Path) -> Iterator[_Asked]:
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            yield from _expanded(words, number)


def _expanded(words: list[str], number: int) -> Iterator[_Asked]:
    from passdown.data.worlds.run import PREDECESSORS
    from passdown.data.worlds.table import WORLDS

    world, skill, seed, *more = [*words, *("*", "0")[len(words) - 1 :]]
    worlds = WORLDS if world == "*" else tuple(name for name in WORLDS if name == world)
    skills = tuple(PREDECESSORS) if skill == "*" else tuple(name for name in PREDECESSORS if name == skill)
    known = seed.isdecimal() and seed.isascii() and len(seed) < 8 and int(seed) <= _MOST_SEED
    if not (worlds and skills and known) or more:
        yield _Asked(number, "", " ".join(words)[:200])
        return
    yield from (_Asked(number, name, chosen, int(seed)) for name in worlds for chosen in skills)
