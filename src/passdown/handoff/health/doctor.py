"""Doctor: if every session, and this device, were gone now, could a fresh agent go on? Tried in a real clone."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from passdown.agents.table import AGENTS
from passdown.config import load_config
from passdown.errors import GitError, PassdownError, UsageError
from passdown.handoff.draft import Draft, draft
from passdown.handoff.health.knowledge import chat_losses, packet_losses, wrap_and_commit
from passdown.handoff.health.losses import Scene, find_losses, find_unpushed, open_scene
from passdown.handoff.options import Options
from passdown.handoff.place import branch_on_shelf, find_root
from passdown.handoff.shelves import store_of
from passdown.handoff.show import find_packet
from passdown.handoff.take import Taken, Terms, take
from passdown.io.files import read_bounded
from passdown.model.finding import SEVERITY_ORDER, Finding, Severity
from passdown.model.packet import Packet
from passdown.model.path import decode_path
from passdown.packet.encode import decode_packet
from passdown.redact.neutralise import one_line
from passdown.repository.attributes import ignored_paths
from passdown.repository.locate import read_layout
from passdown.repository.replica import Origin, is_partial, machine_origin, remote_origin, replicate
from passdown.repository.snapshot import snapshot
from passdown.store.packets import PACKET_LIMIT, heads, own_paths
from passdown.takeover.ground import ground_of
from passdown.takeover.pointers import Pointer, list_pointers, resolve_pointers

NOT_HEALTHY = 6

_DAY_MS = 86_400_000

Source = Literal["machine", "remote"]
_READY = ("ready", "ready_with_drift", "needs_ack")
_PATHS = ("blob_at_path", "path_exists", "artifact_hash")


class Reading(Struct, frozen=True, kw_only=True):
    """What a fresh agent meets in a clone of this machine's git, or of what the remote had at the last fetch or push.

    `verdict` is that of `take` there (`needs_ack`: only a human's yes is missing), `cold_start` without a packet,
    `nothing` where there is no commit to clone, `failed` when git could not, `refused` when take would not. Of the
    `pointers` of the packet here, `resolved` lead somewhere there.
    """

    source: Source
    verdict: str
    commit: str = ""
    branch: str = ""
    packet_id: str = ""
    pointers: int = 0
    resolved: int = 0
    reasons: tuple[str, ...] = ()
    unresolved: tuple[Pointer, ...] = ()
    kept: str = ""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """The answer. `lost` counts against it; `at_risk` is what only this device has, and what is good to know.

    `packet_id` is the packet judged, empty when there is none; then the packet that `wrap` would write now is.
    """

    schema_version: int = 1
    healthy: bool
    portable: bool
    packet_id: str = ""
    readings: tuple[Reading, ...] = ()
    lost: tuple[Finding, ...] = ()
    at_risk: tuple[Finding, ...] = ()
    root: str = ""

    @property
    def exit_code(self) -> int:
        """0 when a fresh agent could go on with nothing lost."""
        return 0 if self.healthy else NOT_HEALTHY


def examine(
    folder: Path,
    *,
    portable: bool = False,
    keep: Path | None = None,
    options: Options | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Examine the repository around `folder`, changing nothing in it and asking no remote.

    With `portable` a clone of the remote counts, too. `keep` is a new folder in which the clones stay; `tell` hears
    what is being done. Raises `NoEvidenceError` outside a repository, `UsageError` for a folder that cannot be used.
    """
    root = find_root(folder)
    if keep is not None:
        _check_keep(keep, root)
    if Path(tempfile.gettempdir()).resolve().is_relative_to(root.resolve()):
        raise UsageError("the folder for temporary files lies in the repository that is examined",
                         where=tempfile.gettempdir(), next_step="Set TMPDIR to a folder outside.")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="passdown-doctor-") as temporary:
        place = keep.resolve() if keep is not None else Path(temporary).resolve()
        return _Examination(root, place, Path(temporary), options or Options(), tell, portable=portable).run()


def _check_keep(keep: Path, root: Path) -> None:
    place = keep.resolve()
    if place.is_relative_to(root.resolve()):
        raise UsageError("lies in the repository that is examined", where=str(keep), next_step="Name a folder outside.")
    if keep.is_symlink() or (keep.exists() and (not keep.is_dir() or any(keep.iterdir()))):
        raise UsageError("is not an empty folder", where=str(keep), next_step="Name a new one.")


