"""Judge files by a world's hidden tests, really run in a copy that is thrown away."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from passdown.data.worlds.desk import as_bytes, desk
from passdown.data.worlds.model import World

_RUNNER = """
import io, json, sys, unittest
sys.path.insert(0, "")
class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = []
    def addSuccess(self, test):
        self.passed.append(test.id())
result = Result()
suite = unittest.defaultTestLoader.loadTestsFromName("tests.test_hidden")
out, sys.stdout = sys.stdout, io.StringIO()
suite.run(result)
with open(sys.argv[1], "w", encoding="utf-8") as stream:
    json.dump(result.passed, stream)
"""


class Verdict(Struct, frozen=True, kw_only=True):
    """Which hidden tests passed. `resolved`: all that judge the task, and all that passed before; `error` when none
    could be run."""

    resolved: bool
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    error: str = ""


def verify(files: Mapping[str, str] | Mapping[str, bytes], world: World) -> Verdict:
    """Return the verdict of the world's hidden tests on these files (of the whole tree)."""
    wanted = (*world.fail_to_pass, *world.pass_to_pass)
    with desk(world.id, {**as_bytes(files), **as_bytes(world.hidden)}) as place:
        report = place.home / "report.json"
        ended = place.end_of([sys.executable, "-S", "-s", "-c", _RUNNER, str(report)])
        if not report.is_file():
            error = ended.error or ended.err.head[-500:] or f"ended with {ended.code}"
            return Verdict(resolved=False, passed=(), failed=wanted, error=error)
        ran = frozenset(msgspec.json.decode(report.read_bytes(), type=list[str]))
    failed = tuple(test for test in wanted if test not in ran)
    return Verdict(resolved=not failed, passed=tuple(test for test in wanted if test in ran), failed=failed)
