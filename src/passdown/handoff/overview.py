"""What a status is made of: the shelves, the newest logs, what git says of the tree; and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from passdown.config import load_config
from passdown.errors import FormatError, UnsafeError
from passdown.handoff.status import (
    LIVE_MS,
    Fit,
    LastTakeover,
    NewerSession,
    PacketState,
    Status,
    Todo,
    Tree,
)
from passdown.handoff.unwrapped import branches_with_packets, first_step, look_ahead
from passdown.io.files import read_bounded
from passdown.io.git import require_git, try_git
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.moment import to_milliseconds
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import one_line
from passdown.repository.head import current_branch
from passdown.repository.locate import Layout
from passdown.repository.operation import operation_in
from passdown.repository.own import OwnPaths
from passdown.repository.questions import GLANCE
from passdown.sessions.newest import newest_sessions
from passdown.store.packets import PACKET_LIMIT, StoredPacket, heads, own_paths, read_store, shelves

if TYPE_CHECKING:
    from passdown.model.brief import TakeoverReceipt

_SLACK_MS = 2_000
_COUNTED = 1_000
_RECEIPTS = 50
_PLAIN_BRANCH = lazy_pattern(r"[A-Za-z0-9._/-]{1,60}")
_OBJECT = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class _Glance(Struct, frozen=True, kw_only=True):
    """As much of a packet as one screen needs."""

    class Git(Struct, frozen=True):
        head: str | None = None

    class Next(Struct, frozen=True):
        text: str = ""

    class Local(Struct, frozen=True):
        uncommitted: int = 0

    class Line(Struct, frozen=True):
        id: str = ""
        ended_at: str | None = None

    kind: str = ""
    outcome: str = ""
    topic: str = ""
    as_of: str | None = None
    git: Git = Git()
    next_action: Next = Next()
    local_only: Local = Local()
    sessions: list[Line] = field(default_factory=list)
    settle_first: list[msgspec.Raw] = field(default_factory=list)


class Overview:
    """One look at one repository."""

    def __init__(self, layout: Layout, homes: Mapping[str, Path] | None, now: int) -> None:
        self.layout, self.homes, self.now = layout, homes, now
        self.config = load_config(layout.root)
        self.own = OwnPaths.of(own_paths(self.config))

    def status(self) -> Status:
        """Read what there is and say what to do. Git, which was asked before, comes last: it takes the longest."""
        branch = current_branch(self.layout.root, self.layout.git_dir)
        store = read_store(shelves(self.layout.root, self.layout.common_dir, self.config))
        packets = list(store.packets)
        active = self._active(packets, branch)
        if not active:
            look_ahead(self.layout.root, self.config.output, self.now)
        newest = max(active, key=lambda stored: (stored.head.as_of or "", stored.packet_id), default=None)
        glance = _glance(newest) if newest is not None else None
        sessions, more = self._sessions(glance)
        taken = self._taken(branch, newest)
        tree = self._tree()
        packet = self._packet(newest, glance, tree) if newest is not None and glance is not None else None
        waiting = () if active else branches_with_packets(self.layout.root, self.config.output, self.now)
        elsewhere = _elsewhere(packets, active)
        wanted = waiting or (() if branch else elsewhere)  # a detached HEAD has no work of its own
        return Status(
            repository=one_line(self.layout.root.name, 80),
            tree=tree,
            packet=packet,
            heads=tuple(stored.packet_id for stored in active) if len(active) > 1 else (),
            other_branches=tuple(dict.fromkeys((*elsewhere, *waiting))),
            newer_sessions=tuple(sessions),
            more_sessions=more,
            last_takeover=taken,
            next=_several(active) or choose(tree, packet, sessions, taken, more=more, waiting=wanted),
            findings=(*store.findings, *_unreadable(newest, glance)),
        )

    def _tree(self) -> Tree:
        output = require_git(self.layout.root, *GLANCE)
        headers: dict[bytes, bytes] = {}
        changed = untracked = 0
        for record in output.split(b"\0"):
            if record.startswith(b"# "):
                name, _, value = record[2:].partition(b" ")
                headers[name] = value
            elif record.startswith(b"? "):
                untracked += not (self.own.holds(record[2:]) or self.own.below(record[2:]))
            elif record:
                changed += not self.own.holds(record.split(b" ", 10 if record.startswith(b"u ") else 8)[-1])
        branch = headers.get(b"branch.head", b"").decode("utf-8", "replace")
        ahead, behind = _distance(headers.get(b"branch.ab", b""))
        head = headers.get(b"branch.oid", b"").decode()
        return Tree(
            branch="" if branch == "(detached)" else branch,
            head="" if head == "(initial)" else head,
            upstream=headers.get(b"branch.upstream", b"").decode("utf-8", "replace"),
            ahead=ahead,
            behind=behind,
            operation=operation_in(self.layout.git_dir),
            changed=changed,
            untracked=untracked,
        )

    def _active(self, packets: list[StoredPacket], branch: str) -> list[StoredPacket]:
        if not packets:
            return []
        if branch and not _PLAIN_BRANCH.fullmatch(branch):  # packets may name such a branch in another way
            from passdown.handoff.place import branch_on_shelf

            return heads(packets, branch_on_shelf(self.layout.root))
        return heads(packets, branch or None)

    def _packet(self, stored: StoredPacket, glance: _Glance, tree: Tree) -> PacketState:
        as_of = to_milliseconds(glance.as_of)
        since, rewritten = self._since(glance.git.head or "", tree.head)
        fit: Fit = "as_left"
        if rewritten:
            fit = "rewritten"
        elif since is None:
            fit = "unknown"
        elif since or bool(tree.changed + tree.untracked) != bool(glance.local_only.uncommitted):
            fit = "moved_on"
        return PacketState(
            packet_id=stored.packet_id,
            kind=one_line(glance.kind, 20),
            outcome=one_line(glance.outcome, 20),
            topic=one_line(glance.topic, 64),
            shelf=stored.shelf,
            as_of=one_line(glance.as_of or "", 20),
            age_ms=max(0, self.now - as_of) if as_of is not None else None,
            commits_since=since,
            fit=fit,
            next_action=one_line(glance.next_action.text, 300),
            to_settle=len(glance.settle_first),
        )

    def _since(self, then: str, head: str) -> tuple[int | None, bool]:
        """Count the commits of work since the packet's HEAD; the second value says that it is not in the history."""
        if then == head:
            return 0, False
        if not _OBJECT.fullmatch(then) or not head:
            return None, False
        order = ("log", "--left-right", f"--max-count={_COUNTED}", "--format=%m", f"{then}...{head}")
        code, output, _ = try_git(self.layout.root, *order, *self.own.pathspec())
        if code != 0:
            return None, False
        return output.count(b">"), b"<" in output

    def _sessions(self, glance: _Glance | None) -> tuple[list[NewerSession], bool]:
        as_of = to_milliseconds(glance.as_of) if glance is not None else None
        facts = RepositoryFacts(
            root=str(self.layout.root), git_dir=str(self.layout.git_dir), common_dir=str(self.layout.common_dir)
        )  # fmt: skip
        ended = {line.id: to_milliseconds(line.ended_at) or 0 for line in glance.sessions} if glance is not None else {}
        refs, more = newest_sessions(facts, as_of, homes=self.homes)
        newer = []
        for ref in refs:
            grew = ref.modified_at or ref.started_at or 0
            known = max(ended.get(ref.session_id, 0), as_of or 0)
            if grew // 1000 * 1000 > known + _SLACK_MS:  # a log is written a moment after the event it ends with
                age = max(0, self.now - grew)
                name = one_line(ref.session_id, 80)
                newer.append(NewerSession(agent=ref.agent, session_id=name, age_ms=age, live=age < LIVE_MS))
        return newer, more

    def _taken(self, branch: str, active: StoredPacket | None) -> LastTakeover | None:
        if not (self.layout.common_dir / "passdown" / "receipts").is_dir():
            return None
        from passdown.takeover.receipt import read_receipts  # its records take a moment to define

        receipts, _ = read_receipts(self.layout.common_dir, _RECEIPTS)
        receipt = next((receipt for receipt in receipts if receipt.branch == branch), None)
        return self._takeover(receipt, active) if receipt is not None else None

    def _takeover(self, receipt: TakeoverReceipt, active: StoredPacket | None) -> LastTakeover:
        at = to_milliseconds(receipt.at)
        return LastTakeover(
            packet_id=one_line(receipt.packet_id, 64),
            by=one_line(receipt.by, 40),
            verdict=receipt.verdict,
            at=one_line(receipt.at, 20),
            age_ms=max(0, self.now - at) if at is not None else None,
            current=active is not None and receipt.packet_id == active.packet_id,
        )


