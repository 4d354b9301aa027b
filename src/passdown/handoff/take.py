"""Take: find the packet for this place, judge it, and hand over its brief; or make one from what there is."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from passdown.config import Config, load_config
from passdown.errors import ConflictError, UnsafeError
from passdown.handoff.built import keep_built
from passdown.handoff.candidate import Candidate, Shelf, find_candidate, open_shelf
from passdown.handoff.lease import find_holder, one_taker, own_session, taker_of
from passdown.handoff.memory import packet_lines, recall, withdrawn
from passdown.handoff.options import Options
from passdown.handoff.place import find_root
from passdown.handoff.resume import cheaper_road
from passdown.handoff.tree import recorded_runs
from passdown.io.files import home_folder
from passdown.io.git import one_moment
from passdown.model.brief import Brief, Claim, ColdStart, TakeoverReceipt, Verdict
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.memory import PacketLine, Ranked
from passdown.model.moment import to_rfc3339
from passdown.model.packet import Packet
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionRef
from passdown.redact.neutralise import one_line
from passdown.redact.scan import Redactor
from passdown.repository.environment import probe_environment
from passdown.repository.snapshot import snapshot
from passdown.repository.status import read_status_ahead
from passdown.repository.tracked import tracked_paths
from passdown.sessions.discover import find_sessions
from passdown.sessions.select import Selection, select_sessions
from passdown.store.packets import own_paths
from passdown.takeover.brief import make_brief, refusing_brief
from passdown.takeover.claims import list_claims
from passdown.takeover.cold_start import cold_start, is_newer, may_be_outdated
from passdown.takeover.evaluate import evaluate
from passdown.takeover.ground import Ground, ground_of
from passdown.takeover.lease import Holder, Taker
from passdown.takeover.portable import not_portable
from passdown.takeover.receipt import read_receipts, who_takes, write_receipt
from passdown.takeover.validate import Validated, validate
from passdown.takeover.verdict import Decision, decide, environment_findings, refusal, tally

if TYPE_CHECKING:
    from passdown.handoff.draft import Draft

_ID = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_READY = ("ready", "ready_with_drift")
_EXIT = {"ready": 0, "ready_with_drift": 0, "stale": 6, "blocked": 6, "refused": 6}


class Terms(Struct, frozen=True, kw_only=True):
    """How a packet is taken: `acknowledge` is a human's yes to a next step that cannot be taken back.

    `steal` is a human's word that whoever took it before has no claim any more. `portable` asks for a packet that git
    alone carries to any device. `terminal` says whether a person sits at it, `receipt` whether the takeover is
    recorded, `tokens` how large the brief may be. `starts` is the agent that this process is about to become.
    """

    acknowledge: bool = False
    steal: bool = False
    portable: bool = False
    terminal: bool = False
    receipt: bool = True
    tokens: int = 1_200
    starts: str = ""


class Taken(Struct, frozen=True, kw_only=True):
    """What taking gave: a brief or, where there is nothing to take, a cold-start report; and the receipt's name."""

    brief: Brief | None = None
    cold: ColdStart | None = None
    receipt: str = ""
    exit_code: int = 0
    findings: tuple[Finding, ...] = ()

    def report(self) -> dict[str, Any]:
        """Return what `take --json` prints."""
        plain: dict[str, Any] = msgspec.to_builtins(self.brief or self.cold)
        return {**plain, "receipt": self.receipt}


