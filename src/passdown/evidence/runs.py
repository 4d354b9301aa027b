"""Command runs, one record wherever they come from: a session's calls with their results, or a feedback log's rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, structs

from passdown.evidence.classify import OK, Result, Verdict, is_silent, judge, weigh
from passdown.evidence.identity import Identity, identify
from passdown.evidence.output import MAX_TAIL, error_line, one_line, tail_of
from passdown.evidence.places import Places
from passdown.model.evidence import CommandRun, Source
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Outcome, ToolCall, ToolResult
from passdown.model.workbench import FeedbackRow

MAX_PENDING = 512
"""Calls waiting for their result; the oldest beyond that counts as never answered."""
MAX_SAID = 400

_BACKGROUND = lazy_pattern(
    r"(?:session ID|cell ID|running in (?:the )?background with ID:?|Background task(?: started)? with ID:?)"
    r"\s+([\w.-]{1,80})"
)
_SHELL = lazy_pattern(r"<command (?:with|started in [a-z ]{1,40} with) (?:shellId|id): ([\w.-]{1,80})[^>]*>\s*\Z")
_BACKGROUND_KEYS = ("session_id", "bash_id", "shell_id", "shellId", "task_id", "process_id", "cell_id", "id")
_ASKING = frozenset(_BACKGROUND_KEYS)


class Finished(Struct, frozen=True, gc=False):
    """A run with its identity and what the agent saw of its output. `state` is False for a rewound run.

    `unread` is what that output says by itself, while the line that names the failure was not yet looked for in it.
    """

    run: CommandRun
    identity: Identity
    output: str
    state: bool
    unread: str = ""


def named(run: CommandRun, unread: str, *, tail: bool = False) -> CommandRun:
    """Return a run with the line of its output that names its failure, and with the end of it where `tail` says so."""
    return structs.replace(run, error_line=error_line(unread), stdout_tail=tail_of(unread) if tail else "")


class _Pending(Struct, frozen=True, gc=False):
    identity: Identity
    at: int | None
    source: Source
    said: str
    active: bool
    call_id: str


class SessionRuns:
    """Pairs the calls of one session that run a command with their results, however far apart they stand."""

    def __init__(self, session_id: str, places: Places) -> None:
        self._session_id = session_id
        self._places = places
        self._pending: dict[str, _Pending] = {}
        self._running: dict[str, _Pending] = {}
        self._follows: dict[str, str] = {}
        self._place = ("", "", "")

    def call(self, event: ToolCall, cwd: str, said: str) -> Sequence[Finished]:
        """Take note of a call; returns calls that were given up waiting for."""
        follows = self._followed(event) if self._running else None
        if follows is not None:
            self._follows[event.call_id] = follows
            if len(self._follows) > MAX_PENDING:
                self._follows.pop(next(iter(self._follows)))
            return ()
        command = event.command
        if event.action != "run" or not command or command.isspace():
            return ()
        if "\\\n" in command:
            command = command.replace("\\\n", " ")
        identity = identify(command, self._folder(event.cwd, cwd) if event.cwd else cwd, self._places)
        if identity.own:
            return ()
        source = Source(kind="session", path=self._session_id, line=event.line)
        known = self._pending.pop(event.call_id, None)
        self._pending[event.call_id] = _Pending(identity, event.at, source, said, event.active, event.call_id)
        if known is None and len(self._pending) <= MAX_PENDING:
            return ()
        given_up = [known] if known else []
        while len(self._pending) > MAX_PENDING:
            given_up.append(self._pending.pop(next(iter(self._pending))))
        return [_unanswered(pending) for pending in given_up]

    def _folder(self, given: str, cwd: str) -> str:
        """Return the folder a command runs in: that of the one before it, most of the time."""
        known, base, folder = self._place
        if given != known or cwd != base:
            folder = self._places.absolute(given, cwd)
            self._place = given, cwd, folder
        return folder

    def _followed(self, event: ToolCall) -> str | None:
        """Return the background id that a call asks about (`write_stdin`, `BashOutput` and their like)."""
        if _ASKING.isdisjoint(event.arguments):
            return None
        for key in _BACKGROUND_KEYS:
            value = event.arguments.get(key)
            if isinstance(value, (str, int)) and str(value) in self._running:
                return str(value)
        return None

    def result(self, event: ToolResult) -> Finished | None:
        """Return the run that a result ends; None when it belongs to no command, or the command goes on running."""
        pending = self._pending.pop(event.call_id, None)
        if pending is None:
            return self._late_result(event)
        if event.outcome == "running":
            match = _BACKGROUND.search(event.text[:2000]) or _SHELL.search(event.text[-400:])
            self._running[match[1] if match else event.call_id] = pending
            if len(self._running) > MAX_PENDING:
                return _still_running(self._running.pop(next(iter(self._running))))
            return None
        return _finish(pending, event)

    def awaited(self, call_id: str) -> Identity | None:
        """Return the identity of the command that a call runs, while its result is awaited."""
        pending = self._pending.get(call_id)
        return pending.identity if pending is not None else None

    def _late_result(self, event: ToolResult) -> Finished | None:
        background = self._follows.pop(event.call_id, event.call_id)
        if background not in self._running:
            background = next((name for name, one in self._running.items() if one.call_id == background), "")
        known = self._running.get(background)
        if known is None or event.outcome == "running" or (event.exit_code is None and event.call_id != known.call_id):
            return None
        return _finish(self._running.pop(background), event)

    def finish(self) -> list[Finished]:
        """Return, at the end of the log, the calls without a result and those still running."""
        rest = [_unanswered(pending) for pending in self._pending.values()]
        rest += [_still_running(pending) for pending in self._running.values()]
        self._pending, self._running = {}, {}
        return rest


def _finish(pending: _Pending, event: ToolResult) -> Finished:
    identity = pending.identity
    if event.outcome == "ok" and event.exit_code in (None, 0) and not identity.masking:
        return Finished(_fine(pending, event), identity, event.text, pending.active and event.active)
    verdict = weigh(identity.parts, event.exit_code, event.outcome, event.text, pending.said)
    if verdict.result == "unknown" and is_silent(identity.parts):
        verdict = OK  # it was answered, without a word: so ends what has none to say
    run = _record(
        identity,
        verdict,
        exit_code=None if verdict.masked else event.exit_code,
        at=event.at if event.at is not None else pending.at,
        source=pending.source,
        duration=event.duration_ms,
        ids=(pending.call_id, ""),
    )
    return Finished(run, identity, event.text, pending.active and event.active, verdict.output)


def _fine(pending: _Pending, event: ToolResult) -> CommandRun:
    """Return the record of a run that went well, as most do: with what such a one has alone."""
    identity = pending.identity
    return CommandRun(
        command=identity.text,
        tokens=identity.tokens,
        cwd=identity.cwd,
        exit=event.exit_code,
        result="ok",
        at=event.at if event.at is not None else pending.at,
        duration_ms=event.duration_ms,
        source=pending.source,
        command_id=pending.call_id,
        kind=identity.kind,
    )


def _unanswered(pending: _Pending) -> Finished:
    return _without_result(pending, "unknown")


def _still_running(pending: _Pending) -> Finished:
    return _without_result(pending, "running")


def _without_result(pending: _Pending, result: Result) -> Finished:
    verdict = Verdict(result)
    run = _record(
        pending.identity, verdict, exit_code=None, at=pending.at, source=pending.source, ids=(pending.call_id, "")
    )
    return Finished(run, pending.identity, "", pending.active)


def _record(
    identity: Identity,
    verdict: Verdict,
    *,
    exit_code: int | None,
    at: int | None,
    source: Source,
    duration: int | None = None,
    stdout: str = "",
    stderr: str = "",
    note: str = "",
    ids: tuple[str, str] = ("", ""),
) -> CommandRun:
    return CommandRun(
        command=identity.text,
        tokens=identity.tokens,
        cwd=identity.cwd,
        exit=exit_code,
        result=verdict.result,
        expected=verdict.expected,
        at=at,
        duration_ms=duration,
        error_line=verdict.error_line,
        stdout_tail=stdout,
        stderr_tail=stderr,
        note=note,
        source=source,
        command_id=ids[0],
        parent_command_id=ids[1],
        kind=identity.kind,
    )


def feedback_run(row: FeedbackRow, places: Places) -> Finished | None:
    """Return a feedback row as a run; None for passdown's own commands. A missing exit code is never a success."""
    identity = identify(row.command, row.cwd, places, row.argv)
    if identity.own:
        return None
    verdict = judge(identity.parts, row.exit_code, _outcome(row), row.stdout_tail, row.agent_note, row.stderr_tail)
    failed = verdict.result != "ok" and not verdict.expected
    if failed and row.error and not verdict.error_line:
        verdict = structs.replace(verdict, error_line=one_line(row.error))
    ended = row.started_at + (row.duration_ms or 0) if row.started_at is not None else None
    run = _record(
        identity,
        verdict,
        exit_code=None if verdict.masked else row.exit_code,
        at=ended,
        source=Source(kind="artifact", path=row.path, line=row.line),
        duration=row.duration_ms,
        stdout=tail_of(row.stdout_tail, MAX_TAIL) if failed else "",
        stderr=tail_of(row.stderr_tail, MAX_TAIL) if failed else "",
        note=row.agent_note[:MAX_SAID],
        ids=(row.command_id, row.parent_command_id),
    )
    if row.code:
        run = structs.replace(run, codes=row.codes())
    return Finished(run, identity, f"{row.stdout_tail}\n{row.stderr_tail}", True)


def _outcome(row: FeedbackRow) -> Outcome:
    if row.exit_code is None:
        return "timeout" if re.search(r"(?i)time(?:d)?[ _-]?out", row.error) else "unknown"
    return "ok" if row.exit_code == 0 else "failed"