def _distance(header: bytes) -> tuple[int | None, int | None]:
    parts = header.split()
    return (int(parts[0]), -int(parts[1])) if len(parts) == 2 else (None, None)


def _glance(stored: StoredPacket) -> _Glance | None:
    try:
        return msgspec.json.decode(read_bounded(stored.path, PACKET_LIMIT), type=_Glance)
    except (msgspec.DecodeError, RecursionError, FormatError, UnsafeError, OSError):
        return None


def _unreadable(stored: StoredPacket | None, glance: _Glance | None) -> tuple[Finding, ...]:
    if stored is None or glance is not None:
        return ()
    where = f"{stored.path.parent.name}/{stored.path.name}"
    return (Finding(code="packet.unreadable", severity="warn", detail="is active, but no packet v1", where=where),)


def _elsewhere(packets: list[StoredPacket], active: list[StoredPacket]) -> tuple[str, ...]:
    """Return the other branches that have an active packet; a detached HEAD's is called that."""
    branches = {packet.head.git.branch for packet in packets} - {packet.head.git.branch for packet in active}
    found = [branch for branch in branches if heads(packets, branch)]
    return tuple(sorted(one_line(branch or "detached HEAD", 120) for branch in found))


def _several(active: list[StoredPacket]) -> Todo | None:
    """Say what to do when more than one packet is active on this branch."""
    if len(active) < 2:
        return None
    names = ", ".join(stored.packet_id[:12] for stored in active)
    if len({stored.head.topic for stored in active}) < len(active):
        return Todo(command="passdown resolve", why=f"{len(active)} packets of one topic are active: {names}")
    return Todo(command=f"passdown take {active[-1].packet_id[:12]}", why=f"several topics are active here: {names}")


