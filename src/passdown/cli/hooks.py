"""`passdown hooks`: have the agents themselves see to it that the packet is written and the brief is read."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli.output import age, print_json, print_table
from passdown.redact.neutralise import neutralise

if TYPE_CHECKING:
    from passdown.hooks.change import Plan, Scope
    from passdown.hooks.status import AgentStatus

_AGENTS = click.argument("agents", metavar="[AGENT]...", nargs=-1)
_PROJECT = click.option("--project/--user", default=False, help="This project's settings, or the user's (default).")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the change as a diff, write nothing.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


@click.group()
def hooks() -> None:
    """Install hooks into coding agents, so that the handoff packet appears by itself and the next session reads it.

    At a session's start the agent is given the brief of the active packet; at each stop, before a compaction, at the
    end, after an error or an interrupt a note of the session's id is left, from which the packet is then built in the
    background. A hook takes milliseconds, never fails its agent, and keeps no message. docs/hooks.md tells what
    happens when in each agent.

    Agents: claude_code, codex, pi, opencode, gemini, qwen, copilot, openhands.
    """


@hooks.command()
@_AGENTS
@_PROJECT
@_DRY_RUN
@_JSON
@click.pass_obj
def install(folder: str, agents: tuple[str, ...], project: bool, dry_run: bool, as_json: bool) -> int:
    """Put passdown's hooks into the settings of the agents named, or of all that are on this machine.

    Everything else in a settings file stays as it is, to the byte: comments, indentation, other people's hooks.
    Installing again changes nothing; after passdown moved, it renews its own entries alone. A file that cannot be read
    is refused with the place and left alone. Settings that are symlinks (dotfiles) are edited where they lie, when that
    is in your home folder.

    With --project the hooks go into the project's settings: where an agent has one, into the file that is not shared,
    for they name programs of this machine; a file that is made is kept out of commits (.git/info/exclude).
    """
    from passdown.hooks.install import hook_command, hooked_agents, plan_install
    from passdown.hooks.status import is_present

    rows = hooked_agents(agents)
    if not agents:
        rows = [row for row in rows if is_present(row) != "no"]
        if not rows:
            click.echo("none of the agents is on this machine; name one to install all the same", err=True)
    scope, root = _place(folder, project)
    plan = plan_install(rows, scope, root, hook_command())
    return _carry_out(plan, "installed", dry_run=dry_run, as_json=as_json)


@hooks.command()
@_AGENTS
@_PROJECT
@_DRY_RUN
@_JSON
@click.pass_obj
def uninstall(folder: str, agents: tuple[str, ...], project: bool, dry_run: bool, as_json: bool) -> int:
    """Take passdown's hooks out of the settings of the agents named, or of all.

    A file that nobody else edited is afterwards what it was before, to the byte; one that was made for the hooks is
    removed, with the folders made for it. Where somebody edited it, only passdown's entries go.
    """
    from passdown.hooks.install import hooked_agents, plan_uninstall

    scope, root = _place(folder, project)
    plan = plan_uninstall(hooked_agents(agents), scope, root)
    return _carry_out(plan, "uninstalled", dry_run=dry_run, as_json=as_json)


@hooks.command()
@_AGENTS
@_JSON
@click.pass_obj
def status(folder: str, agents: tuple[str, ...], as_json: bool) -> None:
    """Say for each agent whether it is here, has the hooks, trusts them, and when they ran last.

    No agent is run: the version is its package's or its newest session's. `old` means hooks of another installation or
    not all of them, `broken` that what they run is gone; installing again mends both. What to do stands below.
    """
    from passdown.errors import PassdownError
    from passdown.handoff.place import find_root
    from passdown.hooks.install import hook_command, hooked_agents
    from passdown.hooks.status import hook_status

    try:
        root: Path | None = find_root(Path(folder))
    except PassdownError:  # outside of a repository there is no project to speak of
        root = None
    found = hook_status(hooked_agents(agents), root, hook_command())
    if as_json:
        print_json({"schema_version": 1, "project": str(root) if root else None, "agents": found})
        return
    header = ("agent", "present", "version", "user", "project", "trusted", "last fired", "last error")
    print_table(header, [_row(one) for one in found])
    for one in found:
        for note in one.notes:
            click.echo(f"{one.agent}: {neutralise(note)}", err=True)


@hooks.command()
@click.option("-n", "--limit", "count", default=20, show_default=True, type=click.IntRange(1), help="How many lines.")
@_AGENTS
@_JSON
def log(count: int, agents: tuple[str, ...], as_json: bool) -> None:
    """Show the last lines of the hook log: when, which agent and event, how long it took, how it ended."""
    from passdown.hooks.install import hooked_agents
    from passdown.hooks.status import read_log

    wanted = {row.id for row in hooked_agents(agents)} if agents else None
    lines = [line for line in read_log() if wanted is None or line.agent in wanted][-count:]
    if as_json:
        print_json({"schema_version": 1, "lines": lines})
        return
    if not lines:
        click.echo(f"no hook has run yet{' for these agents' if agents else ''}", err=True)
    header = ("time", "agent", "event", "ms", "outcome")
    print_table(header, [(one.at, one.agent, one.event, str(one.milliseconds), one.outcome) for one in lines])


def _place(folder: str, project: bool) -> tuple[Scope, Path]:
    from passdown.handoff.place import find_root

    return ("project", find_root(Path(folder))) if project else ("user", Path(folder).resolve())


def _carry_out(plan: Plan, verb: str, *, dry_run: bool, as_json: bool) -> int:
    from passdown.hooks.change import apply_plan

    if not dry_run:
        apply_plan(plan)
    if as_json:
        print_json({"schema_version": 1, "dry_run": dry_run, "files": [_as_json(change) for change in plan.changes],
                    "refused": [{"agent": agent, "reason": str(error)} for agent, error in plan.refused]})  # fmt: skip
    else:
        for line in _told(plan, verb, dry_run=dry_run):
            click.echo(neutralise(line))
        if verb == "uninstalled" and not plan.refused and not any(change.changes for change in plan.changes):
            click.echo("nothing to do: passdown's hooks are not there", err=True)
    for agent, error in plan.refused:
        click.echo(f"passdown: {agent}: {neutralise(str(error))}", err=True)
    return plan.refused[0][1].exit_code if plan.refused else 0


def _as_json(change: object) -> dict[str, object]:
    from passdown.hooks.change import Change

    assert isinstance(change, Change)
    return {"agent": change.agent, "scope": change.scope, "path": str(change.path), "target": str(change.target),
            "changed": change.changes, "diff": list(difference(change.path, change.before, change.after))}  # fmt: skip


def _told(plan: Plan, verb: str, *, dry_run: bool) -> Iterator[str]:
    for change in plan.changes:
        link = f" (a link; the file is {change.target})" if change.target != change.path.absolute() else ""
        if dry_run:
            if link and change.changes:
                yield f"# {change.path}{link}"
            yield from difference(change.path, change.before, change.after)
        elif change.agent == "git":
            yield f"git: {change.path} {'keeps them out of commits' if change.ours else 'is as it was'}"
        elif change.changes:
            gone = "; the file is gone" if change.after is None else ""
            yield f"{change.agent}: {verb} in {change.path}{link}{gone}"
        elif verb == "installed":
            yield f"{change.agent}: already installed in {change.path}{link}"
        if verb == "installed" and change.changes:
            yield from _after_install(change.agent, change.scope, made=change.before is None)


def _after_install(agent: str, scope: str, *, made: bool) -> Iterator[str]:
    if agent == "codex":
        yield "  Codex runs no hook before you trust it: start `codex`, type /hooks, trust them."
    if agent == "openhands" and scope == "project" and made:
        yield "  OpenHands reads one hooks file only: this one now hides the hooks of your home folder in this project."


def difference(path: Path, before: bytes | None, after: bytes | None) -> Iterator[str]:
    """Yield a unified diff of a settings file, with secrets in the lines round the change made unreadable."""
    import difflib
    import os

    from passdown.redact.scan import Redactor

    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    old_name, new_name = ("/dev/null" if data is None else str(path) for data in (before, after))
    redactor = Redactor(os.environ)
    for line in difflib.unified_diff(old, new, old_name, new_name, n=2, lineterm=""):
        yield redactor.text(line)


def _row(one: AgentStatus) -> tuple[str, ...]:
    from passdown.hooks.status import moment

    now = int(time.time() * 1000)
    states = {place.scope: place.state for place in one.installed}
    trusted = _joined(place.trusted for place in one.installed)
    fired = f"{age(moment(one.last_fired), now)} ago ({one.last_event})" if one.last_fired else "never"
    error = f"{age(moment(one.last_error_at), now)} ago: {one.last_error}" if one.last_error else ""
    return (one.agent, one.present, one.version, states["user"], states.get("project", ""), trusted, fired, error)


def _joined(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(word for word in words if word))
