"""Judge a tree by its hidden tests: a script of its own, which every exported task folder holds a copy of.

`python -I judge.py TREE LOGS` copies the tree, lays the files of `hidden/` (beside this script) over it, runs the tests
that `expected.json` names there in a process of its own, and writes `reward.json` to LOGS: `reward` is 1 when all of
them passed, `solved` the share of those that have to pass, `kept` of those that must not break.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 60
RUNNER = """
import asyncio, json, sys, unittest, unittest.mock
sys.path.insert(0, "")
class Result(unittest.TestResult):
    passed = []
    def addSuccess(self, test):
        self.passed.append(test.id())
names, report = json.loads(sys.argv[1]), sys.argv[2]
unittest.defaultTestLoader.loadTestsFromNames(names).run(Result())
with open(report, "w", encoding="utf-8") as stream:
    json.dump(Result.passed, stream)
"""
"""The modules of unittest are loaded before the tree can name one of its own like them."""


def passed_tests(tree: Path, hidden: Path, names: list[str]) -> list[str]:
    """Return which of the named tests pass in a copy of the tree with the hidden files laid over it."""
    with tempfile.TemporaryDirectory() as home:
        copy, report = Path(home, "tree"), Path(home, "report.json")
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__"))
        shutil.copytree(hidden, copy, dirs_exist_ok=True)
        argv = [sys.executable, "-I", "-S", "-B", "-c", RUNNER, json.dumps(names), str(report)]
        run = subprocess.Popen(
            argv, cwd=copy, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        try:
            run.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(run.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            run.wait()
        try:
            ran = json.loads(report.read_text("utf-8"))
        except (OSError, ValueError):
            return []
        return [name for name in names if name in ran]


def main(tree: Path, logs: Path) -> int:
    """Write the reward, and say what failed."""
    here = Path(__file__).resolve().parent
    expected = json.loads((here / "expected.json").read_text("utf-8"))
    wanted, keep = expected["fail_to_pass"], expected["pass_to_pass"]
    passed = set(passed_tests(tree, here / "hidden", [*wanted, *keep]))
    solved, kept = (sum(name in passed for name in names) / max(1, len(names)) for names in (wanted, keep))
    reward = {"reward": int(passed.issuperset([*wanted, *keep])), "solved": solved, "kept": kept if keep else 1.0}
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "reward.json").write_text(json.dumps(reward) + "\n", "utf-8")
    sys.stdout.write("".join(f"failed: {name}\n" for name in [*wanted, *keep] if name not in passed))
    sys.stdout.write(json.dumps(reward) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
