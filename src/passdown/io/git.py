"""The only caller of the git binary: fixed environment, argv only, bounded time, bytes out.

A repository's own configuration can name programs that git runs, so monitors, hooks, pagers, external diffs and text
converters are switched off on every call, inherited GIT_* variables are removed, and no transport is allowed unless the
caller asks for one (`env={"GIT_ALLOW_PROTOCOL": ...}`): a partial clone would otherwise fetch what it lacks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from passdown.errors import GitError
from passdown.io.program import find_program
from passdown.io.spawn import Child, start
from passdown.model.pattern import lazy_pattern

TIMEOUT = 30.0
"""Seconds after which a git call is given up."""

_CONFIG = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotepath=off", "core.pager=cat", "diff.external=",
    "color.ui=never", "core.untrackedCache=false", "log.showSignature=false", "diff.renames=false",
    "core.precomposeunicode=false", "status.renames=false", "diff.autoRefreshIndex=false",
)  # fmt: skip


_TELLING = {"GIT_TRACE2_EVENT": "2", "GIT_TRACE2_EVENT_BRIEF": "1"}
"""Has git trace on standard error what it does; the first event tells its version."""

_EVENT = b'{"event":"'
_VERSION = lazy_pattern(rb'(?m)^\{"event":"version",.*"exe":"([^"]*)"')
_NUMBERS = lazy_pattern(rb"\d+(?:\.\d+)+")

_Answer = tuple[int, bytes, str]
_Question = tuple[str, ...]
_THE_VERSION: _Question = ("version",)
_moment: ContextVar[dict[_Question, _Answer | Child] | None] = ContextVar("moment", default=None)


@contextmanager
def one_moment() -> Iterator[None]:
    """Take the repository as it stands at one moment: within this, `ask_git` puts the same question to git once."""
    if _moment.get() is not None:
        yield
        return
    answers: dict[_Question, _Answer | Child] = {}
    token = _moment.set(answers)
    try:
        yield
    finally:
        _moment.reset(token)
        for answer in answers.values():
            if isinstance(answer, Child):  # asked ahead, and never wanted
                answer.kill()


def ask_git(folder: Path, *arguments: str, stdin: bytes | None = None, timeout: float = TIMEOUT) -> _Answer:
    """Ask what several parts want to know and what does not change meanwhile; else the same as `try_git`."""
    answers = _moment.get()
    if answers is None:
        return try_git(folder, *arguments, stdin=stdin, timeout=timeout)
    question = (os.path.realpath(folder), *arguments, *([] if stdin is None else ["<", stdin.decode("latin-1")]))
    answer = answers.get(question)
    if isinstance(answer, Child):
        del answers[question]
        answer = _judged(_finish(answer, folder, arguments, timeout=timeout))
    elif answer is None:
        answer = try_git(folder, *arguments, stdin=stdin, timeout=timeout)
    answers[question] = answer
    return answer


def require_git(folder: Path, *arguments: str) -> bytes:
    """Ask as `ask_git` does and return git's standard output. Raises `GitError` when git exits non-zero, too."""
    code, output, message = ask_git(folder, *arguments)
    if code != 0:
        raise _refused(folder, arguments, message)
    return output


def ask_in_passing(folder: Path, *arguments: str) -> _Answer:
    """Ask as `ask_git` does and have git tell its version along with it, which spares `git_version` a process."""
    answers = _moment.get()
    if answers is None or _THE_VERSION in answers or (os.path.realpath(folder), *arguments) in answers:
        return ask_git(folder, *arguments)
    process = _start(folder, arguments, env=_TELLING)
    code, output, complaint = _finish(process, folder, arguments, timeout=TIMEOUT)
    if told := _VERSION.search(complaint):
        answers[_THE_VERSION] = 0, told[1], ""
    said = b"\n".join(line for line in complaint.split(b"\n") if not line.startswith(_EVENT))
    answer = answers[(os.path.realpath(folder), *arguments)] = code, output, _reason(said)
    return answer


def git_version(folder: Path) -> str:
    """Return git's version, or `present` when it does not name one. Within a moment git is asked at most once."""
    told = (_moment.get() or {}).get(_THE_VERSION)
    match = _NUMBERS.search(told[1] if isinstance(told, tuple) else require_git(folder, *_THE_VERSION))
    return match[0].decode() if match else "present"


def ask_ahead(folder: Path, *arguments: str) -> None:
    """Start to answer what `ask_git` will be asked within this moment, and go on meanwhile. Outside of one: nothing."""
    answers = _moment.get()
    question = (os.path.realpath(folder), *arguments)
    if answers is not None and question not in answers:
        answers[question] = _start(folder, arguments)


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
        raise _refused(folder, arguments, message)
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
    process = _start(folder, arguments, feed=stdin is not None, env=env)
    return _judged(_finish(process, folder, arguments, stdin=stdin, timeout=timeout))


def _start(folder: Path, arguments: Sequence[str], *, feed: bool = False, env: dict[str, str] | None = None) -> Child:
    binary = find_program("git")
    if binary is None:
        raise GitError("git is not installed", next_step="Install git 2.30 or newer.")
    argv = [str(binary), "-C", str(folder)]
    for setting in _CONFIG:
        argv += ["-c", setting]
    try:
        return start([*argv, *arguments], folder, _environment() | (env or {}), feed=feed)
    except (OSError, ValueError) as error:  # no such folder, a NUL or a lone surrogate in an argument, too many of them
        raise GitError(f"git {_word(arguments)} could not start: {error}", where=str(folder)) from error


def _finish(
    process: Child,
    folder: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes | None = None,
    timeout: float,
) -> tuple[int, bytes, bytes]:
    try:
        return process.finish(stdin or b"", timeout)
    except TimeoutError as error:
        raise GitError(
            f"git {_word(arguments)} took longer than {timeout:g} s", where=str(folder), next_step="Try it by hand."
        ) from error


def _judged(ended: tuple[int, bytes, bytes]) -> _Answer:
    return ended[0], ended[1], _reason(ended[2])


def _refused(folder: Path, arguments: Sequence[str], message: str) -> GitError:
    return GitError(f"git {_word(arguments)} failed: {message}", where=str(folder))


def _word(arguments: Sequence[str]) -> str:
    return next((argument for argument in arguments if not argument.startswith("-")), arguments[0])


def _reason(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (fatal or lines or [""])[-1][:1000]
