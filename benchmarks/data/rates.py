"""Rates of single steps in this process, per second of processor time, on made trajectories of the reference size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from benchmarks.data import reference
from passdown.data.engine.viewing import through_gates
from passdown.data.points.detect import detect
from passdown.data.points.select import select
from passdown.data.records import Cut, Cuts, Graph, SampleKind, Trajectory
from passdown.data.replay.blobs import BlobStore
from passdown.data.replay.virtual import Replay, replay
from passdown.data.samples.build import build_samples
from passdown.data.sources.table import read_source
from passdown.data.subtasks.graph import subtasks
from passdown.data.views.gates import known_at
from passdown.data.views.shared import Shared
from passdown.data.views.table import NAMES, views_at

Row = dict[str, Any]
ROUNDS = 3
KINDS: list[SampleKind] = ["sft", "rl", "reconstruction", "echo", "plain"]


class Goal(NamedTuple):
    """A rate that is asked for: its name, its unit, how many a second of processor time."""

    what: str
    unit: str
    least: float


GOALS = {
    "parse": Goal("parse and canonicalise", "trajectories/s", 150),
    "replay": Goal("replay in a virtual file system", "trajectories/s", 50),
    "detect": Goal("detect points", "trajectories/s", 400),
    "views": Goal("write views", "views/s", 300),
    "fan-out": Goal("points, views, gates, samples: 4 points x 4 views, without replay", "trajectories/s", 20),
}


class Clock:
    """Sums up processor time by name; of several rounds the best counts, as a busy machine only adds."""

    def __init__(self) -> None:
        self.best: dict[str, float] = {}

    def time(self, name: str, work: Callable[[], Any], count: Callable[[Any], int]) -> Any:
        """Do the work once; keep the rate when it is the best so far."""
        began = time.process_time()
        made = work()
        spent = time.process_time() - began
        self.best[name] = max(self.best.get(name, 0.0), count(made) / spent)
        return made


def row(goal: Goal, measured: float) -> Row:
    """Return a line of the table. A ratio of 1 or more reaches the goal."""
    return {"what": goal.what, "measured": round(measured, 1), "goal": goal.least, "unit": goal.unit,
            "ratio": round(measured / goal.least, 2)}  # fmt: skip


def rates(folder: Path, count: int) -> Iterator[Row]:
    """Measure every step on `count` trajectories a round; every round has others, so that nothing is remembered."""
    clock = Clock()
    for number in range(ROUNDS + 1):
        path = folder / f"reference-{number}.jsonl"
        several = 2 if number == 0 else count  # the first round loads what is loaded once
        path.write_bytes(b"".join(reference.rows(several, first=number * count)))
        warm = Clock() if number == 0 else clock
        _round(path, warm, BlobStore(folder / "blobs"))
    for name, goal in GOALS.items():
        yield row(goal, clock.best[name])


def _round(path: Path, clock: Clock, store: BlobStore) -> None:
    runs: list[Trajectory] = clock.time("parse", lambda: list(read_source(path)), len)
    if not all(isinstance(run, Trajectory) for run in runs):
        raise RuntimeError("a made trajectory was not read")
    replays: list[Replay] = clock.time("replay", lambda: [replay(run) for run in runs], len)
    graphs = [subtasks(run, replayed) for run, replayed in zip(runs, replays, strict=True)]
    given = list(zip(runs, replays, graphs, strict=True))
    found = clock.time("detect", lambda: [detect(*one) for one in given], len)
    chosen = [select(marks, run.trajectory_id, 4) for marks, run in zip(found, runs, strict=True)]
    cuts = [
        Cuts(
            trajectory=run, graph=graph,
            cuts=tuple(Cut(point=point, snapshot=replayed.snapshot(point.k, store)) for point in points),
        )
        for (run, replayed, graph), points in zip(given, chosen, strict=True)
    ]  # fmt: skip
    clock.time("views", lambda: [view for one in cuts for views in _views(one) for view in views], len)
    clock.time("fan-out", lambda: [_fanned(*one, made) for one, made in zip(given, cuts, strict=True)], len)


def _views(cuts: Cuts) -> Iterator[tuple[Any, ...]]:
    yield from views_at(cuts.trajectory, [cut.point.k for cut in cuts.cuts], NAMES)


def _fanned(run: Trajectory, replayed: Replay, graph: Graph, made: Cuts) -> int:
    """Go from a parsed and replayed trajectory to samples; return how many."""
    points = select(detect(run, replayed, graph), run.trajectory_id, 4)
    ks, shared = [point.k for point in points], Shared(run.root)
    finished: list[Cut] = []
    views = views_at(run, ks, NAMES, shared=shared)
    for cut, written, known in zip(made.cuts, views, known_at(run, ks, shared), strict=True):
        passed, _ = through_gates(cut, written, known, None)
        finished.append(replace(cut, views=passed))
    samples = build_samples(
        replace(made, cuts=tuple(finished)), kinds=KINDS, per_trajectory=48, self_tails=0.3, seed=0
    )  # fmt: skip
    return len(samples)
