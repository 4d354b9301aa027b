"""Runs of scripted agents in worlds of our own, made while they are read. The file names which: see `read_file`.

A line is `WORLD [SKILL [SEED]]`, with `*` for all worlds or all skills; without a skill all are meant, without a seed
0. Empty lines and what follows a `#` are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from passdown.data.records import Reject, Trajectory
from passdown.data.sources.origin import Origin

_MOST_BYTES = 1 << 20
_MOST_SEED = 1_000_000


def read_file(path: Path, origin: Origin) -> Iterator[Trajectory | Reject]:
    """Yield the runs that the lines of a file ask for, each line's in the order of the tables."""
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        yield origin.reject("unreadable", detail="not a list of worlds")
        return
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            yield from _runs(words, number, origin)


def _runs(words: list[str], number: int, origin: Origin) -> Iterator[Trajectory | Reject]:
    from passdown.data.worlds.run import PREDECESSORS, predecessor_run
    from passdown.data.worlds.table import WORLDS

    world, skill, seed, *more = [*words, *("*", "0")[len(words) - 1 :]]
    worlds = WORLDS if world == "*" else tuple(name for name in WORLDS if name == world)
    skills = tuple(PREDECESSORS) if skill == "*" else tuple(name for name in PREDECESSORS if name == skill)
    known = seed.isdecimal() and seed.isascii() and len(seed) < 8 and int(seed) <= _MOST_SEED
    if not (worlds and skills and known) or more:
        yield origin.reject("unreadable", number, " ".join(words)[:200])
        return
    for name in worlds:
        for chosen in skills:
            run = predecessor_run(name, chosen, int(seed))
            yield msgspec.structs.replace(run, provenance=origin.at(number))
