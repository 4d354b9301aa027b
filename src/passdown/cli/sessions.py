"""`passdown sessions`: list the sessions of this machine, search in them, show or export one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from passdown.cli.output import age, at_terminal, moment, print_json, print_table, size
from passdown.redact.neutralise import one_line

if TYPE_CHECKING:
    from passdown.handoff.session_list import Wanted
    from passdown.sessions.index.query import Found

HEADER = ("session", "agent", "age", "size", "branch", "tokens", "exit", "title")

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _which(command: _Command) -> _Command:
    """Add the options that say which sessions are meant."""
    for option in reversed((
        click.option("--agent", default="", metavar="NAME", help="Only this agent's sessions."),
        click.option("--all", "everywhere", is_flag=True, help="The sessions of every repository on this machine."),
        click.option(
            "--repository", default="", metavar="FOLDER|NAME",
            help="Those of the repository in FOLDER, or of all folders with NAME in their path.",
        ),
        click.option("--branch", default="", metavar="NAME", help="Only those that were on this branch."),
        click.option("--since", default="", metavar="WHEN", help="Not older than 3d, 12h, 2026-11-20."),
        click.option(
            "--limit", default=20, show_default=True, type=click.IntRange(1), help="At most so many, newest first."
        ),
    )):  # fmt: skip
        command = option(command)
    return command


@click.group(invoke_without_command=True)
@_which
@click.option("--text", default="", metavar="WORDS", help="Only those in which this was said or run (see `search`).")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def sessions(ctx: click.Context, /, as_json: bool, **wanted: Any) -> None:
    """List the sessions of this repository, newest first: agent, age, size, branch, tokens, last exit code, title.

    Sessions of all agents are answered for out of an index in your data folder, which is brought up to date first.
    Deleting it loses nothing: it is made again from the agents' own logs.
    """
    if ctx.invoked_subcommand is not None:
        # What stands before the subcommand holds for it as well.
        given = {name: value for name, value in {**wanted, "as_json": as_json}.items() if value}
        ctx.default_map = dict.fromkeys(("list", "search", "show", "export"), given)
        return
    _list(ctx.obj, wanted, as_json=as_json)


@sessions.command("list", hidden=True)
@_which
@click.option("--text", default="", metavar="WORDS", help="Only those in which this was said or run (see `search`).")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def list_(folder: str, /, as_json: bool, **wanted: Any) -> None:
    """List the sessions, as `passdown sessions` does."""
    _list(folder, wanted, as_json=as_json)


def _list(folder: str, wanted: dict[str, Any], *, as_json: bool) -> None:
    import time

    from passdown.handoff.session_list import listed

    with index_progress() as progress:
        found = listed(Path(folder), _wanted(wanted), progress=progress)
    _say(found.notes)
    if as_json:
        print_json({"schema_version": 1, "sessions": found.rows, "left_out": found.left_out})
        return
    now = time.time_ns() // 1_000_000
    print_table(HEADER, [_row(row, now) for row in found.rows])
    if found.left_out:
        click.echo(f"{found.left_out} older left out; --limit shows more", err=True)
    if not found.rows:
        _say_none(wanted)


def _wanted(options: dict[str, Any]) -> Wanted:
    from passdown.handoff.session_list import Wanted

    return Wanted(**options)


def _say_none(wanted: dict[str, Any]) -> None:
    narrowed = any(wanted.get(name) for name in ("agent", "repository", "branch", "since", "text"))
    what = "no such session" if narrowed else "no session" if wanted["everywhere"] else "no sessions of this repository"
    click.echo(what if wanted["everywhere"] else f"{what}; --all lists every repository's", err=True)


def _row(row: dict[str, Any], now: int) -> tuple[str, ...]:
    last = "-" if row["last_exit"] is None else str(row["last_exit"])
    return (
        row["session_id"], row["agent"], age(row["ended_at"], now), size(row["bytes"]), row["branch"] or "-",
        size(row["tokens"]), last, row["title"],
    )  # fmt: skip


def _say(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(f"note   {one_line(note, 200)}", err=True)


@contextmanager
def index_progress() -> Iterator[Callable[[int, int], None] | None]:
    """Show how far the reading of new logs is, on a terminal only, and only when it takes long."""
    if not at_terminal("stderr"):
        yield None
        return
    import time

    began = time.monotonic()
    bar: Any = None

    def show(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and time.monotonic() - began < 0.5:
            return
        if bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("reading sessions"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
            bar.start()
            bar.add_task("", total=total)
        bar.update(bar.task_ids[0], completed=done, total=total)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


@sessions.command("search")
@click.argument("words", nargs=-1, required=True)
@_which
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def search(ctx: click.Context, /, words: tuple[str, ...], as_json: bool, **wanted: Any) -> None:
    """Find sessions by what people and agents said in them, and by the commands that were run.

    All WORDS must stand in one message or command. "quotes" hold a phrase together, a star ends a beginning
    (deploy*), a dash before a word leaves out what has it (write it inside the quotes of the shell: 'limit -cache').
    Case, width and accents do not count; Chinese, Japanese and Korean are found from one character on. Not searched:
    tool output, reasoning, and what stands behind the first 2,000 characters of a message (4,000 of a person's).
    """
    import time

    from passdown.handoff.session_list import searched

    asked = " ".join(words)
    with index_progress() as progress:
        answer = searched(Path(ctx.obj), asked, _wanted(wanted), progress=progress)
    _say(answer.notes)
    if as_json:
        print_json({"schema_version": 1, "sessions": [_found(found) for found in answer.found], "more": answer.more})
        return
    now = time.time_ns() // 1_000_000
    for found in answer.found:
        _show_found(found, asked, now)
    if answer.more:
        click.echo("there are more; --limit shows them", err=True)
    if not answer.found:
        _say_none(wanted | {"text": asked})


def _found(found: Found) -> dict[str, Any]:
    return {**found.session, "hits": [hit._asdict() for hit in found.hits]}


def _show_found(found: Found, asked: str, now: int) -> None:
    from passdown.sessions.index.excerpt import excerpt

    row = found.session
    title = f"  {row['title']}" if row["title"] else ""
    click.echo(f"{row['session_id']}  {row['agent']}  {age(row['ended_at'], now)}{title}")
    for hit in found.hits:
        place = f"line {hit.line}" if hit.line else f"at {hit.offset}"
        click.echo(f"  {hit.kind:5}  {excerpt(hit.text, asked)}  ({place})")


@sessions.command("show")
@click.argument("session", metavar="ID|FILE[#NAME]")
@click.option("--agent", default="", metavar="NAME", help="Read the file as this agent's, or in this format.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
@click.option("--events", is_flag=True, help="Print the canonical events, one JSON object a line.")
def show(session: str, agent: str, as_json: bool, events: bool) -> None:
    """Show one session's counts: messages, tool calls, failures, tokens, compactions, what was not understood.

    A file may be an agent's log or a trajectory (ATIF, SWE-agent, mini-swe-agent, OpenHands, chat messages); of one
    that holds several, name one by its id or number: runs.jsonl#3.
    """
    from passdown.handoff.sessions import describe, event_lines, find_session

    ref = find_session(session, agent=agent)
    if events:
        for line in event_lines(ref):
            click.echo(line)
        return
    counts = describe(ref)
    if as_json:
        print_json(counts)
        return
    width = max(len(name) for name in counts)
    for name, value in counts.items():
        shown = ", ".join(f"{key} {count}" for key, count in value.items()) if isinstance(value, dict) else value
        shown = moment(value) if name in ("started_at", "ended_at") and isinstance(value, int) else shown
        shown = ", ".join(map(str, shown)) if isinstance(shown, list | tuple) else shown
        click.echo(f"{name:{width}}  {'-' if shown in (None, '') else shown}")


@sessions.command("export")
@click.argument("session", metavar="ID|FILE[#NAME]")
@click.option(
    "--to", "form", default="json", show_default=True, metavar="FORMAT", help="The format to write: atif, chat or json."
)
@click.option("--agent", default="", metavar="NAME", help="Read the file as this agent's, or in this format.")
@click.option(
    "-o", "--output", default="-", type=click.Path(dir_okay=False, allow_dash=True), help="Where to write it."
)
@click.option("--json", "as_json", is_flag=True, help="Tell what did not survive as JSON (on stdout only with -o).")
def export(session: str, form: str, agent: str, output: str, as_json: bool) -> None:
    """Write one session in another format, and tell what did not survive, counted by kind.

    `atif` is one trajectory in the Agent Trajectory Interchange Format (1.8), `chat` one row of chat messages with tool
    calls, `json` one document with the counts and all canonical events. Secrets are replaced by what kind they were.
    The report goes to standard error; with --json and -o, to standard output. A file that holds several trajectories
    takes the name or the number of one behind a #: runs.jsonl#3.
    """
    from passdown.handoff.sessions import export_session, save_export

    exported = export_session(session, form, agent=agent)
    if output == "-":
        click.echo(exported.data, nl=False)
    else:
        save_export(Path(output), exported)
    if as_json:
        report = {"schema_version": 1, "format": form, "output": output, "bytes": len(exported.data)}
        print_json(report | {"lost": exported.lost}, err=output == "-")
        return
    for kind, count in exported.lost.items():
        click.echo(f"lost   {kind} {count}", err=True)
