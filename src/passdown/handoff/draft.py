"""Draft a packet from what is there, judge the state the work is in, and seal it. Nothing is written."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct, structs

from passdown import __version__
from passdown.clean.check import check_clean
from passdown.clean.options import CleanOptions
from passdown.errors import NoEvidenceError, PassdownError
from passdown.handoff.gather import Gathered, Options, gather
from passdown.handoff.path_facts import path_facts
from passdown.io.files import home_folder
from passdown.io.git import one_moment
from passdown.model.clean import CleanState
from passdown.model.finding import Finding
from passdown.model.packet import Packet, Producer
from passdown.packet.build import draft_packet
from passdown.packet.draft import Draft as PacketDraft
from passdown.packet.encode import encode_packet
from passdown.packet.identity import same_content
from passdown.packet.render import render_markdown
from passdown.packet.seal import require_final, seal_packet
from passdown.redact.scan import Redactor
from passdown.repository.environment import probe_environment
from passdown.store.packets import check_slug


class BlockedError(PassdownError):
    """The clean-state check found what blocks a final packet; `state` holds all of it."""

    exit_code = 3

    def __init__(self, state: CleanState) -> None:
        codes = ", ".join(state.blocking)
        super().__init__(
            f"not safe to leave yet: {codes}",
            next_step="Settle what is listed and wrap again, or write it as it stands: `passdown wrap --interim`.",
        )
        self.state = state


class Draft(Struct, frozen=True, kw_only=True):
    """A sealed packet and the bytes it will have on disk; nothing is written yet.

    `state` is what the clean-state check found, `refusal` why this is no final packet though none but a final one was
    ruled out. `empty` says that there was nothing to build it from.
    """

    gathered: Gathered
    packet: Packet
    json: bytes
    markdown: str
    state: CleanState
    refusal: PassdownError | None = None
    empty: bool = False
    findings: tuple[Finding, ...] = ()
    same_as: Path | None = None


@one_moment()
def draft(folder: Path, options: Options | None = None, clean: CleanOptions | None = None) -> Draft:
    """Gather the evidence of the repository around `folder`, build its packet and judge its state, writing nothing.

    The packet is final when nothing stands against it and `options.interim` is not set, else interim.
    Raises `NoEvidenceError`, `NextActionError`, `ConflictError` or `UsageError`, each saying what to do next.
    """
    options = options or Options()
    return draft_from(gather(folder, options), options, clean)


def draft_from(gathered: Gathered, options: Options, clean: CleanOptions | None = None) -> Draft:
    """Build the packet of what was gathered."""
    config = gathered.config
    clean = clean or CleanOptions(environ=os.environ, now=options.now)
    clean = structs.replace(clean, base=options.base, session=options.session)
    redactor = packet_redactor(gathered)
    begun = begin(gathered, options, redactor)
    state = check_clean(gathered.evidence, begun.packet, config, clean)
    refusal = _refusal(begun, state, gathered)
    packet = seal_packet(
        begun,
        state,
        kind="interim" if refusal or options.interim else "final",
        environment=probe_environment(
            gathered.root, tools=config.tools, env_names=config.env_names, head=gathered.repository.head
        ),
        redactor=redactor,
        require_verdict=config.require_verdict,
    )
    packet = structs.replace(packet, producer=Producer(version=__version__))
    same_as = None
    if gathered.previous is not None and gathered.previous_path is not None:
        if same_content(packet, gathered.previous):
            packet, same_as = gathered.previous, gathered.previous_path
        else:
            packet = structs.replace(packet, supersedes=gathered.previous.packet_id)
    return Draft(
        gathered=gathered,
        packet=packet,
        json=gathered.previous_json if same_as else encode_packet(packet),
        markdown=render_markdown(packet, language=config.heading_language),
        state=state,
        refusal=refusal,
        empty=_is_empty(gathered),
        findings=(*gathered.findings, *not_understood(gathered)),
        same_as=same_as,
    )


def packet_redactor(gathered: Gathered) -> Redactor:
    """Return the redactor of a packet: secrets by shape and by value, folders of this machine by their short names."""
    return Redactor(os.environ, {str(home_folder()): "~"} | dict.fromkeys(gathered.evidence.roots, "."))


def begin(gathered: Gathered, options: Options, redactor: Redactor) -> PacketDraft:
    """Return the draft of the packet, which the clean-state check judges."""
    chosen = options.session_id or os.environ.get("PASSDOWN_SESSION_ID", "") or gathered.config.session_id
    if chosen:
        check_slug(chosen, "a session id")
    return draft_packet(
        gathered.evidence,
        topic=gathered.topic,
        session_id=chosen,
        previous=gathered.previous,
        redactor=redactor,
        strict_assumptions=gathered.config.strict_assumptions,
        next_action=options.next_action,
        paths=path_facts(gathered.root, gathered.tracked),
        sessions_gone=gathered.sessions_gone,
    )


def _refusal(begun: PacketDraft, state: CleanState, gathered: Gathered) -> PassdownError | None:
    if not state.clean:
        return BlockedError(state)
    try:
        require_final(begun, require_verdict=gathered.config.require_verdict)
    except PassdownError as error:
        return error
    return None


def require_evidence(drafted: Draft, *, interim: bool = False) -> None:
    """Raise `NoEvidenceError` for a draft that says nothing: no session, no work in git, no workbench.

    Also when there are sessions and nothing of any was understood, unless an interim packet was asked for.
    """
    sessions = drafted.gathered.evidence.sessions
    if sessions and not interim and all(session.unread for session in sessions):
        raise NoEvidenceError(
            "; ".join(f"session {f.where}: {f.detail}" for f in not_understood(drafted.gathered))[:1000],
            next_step="Another version of passdown may know the format; `passdown wrap --interim` hands over the rest.",
        )
    if drafted.empty:
        raise NoEvidenceError(
            "there is nothing to hand over: no session of an agent, no commit or change since the base, no workbench",
            next_step="Name a session file with --session, or an earlier commit with --base.",
        )


def not_understood(gathered: Gathered) -> tuple[Finding, ...]:
    """Return what says that the format of a session was not understood, with the evidence."""
    codes = ("session.unread_records", "session.lost_fields")
    return tuple(f for f in gathered.evidence.findings if f.code in codes and f.severity == "warn")


def _is_empty(gathered: Gathered) -> bool:
    evidence, repository = gathered.evidence, gathered.repository
    written = [a for a in evidence.workbench.artifacts if a.role not in ("router", "rules", "other")]
    work = repository.changes or repository.commits or repository.stashes or repository.operation
    return not (evidence.sessions or evidence.chains or written or work or gathered.previous)
