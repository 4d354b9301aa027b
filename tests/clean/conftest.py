"""Judging a real repository, and mending what was found: by the printed command, or as a person would."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from passdown.clean.options import CleanOptions
from passdown.cli.check import table
from passdown.handoff.check import check
from passdown.handoff.gather import Options
from passdown.model.clean import CleanState
from passdown.model.finding import Finding

NOW = 1_760_100_000_000


class Situation(NamedTuple):
    """A function that makes a mess, what is found, and how it is mended.

    `kind` is the `mend_kind` that is expected: a `command` is run as it is printed. For an `edit` or a `choice`, `by` is
    what a person might do: a function that gets the repository (and fixtures by name), or a pattern that finds the
    command in the words. `kind` "" is for what nothing has to be done about. Further options are those of the check.
    """

    build: Callable[..., Any]
    code: str
    severity: str
    kind: str = "command"
    where: str = ""
    by: Any = None
    options: dict[str, Any] = {}  # noqa: RUF012 - read only


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "situation(code, severity, ...): builds a mess; see tests/clean/conftest.py")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run `test_…(situation, settle)` once for each function of its module that is marked as a situation."""
    if "situation" in metafunc.fixturenames:
        found = [_situation(value) for value in vars(metafunc.module).values() if _mark(value)]
        metafunc.parametrize("situation", found, ids=[item.build.__name__ for item in found])


def _mark(value: Any) -> Any:
    marks = getattr(value, "pytestmark", ()) if callable(value) else ()
    return next((mark for mark in marks if getattr(mark, "name", "") == "situation"), None)


def _situation(build: Callable[..., Any]) -> Situation:
    mark = _mark(build)
    named = {name: value for name, value in mark.kwargs.items() if name in ("kind", "where", "by")}
    options = {name: value for name, value in mark.kwargs.items() if name not in named}
    return Situation(build, *mark.args, **named, options=options)


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
    """Return a function that runs a mending command in a folder, `passdown` being this one."""
    folder = isolated_home / "bin"
    folder.mkdir()
    (folder / "passdown").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m passdown "$@"\n')
    (folder / "passdown").chmod(0o755)

    def run(root: Path, command: str) -> None:
        env = {
            "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(isolated_home),
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "Dev",
            "GIT_AUTHOR_EMAIL": "dev@example.com", "GIT_COMMITTER_NAME": "Dev",
            "GIT_COMMITTER_EMAIL": "dev@example.com", "GIT_EDITOR": "false",
            "GIT_AUTHOR_DATE": "1760050000 +0000", "GIT_COMMITTER_DATE": "1760050000 +0000",
            "GIT_ALLOW_PROTOCOL": "file",
        }  # fmt: skip
        done = subprocess.run(["sh", "-euc", command], cwd=root, env=env, capture_output=True, check=False)
        ended = (0, 3) if command.startswith(("passdown check", "passdown wrap")) else (0,)  # others may block still
        assert done.returncode in ended, f"{command}\n{done.stderr.decode()}"

    return run


@pytest.fixture
def settle(
    request: pytest.FixtureRequest, repository: Any, judge: Any, findings: Any, printed: Any, mend: Any
) -> Callable[[Situation], None]:  # fmt: skip
    """Return a function that makes the mess, requires what is found, mends it, and requires that it is found no more."""

    def call(function: Callable[..., Any]) -> None:
        others = list(inspect.signature(function).parameters.values())[1:]
        wanted = [p.name for p in others if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        function(repository, *map(request.getfixturevalue, wanted))

    def carry_out(situation: Situation, finding: Finding) -> None:
        if callable(situation.by):
            call(situation.by)
        else:
            commands = re.findall(situation.by, finding.fix)
            assert commands, finding.fix
            mend(repository.root, commands[0])

    def run(situation: Situation) -> None:
        call(situation.build)
        root, options = repository.root, dict(situation.options)
        if "base" in options:
            options["base"] = repository.git("rev-parse", options["base"])
        state = judge(root, **options)
        found = [finding for part in state.checks for finding in part.findings]
        mine = _matching(found, situation)
        assert [(f.severity, f.mend_kind) for f in mine] == [(situation.severity, situation.kind)], [
            (f.code, f.severity, f.where, f.fix) for f in found
        ]
        assert mine[0].detail
        assert (situation.code in state.blocking) == (situation.severity == "block")
        if situation.kind == "command":
            assert mine[0].fix in printed(state, situation.code)
            mend(root, mine[0].fix)
        elif situation.kind:
            carry_out(situation, mine[0])
        else:
            assert mine[0].fix == ""
            return
        assert _matching(findings(root, **options), situation) == []

    return run


def _matching(found: list[Finding], situation: Situation) -> list[Finding]:
    return [f for f in found if f.code == situation.code and situation.where in ("", f.where)]
