"""What each tool does: one call of a use case, and its result as an answer. Nothing here runs a test or a command."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from passdown.errors import PassdownError, UsageError
from passdown.mcp.answers import Answer, already_fenced, answer, finding_lines, findings_first
from passdown.mcp.arguments import CheckArguments, NoteArguments, StatusArguments, TakeArguments, WrapArguments

if TYPE_CHECKING:
    from passdown.handoff.draft import BlockedError
    from passdown.model.brief import Brief
    from passdown.model.clean import CleanState
    from passdown.workbench.write import AnyRow

_CLAIMS = 20
_WITH_EVERY_KIND = ("kind", "text", "pin")
_FIELDS = {
    "decision": ("why", "rejected", "anchors"), "preference": (), "clue": ("anchors", "tags"), "risk": ("severity",),
    "question": ("why", "options", "default", "irreversible"), "assumption": ("check",), "attempt": ("why",),
    "next": (),
}  # fmt: skip


def take(folder: Path, given: TakeArguments) -> Answer:
    """Take the packet over and answer with the brief."""
    from passdown.handoff.take import Terms
    from passdown.handoff.take import take as take_over
    from passdown.takeover.brief_text import fenced, render_brief
    from passdown.takeover.cold_start import render_cold_start

    _catch_up(folder)
    taken = take_over(folder, given.packet, terms=Terms(receipt=not given.look_only, tokens=given.tokens))
    head = {"schema_version": 1, "receipt": taken.receipt, "exit_code": taken.exit_code}
    if taken.brief is not None:
        return already_fenced(render_brief(taken.brief, "agent", given.tokens), head | _basis(taken.brief))
    if taken.cold is not None:
        text = fenced("Nothing to take: a cold start.", render_cold_start(taken.cold).splitlines())
        return already_fenced(text, head | {"verdict": taken.cold.verdict})
    raise PassdownError("nothing was found to take")


def _basis(brief: Brief) -> dict[str, Any]:
    """Return how what the brief says is known: the next step's basis, and each claim that does not simply hold."""
    off = [verdict for verdict in brief.verdicts if verdict.state != "holds"]
    return {
        "verdict": brief.verdict,
        "packet_id": brief.packet_id,
        "tally": brief.tally,
        "next_step": brief.next_step,
        "claims_off": [
            {"text": v.claim.text, "basis": v.claim.basis, "state": v.state, "reason": v.reason} for v in off[:_CLAIMS]
        ],
        "claims_off_total": len(off),
    }


def status(folder: Path, given: StatusArguments) -> Answer:
    """Say where the work stands. Only looks: not even what hooks left is caught up with."""
    from passdown.handoff.status import read_status

    del given
    return answer("Where the work stands.", read_status(folder))


def note(folder: Path, given: NoteArguments) -> Answer:
    """Leave one note, in the name of the agent that asks."""
    from passdown.handoff.notes.write import Setting, add_note

    setting = Setting(environ=os.environ, now=_now(), by="agent")
    noted = add_note(folder, _row(given), setting)
    said = "noted" if noted.changed else "already noted"
    masked = [f"secrets masked: {kind} {count}" for kind, count in sorted(noted.redactions.items())]
    lines = [f"{said}: {noted.id} in {noted.path}" if noted.path else f"{said}: {noted.id}", *noted.remarks, *masked]
    return answer("Note.", noted, [*lines, *finding_lines(noted.findings)])


def check(folder: Path, given: CheckArguments) -> Answer:
    """Say whether the work is safe to leave; no test is run, even where the configuration asks for it."""
    from passdown.clean.options import CleanOptions
    from passdown.handoff.check import Running
    from passdown.handoff.check import check as run_check
    from passdown.handoff.options import Options

    now = _now()
    clean = CleanOptions(
        strict=given.strict, portable=given.portable, name_failures=given.name_failures, environ=os.environ, now=now
    )  # fmt: skip
    done = run_check(folder, Options(now=now), clean, running=Running(only_look=True))
    return _clean(done.state)


