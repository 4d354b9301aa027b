"""Measure what architecture §5 bounds: packets from 5, 50 and 500 MB logs, cold starts, hooks, 50,000 files."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from benchmarks.hooks import hook_costs
from benchmarks.large import make_large
from benchmarks.logs import write_log, write_long_line, write_real_log
from benchmarks.measure import Cost, best, run

MB = 1_000_000

Row = dict[str, object]

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


def packet_cost(what: str, log: Path, root: Path, env: dict[str, str], *, times: int, agent: str = "") -> Row:
    """Time a packet of one log against a bare decode of the same lines. Goal: 2 × that + 0.15 s, and 48 MB."""
    bare = best([sys.executable, "-c", "pass"], 5, env=env)
    wrap = [sys.executable, "-m", "passdown", "-C", str(root), "wrap", "--dry-run", "--json", "--session", str(log)]
    cost = best([*wrap, "--agent", agent] if agent else wrap, times, env=env)
    row: Row = {"what": what, "bytes": log.stat().st_size, "cpu_s": round(cost.cpu, 3), "wall_s": round(cost.wall, 3),
                "peak_above_bare_mb": round(cost.peak - bare.peak, 1), "peak_goal_mb": 48}  # fmt: skip
    decode = best([sys.executable, "-c", _DECODE, str(log)], times, env=env)
    goal = 2 * (decode.cpu - bare.cpu) + 0.15
    return row | {"decode_cpu_s": round(decode.cpu - bare.cpu, 3), "goal_s": round(goal, 3),
                  "ratio": round((cost.cpu - bare.cpu) / goal, 2)}  # fmt: skip


def packets(folder: Path, sizes: list[int]) -> Iterator[Row]:
    """Measure packets of made logs of these sizes (MB), and of one with a 100 MB line."""
    root, env, log = _repository(folder), _environment(folder), folder / "bench.jsonl"
    for size in sizes:
        write_log(log, size * MB, str(root))
        yield packet_cost(f"packet of {size} MB", log, root, env, times=3 if size <= 50 else 1)
    write_long_line(log, 100 * MB, str(root))
    yield packet_cost("packet with a 100 MB line", log, root, env, times=1)


def real_packets(folder: Path, corpus: Path, size: int) -> Iterator[Row]:
    """Measure packets of real logs, strung together to `size` MB: many short commands, unlike the made ones."""
    root, env, log = folder / "project", _environment(folder), folder / "real.jsonl"
    for agent, pattern in (
        ("claude_code", "claude-code/*-*.jsonl"),
        ("codex", "codex/[abe]*.jsonl"),
        ("pi", "pi/raq*.jsonl"),
    ):
        sources = [
            path for path in sorted(corpus.glob(pattern)) if "fixture" not in path.name and "edge" not in path.name
        ]
        write_real_log(log, size * MB, sources)
        yield packet_cost(f"packet of {size} MB of real {agent} rows", log, root, env, times=3, agent=agent)


def starts(folder: Path) -> Iterator[Row]:
    """Time cold starts against the bare interpreter."""
    env = _environment(folder)
    bare = best([sys.executable, "-I", "-S", "-c", "pass"], 9, env=env)
    for words, goal in ((["--version"], 0.06), (["--help"], 0.2), (["schema"], 0.4)):
        cost = best([sys.executable, "-m", "passdown", *words], 9, env=env)
        yield {"what": f"passdown {' '.join(words)}", "cpu_s": round(cost.cpu, 3), "wall_s": round(cost.wall, 3),
               "times_bare": round(cost.cpu / bare.cpu, 1), "goal_s": goal}  # fmt: skip


_LARGE = (  # command, its words, the goal in seconds, whether `git status` comes off, exit codes that are answers
    ("check", ["check", "--base", "HEAD~1"], 2.0, True, (0, 3)), ("take", ["take"], 0.5, True, (0, 4)),
    ("status", ["status"], 0.2, False, (0,)),
)  # fmt: skip
_ROUNDS = 7


def large(folder: Path, files: int) -> Iterator[Row]:
    """Time commands in a large repository against what `git status` takes there.

    They take turns, so that a machine that is busy for a while is busy for all of them; the best of each counts.
    """
    root, env = folder / "large", _environment(folder)
    make_large(root, files)
    words = {name: [sys.executable, "-m", "passdown", *words] for name, words, *_ in _LARGE}
    costs: dict[str, list[Cost]] = {name: [] for name in ("git", *words)}
    for _ in range(_ROUNDS):
        plain = ["git", "status", "--porcelain=v2", "-uall"]
        costs["git"].append(run(plain, folder=root, env=env | {"GIT_OPTIONAL_LOCKS": "0"}))
        for name, _, _, _, codes in _LARGE:
            costs[name].append(run(words[name], folder=root, env=env, codes=codes))
    cpu = {name: min(cost.cpu for cost in found) for name, found in costs.items()}
    wall = {name: min(cost.wall for cost in found) for name, found in costs.items()}
    for name, _, goal, beyond, _ in _LARGE:
        off = "git" if beyond else ""
        yield {"what": f"passdown {name}, {files} files", "cpu_s": round(cpu[name], 3), "wall_s": round(wall[name], 3),
               "git_status_cpu_s": round(cpu["git"], 3), "git_status_wall_s": round(wall["git"], 3),
               "beyond_cpu_s": round(cpu[name] - cpu["git"], 3), "goal_s": goal,
               "ratio": round((cpu[name] - cpu.get(off, 0.0)) / goal, 2)}  # fmt: skip


def main() -> None:
    """Run the benchmarks and print one JSON object a line."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--sizes", default="5,50,500", help="sizes of the logs in MB")
    parser.add_argument("--files", type=int, default=50_000, help="files of the large repository")
    parser.add_argument("--corpus", type=Path, default=Path("../shared/corpus"), help="real logs, when they are there")
    parser.add_argument("--folder", help="where to put the logs (needs the largest size of free space)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as place:
        folder = Path(place)
        (folder / "home").mkdir()
        rows = [
            starts(folder),
            hook_costs(folder, _environment(folder)),
            large(folder, arguments.files),
            packets(folder, [int(size) for size in arguments.sizes.split(",")]),
        ]
        if arguments.corpus.is_dir():
            rows.append(real_packets(folder, arguments.corpus, 30))
        for row in chain.from_iterable(rows):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
