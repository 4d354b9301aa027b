"""`passdown note`: leave one line of evidence during the work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from passdown.cli import offers
from passdown.cli.output import at_terminal, print_findings, print_json
from passdown.redact.neutralise import one_line

if TYPE_CHECKING:
    from passdown.handoff.notes.write import Noted, Setting
    from passdown.workbench.write import AnyRow

_F = TypeVar("_F", bound=Callable[..., Any])

_STDIN = 1 << 16
"""Most bytes of a note that are read from standard input."""

_BY = click.option("--by", default="", metavar="human|agent", help="Who says it; default: found from the environment.")
_PIN = click.option("--pin", is_flag=True, help="Keep it: no packet leaves it out until it is unpinned.")
_TEXT = click.argument("text", nargs=-1, required=True, metavar="TEXT")


def _texts(name: str, flag: str, metavar: str, line: str) -> Callable[[_F], _F]:
    return click.option(flag, name, multiple=True, metavar=metavar, help=f"{line} May be repeated.")


@click.group(invoke_without_command=True)
@click.option(
    "--pin",
    "pin",
    default="",
    metavar="ID",
    shell_complete=offers.note,
    help="Keep this note: no packet leaves it out.",
)
@click.option("--unpin", "unpin", default="", metavar="ID", shell_complete=offers.note, help="Take the pin away again.")
@click.pass_context
def note(ctx: click.Context, pin: str, unpin: str) -> None:
    """Leave one line of evidence for whoever continues: a decision, a question, a clue, a risk, the next step.

    \b
    passdown note decision "In-process bucket" --why "one worker per tenant" --rejected redis
    passdown note question "Limit per user or per key?" --default "per user"
    passdown note clue "the clock is read outside the lock" --anchor src/limits.py:41
    passdown note attempt "asyncio.Lock around refill" --why "deadlocks under pytest"
    passdown note next "Make tests/test_limits.py::test_burst pass"

    TEXT is one line; `-` reads it from standard input. The id of the note is printed. The same note twice is one note,
    and nothing is ever rewritten: `undo` takes a note back by a further row. Notes lie in decisions.jsonl (decisions,
    preferences, assumptions, risks, attempts, next steps), questions.jsonl and clues.jsonl, beside the project's other
    files; the next `wrap` carries them. Secrets are masked before anything is written.
    """
    from passdown.handoff.notes.write import pin_note

    if pin and unpin:
        raise click.UsageError("--pin and --unpin exclude each other")
    if (pin or unpin) and ctx.invoked_subcommand:
        raise click.UsageError(
            f"--pin ID and --unpin ID stand alone; to pin a new note: note {ctx.invoked_subcommand} TEXT --pin"
        )
    if pin or unpin:
        _print(pin_note(Path(ctx.obj), pin or unpin, _setting(""), pinned=bool(pin)))
    elif not ctx.invoked_subcommand:
        click.echo(ctx.get_help())


@note.command()
@_TEXT
@click.option("--why", default="", metavar="TEXT", help="The reason.")
@_texts("rejected", "--rejected", "TEXT", "What was considered and not chosen.")
@click.option("--anchor", default="", metavar="PATH[:LINE]|COMMIT", help="Where it shows.")
@click.option("--assumed", is_flag=True, help="Nobody decided: this was taken for granted and can be taken back.")
@_PIN
@_BY
@click.pass_obj
def decision(
    folder: str,
    text: tuple[str, ...],
    why: str,
    rejected: tuple[str, ...],
    anchor: str,
    assumed: bool,
    pin: bool,
    by: str,
) -> None:
    """Note a decision that outlives this session, with its reason and what was rejected."""
    from passdown.model.workbench import DecisionRow

    row = DecisionRow(
        id="", choice=_text(text), why=why, rejected=rejected, anchor=anchor, state="assumed" if assumed else "made",
        pinned=pin,
    )  # fmt: skip
    _add(folder, row, by)


@note.command()
@_TEXT
@_PIN
@_BY
@click.pass_obj
def preference(folder: str, text: tuple[str, ...], pin: bool, by: str) -> None:
    """Note a standing wish: how things are to be done here."""
    from passdown.model.workbench import DecisionRow

    _add(folder, DecisionRow(id="", choice=_text(text), kind="preference", pinned=pin), by)


@note.command()
@_TEXT
@click.option(
    "--default", default="", metavar="TEXT", help="What happens unanswered: nothing, or what can be taken back."
)
@click.option("--why", default="", metavar="TEXT", help="Why it matters.")
@_texts("options", "--option", "TEXT", "A possible answer.")
@_texts("blocks", "--blocks", "ID", "What waits for the answer: a task's id, or next_action; default: the active task.")
@click.option(
    "--irreversible", is_flag=True, help="What depends on it cannot be taken back: the next session asks first."
)
@click.option(
    "--optional", is_flag=True, help="Anyone may answer; meanwhile --default is taken (and listed as assumed)."
)
@_PIN
@_BY
@click.pass_obj
def question(
    folder: str, text: tuple[str, ...], default: str, why: str, options: tuple[str, ...], blocks: tuple[str, ...],
    irreversible: bool, optional: bool, pin: bool, by: str,
) -> None:  # fmt: skip
    """Note a question that only a human can answer; `--optional` for one that anyone may answer."""
    from passdown.model.workbench import QuestionRow

    if optional and (not default or irreversible):
        raise click.UsageError("--optional needs --default, and excludes --irreversible")
    row = QuestionRow(
        id="", question=_text(text), default=default, why=why, options=options, blocks=blocks, impact=2,
        irreversibility=2 if irreversible else 0, authority=1 if optional else 2, pinned=pin,
    )  # fmt: skip
    _add(folder, row, by)


@note.command()
@_TEXT
@_texts("anchors", "--anchor", "PATH[:LINE]|COMMIT", "Where it comes from.")
@_texts("tags", "--tag", "WORD", "A word to find it by.")
@_PIN
@_BY
@click.pass_obj
def clue(
    folder: str, text: tuple[str, ...], anchors: tuple[str, ...], tags: tuple[str, ...], pin: bool, by: str
) -> None:
    """Note what was hard to find out, with anchors that lead back to it."""
    from passdown.model.workbench import ClueRow

    _add(folder, ClueRow(id="", text=_text(text), anchors=anchors, tags=tags, pinned=pin), by)


@note.command()
@_TEXT
@click.option("--check", default="", metavar="CMD", help="A command that would tell whether it holds; it is not run.")
@_PIN
@_BY
@click.pass_obj
def assumption(folder: str, text: tuple[str, ...], check: str, pin: bool, by: str) -> None:
    """Note what is taken for granted and nobody confirmed; `score` says what a reviewer thinks of it."""
    from passdown.model.workbench import NoteRow

    _add(folder, NoteRow(id="", text=_text(text), kind="assumption", check=check, pinned=pin), by)


@note.command()
@_TEXT
@click.option("--severity", default="warn", type=click.Choice(["block", "warn", "info"]), show_default=True,
              help="How bad it is; what blocks becomes the next step, where none is noted.")  # fmt: skip
@click.option("--code", default="", metavar="WORD.WORD", help="A code such as tests.flaky; default: risk.noted.")
@_PIN
@_BY
@click.pass_obj
def risk(folder: str, text: tuple[str, ...], severity: Any, code: str, pin: bool, by: str) -> None:
    """Note a known problem. A failing test that it names, by id or function name, counts as named in `check`."""
    from passdown.model.workbench import NoteRow

    _add(folder, NoteRow(id="", text=_text(text), kind="risk", severity=severity, code=code, pinned=pin), by)


@note.command()
@_TEXT
@click.option("--why", default="", metavar="TEXT", help="Why it failed.")
@_PIN
@_BY
@click.pass_obj
def attempt(folder: str, text: tuple[str, ...], why: str, pin: bool, by: str) -> None:
    """Note an approach that failed, so that nobody tries it again unknowing."""
    from passdown.model.workbench import NoteRow

    _add(folder, NoteRow(id="", text=_text(text), kind="attempt", why=why, pinned=pin), by)


@note.command("next")
@_TEXT
@_BY
@click.pass_obj
def next_step(folder: str, text: tuple[str, ...], by: str) -> None:
    """Note the next step: one concrete line. The next packet takes the newest one.

    It ends with the work it was noted in. A vague text is refused with exit code 5.
    """
    from passdown.model.workbench import NoteRow

    _add(folder, NoteRow(id="", text=_text(text), kind="next"), by)


@note.command()
@click.argument("name", metavar="ID", shell_complete=offers.open_question)
@_TEXT
@_BY
@click.pass_obj
def answer(folder: str, name: str, text: tuple[str, ...], by: str) -> None:
    """Answer a question; the answer becomes a decision. A human's question is answered by a human: an agent without a
    terminal is refused with exit code 8.
    """
    from passdown.handoff.notes.write import answer_question

    _print(answer_question(Path(folder), name, _text(text), _setting(by)))


@note.command()
@click.argument("name", metavar="ID", shell_complete=offers.assumption)
@click.argument("score", type=click.IntRange(0, 2))
@_BY
@click.pass_obj
def score(folder: str, name: str, score: int, by: str) -> None:
    """Score an assumption as its reviewer: 0 wrong, 1 doubtful, 2 confirmed. What is confirmed leaves the packet."""
    from passdown.handoff.notes.write import score_assumption

    _print(score_assumption(Path(folder), name, score, _setting(by)))


@note.command()
@click.argument("name", metavar="ID", shell_complete=offers.note)
@click.pass_obj
def undo(folder: str, name: str) -> None:
    """Take a note back, or a question's answer, by a further row."""
    from passdown.handoff.notes.write import undo_note

    _print(undo_note(Path(folder), name, _setting("")))


