"""Evidence in, packet out: a pure function, without clock, files or processes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec import structs

from passdown.errors import NoEvidenceError
from passdown.model.evidence import Evidence
from passdown.model.identifier import content_id
from passdown.model.packet import CleanStateSummary, Environment, Packet
from passdown.model.pattern import lazy_pattern
from passdown.packet.boundary import clean_packet, count_redactions
from passdown.packet.budget import HARD_CAP, RESERVE, fit
from passdown.packet.context import Context
from passdown.packet.draft import draft_packet
from passdown.packet.identity import derived_session_id, packet_id
from passdown.packet.paths import PathFacts, path_lookup
from passdown.packet.runs import with_red_ends
from passdown.redact.scan import Redactor

_SLUG = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def build_packet(
    evidence: Evidence,
    *,
    topic: str = "",
    session_id: str = "",
    kind: Literal["interim", "final"] = "interim",
    previous: Packet | None = None,
    environment: Environment | None = None,
    redactor: Redactor | None = None,
    strict_assumptions: bool = False,
    next_action: str | None = None,
    clean_state: CleanStateSummary | None = None,
    paths: PathFacts | None = None,
) -> Packet:
    """Build the handoff packet. The same evidence gives the same bytes, whatever the clock, locale or dict order.

    `previous` is the packet this one continues: what is still open there is carried, marked with its id. `paths`
    answers what is known of a path beyond the evidence. Without `redactor`, secrets are found by shape only.
    Raises `NextActionError` when `next_action` is vague, or a final packet has none; `NoEvidenceError` when a final
    packet's project has a contract or board but no verification report.
    """
    evidence = with_red_ends(evidence)
    redactor = redactor or Redactor(folders=dict.fromkeys(evidence.roots, "."))
    context = Context(
        evidence=evidence,
        look=path_lookup(paths, evidence),
        mask=redactor.text,
        previous=previous,
        clean_state=clean_state or CleanStateSummary(),
        strict_assumptions=strict_assumptions,
    )
    if kind == "final":
        _require_verdict(context)
    draft = draft_packet(context, kind, next_action, _topic(context, topic))
    draft = structs.replace(draft, environment=environment or Environment())
    cleaned = _canonical(clean_packet(draft, redactor))
    return _seal(cleaned, _chosen(context, session_id))


def _canonical(packet: Packet) -> Packet:
    """Return the packet with the very objects that a reader of its JSON gets.

    Defaults are left out of the JSON by identity, and a word such as `human` that came from a file is equal to the
    default but not the same object.
    """
    return msgspec.convert(msgspec.to_builtins(packet), Packet)


def _require_verdict(context: Context) -> None:
    if context.governed and context.evidence.workbench.verification is None:
        raise NoEvidenceError(
            "a final packet of this project needs a verification report",
            next_step="Run the verification gate, or write an interim packet.",
        )


def _topic(context: Context, given: str) -> str:
    """Return a slug: the given topic, else the task, else the branch."""
    return topic_slug(given or context.task_id or context.evidence.repository.branch or "detached", context.mask)


def topic_slug(name: str, mask: Callable[[str], str]) -> str:
    """Return what a packet calls a topic: letters, digits, `.`, `_` and `-`, at most 64, without secrets."""
    masked = mask(name)
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", masked).strip("-._")[:64]
    return slug if any(map(str.isalnum, slug)) else content_id("t-", masked)


def _chosen(context: Context, given: str) -> str:
    """Return the session id that was given, or that the state names; empty for none, an unsafe one or a secret."""
    state = context.evidence.workbench.state
    name = given or (state.session_id if state else "")
    return name if _SLUG.fullmatch(name) and context.mask(name) == name else ""


def _seal(packet: Packet, session_id: str) -> Packet:
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