def take(folder: Path, name: str = "", options: Options | None = None, terms: Terms | None = None) -> Taken:
    """Take the packet of this branch, or the one named by id, session id or file.

    Without a packet, or with one older than the last session's work, the brief is of a packet built on the spot.
    Nothing of the packet is run; nothing but the receipt, and a packet built on the spot, is written, all in git's own
    folder. Raises `UnsafeError` when an agent says yes in a human's stead, `ConflictError` when several packets are
    active or another agent has the topic in hand, and what reading a packet raises.
    """
    options, terms = options or Options(), terms or Terms()
    by = who_takes(os.environ)
    for given, word in ((terms.acknowledge, "--ack"), (terms.steal, "--steal")):
        if given and by != "human" and not terms.terminal:
            raise UnsafeError(
                f"{word} is a human's word, and this runs inside an agent ({by})",
                next_step=f"Run `passdown take {word}` yourself, in a terminal.",
            )
    with one_moment():
        root = find_root(folder)
        read_status_ahead(root)
        here = open_shelf(root, load_config(root))
        return _Takeover(here, options, terms, by).run(name)


class _Takeover:
    """One takeover: what is shared between finding, judging and recording."""

    def __init__(self, here: Shelf, options: Options, terms: Terms, by: str) -> None:
        self.here, self.terms, self.by, self.starter = here, terms, terms.starts or by, by if terms.starts else ""
        self.options = structs.replace(options, now=options.now or time.time_ns() // 1_000_000)
        self.crowd: ConflictError | None = None
        self.refs: tuple[SessionRef, ...] | None = None
        self.branch_refs: tuple[SessionRef, ...] = ()
        self.own: tuple[str, ...] = ()
        self.redactor = Redactor(os.environ, {str(home_folder()): "~", str(here.root): "."})

    @cached_property
    def lines(self) -> list[PacketLine]:
        """What history needs of the packets on the shelves."""
        return packet_lines(self.here.stored)

    def _memory(self, facts: RepositoryFacts, packet: Packet | None) -> tuple[Ranked, ...]:
        if not self.here.stored:
            return ()
        receipts, _ = read_receipts(Path(facts.common_dir))
        root, config = self.here.root, self.here.config
        return recall(
            root, self.here.stored, self.lines, receipts,
            packet=packet, withdrawn=withdrawn(root, config), tokens=self.terms.tokens,
        )  # fmt: skip

    def run(self, name: str) -> Taken:
        """Take the named packet as it is; for an unnamed one, look whether there is newer work."""
        candidate = find_candidate(self.here, name)
        valid = validate(candidate.data, candidate.markdown, mirror=candidate.mirror) if candidate else None
        if valid is not None and valid.tampered:
            reasons = (valid.tampered, "passdown wrap builds a new one from the evidence")
            return self._refused(valid.packet, Decision(verdict="blocked", reasons=reasons), valid.findings)
        facts = _read_repository(self.here.root, self.here.config, valid.packet if valid else None)
        if name and candidate is not None and valid is not None:
            return self._judge(candidate, valid, facts, ())
        found, findings = self._sessions(facts)
        if candidate is None or valid is None:
            return self._without_packet(bool(found.refs), findings)
        if may_be_outdated(valid.packet, found.refs) and (newer := self._newer(valid.packet)):
            return self._judge_draft(newer, findings)
        return self._judge(candidate, valid, facts, findings)

    def _sessions(self, facts: RepositoryFacts) -> tuple[Selection, tuple[Finding, ...]]:
        """Return the sessions of this branch, without the one in which this very command runs."""
        found = find_sessions(facts, homes=self.options.homes)
        self.refs = found.refs
        self.own = self._own(found.refs)
        self.options = structs.replace(self.options, found=found, without=(*self.options.without, *self.own))
        refs = [ref for ref in found.refs if not {ref.session_id, ref.parent_id} & set(self.options.without)]
        try:
            selection = select_sessions(refs, facts, since=None, now=self.options.now)
        except ConflictError as error:
            self.crowd = error
            finding = Finding(code="session.several_live", severity="warn", detail=error.what, fix=error.next_step)
            return Selection(refs=tuple(refs)), (finding,)
        self.branch_refs = selection.refs
        return selection, (*found.findings, *selection.findings)

    def _own(self, refs: Sequence[SessionRef]) -> tuple[str, ...]:
        return () if self.terms.starts else own_session(refs, self.by, self.options.now or 0)

    def _newer(self, packet: Packet) -> Draft | None:
        if self.crowd is not None:
            return None
        built = self._draft()
        return built if built.same_as is None and is_newer(built.packet, packet) else None

    def _draft(self) -> Draft:
        from passdown.handoff.draft import draft  # most packets are taken as they are

        return draft(self.here.root, self.options)

    def _without_packet(self, worked: bool, findings: Sequence[Finding]) -> Taken:
        if worked and self.crowd is not None:
            raise self.crowd
        built = self._draft()
        if worked and built.packet.sessions:
            return self._judge_draft(built, findings)
        report = cold_start(
            built.gathered.evidence,
            built.packet,
            others=self.here.others(),
            memory=self._memory(built.gathered.repository, built.packet),
            findings=self.here.findings,
            mask=self.redactor.text,
        )
        return Taken(cold=report, exit_code=4, findings=(*self.here.findings, *findings))

    def _judge_draft(self, built: Draft, findings: Sequence[Finding]) -> Taken:
        fresh = _read_repository(self.here.root, self.here.config, built.packet)
        candidate = Candidate(path=self.here.root, data=b"", shown="")
        return self._judge(candidate, Validated(packet=built.packet), fresh, findings, built=built)

    def _judge(
        self,
        candidate: Candidate,
        valid: Validated,
        facts: RepositoryFacts,
        findings: Sequence[Finding],
        *,
        built: Draft | None = None,
    ) -> Taken:
        packet, claims = valid.packet, list_claims(valid.packet)
        ground = self._ground(facts, claims)
        if reason := refusal(packet, ground, self.here.branch):
            return self._refused(packet, Decision(verdict="refused", reasons=(reason,)), valid.findings)
        verdicts = evaluate(claims, packet, ground)
        decision = self._decide(packet, verdicts, ground, candidate)
        recorded = self.terms.receipt and (decision.verdict != "blocked" or self.terms.steal)
        with one_taker(Path(facts.common_dir)) if recorded else nullcontext():
            held = self._held(packet, facts, recorded=recorded and decision.verdict in _READY)
            full, canonical = self._places(candidate, facts, built if recorded else None)
            off = environment_findings(verdicts)
            shown = (*valid.findings, *self.here.findings, *findings, *off, *held)
            brief = make_brief(
                packet, verdicts, decision, ground, full=full, canonical=canonical, built_now=built is not None,
                memory=self._memory(facts, packet) if decision.verdict in _READY else (),
                resume=cheaper_road(self.branch_refs, self.by), acknowledged=self.terms.acknowledge,
                findings=shown, mask=self.redactor.text,
            )  # fmt: skip
            receipt = self._record(packet, brief, facts, shelved=built is None) if recorded else ""
        code = 8 if decision.unacknowledged else _EXIT[decision.verdict]
        return Taken(brief=brief, receipt=receipt, exit_code=code, findings=shown)

    def _decide(
        self, packet: Packet, verdicts: Sequence[Verdict], ground: Ground, candidate: Candidate
    ) -> Decision:  # fmt: skip
        decision = decide(
            packet, verdicts, ground, successor=candidate.successor, acknowledged=self.terms.acknowledge
        )  # fmt: skip
        if not self.terms.portable or decision.verdict not in _READY:
            return decision
        tracked = tracked_paths(self.here.root)
        reasons = not_portable(packet, verdicts, ground, tracked, _in_tree(candidate))
        lacking = tuple(f"another device would lack it: {reason}" for reason in reasons)
        return Decision(verdict="blocked", reasons=lacking) if lacking else decision

    def _places(self, candidate: Candidate, facts: RepositoryFacts, built: Draft | None) -> tuple[str, str]:
        """Return where a reader finds the whole packet, as Markdown and as JSON."""
        if built is not None:
            common = Path(facts.common_dir)
            return keep_built(common, self.here.root, built.packet.packet_id, built.json, built.markdown)
        return _full(candidate, self.here.config), candidate.shown

    def _held(self, packet: Packet, facts: RepositoryFacts, *, recorded: bool) -> tuple[Finding, ...]:
        """Say who else has the topic in hand. Raises `ConflictError` for an agent that would take it all the same."""
        holder = self._holder(packet, facts)
        if holder is None or self.terms.steal:
            return ()
        if self.by != "human" and recorded:
            raise ConflictError(
                f"another agent has {one_line(packet.topic, 64)} in hand: {holder.describe()}",
                next_step="Wait until it wraps or ends, or work on another branch; --no-receipt only looks. "
                "A human may say it is over: passdown take --steal",
            )
        return (Finding(code="lease.held", severity="warn", detail=holder.describe(), fix="passdown take --steal"),)

    def _holder(self, packet: Packet, facts: RepositoryFacts) -> Holder | None:
        receipts, _ = read_receipts(Path(facts.common_dir))
        if not self.here.config.lease_minutes or all(receipt.by == "human" for receipt in receipts):
            return None
        if self.refs is None:
            self.refs = find_sessions(facts, homes=self.options.homes).refs
            self.own = self._own(self.refs)
        return find_holder(
            receipts, self.lines, self._taker(), (self.here.branch or "", packet.topic), self.refs,
            now=self.options.now or 0, minutes=self.here.config.lease_minutes,
        )  # fmt: skip

    def _taker(self) -> Taker:
        return taker_of(self.by, self.own, starts=bool(self.terms.starts))

    def _ground(self, facts: RepositoryFacts, claims: Sequence[Claim]) -> Ground:
        config, root = self.here.config, self.here.root
        recorded = any(claim.check is not None and claim.check.kind == "test_outcome_recorded" for claim in claims)
        rows, facts = recorded_runs(root, config, facts) if recorded else ((), facts)
        return ground_of(facts, probe_environment(root, config.tools, config.env_names, head=facts.head), rows)

    def _refused(self, packet: Packet, decision: Decision, findings: Sequence[Finding]) -> Taken:
        brief = refusing_brief(packet, decision.verdict, decision.reasons, findings)
        return Taken(brief=brief, exit_code=6, findings=(*findings, *self.here.findings))

    def _record(self, packet: Packet, brief: Brief, facts: RepositoryFacts, *, shelved: bool) -> str:
        taker = self._taker()
        receipt = TakeoverReceipt(
            packet_id=packet.packet_id,
            branch=self.here.branch or "",
            topic=packet.topic,
            head=facts.effective_head,
            at=to_rfc3339(self.options.now) or "",
            by=self.by,
            verdict=brief.verdict,
            tally=tally(brief.verdicts),
            acknowledged=bool(brief.next_step and brief.next_step.acknowledged),
            as_of=packet.as_of or "",
            sessions=tuple(line.id for line in packet.sessions),
            shelved=shelved,
            taker=taker.session,
            processes=taker.processes,
            memory=tuple(ranked.memory.id for ranked in brief.memory),
            steal=self.terms.steal,
            started_by=self.starter,
        )
        return write_receipt(Path(facts.common_dir), receipt).name


def _in_tree(candidate: Candidate) -> str:
    return "" if candidate.shown.startswith((".git/", "../")) or "/" not in candidate.shown else candidate.shown


def _read_repository(root: Path, config: Config, packet: Packet | None) -> RepositoryFacts:
    head = packet.git.head if packet is not None and packet.git.head else ""
    hints = (("packet", head),) if _ID.fullmatch(head) else ()
    return snapshot(
        root, base_hints=hints, own_paths=own_paths(config), integration_branch=config.integration_branch
    )  # fmt: skip


def _full(candidate: Candidate, config: Config) -> str:
    if not candidate.shown:
        return ""
    return config.mirror if candidate.mirror is not None else candidate.shown.replace("handoff.json", "handoff.md")