@note.command("list")
@click.option("--kind", default="", metavar="KIND", help="Only this kind: decision, question, clue, …")
@click.option("--all", "withdrawn", is_flag=True, help="Those that were taken back, too.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_obj
def list_(folder: str, kind: str, withdrawn: bool, as_json: bool) -> None:
    """List the notes: id, kind, state, who, and the text."""
    from passdown.cli.output import print_table
    from passdown.handoff.notes.listing import describe, list_notes

    found = list_notes(Path(folder), kind, withdrawn=withdrawn)
    print_findings(finding for finding in found.findings if finding.severity != "info")
    if as_json:
        print_json({"schema_version": 1, "notes": found.items})
        return
    rows = [
        (
            one_line(i.id, 64),
            i.kind,
            f"{i.state}{' pinned' if i.pinned else ''}",
            i.by or "?",
            one_line(describe(i)[0], 160),
        )
        for i in found.items
    ]
    print_table(("ID", "KIND", "STATE", "BY", "TEXT"), rows)
    if not rows:
        click.echo("no notes here; `passdown note --help` says how to leave one", err=True)


@note.command()
@click.argument("name", metavar="ID", shell_complete=offers.note)
@click.option("--json", "as_json", is_flag=True, help="Print every field as JSON.")
@click.pass_obj
def show(folder: str, name: str, as_json: bool) -> None:
    """Show one note in at most 300 characters, with its anchors."""
    from passdown.handoff.notes.listing import describe, find_note

    item = find_note(Path(folder), name)
    if as_json:
        print_json({"schema_version": 1, "note": item})
        return
    for line in describe(item):
        click.echo(line)


# --- in and out --------------------------------------------------------------------------------------------------


def _text(words: tuple[str, ...]) -> str:
    """Return the text of the arguments, or standard input for `-`."""
    if words != ("-",):
        return " ".join(words)
    import sys

    data = sys.stdin.buffer.read(_STDIN + 1) if sys.stdin else b""
    if len(data) > _STDIN:
        raise click.UsageError(f"standard input holds more than {_STDIN} bytes; a note is one line")
    return data.decode("utf-8", "replace").strip()


def _setting(by: str) -> Setting:
    import os
    import time

    from passdown.handoff.notes.write import Setting

    terminal = at_terminal("stdin")
    return Setting(environ=os.environ, terminal=terminal, now=time.time_ns() // 1_000_000, by=by)


def _add(folder: str, row: AnyRow, by: str) -> None:
    from passdown.handoff.notes.write import add_note

    _print(add_note(Path(folder), row, _setting(by)))


def _print(noted: Noted) -> None:
    print_findings(noted.findings)
    for remark in noted.remarks:
        click.echo(one_line(remark, 400), err=True)
    if noted.redactions:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(noted.redactions.items()))
        click.echo(f"secrets masked: {kinds}", err=True)
    if not noted.changed and not noted.remarks:
        click.echo("noted already", err=True)
    click.echo(noted.id)