def wrap(folder: Path, given: WrapArguments) -> Answer:
    """Write the packet, or say what stands against it."""
    from passdown.clean.options import CleanOptions
    from passdown.handoff.draft import BlockedError
    from passdown.handoff.options import Options
    from passdown.handoff.wrap import wrap as write_packet

    now = _now()
    options = Options(
        session=given.session, topic=given.topic, next_action=given.next or None, interim=given.interim, now=now
    )  # fmt: skip
    clean = CleanOptions(
        strict=given.strict, portable=given.portable, name_failures=given.name_failures, environ=os.environ, now=now
    )  # fmt: skip
    _catch_up(folder)
    try:
        wrapped = write_packet(folder, options, clean, local=given.local)
    except BlockedError as error:
        return _blocked(error)
    told = findings_first(wrapped.findings, ())
    lines = [wrapped.headline(), *wrapped.paths, *([wrapped.hint()] if wrapped.hint() else []), *finding_lines(told)]
    return answer("Packet.", msgspec.to_builtins(wrapped.report()) | {"hint": wrapped.hint()}, lines)


def _blocked(error: BlockedError) -> Answer:
    said = {"what": error.what, "next_step": error.next_step, "exit_code": error.exit_code}
    return _clean(error.state, {"error": said})


def _clean(state: CleanState, error: dict[str, Any] | None = None) -> Answer:
    every = [finding for one in state.checks for finding in one.findings]
    told = findings_first(every, state.blocking)
    data = {"schema_version": 1, "clean": state.clean, "blocking": state.blocking, "findings": told,
            "findings_total": len(every), "counts": state.counts, **(error or {})}  # fmt: skip
    head = (
        "clean: nothing blocks"
        if state.clean
        else f"to settle before this can be handed over: {', '.join(state.blocking)}"
    )
    lines = [head, *finding_lines(told)]
    if error:
        return answer("Refused: not safe to leave yet. Settle it, or call wrap with interim.", data, lines, failed=True)
    return answer("Is it safe to leave?", data, lines)


def _row(given: NoteArguments) -> AnyRow:
    """Return the note as the row of its file. Raises `UsageError` for what does not go with its kind."""
    from passdown.model.workbench import ClueRow, DecisionRow, NoteRow, QuestionRow

    _require_fit(given)
    match given.kind:
        case "decision":
            anchor = given.anchors[0] if given.anchors else ""
            return DecisionRow(
                id="", choice=given.text, why=given.why, rejected=given.rejected, anchor=anchor, state="made",
                pinned=given.pin,
            )  # fmt: skip
        case "preference":
            return DecisionRow(id="", choice=given.text, kind="preference", pinned=given.pin)
        case "question":
            return QuestionRow(
                id="", question=given.text, default=given.default, why=given.why, options=given.options, impact=2,
                irreversibility=2 if given.irreversible else 0, authority=2, pinned=given.pin,
            )  # fmt: skip
        case "clue":
            return ClueRow(id="", text=given.text, anchors=given.anchors, tags=given.tags, pinned=given.pin)
        case "risk":
            return NoteRow(id="", text=given.text, kind="risk", severity=given.severity, pinned=given.pin)
        case "assumption" | "attempt" | "next":
            return NoteRow(
                id="", text=given.text, kind=given.kind, why=given.why, check=given.check, pinned=given.pin
            )  # fmt: skip


def _require_fit(given: NoteArguments) -> None:
    fit = (*_WITH_EVERY_KIND, *_FIELDS[given.kind])
    for name, value in msgspec.to_builtins(given).items():  # the defaults are left out
        if name not in fit:
            raise UsageError(f"{name} does not go with a note of kind {given.kind}", next_step="Leave it out.")
        if name == "anchors" and given.kind == "decision" and len(value) > 1:
            raise UsageError("a decision has one anchor", next_step="Name the place where it shows best.")
    if given.kind == "next" and given.pin:
        raise UsageError("a next step cannot be pinned: it ends with its work", next_step="Leave pin out.")


def _catch_up(folder: Path) -> None:
    from passdown.hooks.catch_up import catch_up

    catch_up(folder)


def _now() -> int:
    return time.time_ns() // 1_000_000
