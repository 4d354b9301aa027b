"""A small repository with a bundled session, for a first look: a failed attempt, a fix half done, and a plan."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from passdown.io.git import run_git

_LIMITS_BEFORE = """import time

LIMIT = 10
"""

_LIMITS_BUCKET = '''import threading
import time

LIMIT = 10  # calls a minute


class Bucket:
    """A token bucket that refills once a minute."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tokens = LIMIT
        self.filled_at = time.time()

    def take(self):
        with self.lock:
            if self.tokens == 0:
                return False
            self.tokens -= 1
            now = time.time()
            if now - self.filled_at >= 60:
                self.tokens, self.filled_at = LIMIT, now
            return True
'''

_LIMITS_HALF = _LIMITS_BUCKET.replace("time.time()", "time.monotonic()").replace(
    "        with self.lock:\n", "        with self.lock:\n            self.refill()\n"
)

_TEST_LIMITS = """import unittest

from src.limits import LIMIT, Bucket


class LimitsTest(unittest.TestCase):
    def test_allows_ten(self):
        bucket = Bucket()
        self.assertTrue(all(bucket.take() for _ in range(LIMIT)))

    def test_refuses_eleventh(self):
        bucket = Bucket()
        self.assertFalse(all(bucket.take() for _ in range(LIMIT + 1)))
"""

_TEST_BURST = """import unittest

from src.limits import LIMIT, Bucket


class BurstTest(unittest.TestCase):
    def test_burst_resets(self):
        bucket = Bucket()
        bucket.filled_at -= 61
        for _ in range(LIMIT):
            bucket.take()
        self.assertEqual(bucket.tokens, 0)
"""

_ENDED = 1_795_166_048
"""When the bundled session ended (2026-11-20T09:14:08Z)."""

_DATES = ("2026-11-20T08:00:00Z", "2026-11-20T09:12:00Z")


def build_demo(folder: Path) -> tuple[Path, Path]:
    """Build the demonstration under `folder`; return the repository and the home folder of its Claude Code sessions.

    Raises `GitError` when git is missing.
    """
    root = folder / "exporter"
    root.mkdir(parents=True)
    run_git(root, "init", "-q", "-b", "main")
    _write(root, {
        "README.md": "# exporter\n\nExports reports.\n",
        "AGENTS.md": "# Working here\n\n- Run `python3 -m unittest` before you finish.\n",
        "src/__init__.py": "", "src/limits.py": _LIMITS_BEFORE, "src/session.py": "TIMEOUT = 30\n",
        "tests/__init__.py": "", "docs/api.md": "# API\n\n`GET /export`\n",
    })  # fmt: skip
    _commit(root, "Start the exporter", _DATES[0])
    run_git(root, "switch", "-q", "-c", "feat/export-limit")
    _write(root, {"src/limits.py": _LIMITS_BUCKET, "tests/test_limits.py": _TEST_LIMITS})
    _commit(root, "Add a token bucket with refill", _DATES[1])
    _write(root, {"src/limits.py": _LIMITS_HALF, "tests/test_burst.py": _TEST_BURST})
    home = folder / "claude"
    project = home / "projects" / "-demo-exporter"
    project.mkdir(parents=True)
    session = files("passdown.handoff").joinpath("demo_session.jsonl").read_text("utf-8")
    target = project / "5d0c7f3e-9a41-4c1b-8f27-2b6e0d91a7c4.jsonl"
    target.write_text(session.replace("{{cwd}}", str(root.resolve())), "utf-8")
    os.utime(target, (_ENDED, _ENDED))  # else it looks like a session that is still running
    return root, home


def _write(root: Path, contents: dict[str, str]) -> None:
    for name, text in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _commit(root: Path, message: str, date: str) -> None:
    person = {"NAME": "Demo", "EMAIL": "demo@example.com", "DATE": date}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", message, env=env)
