"""Run one pipeline in this process, in two processes and under Ray Data; say whether all made the same rows.

Not a part of the tests: Ray takes 630 MB. In an environment of its own:

    pip install -c constraints.txt -e '.[ray]'
    python tests/cluster_check/run.py --runs 130

Prints one JSON object and exits with 1 when any set of rows differs. With `--kill`, the run under Ray is killed once
half way and run again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.data.reference import rows

from passdown.data.engine.shards import set_hash
from passdown.data.engine.steps import STEPS

PIPELINE = """\
[[source]]
path = "runs"
licence = "MIT"
[[source]]
path = "worlds.txt"
format = "worlds"
[perturb]
per_cut = 2
"""


def make(folder: Path, runs: int, steps: int) -> Path:
    """Write files of made runs, some scripted runs in worlds, and the pipeline over both."""
    (folder / "runs").mkdir(parents=True)
    for number, row in enumerate(rows(runs, steps)):
        (folder / f"runs/{number:05}.json").write_bytes(row)
    (folder / "worlds.txt").write_text("durations-a careful\ndurations-b half_done\n")
    (folder / "p.toml").write_text(PIPELINE)
    return folder / "p.toml"


def run(file: Path, *words: str, kill_after: str = "") -> float:
    """Run the pipeline; with `kill_after`, kill it when that folder has a first shard. Returns the seconds it took."""
    began = time.monotonic()
    argv = [sys.executable, "-m", "passdown", "data", "pipeline", str(file), *words]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    while kill_after and process.poll() is None:
        if list((file.parent / "handoff-data" / kill_after).glob("part-*.parquet")):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return time.monotonic() - began
        time.sleep(0.01)
    _, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(errors.decode(errors="replace")[-2000:])
    return time.monotonic() - began


def hashes(file: Path) -> dict[str, str]:
    """Return the hash of the rows that each step made, and of those that it dropped."""
    out = file.parent / "handoff-data"
    made = {step.writes: set_hash([out / step.writes]) for step in STEPS}
    return made | {f"{step.writes}/rejects": set_hash([out / step.writes / "rejects"]) for step in STEPS}


def ingested(file: Path) -> list[str]:
    """Ingest the pipeline's runs in this process and under Ray; return the folders that differ."""
    made = []
    for name in ("local", "ray"):
        out = file.parent / f"ingested-{name}"
        argv = ["data", "ingest", str(file.parent / "runs"), "-o", str(out), "--backend", name]
        subprocess.run([sys.executable, "-m", "passdown", *argv], check=True, stdout=subprocess.DEVNULL)
        made.append({step.writes: set_hash([out / step.writes]) for step in STEPS[:4]})
    return [step for step in made[0] if made[0][step] != made[1][step]]


def main() -> int:
    """Compare the ways to run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=130, help="trajectories; 64 files make a shard")
    parser.add_argument("--steps", type=int, default=8, help="steps of each")
    parser.add_argument("--kill", action="store_true", help="kill the run under Ray once, and go on")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        first = make(Path(place) / "local", given.runs, given.steps)
        told: dict[str, object] = {"local": round(run(first), 1)}
        wanted = hashes(first)
        same = True
        for name, words in (("processes", ("--workers", "2")), ("ray", ("--backend", "ray"))):
            file = first.parent.parent / name / "p.toml"
            shutil.copytree(first.parent, file.parent, ignore=shutil.ignore_patterns("handoff-data"))
            if name == "ray" and given.kill:
                run(file, *words, kill_after="points")
            told[name] = round(run(file, *words), 1)
            found = hashes(file)
            differ = sorted(step for step in wanted if wanted[step] != found[step])
            told[f"{name}_differs_in"] = differ
            same = same and not differ
        told["ingest_differs_in"] = differ = ingested(first)
        same = same and not differ
        told["samples"] = wanted["samples"]
    print(json.dumps({"same": same, **told}))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
