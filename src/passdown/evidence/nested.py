"""Agents started by an agent: launches, and sessions of others resumed through a shell, among recorded commands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, structs

from passdown.agents.nested import NAMED
from passdown.evidence.agent_programs import PACKAGES, PROGRAMS, AgentProgram
from passdown.evidence.command_words import commands_in
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionStart, ToolCall, ToolResult

CODE = "agent.nested"

_ID = lazy_pattern(r"[0-9A-Za-z][0-9A-Za-z_-]{3,79}")
_BIN = ("bin", ".bin", "sbin", "shims", "scripts")
_SAYS = frozenset({"--help", "-h", "--version", "-V"})
MOST = 200
"""Most agents started that are kept of one session."""


class Nested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent started by another: which, how, by which call. `session_id` is the one that is resumed, if named."""

    kind: Literal["launch", "resume"]
    agent: str
    program: str
    session_id: str = ""
    call_id: str = ""
    command: str = ""
    at: int | None = None
    until: int | None = None


def nested_in(command: str, *, agent: str, session_id: str = "") -> Nested | None:
    """Return the agent that a command of `agent`'s session starts, None where it starts none.

    The plain resume of the session's own, by its id or as the agent's newest, starts none; a copy of it that is given a
    task does.
    """
    if not NAMED.search(command):
        return None
    for words in commands_in(command):
        found = _started(words, agent, session_id)
        if found is not None:
            return found
    return None


def _started(words: list[str], agent: str, session_id: str) -> Nested | None:
    name = _program(words[0])
    program = PROGRAMS.get(name)
    if program is None:
        return None
    arguments = _cut(words[1:])
    if _SAYS.intersection(arguments) or arguments[:1] in (["-v"], ["help"]):
        return None
    first = _first_word(arguments, program)
    if first in program.about or not _is_agents(program, arguments):
        return None
    resumed, named = _resumed(arguments, program)
    task = any(word in program.tasks for word in arguments)
    if resumed and not task and program.agent == agent and named in ("", session_id):
        return None
    return Nested(kind="resume" if resumed else "launch", agent=program.agent, program=name, session_id=named)


def _program(word: str) -> str:
    """Return the program's name; empty for a file of that name that lies somewhere in a project."""
    word = PACKAGES.get(word, word).replace("\\", "/")
    folder, slash, name = word.rpartition("/")
    for ending in (".exe", ".cmd", ".ps1"):
        name = name.removesuffix(ending)
    return name if not slash or folder.rpartition("/")[2].lower() in _BIN else ""


def _cut(words: list[str]) -> list[str]:
    """Return the arguments up to a redirection."""
    at = next((at for at, word in enumerate(words) if word.lstrip("0123456789&")[:1] in ("<", ">")), len(words))
    return words[:at]


def _first_word(arguments: list[str], program: AgentProgram) -> str:
    skip = False
    for word in arguments:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in program.valued
        else:
            return word
    return ""


def _is_agents(program: AgentProgram, arguments: list[str]) -> bool:
    """Say whether it is the agent, and not another program of the same name."""
    if not arguments:
        return program.alone
    return not program.starts or any(word.partition("=")[0] in program.starts for word in arguments)


def _resumed(arguments: list[str], program: AgentProgram) -> tuple[bool, str]:
    """Return whether a session is opened again, and its id where one is named."""
    for at, word in enumerate(arguments):
        option, _, value = word.partition("=")
        if option in program.resumes:
            rest = [value] if value else [word for word in arguments[at + 1 : at + 3] if not word.startswith("-")][:1]
            named = rest[0] if rest and _ID.fullmatch(rest[0]) else ""
            return True, named
        if option in program.newest:
            return True, ""
    return False, ""


class NestedReader:
    """Collects the agents that a session's events start, as the events go by."""

    def __init__(self) -> None:
        self.found: list[Nested] = []
        self.omitted = 0
        self._start: SessionStart | None = None
        self._open: dict[str, int] = {}

    def add(self, event: AnyEvent) -> None:
        """Look at one event."""
        if isinstance(event, SessionStart):
            self._start = self._start or event
        elif isinstance(event, ToolResult):
            if event.call_id in self._open:
                at = self._open.pop(event.call_id)
                self.found[at] = structs.replace(self.found[at], until=event.at)
        elif isinstance(event, ToolCall) and event.action == "run" and event.command and not event.copied:
            start = self._start
            found = nested_in(
                event.command, agent=start.agent if start else "", session_id=start.session_id if start else ""
            )
            if found is None:
                return
            if len(self.found) >= MOST:
                self.omitted += 1
                return
            self._open[event.call_id] = len(self.found)
            self.found.append(
                structs.replace(found, call_id=event.call_id, command=event.command[:400], at=event.at)
            )  # fmt: skip


def nested_findings(found: Iterable[Nested], session: str = "") -> list[Finding]:
    """Return one warning for each way in which a session started agents, with the way that costs less."""
    counts: dict[tuple[str, str], int] = {}
    for one in found:
        counts[one.kind, one.program] = counts.get((one.kind, one.program), 0) + 1
    findings = []
    for (kind, program), times in sorted(counts.items()):
        often = "" if times == 1 else f" {times} times"
        what = "resumed another session with" if kind == "resume" else "started"
        findings.append(
            Finding(
                code=CODE, severity="warn", where=session,
                detail=f"the agent {what} {program}{often}: both contexts are paid for",
                fix="have the old agent wrap up (`passdown wrap`) and end, then start a fresh session: `passdown take`",
            )
        )  # fmt: skip
    return findings
