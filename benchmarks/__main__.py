"""Measure what architecture §5 bounds: packets from 5, 50 and 500 MB logs, a 100 MB line, and cold starts."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.logs import write_log, write_long_line
from benchmarks.measure import best

MB = 1_000_000

_DECODE = """
import sys, msgspec
decode = msgspec.json.decode
with open(sys.argv[1], "rb") as stream:
    for line in stream:
        decode(line)
"""


def _repository(folder: Path) -> Path:
    root = folder / "project"
    root.mkdir()
    person = ["-c", "user.name=b", "-c", "user.email=b@example.com"]
    for argv in (["init", "-q", "-b", "main"], [*person, "commit", "-q", "--allow-empty", "-m", "start"]):
        subprocess.run(
            ["git", *argv], cwd=root, check=True, env=os.environ | {"GIT_COMMITTER_DATE": "2026-11-20T08:00:00Z"}
        )
    return root


def _environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "GIT_CONFIG_GLOBAL": os.devnull}


def packets(folder: Path, sizes: list[int]) -> list[dict[str, object]]:
    """Time a packet of logs of these sizes (MB) against a bare decode of the same bytes. Goal: 2 × + 0.15 s, 48 MB."""
    root, env = _repository(folder), _environment(folder)
    bare = best([sys.executable, "-c", "pass"], 5, env=env)
    rows: list[dict[str, object]] = []
    for size in [*sizes, -100]:
        log = folder / "bench.jsonl"
        written = write_log(log, size * MB, str(root)) if size > 0 else write_long_line(log, -size * MB, str(root))
        times = 3 if size <= 50 else 1
        wrap = [sys.executable, "-m", "passdown", "-C", str(root), "wrap", "--dry-run", "--json", "--session", str(log)]
        cost = best(wrap, times, env=env)
        row: dict[str, object] = {"what": f"packet of {size} MB" if size > 0 else f"packet with a {-size} MB line",
                                  "bytes": written, "cpu_s": round(cost.cpu, 3), "wall_s": round(cost.wall, 3),
                                  "peak_above_bare_mb": round(cost.peak - bare.peak, 1),
                                  "peak_goal_mb": 48}  # fmt: skip
        if size > 0:
            decode = best([sys.executable, "-c", _DECODE, str(log)], times, env=env)
            goal = 2 * (decode.cpu - bare.cpu) + 0.15
            row |= {"decode_cpu_s": round(decode.cpu - bare.cpu, 3), "goal_s": round(goal, 3),
                    "ratio": round((cost.cpu - bare.cpu) / goal, 2)}  # fmt: skip
        rows.append(row)
        log.unlink()
    return rows


def starts(folder: Path) -> list[dict[str, object]]:
    """Time cold starts against the bare interpreter."""
    env = _environment(folder)
    bare = best([sys.executable, "-I", "-S", "-c", "pass"], 9, env=env)
    rows = []
    for words, goal in ((["--version"], 0.06), (["--help"], 0.2), (["schema"], 0.4)):
        cost = best([sys.executable, "-m", "passdown", *words], 9, env=env)
        rows.append({"what": f"passdown {' '.join(words)}", "cpu_s": round(cost.cpu, 3), "wall_s": round(cost.wall, 3),
                     "times_bare": round(cost.cpu / bare.cpu, 1), "goal_s": goal})  # fmt: skip
    return rows


def main() -> None:
    """Run the benchmarks and print one JSON object a line."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--sizes", default="5,50,500", help="sizes of the logs in MB")
    parser.add_argument("--folder", help="where to put the logs (needs the largest size of free space)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as place:
        folder = Path(place)
        (folder / "home").mkdir()
        for row in [*starts(folder), *packets(folder, [int(size) for size in arguments.sizes.split(",")])]:
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