def choose(
    tree: Tree,
    packet: PacketState | None,
    sessions: list[NewerSession],
    taken: LastTakeover | None,
    *,
    more: bool = False,
    waiting: tuple[str, ...] = (),
) -> Todo:
    """Return the one thing to do next, from what is known at a glance.

    `more` says that older logs were not seen; `waiting` are branches with a packet that this one lacks.
    """
    if tree.operation:
        return Todo(command="git status", why=f"a {tree.operation} is under way; finish it before handing over")
    ended = [session for session in sessions if not session.live]
    if packet is None:
        dirty = tree.changed + tree.untracked
        command, why = first_step(
            dirty=dirty, ahead=tree.ahead or 0, sessions=bool(sessions), more=more, waiting=waiting
        )  # fmt: skip
        return Todo(command=command, why=why)
    if packet.fit == "rewritten":
        return Todo(command="passdown wrap", why="the packet's commit is not in the history any more")
    current = taken is not None and taken.current
    if ended or (current and (sessions or packet.fit == "moved_on")):
        dirty = tree.changed + tree.untracked
        why = "work went on after the packet"
        if dirty:
            return Todo(command="passdown check", why=f"{why}, and {_files(dirty)} not committed; then passdown wrap")
        return Todo(command="passdown wrap", why=why)
    if not current:
        return Todo(command="passdown take", why="the packet waits for its successor")
    if packet.to_settle:
        return Todo(command="passdown check", why=f"the packet was taken; {packet.to_settle} to settle first")
    return Todo(command="", why="the packet was taken and nothing has changed since: go on with its next step")


def _files(count: int) -> str:
    return "1 file is" if count == 1 else f"{count} files are"
