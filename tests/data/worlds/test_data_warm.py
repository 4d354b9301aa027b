"""The warm Python: every command has a process of its own, and none outlives the one that asked."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from passdown.data.worlds.warm import warm


@pytest.mark.parametrize(
    ("code", "ended", "said"),
    [
        ("print('hello')", 0, "hello"),
        ("raise SystemExit(3)", 3, ""),
        ("raise SystemExit('no')", 1, "no"),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("import os; os.kill(os.getpid(), 9)", 137, ""),
        ("import os; os._exit(7)", 7, ""),
        ("while True: pass", 155, ""),
    ],
)
def test_a_command_ends_as_it_would_by_itself(tmp_path: Path, code: str, ended: int, said: str) -> None:
    assert warm().run(["-c", code], tmp_path, tmp_path / "out", 1) == ended
    assert said in (tmp_path / "out").read_text()


def test_commands_share_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = "import os, sys, unittest; unittest.left = 1; os.chdir('/'); os.environ['LEFT'] = '1'; sys.path.clear()"
    assert warm().run(["-c", first], tmp_path, out, 5) == 0
    look = (
        "import os, sys, unittest; print(hasattr(unittest, 'left'), os.getcwd(), os.environ.get('LEFT'), sys.path[0])"
    )
    warm().run(["-c", look], tmp_path, out, 5)
    assert out.read_text().split() == ["False", os.path.realpath(tmp_path), "None"]


def test_a_module_says_what_it_says_in_a_python_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "import unittest\nclass T(unittest.TestCase):\n def test_a(self): self.assertEqual(1, 2)\n def test_b(self): pass\n"
    )
    words = ["-m", "unittest", "-v", "test_x"]
    code = warm().run(words, tmp_path, tmp_path / "out", 5)
    alone = subprocess.run(
        [sys.executable, "-S", "-s", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert code == alone.returncode == 1
    ours, theirs = ((tmp_path / "out").read_text(), alone.stderr)
    assert [line for line in ours.splitlines() if "Ran" not in line] == [
        line for line in theirs.splitlines() if "Ran" not in line
    ]


def test_it_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from passdown.data.worlds.warm import warm\n"
        f"here = Path({str(tmp_path)!r})\n"
        "warm().run(['-c', 'import os; print(os.getppid())'], here, here / 'out', 5)\n"
        "import os; os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    server = int((tmp_path / "out").read_text())
    for _ in range(200):
        try:
            os.kill(server, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("it is still there")


def test_a_fork_makes_one_of_its_own(tmp_path: Path) -> None:
    code = (
        "import os; from pathlib import Path; from passdown.data.worlds.warm import warm\n"
        f"here = Path({str(tmp_path)!r})\n"
        "def ask(n): return warm().run(['-c', f'raise SystemExit({n})'], here, here / 'out', 5)\n"
        "mine, first = warm(), ask(3)\n"
        "child = os.fork()\n"
        "if not child: os._exit(ask(4) if warm() is not mine else 1)\n"
        "print(first, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), ask(5), warm() is mine, flush=True)\n"
        "os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, timeout=60)
    assert done.stdout.split() == [b"3", b"4", b"5", b"True"]
