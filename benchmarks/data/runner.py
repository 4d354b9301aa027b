"""What the runner itself costs: against a plain loop, and with two processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.data import reference
from passdown.data.engine.ingest import find_inputs, list_files
from passdown.data.engine.pipeline import Pipeline
from passdown.data.engine.processes import Processes
from passdown.data.engine.run import run_stage
from passdown.data.engine.shards import read_batches, shards_in, written
from passdown.data.engine.stage import Stage
from passdown.data.engine.steps import STEPS
from passdown.data.records import Reject

Row = dict[str, Any]
Given = TypeVar("Given")
Made = TypeVar("Made")


class _Timed(Processes):
    """Processes that tell how much processor time was spent in them, from their start on.

    As many sums as work at a time: what one process spent is added to the smallest.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.spent = [0.0] * workers
        self._known: dict[int, float] = {}

    def results(self, function: Callable[[Given], Made], items: list[Given]) -> Iterator[Made]:
        """Yield the results, and keep the times."""
        for made, process, total in super().results(partial(_timed, function), items):
            if process != os.getpid():
                least = self.spent.index(min(self.spent))
                self.spent[least] += total - self._known.get(process, 0.0)
                self._known[process] = total
            yield made


def _timed(function: Callable[[Given], Made], item: Given) -> tuple[Made, int, float]:
    made = function(item)
    return made, os.getpid(), time.process_time()


def make(folder: Path, count: int, shards: int) -> None:
    """Write `count` trajectories in so many files, and the list of them with a shard for each."""
    (folder / "rows").mkdir(parents=True)
    each = -(-count // shards)
    for number in range(shards):
        (folder / f"rows/{number}.jsonl").write_bytes(b"".join(reference.rows(each, first=number * each)))
    for number, entry in enumerate(find_inputs([folder / "rows"])):
        list_files([entry], folder / f"list-{number}")
        (folder / "files").mkdir(exist_ok=True)
        (folder / f"list-{number}/part-00000.parquet").rename(folder / f"files/part-{number:05}.parquet")


def _loop(stage: Stage, source: Path, target: Path) -> None:
    """What somebody would write who has no runner: read, work, write."""
    work = stage.work()
    for path in shards_in(source):
        with written(target / path.name) as writer:
            for batch in read_batches(path):
                for made in work(batch):
                    if not isinstance(made, Reject):
                        writer.write(made)


def overhead(folder: Path, count: int) -> Iterator[Row]:
    """Compare the steps from reading to samples under the runner with a plain loop over the same stages.

    What the runner's other processes spend counts as well, but for the one that they are forked from.
    """
    make(folder, count, 4)
    best = {"loop": float("inf"), "runner": float("inf")}
    for turn in range(3):
        for name in ("loop", "runner") if turn % 2 else ("runner", "loop"):
            best[name] = min(best[name], _looped(folder) if name == "loop" else _run(folder))
    more = 100 * (best["runner"] / best["loop"] - 1)
    yield {"what": "runner against a plain loop, all steps", "measured": round(more, 1), "goal": 10, "unit": "% more",
           "loop_s": round(best["loop"], 2), "runner_s": round(best["runner"], 2),
           "ratio": round((1.1 * best["loop"]) / best["runner"], 2)}  # fmt: skip


def _looped(folder: Path) -> float:
    began = time.process_time()
    for step in STEPS:
        _loop(step.stage(Pipeline(source=[]), folder), folder / step.reads, folder / f"loop-{step.writes}")
    return time.process_time() - began


def _run(folder: Path) -> float:
    began = time.process_time()
    with _Timed(1) as processes:
        for step in STEPS:
            (folder / step.writes / "manifest.jsonl").unlink(missing_ok=True)
            stage = step.stage(Pipeline(source=[]), folder)
            run_stage(stage, folder / step.reads, folder / step.writes, processes=processes)
    return time.process_time() - began + sum(processes.spent)


def scaling(folder: Path, count: int) -> Iterator[Row]:
    """Run every step in one process at a time and in two, and compare.

    The wall time counts on a quiet machine. By processor time a run takes what its busier process takes, and this one.
    """
    make(folder, count, 8)
    pipeline = Pipeline(source=[])
    wall: dict[int, float] = {}
    cpu: dict[int, float] = {}
    for workers in (1, 2):
        with _Timed(workers) as processes:
            began, spent = time.monotonic(), time.process_time()
            for step in STEPS:
                stage = step.stage(pipeline, folder)
                (folder / step.writes / "manifest.jsonl").unlink(missing_ok=True)
                run_stage(stage, folder / step.reads, folder / step.writes, processes=processes)
            wall[workers] = time.monotonic() - began
            cpu[workers] = time.process_time() - spent + max(processes.spent)
    for what, of in (("wall time", wall), ("processor time", cpu)):
        times = of[1] / of[2]
        yield {"what": f"two processes against one, by {what}", "measured": round(times, 2), "goal": 1.7,
               "unit": "times", "one_s": round(of[1], 1), "two_s": round(of[2], 1), "ratio": round(times / 1.7, 2),
               "load": round(os.getloadavg()[0], 1)}  # fmt: skip