class _Examination:
    """One examination: what is read once, and what the readings share."""

    def __init__(
        self, root: Path, place: Path, home: Path, options: Options, tell: Callable[[str], None], *, portable: bool
    ) -> None:
        self.root, self.place, self.options, self.tell, self.portable = root, place, options, tell, portable
        tell("reading the repository")
        self.config = load_config(root)
        self.layout = read_layout(root)
        config = self.config
        self.facts = snapshot(root, own_paths=own_paths(config), integration_branch=config.integration_branch)
        self.store = store_of(root, config)
        nowhere = home / "no-agents"
        self.alone = Options(homes={agent.id: nowhere for agent in AGENTS}, now=self.options.now)

    def run(self) -> Diagnosis:
        """Try each clone, and find what it lacks."""
        self.tell("reading the sessions")
        built, findings = self._built()
        packet = self._packet() or (built.packet if built else None)
        stored = packet is not None and (built is None or packet is not built.packet)
        topic = packet.topic if packet is not None else ""
        readings = list(self._readings(packet, stored=stored))
        scene = open_scene(self.layout, self.config, self.facts, topic=topic, portable=self.portable)
        here = resolve_pointers(packet, ground_of(self.facts)) if packet is not None else []
        named = _paths([one for one in (packet, built.packet if built else None) if one is not None])
        findings += find_losses(scene, named)
        findings += self._conflicts()
        findings += self._knowledge(readings[0], built)
        findings += _dangling(readings[0], here, _explained(scene, named))
        findings += find_unpushed(scene)
        unwritten = not stored or any(finding.code == "lost.packet" for finding in findings)
        fix = "git fetch --refetch --no-filter" if is_partial(self.root) else ""
        findings += [found for reading in readings for found in _unready(reading, fix, cold=unwritten)]
        return self._diagnosis(packet if stored else None, readings, findings)

    def _knowledge(self, machine: Reading, built: Draft | None) -> Iterator[Finding]:
        clone = self.place / machine.source
        if machine.verdict == "failed":  # what is in a commit cannot be told without one
            return
        probe = f"{self.config.output.rstrip('/')}/x/handoff.json"
        fix = wrap_and_commit(
            self.config, interim=built is None or built.refusal is not None,
            ignored=probe in ignored_paths(self.root, [probe]),
        )  # fmt: skip
        yield from packet_losses(self.root, self.config, self.store, clone, fix)
        if built is not None and not built.empty:
            self.tell("comparing with what the sessions know")
            known = self._known(clone, machine) if machine.verdict != "nothing" else []
            yield from chat_losses(built.packet, known, fix)

    def _diagnosis(
        self, packet: Packet | None, readings: Sequence[Reading], findings: Sequence[Finding]
    ) -> Diagnosis:  # fmt: skip
        unique = sorted(dict.fromkeys(findings), key=lambda finding: SEVERITY_ORDER[finding.severity])
        lost = tuple(finding for finding in unique if finding.severity == "block")
        return Diagnosis(
            healthy=not lost,
            portable=self.portable,
            packet_id=packet.packet_id if packet is not None else "",
            readings=tuple(readings),
            lost=lost,
            at_risk=tuple(finding for finding in unique if finding.severity != "block"),
            root=str(self.root),
        )

    # --- what is known here

    def _packet(self) -> Packet | None:
        active = heads(self.store.packets, branch_on_shelf(self.root))
        if not active:
            return None
        newest = max(active, key=lambda stored: (stored.head.as_of or "", stored.packet_id))
        try:
            return decode_packet(read_bounded(newest.path, PACKET_LIMIT))
        except (PassdownError, OSError):
            return None

    def _built(self) -> tuple[Draft | None, list[Finding]]:
        """Return what the sessions, the workbench and git say together, now.

        As it will be tomorrow: several sessions that run at once are no question of which one is meant, but all lost.
        """
        now = self.options.now or time.time_ns() // 1_000_000
        try:
            return draft(self.root, structs.replace(self.options, now=now + _DAY_MS)), []
        except PassdownError as error:
            detail = f"what the sessions know could not be told: {one_line(error.what, 200)}"
            return None, [Finding(code="lost.unknown", severity="block", detail=detail, fix=error.next_step)]

    def _known(self, clone: Path, reading: Reading) -> list[Packet]:
        """Return what git and the project's files alone say: the packet in the clone, and the one built of it."""
        known: list[Packet] = []
        with contextlib.suppress(PassdownError):
            if reading.packet_id:
                known.append(find_packet(clone, reading.packet_id).packet)
        with contextlib.suppress(PassdownError):
            known.append(draft(clone, self.alone).packet)
        return known

    def _conflicts(self) -> Iterator[Finding]:
        active = heads(self.store.packets, branch_on_shelf(self.root))
        if len(active) > 1:
            names = ", ".join(stored.packet_id[:12] for stored in active)
            detail = f"{len(active)} packets are active here, and a fresh agent cannot tell which: {names}"
            yield Finding(code="lost.conflict", severity="block", detail=detail, fix="passdown resolve")

    # --- the clones

    def _readings(self, packet: Packet | None, *, stored: bool) -> Iterator[Reading]:
        facts = self.facts
        origin = machine_origin(facts.head, facts.branch, facts.integration_branch) if facts.head else None
        yield self._read("machine", origin, packet, stored=stored)
        if self.portable:
            _, there = remote_origin(self.root, facts.branch, facts.remotes)
            yield self._read("remote", there, packet, stored=stored)

    def _read(self, source: Source, origin: Origin | None, packet: Packet | None, *, stored: bool) -> Reading:
        clone = self.place / source
        total = len(list_pointers(packet)) + stored if packet is not None else 0
        if origin is None:
            return Reading(source=source, verdict="nothing", pointers=total,
                           reasons=("there is no commit to clone",))  # fmt: skip
        reading = Reading(source=source, verdict="failed", commit=origin.commit, branch=origin.branch, pointers=total)
        try:
            self.tell(f"cloning what {'this machine' if source == 'machine' else 'the remote'} has")
            replicate(self.layout, origin, clone)
            self.tell("taking over there")
            taken = take(clone, options=self.alone, terms=Terms(receipt=False))
        except PassdownError as error:
            verdict = "failed" if isinstance(error, GitError) else "refused"
            return structs.replace(reading, verdict=verdict, reasons=(one_line(error.what, 300),))
        return self._judged(structs.replace(reading, kept=str(clone)), taken, packet, clone, stored=stored)

    def _judged(self, reading: Reading, taken: Taken, packet: Packet | None, clone: Path, *, stored: bool) -> Reading:
        brief = taken.brief
        found = brief.packet_id if brief is not None and not brief.built_now else ""
        pointers: list[Pointer] = []
        if packet is not None:
            facts = snapshot(clone, own_paths=own_paths(self.config))
            pointers = resolve_pointers(packet, ground_of(facts))
            if stored:
                there = found == packet.packet_id
                pointers.insert(0, Pointer(place="packet", kind="packet", subject=packet.packet_id, resolved=there,
                                           reason="" if there else _instead(found)))  # fmt: skip
        verdict: str = brief.verdict if brief is not None else "cold_start"
        if verdict == "blocked" and taken.exit_code == 8:
            verdict = "needs_ack"
        return structs.replace(
            reading,
            verdict=verdict,
            packet_id=found,
            reasons=tuple(brief.reasons) if brief is not None else (),
            pointers=len(pointers),
            resolved=sum(pointer.resolved for pointer in pointers),
            unresolved=tuple(pointer for pointer in pointers if not pointer.resolved),
        )


