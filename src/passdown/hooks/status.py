"""Status: for each agent, is it here, has it the hooks, does it trust them, when did they run, what went wrong."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

from msgspec import Struct

from passdown.agents.hook_command import HookCommand, OwnLine
from passdown.agents.json_text import parse_text
from passdown.agents.table import Agent, home_of, hooks_of, sessions_of
from passdown.errors import PassdownError
from passdown.hooks.change import Scope, find_target, read_settings, state_folder
from passdown.io.files import read_bounded
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionStart
from passdown.redact.neutralise import one_line

_VERSION = lazy_pattern(r"v?(\d+\.\d+[\w.+-]*)")
_PACKAGE_VERSION = lazy_pattern(r'"version"\s*:\s*"([^"\\]{1,40})"')
_FAILURE = lazy_pattern(r"not spooled|refused:|[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b")
_LOG_LIMIT = 4 << 20
_ABOVE = 6


class Installed(Struct, frozen=True, kw_only=True):
    """The hooks of ours in one settings file. `state`: no, yes, old (another installation's, or not all), broken (what
    they run is gone), unreadable."""

    scope: Scope
    path: str
    state: str
    events: tuple[str, ...] = ()
    trusted: str = ""


class LogLine(Struct, frozen=True, kw_only=True):
    """One line of the hook log."""

    at: str
    agent: str
    event: str
    milliseconds: int
    outcome: str


class AgentStatus(Struct, frozen=True, kw_only=True):
    """Where one agent stands. `present`: binary, folder or no; `notes` say what to do."""

    agent: str
    title: str
    present: str
    version: str = ""
    installed: tuple[Installed, ...] = ()
    last_fired: str = ""
    last_event: str = ""
    last_error: str = ""
    last_error_at: str = ""
    notes: tuple[str, ...] = ()


def is_present(row: Agent) -> str:
    """Say by what an agent is known to be here: its binary, its folder, or `no`."""
    if shutil.which(row.program):
        return "binary"
    return "folder" if home_of(row).is_dir() else "no"


def hook_status(agents: Iterable[Agent], root: Path | None, command: HookCommand) -> list[AgentStatus]:
    """Return where each agent stands; of the project too when `root` is given. No agent is run."""
    log = list(read_log())
    return [_status(row, root, command, [line for line in log if line.agent == row.id]) for row in agents]


def _status(row: Agent, root: Path | None, command: HookCommand, log: list[LogLine]) -> AgentStatus:
    scopes: list[tuple[Scope, Path]] = [("user", root or Path.cwd())]
    if root is not None:
        scopes.append(("project", root))
    installed = tuple(_installed(row, scope, place, command) for scope, place in scopes)
    failed = next((line for line in reversed(log) if _FAILURE.match(line.outcome)), None)
    return AgentStatus(
        agent=row.id,
        title=row.title,
        present=is_present(row),
        version=seen_version(row),
        installed=installed,
        last_fired=log[-1].at if log else "",
        last_event=log[-1].event if log else "",
        last_error=failed.outcome if failed else "",
        last_error_at=failed.at if failed else "",
        notes=tuple(_notes(row, installed)),
    )


def _installed(row: Agent, scope: Scope, root: Path, command: HookCommand) -> Installed:
    hooks = hooks_of(row)
    path = hooks.file(scope, root, home_of(row))
    try:
        data = read_settings(find_target(path, scope, root))
        text = data.decode() if data is not None else ""
        own = hooks.installed(text, str(path)) if "entry.py" in text else []
    except (PassdownError, UnicodeDecodeError, OSError):
        return Installed(scope=scope, path=str(path), state="unreadable")
    if not own:
        return Installed(scope=scope, path=str(path), state="no")
    trusted = _codex_trust(row, text, path, root if scope == "project" else None) if row.id == "codex" else ""
    if row.id not in ("pi", "opencode") and _is_off(text):
        trusted = "off"
    return Installed(scope=scope, path=str(path), state=_state(own, set(hooks.EVENTS.values()), command),
                     events=tuple(line.event for line in own), trusted=trusted)  # fmt: skip


def _state(own: list[OwnLine], wanted: set[str], command: HookCommand) -> str:
    if not all(os.access(line.command.python, os.X_OK) and Path(line.command.entry).is_file() for line in own):
        return "broken"
    return (
        "yes"
        if {line.event for line in own} == wanted and all(line.command[:2] == command[:2] for line in own)
        else "old"
    )


def _is_off(text: str) -> bool:
    """Say whether the settings switch all hooks off, in one of the ways agents have for that."""
    root = parse_text(text).root
    settings = root.plain() if root else {}
    config = settings.get("hooksConfig")
    return settings.get("disableAllHooks") is True or (isinstance(config, dict) and config.get("enabled") is False)


def _codex_trust(row: Agent, text: str, path: Path, project: Path | None) -> str:
    from passdown.agents.codex.trust import codex_trust

    try:
        config = (read_settings((home_of(row) / "config.toml").resolve()) or b"").decode()
    except (PassdownError, UnicodeDecodeError, OSError):
        return "unknown"
    return codex_trust(config, text, path, project)


def _notes(row: Agent, installed: tuple[Installed, ...]) -> Iterator[str]:
    there = [one for one in installed if one.state in ("yes", "old", "broken")]
    if len(there) > 1:
        yield f"installed twice: each event is told twice. passdown hooks uninstall {row.id} --project"
    for one in there:
        flag = " --project" if one.scope == "project" else ""
        if one.state != "yes":
            what = "what they run is gone" if one.state == "broken" else "not those of this installation"
            yield f"{one.scope}: {what}. passdown hooks install {row.id}{flag}"
        if one.trusted == "not trusted":
            first = " in this project, trust the project when asked" if one.scope == "project" else ""
            yield f"{one.scope}: Codex runs no hook before you trust it. Start `codex`{first}, type /hooks, trust them"
        if one.trusted == "off":
            where = "Start `codex`, type /hooks, enable them" if row.id == "codex" else f"See {one.path}"
            yield f"{one.scope}: hooks are switched off in {row.title}. {where}"


def seen_version(row: Agent) -> str:
    """Return the agent's version as its package or its newest session says, without running it."""
    if found := shutil.which(row.program):
        real = Path(found).resolve()
        if match := _VERSION.fullmatch(real.name):  # as the native installer of Claude Code names its binaries
            return match[1]
        for folder in islice(real.parents, _ABOVE):
            try:
                text = read_bounded(folder / "package.json", 1 << 18).decode("utf-8", "replace")
            except (OSError, PassdownError):
                continue
            if match := _PACKAGE_VERSION.search(text):
                return one_line(match[1], 40)
    return one_line(_session_version(row), 40)


