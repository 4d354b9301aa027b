"""Judging a real repository, and running the commands that mend it, as a person at a terminal would."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.clean.options import CleanOptions
from passdown.cli.check import table
from passdown.handoff.check import check
from passdown.handoff.gather import Options
from passdown.model.clean import CleanState
from passdown.model.finding import Finding

NOW = 1_760_100_000_000


@pytest.fixture
def judge(isolated_home: Path) -> Callable[..., CleanState]:
    """Return a function that checks the repository around a folder."""

    def run(root: Path, *, base: str = "", environ: dict[str, str] | None = None, **options: Any) -> CleanState:
        clean = CleanOptions(environ=environ or {}, now=options.pop("now", NOW), **options)
        return check(root, Options(base=base, now=NOW), clean, terminal=True).state

    return run


@pytest.fixture
def printed() -> Callable[[CleanState, str], list[str]]:
    """Return a function that reads the mending commands of a code out of what a person is shown."""

    def read(state: CleanState, code: str) -> list[str]:
        rows = [re.split(r" {2,}", line.strip()) for line in table(state) if line.startswith("  ")]
        return [row[-1] for row in rows if row[1:2] == [code]]

    return read


@pytest.fixture
def findings(judge: Callable[..., CleanState]) -> Callable[..., list[Finding]]:
    """Return a function that checks a repository and lists all findings."""

    def run(root: Path, **options: Any) -> list[Finding]:
        return [finding for part in judge(root, **options).checks for finding in part.findings]

    return run


@pytest.fixture
def mend(isolated_home: Path) -> Callable[[Path, str], None]:
    """Return a function that runs a mending command in a folder."""

    def run(root: Path, command: str) -> None:
        env = {
            "PATH": os.environ["PATH"], "HOME": str(isolated_home), "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.com",
            "GIT_COMMITTER_NAME": "Dev", "GIT_COMMITTER_EMAIL": "dev@example.com", "GIT_EDITOR": "false",
            "GIT_AUTHOR_DATE": "1760050000 +0000", "GIT_COMMITTER_DATE": "1760050000 +0000",
            "GIT_ALLOW_PROTOCOL": "file",
        }  # fmt: skip
        done = subprocess.run(["sh", "-euc", command], cwd=root, env=env, capture_output=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stderr.decode()}"

    return run
