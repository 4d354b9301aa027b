"""Evidence in, packet out: pure functions, without clock, files or processes."""

from __future__ import annotations

from collections.abc import Callable

from passdown.model.clean import CleanState
from passdown.model.evidence import Evidence
from passdown.model.identifier import content_id
from passdown.model.packet import Environment, Packet
from passdown.model.pattern import lazy_pattern
from passdown.packet.context import Context
from passdown.packet.draft import Draft, fill_draft
from passdown.packet.paths import PathFacts, path_lookup
from passdown.packet.runs import with_red_ends
from passdown.packet.seal import Kind, seal_packet
from passdown.redact.scan import Redactor

_NOT_IN_SLUG = lazy_pattern(r"[^A-Za-z0-9._-]+")
_SLUG = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def draft_packet(
    evidence: Evidence,
    *,
    topic: str = "",
    session_id: str = "",
    previous: Packet | None = None,
    redactor: Redactor | None = None,
    strict_assumptions: bool = False,
    next_action: str | None = None,
    paths: PathFacts | None = None,
    sessions_gone: bool = False,
) -> Draft:
    """Draft the handoff packet: every field filled, the clean state not yet known. `seal_packet` makes a packet of it.

    `previous` is the packet this one continues: what is still open there is carried, marked with its id. `paths`
    answers what is known of a path beyond the evidence. `sessions_gone`: the sessions of `previous` are not here, and
    what it knew from them is carried as well. Without `redactor`, secrets are found by shape only.
    Raises `NextActionError` when `next_action` is vague.
    """
    evidence = with_red_ends(evidence)
    redactor = redactor or Redactor(folders=dict.fromkeys(evidence.roots, "."))
    context = Context(
        evidence=evidence,
        look=path_lookup(paths, evidence),
        mask=redactor.text,
        previous=previous,
        strict_assumptions=strict_assumptions,
        sessions_gone=sessions_gone,
    )
    return fill_draft(context, next_action, _topic(context, topic), _chosen(context, session_id))


def build_packet(
    evidence: Evidence,
    *,
    topic: str = "",
    session_id: str = "",
    kind: Kind = "interim",
    previous: Packet | None = None,
    environment: Environment | None = None,
    redactor: Redactor | None = None,
    strict_assumptions: bool = False,
    next_action: str | None = None,
    clean_state: CleanState | None = None,
    paths: PathFacts | None = None,
) -> Packet:
    """Build the handoff packet: draft and seal in one. The same evidence gives the same bytes, whatever the clock,
    locale or dict order.

    The arguments are those of `draft_packet` and `seal_packet`. Raises `NextActionError` when `next_action` is vague,
    or a final packet has none; `NoEvidenceError` when a final packet's project has a contract or board but no
    verification report.
    """
    draft = draft_packet(
        evidence,
        topic=topic,
        session_id=session_id,
        previous=previous,
        redactor=redactor,
        strict_assumptions=strict_assumptions,
        next_action=next_action,
        paths=paths,
    )
    return seal_packet(draft, clean_state, kind=kind, environment=environment, redactor=redactor)


def _topic(context: Context, given: str) -> str:
    """Return a slug: the given topic, else the task, else the branch."""
    return topic_slug(given or context.task_id or context.evidence.repository.branch or "detached", context.mask)


def topic_slug(name: str, mask: Callable[[str], str]) -> str:
    """Return what a packet calls a topic: letters, digits, `.`, `_` and `-`, at most 64, without secrets."""
    masked = mask(name)
    slug = _NOT_IN_SLUG.sub("-", masked).strip("-._")[:64]
    return slug if any(map(str.isalnum, slug)) else content_id("t-", masked)


def _chosen(context: Context, given: str) -> str:
    """Return the session id that was given, or that the state names; empty for none, an unsafe one or a secret."""
    state = context.evidence.workbench.state
    name = given or (state.session_id if state else "")
    return name if _SLUG.fullmatch(name) and context.mask(name) == name else ""
