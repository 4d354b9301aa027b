"""Measure what the design asks of `passdown data`: rates for each core, the runner, memory, and datatrove beside it.

Every line has what was measured, the goal, and a ratio that is 1 or more where the goal is reached. Times are processor
times, the best of several rounds. datatrove is measured where an interpreter that has it is named (see `peer.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data.memory import memory
from benchmarks.data.peers import against_peer
from benchmarks.data.rates import rates
from benchmarks.data.runner import overhead, scaling

GROUPS = ("rates", "peer", "overhead", "scaling", "memory")


def measure(folder: Path, rows: int, many: int, python: str, only: Sequence[str] = GROUPS) -> Iterator[dict[str, Any]]:
    """Yield every line of the table, or those of some groups."""
    groups: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "rates": lambda: rates(folder, max(4, rows // 4)),
        "peer": lambda: against_peer(folder / "peer", rows, python),
        "overhead": lambda: overhead(folder / "overhead", max(8, rows // 2)),
        "scaling": lambda: scaling(folder / "scaling", rows),
        "memory": lambda: memory(folder / "memory", max(10, many // 50), many),
    }
    for name in only:
        yield from groups[name]()


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(prog="benchmarks.data", description=__doc__)
    parser.add_argument("--rows", type=int, default=60, help="trajectories of the reference size")
    parser.add_argument(
        "--many", type=int, default=50_000, help="short trajectories for memory; the few are a fiftieth"
    )
    parser.add_argument("--peer", default=sys.executable, metavar="PYTHON", help="an interpreter that has datatrove")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, help="groups of lines, by default all")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--folder", help="where to put the files")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        for line in measure(Path(place), given.rows, given.many, given.peer, given.only):
            print(json.dumps(line) if given.json else _shown(line), flush=True)


def _shown(line: dict[str, Any]) -> str:
    more = ", ".join(
        f"{name} {line[name]}" for name in line if name not in ("what", "measured", "goal", "unit", "ratio")
    )
    goal = f"goal {line['goal']}, ratio {line['ratio']}" if line.get("goal") else ""
    return f"{line['what']:<70} {line['measured']:>8} {line['unit']:<15} {goal:<28} {more}".rstrip()


if __name__ == "__main__":
    main()
