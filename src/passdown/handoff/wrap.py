"""Wrap: draft a packet from what is there."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct, structs

from passdown import __version__
from passdown.handoff.gather import Gathered, Options, gather
from passdown.handoff.path_facts import path_facts
from passdown.model.finding import Finding
from passdown.model.packet import Packet, Producer
from passdown.packet.build import build_packet
from passdown.packet.encode import encode_packet
from passdown.packet.identity import content_hash
from passdown.packet.render import render_markdown
from passdown.redact.scan import Redactor
from passdown.repository.environment import probe_environment
from passdown.store.packets import (
    check_slug,
)


class Draft(Struct, frozen=True, kw_only=True):
    """A packet and the bytes it will have on disk; nothing is written yet."""

    gathered: Gathered
    packet: Packet
    json: bytes
    markdown: str
    findings: tuple[Finding, ...] = ()
    same_as: Path | None = None


def draft(folder: Path, options: Options | None = None) -> Draft:
    """Gather the evidence of the repository around `folder` and build its packet, writing nothing.

    Raises `NoEvidenceError`, `NextActionError`, `ConflictError` or `UsageError`, each saying what to do next.
    """
    options = options or Options()
    return draft_from(gather(folder, options), options)


def draft_from(gathered: Gathered, options: Options) -> Draft:
    """Build the packet of what was gathered."""
    config = gathered.config
    redactor = Redactor(os.environ, {str(Path.home()): "~"} | dict.fromkeys(gathered.evidence.roots, "."))
    environment = probe_environment(
        gathered.root, tools=config.tools, env_names=config.env_names, head=gathered.repository.head
    )
    chosen = options.session_id or os.environ.get("PASSDOWN_SESSION_ID", "") or config.session_id
    if chosen:
        check_slug(chosen, "a session id")
    packet = build_packet(
        gathered.evidence,
        topic=gathered.topic,
        session_id=chosen,
        previous=gathered.previous,
        environment=environment,
        redactor=redactor,
        strict_assumptions=config.strict_assumptions,
        next_action=options.next_action,
        paths=path_facts(gathered.root, gathered.tracked),
    )
    packet = structs.replace(packet, producer=Producer(version=__version__))
    same_as = None
    if gathered.previous is not None and gathered.previous_path is not None:
        if content_hash(packet) == content_hash(gathered.previous):
            packet, same_as = gathered.previous, gathered.previous_path
        else:
            packet = structs.replace(packet, supersedes=gathered.previous.packet_id)
    return Draft(
        gathered=gathered,
        packet=packet,
        json=gathered.previous_json if same_as else encode_packet(packet),
        markdown=render_markdown(packet, language=config.heading_language),
        findings=gathered.findings,
        same_as=same_as,
    )
