"""Judge files by a world's hidden tests, really run in a copy that is thrown away."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from passdown.data.worlds.desk import TIMEOUT, as_bytes, desk
from passdown.data.worlds.model import World
from passdown.data.worlds.warm import warm

_JUDGE = """
import io, json, sys, unittest
class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = []
    def addSuccess(self, test):
        self.passed.append(test.id())
result = Result()
sys.stdout = io.StringIO()
unittest.defaultTestLoader.loadTestsFromName("tests.test_hidden").run(result)
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
    """Return the verdict of the world's hidden tests on these files (of the whole tree), in a process of its own."""
    wanted = (*world.fail_to_pass, *world.pass_to_pass)
    with desk(world.id, {**as_bytes(files), **as_bytes(world.hidden)}) as place:
        report, said = place.home / "report.json", place.home / "said"
        code = warm().run(["-c", _JUDGE, str(report)], place.folder, said, int(TIMEOUT))
        if not report.is_file():
            error = said.read_bytes()[-500:].decode("utf-8", "replace") if said.is_file() else ""
            return Verdict(resolved=False, passed=(), failed=wanted, error=error or f"ended with {code}")
        ran = frozenset(msgspec.json.decode(report.read_bytes(), type=list[str]))
    failed = tuple(test for test in wanted if test not in ran)
    return Verdict(resolved=not failed, passed=tuple(test for test in wanted if test in ran), failed=failed)
