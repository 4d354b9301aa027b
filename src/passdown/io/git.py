"""The only caller of the git binary: fixed environment, argv only, bounded time, bytes out.

A repository's own configuration can name programs that git runs, so monitors, hooks, pagers, external diffs and text
converters are switched off on every call, inherited GIT_* variables are removed, and no transport is allowed unless the
caller asks for one (`env={"GIT_ALLOW_PROTOCOL": ...}`): a partial clone would otherwise fetch what it lacks.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from passdown.errors import GitError
from passdown.io.program import find_program

TIMEOUT = 30.0
"""Seconds after which a git call is given up."""

_CONFIG = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotepath=off", "core.pager=cat", "diff.external=",
    "color.ui=never", "core.untrackedCache=false", "log.showSignature=false", "diff.renames=false",
    "core.precomposeunicode=false", "status.renames=false", "diff.autoRefreshIndex=false",
)  # fmt: skip


_Answer = tuple[int, bytes, str]
_moment: ContextVar[dict[tuple[str, ...], _Answer] | None] = ContextVar("moment", default=None)


@contextmanager
def one_moment() -> Iterator[None]:
    """Take the repository as it stands at one moment: within this, `ask_git` puts the same question to git once."""
    if _moment.get() is not None:
        yield
        return
    token = _moment.set({})
    try:
        yield
    finally:
        _moment.reset(token)


def ask_git(folder: Path, *arguments: str) -> _Answer:
    """Ask what several parts want to know and what does not change meanwhile; else the same as `try_git`."""
    answers = _moment.get()
    if answers is None:
        return try_git(folder, *arguments)
    question = (os.path.realpath(folder), *arguments)
    if question not in answers:
        answers[question] = try_git(folder, *arguments)
    return answers[question]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept.update(
        LC_ALL="C",
        GIT_OPTIONAL_LOCKS="0",
        GIT_TERMINAL_PROMPT="0",
        GIT_NO_LAZY_FETCH="1",
        GIT_NO_REPLACE_OBJECTS="1",
        GIT_ALLOW_PROTOCOL="none",
        GIT_PAGER="cat",
    )
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"):
        if name in os.environ:
            kept[name] = os.environ[name]
    return kept


def run_git(
    folder: Path,
    *arguments: str,
    stdin: bytes | None = None,
    timeout: float = TIMEOUT,
    env: dict[str, str] | None = None,
) -> bytes:
    """Run git in `folder` and return its standard output.

    Raises `GitError` when git is missing, takes longer than `timeout` seconds, or exits non-zero.
    """
    code, output, message = try_git(folder, *arguments, stdin=stdin, timeout=timeout, env=env)
    if code != 0:
        raise GitError(f"git {arguments[0]} failed: {message}", where=str(folder))
    return output


def try_git(
    folder: Path,
    *arguments: str,
    stdin: bytes | None = None,
    timeout: float = TIMEOUT,
    env: dict[str, str] | None = None,
) -> _Answer:
    """Run git in `folder` and return exit code, standard output, and the line of standard error that says why.

    Raises `GitError` only when git is missing, cannot start in `folder`, or takes longer than `timeout` seconds.
    """
    binary = find_program("git")
    if binary is None:
        raise GitError("git is not installed", next_step="Install git 2.30 or newer.")
    argv = [str(binary)]
    for setting in _CONFIG:
        argv += ["-c", setting]
    try:
        done = subprocess.run(
            [*argv, *arguments],
            cwd=folder,
            env=_environment() | (env or {}),
            input=stdin or b"",
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(
            f"git {arguments[0]} took longer than {timeout:g} s", where=str(folder), next_step="Try it by hand."
        ) from error
    except (OSError, ValueError) as error:  # no such folder, a NUL or a lone surrogate in an argument, too many of them
        raise GitError(f"git {arguments[0]} could not start: {error}", where=str(folder)) from error
    return done.returncode, done.stdout, _reason(done.stderr)


def _reason(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (fatal or lines or [""])[-1][:1000]