def _instead(found: str) -> str:
    return f"is not there; an older one drives: {found[:12]}" if found else "is not there"


def _paths(packets: Sequence[Packet]) -> list[str]:
    """Return the paths that packets point to, and those of the workbench that git does not track."""
    named: dict[str, None] = {}
    for packet in packets:
        checks = [claim.check for claim in list_pointers(packet)]
        named |= dict.fromkeys(check.subject for check in checks if check is not None and check.kind in _PATHS)
        named |= dict.fromkeys(packet.local_only.ignored_artifacts)
    return list(named)


def _explained(scene: Scene, named: Sequence[str]) -> frozenset[str]:
    """Return what a finding of its own already speaks of: uncommitted, untracked and ignored paths, and stashes."""
    paths = {decode_path(entry.path) for entry in scene.status.entries}
    paths |= {decode_path(path) for path in scene.status.untracked}
    return frozenset(paths | ignored_paths(scene.root, named) | {stash.id for stash in scene.facts.stashes})


def _dangling(reading: Reading, here: Sequence[Pointer], explained: frozenset[str]) -> Iterator[Finding]:
    """Find the pointers that do not resolve in the clone, and for which nothing else was found."""
    at_home = {(pointer.kind, pointer.subject) for pointer in here if pointer.resolved}
    for pointer in reading.unresolved:
        if pointer.kind == "packet" or pointer.subject in explained or reading.verdict in ("nothing", "failed"):
            continue
        where = "there" if (pointer.kind, pointer.subject) in at_home else "there, nor here"
        detail = f"{pointer.place}: {pointer.subject} does not resolve {where}: {pointer.reason}"
        severity: Severity = "warn" if pointer.drifted else "block"
        yield Finding(code="lost.pointer", severity=severity, detail=one_line(detail, 400), where=pointer.subject,
                      fix="passdown wrap --interim")  # fmt: skip


def _unready(reading: Reading, fix: str, *, cold: bool) -> Iterator[Finding]:
    """Find that nobody could start there, whatever the reason; a cold start is none where `cold` says so.

    `fix` is what makes a clone possible that git could not make.
    """
    if reading.verdict in _READY or (reading.verdict == "cold_start" and cold):
        return
    where = "a clone of this machine's git" if reading.source == "machine" else "a clone of the remote"
    reasons = f": {'; '.join(reading.reasons)}" if reading.reasons else ""
    detail = f"in {where} a fresh agent finds: {reading.verdict.replace('_', ' ')}{reasons}"
    mend = fix if reading.verdict == "failed" else ""
    yield Finding(code="lost.not_ready", severity="block", detail=one_line(detail, 400), where=reading.source, fix=mend)