def _session_version(row: Agent) -> str:
    if not row.module or not home_of(row).is_dir():
        return ""
    try:
        sessions = sessions_of(row)
        ref = next(sessions.find(home_of(row)), None)
        events = islice(sessions.read(ref), 1) if ref else ()
        return next((event.agent_version for event in events if isinstance(event, SessionStart)), "")
    except (OSError, PassdownError):
        return ""


def read_log() -> Iterator[LogLine]:
    """Yield the lines of the hook log, oldest first; what is no such line is passed over."""
    for name in ("hooks.log.1", "hooks.log"):
        try:
            text = read_bounded(state_folder() / name, _LOG_LIMIT).decode("utf-8", "replace")
        except (OSError, PassdownError):
            continue
        for line in text.splitlines():
            cells = line.split("\t", 4)
            if len(cells) == 5 and cells[3].isdigit() and len(cells[3]) < 10:
                at, agent, event, took, outcome = (one_line(cell, 300) for cell in cells)
                yield LogLine(at=at, agent=agent, event=event, milliseconds=int(took), outcome=outcome)


def moment(stamp: str) -> int | None:
    """Return a log line's time in milliseconds, None when it is none."""
    try:
        return int(datetime.fromisoformat(stamp).timestamp() * 1000)
    except ValueError:
        return None
