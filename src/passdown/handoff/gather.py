"""Gather everything a packet is built from: configuration, git, workbench, sessions, the packet before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from passdown.config import Config, load_config
from passdown.evidence.collect import collect_evidence
from passdown.handoff.base import Anchor, anchor_for, rebase_anchor, takeover_on
from passdown.handoff.options import Options
from passdown.handoff.place import branch_on_shelf, find_root
from passdown.handoff.shelves import store_of
from passdown.handoff.tree import measured
from passdown.io.files import read_bounded
from passdown.io.git import one_moment
from passdown.model.evidence import Evidence, RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.model.workbench import Workbench
from passdown.packet.build import topic_slug
from passdown.packet.encode import decode_packet
from passdown.redact.scan import Redactor
from passdown.repository.commits import last_good
from passdown.repository.history import read_history
from passdown.repository.own import OwnPaths
from passdown.repository.snapshot import snapshot
from passdown.repository.tracked import tracked_paths
from passdown.sessions.discover import Discovery, find_sessions
from passdown.sessions.read import agent_called, names_a_file, read_ref, refer_to_begun
from passdown.sessions.select import Selection, select_sessions
from passdown.store.packets import PACKET_LIMIT, StoredPacket, heads, own_paths
from passdown.workbench.load import load_workbench

__all__ = ["Gathered", "Options", "branch_on_shelf", "find_root", "gather", "previous_packet"]


class Gathered(Struct, frozen=True, kw_only=True):
    """One repository's evidence, with the configuration and the packet it would supersede.

    `sessions_gone`: that packet was made of sessions, and none of them is here now, nor any other of this work.
    """

    root: Path
    config: Config
    repository: RepositoryFacts
    evidence: Evidence
    tracked: frozenset[str] = frozenset()
    topic: str = ""
    previous: Packet | None = None
    previous_path: Path | None = None
    previous_json: bytes = b""
    sessions_gone: bool = False
    findings: tuple[Finding, ...] = ()


@one_moment()
def gather(folder: Path, options: Options) -> Gathered:
    """Gather the evidence of the repository around `folder`.

    Raises `NoEvidenceError` outside a repository, `ConflictError` when two sessions are live at once, and `UsageError`
    for a session, agent, base or option that is none.
    """
    root = find_root(folder)
    config = load_config(root)
    store = store_of(root, config)
    topic = options.topic or config.topic
    previous = previous_packet(store.packets, branch_on_shelf(root), topic)
    data = read_bounded(previous.path, PACKET_LIMIT) if previous else b""
    packet = decode_packet(data) if previous else None
    anchor = anchor_for(options.base or config.base, packet)
    repository = _snapshot(root, config, anchor)
    history = read_history(root, repository.head, OwnPaths.of(own_paths(config)))
    found = _find(repository, options)
    selection = _select(found, repository, options, None)
    known = {item.head.packet_id for item in store.packets}
    taken = takeover_on(repository, branch_on_shelf(root), known, packet.topic if packet and topic else "")
    if moved := rebase_anchor(root, repository, anchor, packet, selection.primary, history, taken):
        anchor = moved
        repository = _snapshot(root, config, anchor)
    since = anchor.since(root, repository, selection.primary, history)
    selection = _select(found, repository, options, since)
    tracked = tracked_paths(root)
    workbench, repository = measured(root, config, _workbench(root, config, tracked), repository)
    evidence = collect_evidence(
        repository,
        workbench,
        [(ref, partial(read_ref, ref)) for ref in selection.refs],
        since=since,
        primary=selection.primary.session_id if selection.primary else "",
        test_command=config.test_command,
    )
    gone = _sessions_gone(packet, repository, found, selection, options)
    return Gathered(
        root=root, config=config, repository=repository, evidence=evidence, tracked=tracked, topic=topic,
        previous=packet, previous_path=previous.path if previous else None, previous_json=data,
        sessions_gone=gone is not None, findings=(*store.findings, *selection.findings, *filter(None, [gone])),
    )  # fmt: skip


def _sessions_gone(
    previous: Packet | None, repository: RepositoryFacts, found: Discovery, selection: Selection, options: Options
) -> Finding | None:
    """Return the finding that the packet before knows sessions which are gone, and that no other takes their place.

    Not where the caller looked at some sessions only, and not after a takeover: what comes then is other work.
    """
    if previous is None or not previous.sessions or selection.refs or options.agent or options.session:
        return None
    here = {ref.session_id for ref in found.refs} | set(options.without)
    if repository.base_rule == "receipt" or any(session.id in here for session in previous.sessions):
        return None
    count = len(previous.sessions)
    sessions = f"the {count} sessions" if count > 1 else "the session"
    return Finding(
        code="session.missing", severity="warn", where=previous.packet_id[:12],
        detail=f"{sessions} of this packet cannot be found here: what it knew from there is carried over, not renewed",
        fix=f"passdown show {previous.packet_id[:12]}",
    )  # fmt: skip


def _workbench(root: Path, config: Config, tracked: frozenset[str]) -> Workbench:
    workbench = load_workbench(root, config, tracked=tracked)
    if not workbench.verified_commits:
        return workbench
    good = last_good(root, workbench.verified_commits)
    return structs.replace(workbench, verified_commits=(good,) if good else ())


def _snapshot(root: Path, config: Config, anchor: Anchor) -> RepositoryFacts:
    return snapshot(
        root,
        base=anchor.explicit or None,
        base_hints=anchor.hints,
        own_paths=own_paths(config),
        integration_branch=config.integration_branch,
    )


def previous_packet(stored: Sequence[StoredPacket], branch: str | None, topic: str) -> StoredPacket | None:
    """Return the packet this one would supersede: the branch's active one (of the topic, when one is named).

    Where several are active, the one whose evidence reaches furthest.
    """
    slug = topic_slug(topic, Redactor(os.environ).text) if topic else None
    active = heads(stored, branch, slug)
    return max(active, key=lambda packet: (packet.head.as_of or "", packet.packet_id)) if active else None


def _find(repository: RepositoryFacts, options: Options) -> Discovery:
    """Return the sessions of the repository; a session file that is named stands for itself, wherever it worked."""
    if options.session and names_a_file(options.session):
        return Discovery(refs=(refer_to_begun(options.session, agent=options.agent),))
    agents = {agent_called(options.agent).id} if options.agent else None
    known = options.found if agents is None else None
    found = known or find_sessions(repository, homes=options.homes, agents=agents)
    kept = tuple(ref for ref in found.refs if not {ref.session_id, ref.parent_id} & set(options.without))
    return structs.replace(found, refs=kept)


def _select(found: Discovery, repository: RepositoryFacts, options: Options, since: int | None) -> Selection:
    if options.session and names_a_file(options.session):
        return Selection(refs=found.refs, primary=found.refs[0])
    session = options.session or None
    selection = select_sessions(found.refs, repository, since=since, session=session, now=options.now)
    return structs.replace(selection, findings=(*found.findings, *selection.findings))
