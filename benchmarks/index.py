"""Measure the index of sessions: the first pass, the second, a list and a search, on made sessions of a given size."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.logs import made_rows
from benchmarks.measure import Cost, best, run

MB = 1_000_000

Row = dict[str, object]

_DECODE = """
import sys, msgspec, pathlib
decode = msgspec.json.decode
for path in pathlib.Path(sys.argv[1]).glob("*/*.jsonl"):
    with path.open("rb") as stream:
        for line in stream:
            decode(line)
"""

_FILL = """
import gc
gc.set_threshold(100_000, 50, 1000)  # as the command does
from passdown.sessions.index.fill import refresh
if __name__ == "__main__":
    refresh(processes=int(__import__("sys").argv[1]))
"""

_SAID = (
    "Go on with part {n}: the limit of each caller is kept in a bucket that refills once a minute.",
    "The tests are green now. I changed module_{n}.py so that a caller without a key gets the smaller bucket.",
    "第{n}部分的令牌桶每分钟补充一次，请检查限制。",
    "Warum schlägt test_{n} fehl? Bitte prüfe die Grenze für anonyme Aufrufer.",
)


def make_store(home: Path, sessions: int, size: int) -> int:
    """Write Claude Code sessions of `size` bytes in all into a hundred folders; return the bytes written.

    Each has its own seed, so that no two are alike; talk is about 3 % of the bytes, as in real logs.
    """
    chance = random.Random(11)
    written = 0
    for number in range(sessions):
        folder = home / ".claude/projects" / f"-work-project-{number % 100}"
        folder.mkdir(parents=True, exist_ok=True)
        identifier = f"{number:08x}-0000-4000-8000-{chance.getrandbits(48):012x}"
        wanted = max(1000, int(size / sessions * chance.choice((0.2, 0.5, 0.8, 1.0, 2.5))))
        path = folder / f"{identifier}.jsonl"
        written += _write_session(path, identifier, f"/work/project-{number % 100}", wanted, number)
        moment = 1_760_000_000 + number * 600
        os.utime(path, (moment, moment))
    return written


def _write_session(path: Path, identifier: str, cwd: str, size: int, seed: int) -> int:
    chance = random.Random(seed)
    written = count = 0
    with path.open("wb") as stream:
        for row in made_rows(cwd, chance):
            row["sessionId"] = identifier
            if isinstance(message := row["message"], dict) and "id" in message:
                message["id"] = f"{identifier}-{message['id']}"
            count += 1
            written += stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            if count % 2 == 0:
                text = chance.choice(_SAID).format(n=chance.randrange(10_000)) * chance.choice((2, 6, 10, 20))
                block = {"type": "text", "text": text}
                said = {**row, "uuid": f"s{count}", "type": "assistant", "message": {
                    "id": f"{identifier}-n{count}", "role": "assistant", "type": "message", "model": "m",
                    "content": [block], "usage": {"input_tokens": 1, "output_tokens": 9}}}  # fmt: skip
                said.pop("toolUseResult", None)
                written += stream.write(json.dumps(said, ensure_ascii=False).encode() + b"\n")
            if written >= size:
                return written
    return written


def measure(folder: Path, sessions: int, size: int) -> Iterator[Row]:
    """Make the sessions and measure all that acceptance asks for."""
    home = folder / "home"
    home.mkdir()
    written = make_store(home, sessions, size)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    store = home / ".claude/projects"
    bare = best([sys.executable, "-c", "pass"], 5, env=env)
    decoding = [sys.executable, "-c", _DECODE, str(store)]
    before = run(decoding, env=env)
    script = folder / "fill.py"
    script.write_text(_FILL)
    processes = len(os.sched_getaffinity(0))
    first = run([sys.executable, str(script), "0"], env=env)
    after = run(
        decoding, env=env
    )  # a machine's speed drifts: what is compared is measured around what it is compared to
    decode = Cost((before.cpu + after.cpu) / 2, (before.wall + after.wall) / 2, after.peak)
    index = home / ".local/share/passdown/index.sqlite"
    yield {"what": f"first pass over {written // MB} MB in {sessions} sessions", "processes": processes,
           "wall_s": round(first.wall, 2), "cpu_s": round(first.cpu, 2), "mb_per_s": round(written / MB / first.wall),
           "decode_wall_s": round(decode.wall, 2), "decode_cpu_s": round(decode.cpu - bare.cpu, 2),
           "share_of_decode": round(decode.wall / first.wall, 2),
           "share_by_cpu": round((decode.cpu - bare.cpu) * processes / first.cpu, 2), "goal_share": 0.33,
           "index_mb": index.stat().st_size // MB,
           "peak_mb": round(first.peak, 1), "peak_goal_mb": 100}  # fmt: skip
    second = best([sys.executable, str(script), "1"], 3, env=env)
    yield {"what": "second pass", "cpu_s": round(second.cpu, 3), "wall_s": round(second.wall, 3), "goal_s": 0.5}
    for words, goal in (
        (["usage", "--all"], 1.0), (["usage", "--all", "--by", "day"], 1.0),
        (["usage", "--all", "--by", "session"], 1.0),
        (["usage", "--all", "--since", "2026-11-20T09:05", "--by", "model"], 1.0),
        (["sessions", "--all"], 0.1), (["sessions", "--all", "--branch", "main", "--since", "2025-10-20"], 0.1),
        (["sessions", "search", "--all", "bucket"], 0.15), (["sessions", "search", "--all", "令牌"], 0.15),
        (["sessions", "search", "--all", "module_77*", "smaller"], 0.15),
    ):  # fmt: skip
        cost = best([sys.executable, "-m", "passdown", *words], 5, env=env, codes=(0, 4))  # 4: none in that time
        yield {"what": f"passdown {' '.join(words)}", "cpu_s": round(cost.cpu, 3),
               "wall_s": round(cost.wall, 3), "bare_python_s": round(bare.cpu, 3), "goal_s": goal}  # fmt: skip


def main() -> None:
    """Run the measurements and print one JSON object a line."""
    parser = argparse.ArgumentParser(prog="benchmarks.index", description=__doc__)
    parser.add_argument("--size", type=int, default=200, help="size of all logs together in MB; acceptance is 2000")
    parser.add_argument("--sessions", type=int, default=10_000, help="how many sessions")
    parser.add_argument("--folder", help="where to put them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as place:
        for row in measure(Path(place), arguments.sessions, arguments.size * MB):
            print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
