"""Whether this runs inside a coding agent: by the variables that agents set, and by the programs it was started from.

A file or a project that is only *named* like an agent is none: a program counts by what is executed and where that is
installed, never by a word on a command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from passdown.agents.table import TABLE, Agent
from passdown.model.pattern import lazy_pattern

if TYPE_CHECKING:
    from passdown.io.ancestry import Program

MARKERS: tuple[tuple[str, str], ...] = (
    *((name, row.id) for row in TABLE for name in row.markers),
    ("CURSOR_AGENT", "cursor"), ("GOOSE_TERMINAL", "goose"), ("CLINE_ACTIVE", "cline"), ("KIMI_CLI", "kimi"),
    ("AMP_CURRENT_THREAD_ID", "amp"), ("AUGMENT_AGENT", "auggie"), ("AI_AGENT", "agent"), ("AGENT", "agent"),
)  # fmt: skip
"""Environment variables that coding agents set for the commands they run, and the agent's id; common ones last."""

NAMED = lazy_pattern(
    r"(?:^|[^\w.-])(?:claude|codex|opencode|gemini|qwen|copilot|pi|openhands|aider|cursor-agent|amp|goose|droid|crush|kimi|"
    r"hermes)(?!\w)"
)
"""A quick look for any of the names, before a command is taken apart to see whether it starts an agent."""

_RUNNERS = ("node", "nodejs", "bun", "deno")
_PYTHON = "python"


class Around(NamedTuple):
    """The agent around us, and how that is known."""

    agent: str
    how: str


def agent_around(variables: Mapping[str, str], programs: Iterable[Program] = (), outside: str = "") -> Around | None:
    """Return the agent in which this runs, None outside of any. `programs` are those it was started from.

    What lies in the folder `outside` is a project's own, and no agent.
    """
    for name, agent in MARKERS:
        if variables.get(name):
            return Around(agent, f"the variable {name} is set")
    for program in programs:
        for row in TABLE:
            if _is(row, program) and not (outside and program.file.startswith(f"{outside}/")):
                return Around(row.id, f"it was started from the program {row.program} (process {program.pid})")
    return None


def own_variables() -> tuple[str, ...]:
    """Return the variables by which an agent around us would be taken for the one that is started."""
    return tuple(dict.fromkeys([*(name for name, _ in MARKERS), *(row.own for row in TABLE if row.own)]))


def _is(row: Agent, program: Program) -> bool:
    if not row.program:
        return False
    name = PurePosixPath(program.file).name
    if name in _RUNNERS:
        return program.words[:1] == (row.program,) or _is_package(row, _script(program))
    if name.startswith(_PYTHON):
        return not row.packages and _is_console_script(row, _script(program))
    return name.removesuffix(".exe") == row.program or _is_package(row, program.file)


def _script(program: Program) -> str:
    """Return the file that an interpreter runs, with links followed; empty when it runs none."""
    word = next((word for word in program.words[1:] if not word.startswith("-")), "")
    return os.path.realpath(f"{program.folder}/{word}" if not word.startswith("/") else word) if word else ""


def _is_package(row: Agent, file: str) -> bool:
    return any(f"/{package}/" in file for package in row.packages)


def _is_console_script(row: Agent, script: str) -> bool:
    """Say whether a script is a Python package's program: it lies beside the interpreter of its environment."""
    path = PurePosixPath(script)
    return path.name == row.program and os.path.exists(f"{path.parent}/python")  # noqa: PTH110
