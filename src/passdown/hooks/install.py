"""Install and uninstall: what would change in which file. `change.apply_plan` then does it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from passdown import __version__
from passdown.agents.hook_command import HookCommand
from passdown.agents.table import TABLE, Agent, home_of, hooks_of, rows_called
from passdown.errors import FormatError, PassdownError, UsageError
from passdown.hooks.change import Change, Plan, Receipt, Scope, Was, find_target, read_settings
from passdown.hooks.exclude import plan_exclude

_TRACE = b"entry.py"


def hook_command() -> HookCommand:
    """Return what hooks run: this interpreter, and the entry of this installation."""
    if not sys.executable:
        raise UsageError("Python does not know its own path", next_step="Run passdown with a Python by its full path.")
    return HookCommand(sys.executable, str(Path(__file__).resolve().parent / "entry.py"), __version__)


def hooked_agents(names: Iterable[str] = ()) -> list[Agent]:
    """Return the agents of these names, all that hooks can be installed into when there are none.

    Raises `UsageError` for another name.
    """
    return rows_called(names, [row for row in TABLE if row.hooks], "hooks")


def plan_install(agents: Iterable[Agent], scope: Scope, root: Path, command: HookCommand) -> Plan:
    """Return what installing would change. What cannot be read or is somebody else's is refused, and left alone."""
    known = Receipt.read()
    plan = _plan(agents, root, scope, lambda row, path: _installing(row, scope, path, root, command))
    made = [one for one in plan.changes if one.before is None or known.was(one.target) == "missing"]
    return plan_exclude(plan, root, made, wanted=True) if scope == "project" else plan


def plan_uninstall(agents: Iterable[Agent], scope: Scope, root: Path) -> Plan:
    """Return what uninstalling would change."""
    known = Receipt.read()
    plan = _plan(agents, root, scope, lambda row, path: _uninstalling(row, scope, path, root, known))
    return plan_exclude(plan, root, plan.changes, wanted=False) if scope == "project" else plan


def _plan(agents: Iterable[Agent], root: Path, scope: Scope, make: Callable[[Agent, Path], Change]) -> Plan:
    changes: list[Change] = []
    refused: list[tuple[str, PassdownError]] = []
    for row in agents:
        try:
            changes.append(make(row, hooks_of(row).file(scope, root, home_of(row))))
        except PassdownError as error:
            refused.append((row.id, error))
    return Plan(changes=tuple(changes), refused=tuple(refused))


def _installing(row: Agent, scope: Scope, path: Path, root: Path, command: HookCommand) -> Change:
    hooks, target = hooks_of(row), find_target(path, scope, root)
    before = read_settings(target)
    text = _decoded(before, target)
    after = hooks.install(text, command, str(target))
    was: Was | Literal[""] = "missing" if text is None else ""
    if text is not None and not hooks.installed(text, str(target)):
        was = "text" if hooks.uninstall(after, str(target), whole=False) == text else "blank"
    return Change(agent=row.id, title=row.title, scope=scope, path=path, target=target, before=before,
                  after=after.encode("utf-8", "surrogatepass"), was=was)  # fmt: skip


def _uninstalling(row: Agent, scope: Scope, path: Path, root: Path, known: Receipt) -> Change:
    hooks, target = hooks_of(row), find_target(path, scope, root)
    before = after = read_settings(target)
    if before is not None and _TRACE in before:  # else there is nothing of ours, whether it can be read or not
        text = _decoded(before, target) or ""
        was = known.was(target)
        left = hooks.uninstall(text, str(target), whole=was != "text")
        gone = left != text and not left.strip("\ufeff \t\r\n") and was in ("", "missing")
        after = None if gone else left.encode()
    return Change(agent=row.id, title=row.title, scope=scope, path=path, target=target, before=before, after=after,
                  ours=False)  # fmt: skip


def _decoded(data: bytes | None, target: Path) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as error:
        where = f"{target}: byte {error.start}"
        raise FormatError("is not UTF-8", where=where, next_step="It was left as it is.") from error
