"""`passdown diff`: what one packet knows that another did not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli import offers
from passdown.cli.output import print_json

if TYPE_CHECKING:
    from passdown.packet.difference import Difference, ListChange, Side, ValueChange

_WIDTH = 160
_TITLES = {
    "completed": "Completed", "remaining": "Remaining", "failed_attempts": "Failed attempts", "decisions": "Decisions",
    "preferences": "Preferences", "directives": "The human said", "questions_for_human": "Questions for the human",
    "blockers": "Blockers", "open_risks": "Known problems", "assumptions_to_validate": "Assumptions",
    "settle_first": "Settle first", "clues": "Clues", "changed_files": "Changed files", "git.commits": "Commits",
    "local_only.stashes": "Stashes",
}  # fmt: skip
_SETTLED = frozenset(
    ("remaining", "questions_for_human", "blockers", "open_risks", "assumptions_to_validate", "settle_first",
     "decisions", "preferences", "local_only.stashes")
)  # fmt: skip
"""Lists in which it matters that something is gone; from the others old items leave as the work moves on."""


@click.command()
@click.argument("first", default="", metavar="[A]", shell_complete=offers.packet_or_file)
@click.argument("second", default="", metavar="[B]", shell_complete=offers.packet_or_file)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON: values, and per list what is new, changed, gone.")
@click.pass_obj
def diff(folder: str, first: str, second: str, as_json: bool) -> None:
    """Show what packet B knows that packet A did not: attempts, decisions, risks, files, the next step.

    A and B are ids (or their unique beginnings), session ids, files, or `active`. A alone is compared with the packet
    it supersedes; without any, this branch's active packet is. Items are matched by their ids: + is new, ~ is
    different now, - is gone.
    """
    from passdown.handoff.diff import diff as compare

    found = compare(Path(folder), first, second)
    if as_json:
        print_json(found)
        return
    for line in table(found):
        click.echo(line)


def table(found: Difference) -> Iterator[str]:
    """Yield the difference as a person reads it."""
    yield f"{_side(found.before)}  →  {_side(found.after)}"
    if found.same:
        yield "They say the same."
    for value in found.values:
        yield from _value(value)
    for changed in found.lists:
        yield from _list(changed)


def _side(side: Side) -> str:
    branch = f", {side.branch}" if side.branch else ""
    return f"{side.packet_id[:12]} ({side.as_of or 'no time'}, {side.kind}, {side.outcome}{branch})"


def _value(value: ValueChange) -> Iterator[str]:
    name = value.field.replace("next_action.text", "next step").replace("_", " ").replace(".", " ")
    before, after = (_id(text) if value.field.startswith("git.") else text for text in (value.before, value.after))
    if len(before) + len(after) < 80:
        yield f"{name}: {before or '(none)'}  →  {after or '(none)'}"
        return
    yield f"{name}:"
    yield f"  - {before or '(none)'}"
    yield f"  + {after or '(none)'}"


def _id(text: str) -> str:
    return text[:12] if len(text) >= 40 and text.isalnum() else text


def _list(changed: ListChange) -> Iterator[str]:
    shown = changed.gone if changed.field in _SETTLED else ()
    if changed.new or changed.changed or shown:
        yield ""
        yield _TITLES[changed.field]
    for item in changed.new:
        yield _cut(f"  + {item.text}" + (f"  ({item.note})" if item.note else ""))
    for both in changed.changed:
        what = "; ".join(_change(value) for value in both.changes)
        yield _cut(f"  ~ {both.text}  ({what})")
    for item in shown:
        yield _cut(f"  - {item.text}" + (f"  ({item.note})" if item.note else ""))
    if shown and changed.left_out:
        yield f"    (the later packet had no room for {changed.left_out}; what is gone may be among them)"


def _change(value: ValueChange) -> str:
    name = value.field.replace("_", " ")
    if value.field == "check.expect":
        return "other content"
    if value.field == "resolved":
        return "resolved" if value.after == "yes" else "fails again"
    return f"{name}: {_id(value.before) or '(none)'} → {_id(value.after) or '(none)'}"


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH * 2 else f"{line[: _WIDTH * 2 - 1]}…"
