"""Judge files by a world's hidden tests, really run in a copy that is thrown away."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import msgspec
from msgspec import Struct

from passdown.data.worlds.desk import TIMEOUT, Desk, as_bytes, desk
from passdown.data.worlds.model import World

_RUNNER = """
import io, json, os, signal, sys, unittest
class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = []
    def addSuccess(self, test):
        self.passed.append(test.id())
def judge(folder, report, limit):
    signal.alarm(limit)
    os.chdir(folder)
    sys.stdout = io.StringIO()
    os.dup2(os.open(report + ".err", os.O_CREAT | os.O_WRONLY, 0o600), 2)
    result = Result()
    unittest.defaultTestLoader.loadTestsFromName("tests.test_hidden").run(result)
    with open(report, "w", encoding="utf-8") as stream:
        json.dump(result.passed, stream)
sys.path.insert(0, "")
for name in sys.argv[2:]:
    child = os.fork()
    if not child:
        try:
            judge(os.path.join(name, "tree"), os.path.join(name, "report.json"), int(sys.argv[1]))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
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
    return verify_all([(files, world)])[0]


def verify_all(asked: Sequence[tuple[Mapping[str, str] | Mapping[str, bytes], World]]) -> list[Verdict]:
    """Return the verdict on each of several trees.

    Each is judged in a process of its own, all of them forked from one that has loaded what they share.
    """
    with ExitStack() as stack:
        places = [
            stack.enter_context(desk(world.id, {**as_bytes(files), **as_bytes(world.hidden)})) for files, world in asked
        ]
        homes = [str(place.home) for place in places]
        argv = [sys.executable, "-S", "-s", "-c", _RUNNER, str(int(TIMEOUT)), *homes]
        if places:
            places[0].end_of(argv, timeout=TIMEOUT * len(places))
        return [_verdict(place, world) for place, (_, world) in zip(places, asked, strict=True)]


def _verdict(place: Desk, world: World) -> Verdict:
    wanted = (*world.fail_to_pass, *world.pass_to_pass)
    report = place.home / "report.json"
    if not report.is_file():
        told = report.with_suffix(".json.err")
        error = told.read_bytes()[-500:].decode("utf-8", "replace") if told.is_file() else ""
        return Verdict(resolved=False, passed=(), failed=wanted, error=error or "the tests did not come to an end")
    ran = frozenset(msgspec.json.decode(report.read_bytes(), type=list[str]))
    failed = tuple(test for test in wanted if test not in ran)
    return Verdict(resolved=not failed, passed=tuple(test for test in wanted if test in ran), failed=failed)
