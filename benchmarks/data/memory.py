"""The peak memory of each process as the corpus grows: of the one that hands out, and of those that work for it.

Every corpus has trajectories of the same size. Run with a folder, names of steps and a number of processes, this module
is what is measured: it leaves the peaks in the folder.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.data import reference
from benchmarks.measure import run
from passdown.data.engine.ingest import BYTES_IN_SHARD, find_inputs, list_files
from passdown.data.engine.pipeline import Pipeline
from passdown.data.engine.processes import Processes
from passdown.data.engine.run import run_stage
from passdown.data.engine.steps import STEPS

Row = dict[str, Any]
Given = TypeVar("Given")
Made = TypeVar("Made")
LONGEST = 7
"""Steps of the trajectories with which memory is measured: many rows at little cost."""
MOST = 1000
"""Megabytes that a process may have at most."""
_UNIT = 1 << 20 if sys.platform == "darwin" else 1 << 10
_DECIDED = "read,quality,sign,decide"


class _Watched(Processes):
    """Processes that tell their peak."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.peaks: dict[int, float] = {}

    def results(self, function: Callable[[Given], Made], items: list[Given]) -> Iterator[Made]:
        """Yield the results, and keep the peaks."""
        for made, process, peak in super().results(partial(_watched, function), items):
            self.peaks[process] = peak
            yield made


def _watched(function: Callable[[Given], Made], item: Given) -> tuple[Made, int, float]:
    made = function(item)
    return made, os.getpid(), _peak()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _UNIT


def memory(folder: Path, few: int, many: int) -> Iterator[Row]:
    """Compare the peaks for sizes of the corpus: to the step that sees the whole set over all rows, else over fewer."""
    yield from _grown(folder, "read to decide", _DECIDED, 1, (few, many // 5, many))
    yield from _grown(folder, "read to decide", _DECIDED, 2, (few, many))
    whole = ",".join(step.name for step in STEPS)
    yield from _grown(folder, "read to build", whole, 1, (few, many // 5))


def _grown(folder: Path, what: str, names: str, workers: int, counts: tuple[int, ...]) -> Iterator[Row]:
    told = [
        _measured(folder / f"{what.replace(' ', '-')}-{workers}-{count}", names, workers, count) for count in counts
    ]
    for who, whose in (("largest worker", "workers"), ("the one that hands out", "parent")):
        peaks = {count: max(one[whose].values()) for count, one in zip(counts, told, strict=True) if one[whose]}
        if len(peaks) < 2:  # with one worker little work is done by the one that hands out
            continue
        first, most = next(iter(peaks.values())), max(peaks.values())
        sizes = " and ".join(f"{count:,}" for count in peaks)
        yield {"what": f"peak memory, {what}, {who} of {workers}, {sizes} rows",
               "measured": round(100 * (most / first - 1), 1), "goal": 15, "unit": "% more",
               "peaks_mb": [round(peak) for peak in peaks.values()], "most_mb": MOST,
               "processes": [len(one["workers"]) for one in told],
               "ratio": round(min(1.15 * first / most, MOST / most), 2)}  # fmt: skip


def _measured(place: Path, names: str, workers: int, count: int) -> dict[str, dict[str, float]]:
    place.mkdir(parents=True)
    reference.write(place / "rows.jsonl", count, LONGEST)
    run([sys.executable, "-m", "benchmarks.data.memory", str(place), names, str(workers)])
    (place / "rows.jsonl").unlink()
    told: dict[str, dict[str, float]] = json.loads((place / "peaks.json").read_bytes())
    return told


def main() -> None:
    """Run the steps over `rows.jsonl` in a folder."""
    folder, names, workers = Path(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3])
    rows, pipeline = folder / "rows.jsonl", Pipeline(source=[])
    list_files(find_inputs([rows]), folder / "files", min(BYTES_IN_SHARD, rows.stat().st_size // workers + 1))
    with _Watched(workers) as processes:
        for step in STEPS:
            if step.name in names:
                run_stage(step.stage(pipeline, folder), folder / step.reads, folder / step.writes, processes=processes)
    own = os.getpid()
    peaks = {process: peak for process, peak in processes.peaks.items() if process != own}
    if workers > 1 and len(peaks) < workers:
        raise RuntimeError(f"of {workers} processes only {len(peaks)} worked")
    (folder / "peaks.json").write_text(json.dumps({"parent": {own: _peak()}, "workers": peaks}))


if __name__ == "__main__":
    main()
