"""How full a session's context is, and whether to go on, prepare a packet, or wrap up."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from passdown.agents.nested import MARKERS, agent_around
from passdown.agents.table import AGENTS
from passdown.agents.windows import compacts_at, own_window, window_of
from passdown.config import Budget, load_config
from passdown.errors import NoEvidenceError, PassdownError, UsageError
from passdown.handoff.sessions import find_session
from passdown.io.ancestry import ancestor_programs
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.session import SessionRef
from passdown.redact.neutralise import one_line
from passdown.repository.locate import locate, read_layout
from passdown.sessions.newest import newest_sessions
from passdown.sessions.read import read_ref
from passdown.usage.bands import Level, Phase, bands_of, level_of
from passdown.usage.gauge import Gauge, read_gauge

_NEXT = "Name a session with --session; `passdown sessions` lists those of this repository."


class Asked(Struct, frozen=True, kw_only=True):
    """What a caller may say for itself: which session, where the work stands, and numbers that count before ours."""

    session: str = ""
    agent: str = ""
    phase: Phase = ""
    window: int | None = None
    prepare: float | None = None
    wrap_up: float | None = None


class Standing(Struct, frozen=True, kw_only=True):
    """One session's level, with whose it is."""

    level: Level
    agent: str = ""
    session_id: str = ""
    model: str = ""
    compactions: int = 0
    measured_at: int | None = None
    findings: tuple[Finding, ...] = ()

    def report(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        level = {"context": None, "window": None, "ratio": None} | plain.pop("level")
        if level["ratio"] is not None:
            level["ratio"] = round(level["ratio"], 4)
        plain |= {name: one_line(plain[name], 80) for name in ("session_id", "model")}
        return {"schema_version": 1, **plain, **level, "exit_code": self.level.exit_code, "line": self.line()}

    def line(self) -> str:
        """Return all of it on one line."""
        level = self.level
        if level.context is None:
            return "context not measured since the last compaction: go on"
        size = f"{level.context:,}"
        if level.ratio is None:
            whole = f"context {size} tokens, window of {one_line(self.model, 60) or 'the model'} not known"
            return f"{whole}: {_WORDS[level.advice]} (boundary {level.bands.tokens:,})"
        return f"context {level.ratio:.1%} ({size} of {level.window:,} tokens): {_WORDS[level.advice]}"

    def status_line(self) -> str:
        """Return a few words for an agent's status line."""
        level = self.level
        if level.context is None:
            return "context just compacted"
        full = f"{level.context // 1000}k" if level.ratio is None else f"{level.ratio:.0%}"
        return f"context {full}{_BRIEFLY[level.advice]}"


_WORDS = {
    "go_on": "go on",
    "finish": "finish what is nearly done, then hand over",
    "prepare": "prepare a packet before a new phase (`passdown wrap --interim`); finish only what is nearly done",
    "wrap_up": "begin nothing new, wrap up (`passdown wrap`) and go on in a fresh session",
}
_BRIEFLY = {
    "go_on": "", "finish": " · finish, then hand over", "prepare": " · prepare a packet before a new phase",
    "wrap_up": " · wrap up, then a fresh session",
}  # fmt: skip


def read_budget(folder: Path, asked: Asked, environ: Mapping[str, str] | None = None) -> Standing:
    """Return how full the context is: of the session asked for, the one this runs in, or the newest of this worktree.

    Raises `NoEvidenceError` when there is no such session or its log says nothing of tokens, `UsageError` for numbers
    that make no sense.
    """
    environ = os.environ if environ is None else environ
    ref = _session(folder, asked, environ)
    try:
        gauge = read_gauge(read_ref(ref))
    except OSError as error:
        raise NoEvidenceError(f"cannot be read: {error.strerror}", where=ref.path, next_step=_NEXT) from error
    if gauge.context is None and not gauge.compactions:
        raise NoEvidenceError(
            "the log says nothing of the size of its context",
            where=f"session {one_line(ref.session_id, 80) or ref.path}",
            next_step="Not every agent writes tokens to its log, and none before its first answer.",
        )
    standing = standing_of(ref, gauge, budget_at(folder, asked), asked, environ)
    return structs.replace(standing, findings=tuple(_nested(environ)))


def _nested(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a warning where this runs inside one agent that runs inside another one: by variables and by programs."""
    around = {agent for name, agent in MARKERS if environ.get(name)} - {"agent"}
    around |= {found.agent for program in ancestor_programs() if (found := agent_around({}, [program])) is not None}
    if len(around) > 1:
        yield Finding(
            code="agent.nested", severity="warn",
            detail=f"one agent runs inside another one here ({', '.join(sorted(around))}): both contexts are paid for",
            fix="have the outer agent wrap up (`passdown wrap`) and end, then start a fresh session: `passdown take`",
        )  # fmt: skip


def standing_of(ref: SessionRef, gauge: Gauge, budget: Budget, asked: Asked, environ: Mapping[str, str]) -> Standing:
    """Return the level of a session that was read."""
    own = asked.window or own_window(gauge.model, budget.windows)
    logged = gauge.window if gauge.window and gauge.window > 0 else None
    window = own or logged or window_of(gauge.model, seen=gauge.largest)
    trigger = compacts_at(ref.agent, environ)
    if window and gauge.compacted_at and gauge.compacted_at < window:
        trigger = min(trigger or 1.0, gauge.compacted_at / window)
    level = level_of(gauge.context, window, bands_of(budget, trigger), asked.phase)
    return Standing(
        level=level, agent=ref.agent, session_id=ref.session_id or gauge.session_id, model=gauge.model,
        compactions=gauge.compactions, measured_at=gauge.at,
    )  # fmt: skip


def budget_at(folder: Path, asked: Asked) -> Budget:
    """Return the configured boundaries of the repository around `folder`, with those asked for put before them."""
    root = locate(folder)
    budget = load_config(root).budget if root is not None else Budget()
    given = {name: value for name in ("prepare", "wrap_up") if (value := getattr(asked, name)) is not None}
    if asked.wrap_up is not None and asked.prepare is None:
        given["prepare"] = min(budget.prepare, asked.wrap_up)
    if asked.prepare is not None and asked.wrap_up is None:
        given["wrap_up"] = max(budget.wrap_up, asked.prepare)
    return structs.replace(budget, **given)


def _session(folder: Path, asked: Asked, environ: Mapping[str, str]) -> SessionRef:
    if asked.session:
        return find_session(asked.session, agent=asked.agent)
    refs = [ref for ref in _newest(folder) if asked.agent in ("", ref.agent)]
    for row in AGENTS:
        own = environ.get(row.own, "") if row.own and asked.agent in ("", row.id) else ""
        if not own:
            continue
        if found := [ref for ref in refs if (ref.agent, ref.session_id) == (row.id, own)]:
            return found[0]
        try:
            return find_session(own, agent=row.id)
        except UsageError:  # its log is not there yet, or the variable is a leftover
            continue
    if refs:
        return refs[0]
    if locate(folder) is None:
        raise NoEvidenceError(
            "is not in a git repository", where=str(folder.resolve()),
            next_step="Name a session with --session, or a repository with -C.",
        )  # fmt: skip
    raise NoEvidenceError("no session worked in this repository yet", where=str(folder.resolve()), next_step=_NEXT)


def _newest(folder: Path) -> list[SessionRef]:
    """Return the newest sessions of the worktree around `folder`; none outside a repository."""
    root = locate(folder)
    if root is None:
        return []
    layout = read_layout(root)
    facts = RepositoryFacts(root=str(root), git_dir=str(layout.git_dir), common_dir=str(layout.common_dir))
    return newest_sessions(facts, None)[0]


def watch_budget(folder: Path, asked: Asked) -> Iterator[Standing | None]:
    """Yield the level whenever it changed since the last time it was asked for, else None, until it is to wrap up."""
    before: Level | None = None
    seen: tuple[str, int, int] | None = None
    while True:
        try:
            ref = _session(folder, asked, os.environ)
            now = (ref.path, ref.bytes, ref.modified_at or 0)
            standing = read_budget(folder, asked) if now != seen else None
            seen = now
        except NoEvidenceError:  # an agent that has not answered yet
            standing = None
        if standing is None or standing.level == before:
            yield None
            continue
        before = standing.level
        yield standing
        if standing.level.advice == "wrap_up":
            return


def status_line(folder: Path, payload: bytes, asked: Asked) -> str:
    """Return a few words for the status line of an agent that hands `payload` to its command; it never fails.

    Claude Code tells the tokens and the window itself; of other agents the log is read.
    """
    try:
        told = _told(payload)
        if told is not None:
            ref, gauge = told
            return standing_of(ref, gauge, budget_at(folder, asked), asked, os.environ).status_line()
        return read_budget(folder, asked).status_line()
    except (PassdownError, OSError):
        return "context ?"


class _Tokens(Struct):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Window(Struct):
    context_window_size: int | None = None
    current_usage: _Tokens | None = None


class _Model(Struct):
    id: str = ""


class _Payload(Struct):
    session_id: str = ""
    model: _Model | None = None
    context_window: _Window | None = None


def _told(payload: bytes) -> tuple[SessionRef, Gauge] | None:
    """Return what Claude Code says of its context, None when it is something else that was handed in."""
    try:
        said = msgspec.json.decode(payload, type=_Payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    window = said.context_window
    if window is None or window.current_usage is None:
        return None
    now = window.current_usage
    tokens = (now.input_tokens, now.cache_creation_input_tokens, now.cache_read_input_tokens)
    context = sum(max(0, count or 0) for count in tokens)
    size = window.context_window_size
    ref = SessionRef(agent="claude_code", path="", session_id=said.session_id)
    model = said.model.id if said.model is not None else ""
    gauge = Gauge(context=context, model=model, largest=context, window=size if size and size > 0 else None)
    return (ref, gauge) if context else None
