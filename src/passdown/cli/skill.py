"""`passdown skill`: a skill for this project that teaches agents to leave evidence and to finish well."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli.output import print_json, print_table, say_where
from passdown.redact.neutralise import neutralise

if TYPE_CHECKING:
    from passdown.agents.table import Agent
    from passdown.hooks.change import Plan

_AGENTS = click.argument("agents", metavar="[AGENT]...", nargs=-1)
_ALL = click.option("--all", "everyone", is_flag=True, help="For every agent that loads skills.")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the change as a diff, write nothing.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


@click.group()
def skill() -> None:
    """Teach agents in this project to leave evidence and to hand over, by a skill they load when they need it.

    A skill is a folder with a SKILL.md that an agent finds by its description. passdown makes it for this project's
    own paths: where its decisions, questions and clues lie, its board, its test command, its packets. Commit it, and
    every clone has it. For agents without skills, `passdown init --agents-md` puts the same into AGENTS.md.

    Agents: claude_code, codex, opencode, pi, gemini, qwen, copilot, openhands. Most share .agents/skills.
    """


@skill.command()
@_AGENTS
@_ALL
@_DRY_RUN
@_JSON
@click.pass_obj
def install(folder: str, agents: tuple[str, ...], everyone: bool, dry_run: bool, as_json: bool) -> int:
    """Write the skill for the agents named, or for those that are on this machine.

    Installing again changes nothing; when the project's paths moved, or passdown was upgraded, it renews what it wrote.
    A SKILL.md of somebody else, or one that was edited, is refused with exit code 7 and left alone.
    """
    from passdown.hooks.skill import apply_skill, plan_skill

    plan = plan_skill(Path(folder), chosen(agents, everyone=everyone))
    if not dry_run:
        apply_skill(plan)
    return told(plan, "installed", Path(folder), dry_run=dry_run, as_json=as_json)


@skill.command()
@_AGENTS
@_DRY_RUN
@_JSON
@click.pass_obj
def uninstall(folder: str, agents: tuple[str, ...], dry_run: bool, as_json: bool) -> int:
    """Remove the skill of the agents named, or all of them, with the folders that were made for it.

    Agents that share a folder share the skill. An edited file is left alone, with exit code 7.
    """
    from passdown.hooks.skill import apply_skill, plan_skill_removal, skilled_agents

    plan = plan_skill_removal(Path(folder), skilled_agents(agents))
    if not dry_run:
        apply_skill(plan)
    return told(plan, "removed", Path(folder), dry_run=dry_run, as_json=as_json)


@skill.command()
@_AGENTS
@_JSON
@click.pass_obj
def status(folder: str, agents: tuple[str, ...], as_json: bool) -> None:
    """Say in which folders the skill lies, and whether it is what passdown would write now.

    missing, installed, old (installing renews it), edited (by somebody), foreign (not written by passdown).
    """
    from passdown.hooks.skill import skill_places, skilled_agents

    found = skill_places(Path(folder), skilled_agents(agents))
    if as_json:
        print_json({"schema_version": 1, "places": found})
        return
    print_table(("folder", "state", "agents"), [(one.path, one.state, ", ".join(one.agents)) for one in found])


@skill.command()
@click.option("--rows", is_flag=True, help="The JSON Schema of the rows instead.")
@_JSON
@click.pass_obj
def show(folder: str, rows: bool, as_json: bool) -> None:
    """Print the SKILL.md as it is made for this project, or as JSON all its files; write nothing."""
    from passdown.handoff.writing.layout import read_layout_of
    from passdown.handoff.writing.skill import MAIN, ROWS, skill_files

    files = skill_files(read_layout_of(Path(folder)))
    if as_json:
        print_json({"schema_version": 1, "files": {name: data.decode() for name, data in files.items()}})
    else:
        click.echo(files[ROWS if rows else MAIN].decode(), nl=False)


def chosen(names: tuple[str, ...], *, everyone: bool = False) -> list[Agent]:
    """Return the agents named, or all, or those on this machine; where none is, those of the folder most share."""
    from passdown.hooks.skill import STANDARD, skilled_agents
    from passdown.hooks.status import is_present

    rows = skilled_agents(names)
    if names or everyone:
        return rows
    here = [row for row in rows if is_present(row) != "no"]
    return here or [row for row in rows if row.skills == STANDARD]


def told(plan: Plan, verb: str, folder: Path, *, dry_run: bool, as_json: bool = False) -> int:
    """Print what was done, or would be, and return the exit code."""
    from passdown.handoff.place import find_root

    root = find_root(folder)
    if as_json:
        files = [
            {"agents": one.agent.split(", "), "path": _shown(one.path, root), "changed": one.changes}
            for one in plan.changes
        ]
        refused = [{"agents": names.split(", "), "reason": str(error)} for names, error in plan.refused]
        print_json({"schema_version": 1, "dry_run": dry_run, "files": files, "refused": refused})
    else:
        for line in _lines(plan, verb, root, dry_run=dry_run):
            click.echo(neutralise(line))
    for names, error in plan.refused:
        click.echo(f"passdown: {names}: {neutralise(str(error))}", err=True)
    return plan.refused[0][1].exit_code if plan.refused else 0


def _lines(plan: Plan, verb: str, root: Path, *, dry_run: bool) -> Iterator[str]:
    from passdown.cli.hooks import difference

    changed = [one for one in plan.changes if one.changes]
    if not changed and not plan.refused:
        click.echo("nothing to do: it is there" if verb == "installed" else "nothing to do: it is not there", err=True)
    for one in changed:
        if dry_run:
            yield from difference(one.path, one.before, one.after)
        else:
            yield f"{verb} {_shown(one.path, root)} ({one.agent})"
    if changed and not dry_run and verb == "installed":
        folders = " ".join(dict.fromkeys(_folder(one.target, root.resolve()) for one in changed))
        command = f"git add -- {folders} && git commit -q -m {shlex.quote('Add the skill of passdown')} -- {folders}"
        click.echo(f"commit it, so that every clone has it: {command}", err=True)
        say_where(str(root), root)


def _folder(target: Path, root: Path) -> str:
    from passdown.handoff.writing.skill import NAME

    return next(_shown(above, root) for above in target.parents if above.name == NAME)


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
