"""What people and agents noted while they worked: risks, failed approaches, assumptions, the next step."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.model.identifier import normalize_text
from passdown.model.moment import to_milliseconds
from passdown.model.packet import Assumption, FailedAttempt, NextAction, Risk
from passdown.model.workbench import NoteRow
from passdown.packet.caps import LISTS, keep
from passdown.packet.carry import carried_assumptions, carried_attempts, carried_risks
from passdown.packet.context import Context
from passdown.packet.vague import refusal

RISK = "risk.noted"
"""The code of a risk whose author gave it none."""

NOTE = "note:"
"""How the source of a noted next step begins; the id of the note follows."""

MOST_ATTEMPTS = 8
"""Most noted attempts that take room from recorded ones; pinned ones always have it."""


def notes_of(context: Context, kind: str) -> list[NoteRow]:
    """Return the notes of a kind that stand, in the order in which they were first noted."""
    rows = context.evidence.workbench.notes
    return [row for row in rows if row.kind == kind and not row.withdrawn and row.text.strip()]


def source_of(context: Context) -> str:
    """Return the path of the file that notes lie in."""
    return context.artifact("decisions") or "decisions.jsonl"


TESTS_FAIL = "tests fail: "
"""How a note begins that names what fails, as `check` proposes it. It is settled when all tests are green."""


def noted_risks(context: Context) -> list[Risk]:
    """Return the noted risks, and the pinned ones that only the previous packet still knows."""
    green = context.evidence.tests.state == "green"
    source = source_of(context)
    own = [
        Risk(
            id=context.name("R-", row.id, row.text), code=row.code or RISK, severity=row.severity, detail=row.text,
            source=source, by=row.by, pinned=row.pinned, basis="declared",
        )
        for row in notes_of(context, "risk")
        if row.pinned or not (green and row.text.startswith(TESTS_FAIL))
    ]  # fmt: skip
    return [*own, *carried_risks(context)]


def noted_attempts(context: Context) -> tuple[list[FailedAttempt], int]:
    """Return the noted failed approaches that have room, oldest first, and how many of this evidence's have none.

    Pinned ones that only the previous packet knows come before them.
    """
    own = [
        FailedAttempt(
            id=context.name("F-", row.id, row.text), what=row.text, why=row.why, by=row.by, pinned=row.pinned,
            basis="declared",
        )
        for row in notes_of(context, "attempt")
    ]  # fmt: skip
    items = [*carried_attempts(context), *own]
    room = min(LISTS["failed_attempts"], max(MOST_ATTEMPTS, sum(item.pinned for item in items)))
    kept = keep(items, room, newest=True)
    return kept, sum(not item.from_packet for item in items if item not in kept)


def noted_assumptions(context: Context) -> Iterator[tuple[Assumption, int | None]]:
    """Yield the noted assumptions, each with the score a reviewer noted for it, then the carried pinned ones."""
    source = source_of(context)
    for row in notes_of(context, "assumption"):
        yield (
            Assumption(
                id=context.name("A-", row.id, row.text), text=row.text, validate_with=row.check or None, source=source,
                by=row.by, pinned=row.pinned,
            ),
            row.score,
        )  # fmt: skip
    for assumption in carried_assumptions(context):
        yield assumption, assumption.score


# --- the next step -----------------------------------------------------------------------------------------------


def noted_step(context: Context) -> NoteRow | None:
    """Return the newest noted next step of this work, None when there is none that is usable."""
    row = _newest_step(context)
    return row if row is not None and not refusal(context.mask(row.text)) else None


def step_refusal(context: Context) -> str:
    """Return why the newest noted next step was not taken over, or an empty string."""
    row = _newest_step(context)
    return refusal(context.mask(row.text)) if row is not None else ""


def _newest_step(context: Context) -> NoteRow | None:
    rows = [row for row in notes_of(context, "next") if not is_over(context, row)]
    return max(rows, key=lambda row: (row.at or 0, row.line), default=None)


def is_over(context: Context, row: NoteRow) -> bool:
    """Say whether a noted next step belongs to earlier work: what comes after it was handed on already.

    It does when it was noted before this work began, when the leading session began after it, when the previous
    packet handed it on and this work came after that packet, or when it was noted on a branch that is not this work's.
    """
    evidence = context.evidence
    if _elsewhere(context, row) or _handed_on(context, row):
        return True
    if row.at is None:
        return False
    began = [use.started_at for use in evidence.sessions if use.primary and use.started_at is not None]
    if began and began[0] > row.at:
        return True
    # Where git alone cannot say when the work began, the date of HEAD says nothing either.
    known = evidence.repository.base_rule != "head"
    return known and evidence.since is not None and row.at <= evidence.since


def _elsewhere(context: Context, row: NoteRow) -> bool:
    """Say whether a step was noted on another branch, at a commit that this work does not hold."""
    repository = context.evidence.repository
    if not row.branch or not row.head or row.branch in (repository.branch, context.mask(repository.branch or "")):
        return False
    heads = {repository.head, repository.effective_head, repository.base, *(c.id for c in repository.commits)}
    return row.head not in heads


def origin_of(action: NextAction) -> str:
    """Return where a next step comes from, as a person reads it: an artifact, a rule, or who noted it."""
    if action.source.startswith(NOTE):
        return f"noted by the {action.by}" if action.by else "noted"
    rule = action.source.removeprefix("derived:")
    return rule.replace("_", " ") if rule != action.source else action.source


def _handed_on(context: Context, row: NoteRow) -> bool:
    previous, evidence = context.previous, context.evidence
    if previous is None or previous.next_action.source != f"{NOTE}{context.name('N-', row.id, row.text)}":
        return False
    if normalize_text(previous.next_action.text) != normalize_text(context.mask(row.text)):
        return False
    written, since = to_milliseconds(previous.as_of), evidence.since
    if since is None or written is None or (row.at is not None and row.at > since + 999):
        return False
    same = (evidence.repository.base or "", _seconds(since)) == (
        previous.git.base or "", _seconds(to_milliseconds(previous.git.since)),
    )  # fmt: skip
    return not same and _seconds(since) >= _seconds(written)


def _seconds(moment: int | None) -> int:
    return -1 if moment is None else moment // 1000
