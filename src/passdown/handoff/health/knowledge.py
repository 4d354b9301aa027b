"""What is known here and nowhere in git: packets that were never committed, and words that only a session's log has."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from passdown.clean.mend import quote_path
from passdown.config import Config
from passdown.errors import PassdownError
from passdown.io.files import join_inside, read_bounded
from passdown.io.git import try_git
from passdown.model.finding import Finding, Severity
from passdown.model.packet import Packet
from passdown.model.pattern import lazy_pattern
from passdown.packet.difference import items_of
from passdown.redact.neutralise import one_line
from passdown.store.packets import PACKET_LIMIT, Store, StoredPacket, heads

_SAID = (
    ("directives", "message", "of the human"),
    ("decisions", "decision", ""),
    ("preferences", "preference", ""),
    ("questions_for_human", "question", "for the human"),
    ("assumptions_to_validate", "assumption", ""),
    ("blockers", "blocker", ""),
    ("failed_attempts", "failed attempt", ""),
    ("remaining", "open item", "of the plan"),
    ("clues", "clue", ""),
)
"""The lists that a session's log may be the only source of, and how one item of each is called."""

_ID = lazy_pattern(r"[0-9a-f]{64}")
_MARKDOWN_LIMIT = 1 << 20


def packet_losses(root: Path, config: Config, store: Store, clone: Path, fix: str) -> Iterator[Finding]:
    """Find the packets that the clone does not have as they are here: only local, or not committed.

    `fix` is the command that writes a packet anew and commits it.
    """
    packets = list(store.packets)
    branch = try_git(root, "symbolic-ref", "--quiet", "--short", "HEAD")[1].decode("utf-8", "replace").strip()
    for stored in packets:
        driving = stored in heads(packets, stored.head.git.branch)
        name = f"packet {stored.packet_id[:12]} ({one_line(stored.head.git.branch or 'detached HEAD', 80)})"
        if stored.shelf == "local":
            there = stored.head.git.branch or ""
            switch = f"git switch {shlex.quote(there)} && " if there and there != branch else ""
            yield from _local(name, switch + fix, driving=driving)
        else:
            yield from _uncommitted(root, clone, stored, name, driving=driving)
    if config.mirror:
        yield from _mirror(root, config, store, fix)


def _local(name: str, fix: str, *, driving: bool) -> Iterator[Finding]:
    detail = f"{name} lies on the local shelf, in git's own folder, alone"
    if driving:
        yield _finding("packet", detail, fix)
    else:
        yield _finding("old_packet", detail + "; it is history: a later packet took its place", "", "info")


def _uncommitted(root: Path, clone: Path, stored: StoredPacket, name: str, *, driving: bool) -> Iterator[Finding]:
    place = stored.path.relative_to(root)
    if not _same(stored.path, clone / place):
        folder = place.parent.as_posix()
        quoted = quote_path(folder)
        message = shlex.quote(f"Hand over {one_line(stored.head.topic, 64) or stored.packet_id[:12]}")
        fix = f"git add -f -- {quoted} && git commit -q -m {message} -- {quoted}"
        detail = f"{name} is written, but not as it stands in a commit that reaches there"
        yield _finding("packet" if driving else "old_packet", detail, fix, "block" if driving else "info", folder)


def _same(here: Path, there: Path) -> bool:
    try:
        return read_bounded(here, PACKET_LIMIT) == read_bounded(there, PACKET_LIMIT)
    except (OSError, PassdownError):
        return False


def _mirror(root: Path, config: Config, store: Store, fix: str) -> Iterator[Finding]:
    try:
        text = read_bounded(join_inside(root, config.mirror), _MARKDOWN_LIMIT).decode("utf-8", "replace")
    except (OSError, PassdownError):
        return
    named = _ID.findall(text[-400:])
    here = {stored.packet_id for stored in store.packets}
    if named and named[-1] not in here and not _committed_elsewhere(root, config.output, named[-1]):
        detail = f"{config.mirror} is all that is left of packet {named[-1][:12]}: its file is gone"
        yield _finding("mirror_only", detail, fix, "block", config.mirror)


def _committed_elsewhere(root: Path, folder: str, packet_id: str) -> bool:
    """Say whether some branch or tag, here or at a remote, has a commit with the packet."""
    where = ("--branches", "--tags", "--remotes", "--max-count=1", "--format=%H", f"-S{packet_id}")
    code, output, _ = try_git(root, "--literal-pathspecs", "log", *where, "--", folder)
    return code == 0 and bool(output.strip())


def chat_losses(built: Packet, known: Sequence[Packet], fix: str) -> Iterator[Finding]:
    """Find what a packet built here and now knows that those built of git and files alone do not."""
    for field, noun, whose in _SAID:
        there = {key for packet in known for item in items_of(packet, field) for key in (item.id, item.text)}
        items = [item for item in items_of(built, field) if not {item.id, item.text} & there]
        if items:
            count = f"{len(items)} {noun}{'' if len(items) == 1 else 's'}{f' {whose}' if whose else ''}"
            shown = "; ".join(one_line(item.text, 80) for item in items[:3])
            more = f"; and {len(items) - 3} more" if len(items) > 3 else ""
            verb = "is" if len(items) == 1 else "are"
            detail = f"{count} {verb} in no commit, only in logs and files of this machine: {shown}{more}"
            yield _finding("chat", detail, fix, where=field)


def wrap_and_commit(config: Config, *, interim: bool, ignored: bool) -> str:
    """Return the command that writes the packet and commits it, also where git ignores the packets' folder."""
    if not ignored:
        return "passdown wrap --interim --commit" if interim else "passdown wrap --commit"
    folder = quote_path(config.output)
    wrap = "passdown wrap --interim" if interim else "passdown wrap"
    return f"{wrap} && git add -f -- {folder} && git commit -q -m 'Hand over' -- {folder}"


def _finding(code: str, detail: str, fix: str, severity: Severity = "block", where: str = "") -> Finding:
    return Finding(code=f"lost.{code}", severity=severity, detail=one_line(detail, 500), where=where, fix=fix)
