"""Seal a draft: the clean state goes in, texts are cleaned, the size is fitted, the identity computed."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import structs

from passdown.errors import NoEvidenceError
from passdown.model.clean import CleanState
from passdown.model.finding import Finding
from passdown.model.packet import CleanStateSummary, Environment, OverrideLine, Packet, Risk
from passdown.packet.boundary import clean_packet, count_redactions
from passdown.packet.budget import HARD_CAP, RESERVE, fit
from passdown.packet.caps import LISTS, first
from passdown.packet.draft import Draft, fill_draft
from passdown.packet.identity import derived_session_id, packet_id
from passdown.packet.next_action import require_step
from passdown.packet.risks import by_severity
from passdown.packet.settle import settle_findings
from passdown.packet.unknowns import NOT_CHECKED
from passdown.redact.scan import Redactor

Kind = Literal["interim", "final"]

_COMMONPLACE = frozenset({"board.absent"})
"""Warnings that hold of most projects: listed by code, but no risk to anybody."""


def seal_packet(
    draft: Draft,
    clean_state: CleanState | None = None,
    *,
    kind: Kind = "interim",
    environment: Environment | None = None,
    redactor: Redactor | None = None,
    require_verdict: bool = False,
) -> Packet:
    """Return the packet of a draft. The same draft and clean state give the same bytes.

    A final packet needs a usable next action (`NextActionError`) and, where the project has a contract or a board or
    `require_verdict` says so, a verification report (`NoEvidenceError`). That nothing blocks is the caller's to see to.
    """
    if kind == "final":
        require_final(draft, require_verdict=require_verdict)
    redactor = redactor or Redactor(folders=dict.fromkeys(draft.context.evidence.roots, "."))
    packet = structs.replace(_with_clean_state(draft, clean_state), kind=kind, environment=environment or Environment())
    return _with_identity(_canonical(clean_packet(packet, redactor)), draft.session_id)


def require_final(draft: Draft, *, require_verdict: bool = False) -> None:
    """Raise what a final packet of this draft lacks beyond a clean state: a verdict, or a usable next action."""
    context = draft.context
    if (context.governed or require_verdict) and context.evidence.workbench.verification is None:
        raise NoEvidenceError(
            "a final packet of this project needs a verification report",
            next_step="Write one with `passdown check --run-tests --report`, or an interim packet with `--interim`.",
        )
    require_step(draft.packet.next_action)


# --- the clean state ---------------------------------------------------------------------------------------------


def _with_clean_state(draft: Draft, state: CleanState | None) -> Packet:
    if state is None:
        return draft.packet
    if state.blocking and draft.packet.outcome == "passed":
        blocked = structs.replace(draft.context, blocked=True)
        draft = fill_draft(blocked, draft.given, draft.packet.topic, draft.session_id)
    packet, counts = draft.packet, dict(draft.packet.omitted)
    risks, counts["open_risks"] = first(_risks(draft, state), "open_risks")
    points, counts["settle_first"] = first(settle_findings(draft.context, _blocking(state)), "settle_first")
    overrides, left = _overrides(packet, state)
    counts["overrides"] = counts.get("overrides", 0) + left
    return structs.replace(
        packet,
        clean_state=summary_of(state),
        settle_first=points,
        open_risks=risks,
        overrides=overrides,
        unknowns=[code for code in packet.unknowns if code != NOT_CHECKED],
        omitted={name: count for name, count in sorted(counts.items()) if count > 0},
    )


def summary_of(state: CleanState) -> CleanStateSummary:
    """Return what a packet says of the check: its fingerprint, what blocks, and the codes of the warnings."""
    return CleanStateSummary(
        checked=True,
        fingerprint=state.tree_fingerprint,
        blocking=list(state.blocking)[: LISTS["CleanStateSummary.blocking"]],
        warnings=sorted({f.code for f in _warnings(state)} - set(state.blocking))[
            : LISTS["CleanStateSummary.warnings"]
        ],
    )


def _blocking(state: CleanState) -> list[Finding]:
    found = [finding for check in state.checks for finding in check.findings if finding.severity == "block"]
    return [finding for finding in found if finding.code in state.blocking]


def _warnings(state: CleanState) -> list[Finding]:
    """Return the warnings, and what would block had a person not let it pass: its severity is kept."""
    allowed = {override.code for override in state.overrides}
    found = [finding for check in state.checks for finding in check.findings]
    return [f for f in found if f.severity == "warn" or (f.severity == "block" and f.code in allowed)]


def _risks(draft: Draft, state: CleanState) -> list[Risk]:
    """Return the draft's risks and one for each code the check warns of that they do not name yet."""
    named = {risk.code for risk in draft.risks} | _COMMONPLACE
    groups: dict[str, list[Finding]] = {}
    for finding in _warnings(state):
        if finding.code not in named:
            groups.setdefault(finding.code, []).append(finding)
    risks = []
    for code, found in groups.items():
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        detail = f"{found[0].located}{more}"
        risks.append(
            Risk(
                id=draft.context.id("R-", f"{code} {detail}"), code=code, severity=found[0].severity, detail=detail,
                source="clean_state", basis="observed",
            )
        )  # fmt: skip
    return by_severity([*draft.risks, *risks])


def _overrides(packet: Packet, state: CleanState) -> tuple[list[OverrideLine], int]:
    lines = [OverrideLine(code=o.code, by=o.by, reason=o.reason) for o in state.overrides]
    cap = LISTS["overrides"]
    lines = [*packet.overrides, *(line for line in lines if line not in packet.overrides)]
    return lines[-cap:], max(0, len(lines) - cap)


# --- canonical form and identity ---------------------------------------------------------------------------------


def _canonical(packet: Packet) -> Packet:
    """Return the packet with the very objects that a reader of its JSON gets.

    Defaults are left out of the JSON by identity, and a word such as `human` that came from a file is equal to the
    default but not the same object.
    """
    plain: Any = msgspec.to_builtins(packet)
    return msgspec.convert(plain, Packet)


def _with_identity(packet: Packet, session_id: str) -> Packet:
    """Bring the packet under its cap and give it its identity: nothing in it changes after this."""
    room = structs.replace(
        packet,
        redactions=count_redactions(packet),
        packet_id="0" * 64,
        session_id=session_id or "s-000000000000",
    )
    packet = fit(room, HARD_CAP - RESERVE)
    packet = structs.replace(packet, redactions=count_redactions(structs.replace(packet, redactions={})))
    packet = structs.replace(packet, session_id=session_id or derived_session_id(packet))
    return structs.replace(packet, packet_id=packet_id(packet))
