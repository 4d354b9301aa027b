"""What a packet leans on that git does not carry: it would be missing on every other device."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from passdown.io.git import try_git
from passdown.model.brief import Verdict
from passdown.model.packet import Packet
from passdown.redact.neutralise import one_line
from passdown.takeover.ground import Ground

_SHOWN = 20


def not_portable(
    packet: Packet, verdicts: Sequence[Verdict], ground: Ground, tracked: Collection[str], packet_path: str
) -> tuple[str, ...]:
    """Return what only one device has, each with how to mend it; empty when git carries all of it.

    Judged as things are here and now: what was committed or pushed since is no reason any more. `packet_path` is where
    the packet lies in this repository, empty for one that lies nowhere in it.
    """
    reasons = [
        *_commits(packet, ground),
        *_uncommitted(packet, verdicts, ground),
        *_artifacts(packet, tracked),
        *_elsewhere(packet),
        *_itself(packet_path, tracked),
    ]
    return tuple(reasons[:_SHOWN])


def _commits(packet: Packet, ground: Ground) -> Iterator[str]:
    head = packet.git.head or ""
    if not ground.is_object(head):
        yield "there is no commit yet to push"
        return
    arguments = ("for-each-ref", "--count=1", "--format=%(refname)", "--contains", head, "refs/remotes")
    code, output, _ = try_git(ground.root, *arguments)
    if code != 0 or not output.strip():
        yield f"no remote branch here has commit {head[:12]}: git push"


def _uncommitted(packet: Packet, verdicts: Sequence[Verdict], ground: Ground) -> Iterator[str]:
    loose = {change.path for change in ground.facts.changes if change.uncommitted or change.untracked}
    holds = {v.claim.check.subject for v in verdicts if v.claim.check is not None and v.state == "holds"}
    left = [item for item in packet.changed_files if item.uncommitted]
    for item in left:
        if item.path in loose or item.path not in holds:
            yield f"{one_line(item.path, 200)} was left uncommitted: commit it"
    more = packet.local_only.uncommitted - len(left)
    if more > 0 and loose:
        yield f"{more} more files were left uncommitted: commit them"


def _artifacts(packet: Packet, tracked: Collection[str]) -> Iterator[str]:
    needed = [a.path for a in packet.next_session_prereqs.artifacts if not a.tracked and a.mode != "on_demand"]
    uncommitted = {item.path for item in packet.changed_files if item.uncommitted}
    for path in dict.fromkeys([*packet.local_only.ignored_artifacts, *needed]):
        if path not in tracked and path not in uncommitted:
            yield f"{one_line(path, 200)} is not in git: git add -f, or name it in no artifact"


def _elsewhere(packet: Packet) -> Iterator[str]:
    for stash in packet.local_only.stashes:
        name = one_line(stash.id[:12], 12)
        yield f'stash {name} "{one_line(stash.subject, 80)}" stays on its machine: git stash branch, then commit'
    for worktree in packet.local_only.worktrees:
        if worktree.dirty:
            yield f"worktree {one_line(worktree.name, 80)} has uncommitted work of its own: commit it there"


def _itself(packet_path: str, tracked: Collection[str]) -> Iterator[str]:
    if not packet_path:
        yield "the packet lies in no commit: passdown wrap, and commit what it wrote"
    elif packet_path not in tracked:
        yield f"the packet itself is not committed: git add -f {one_line(packet_path, 200)}"
