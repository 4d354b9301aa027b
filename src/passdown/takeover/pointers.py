"""A packet's pointers: every commit, path, hash and receipt it names, and whether each leads somewhere here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from passdown.io.git import try_git
from passdown.model.brief import Claim, Verdict
from passdown.model.evidence import Check
from passdown.model.packet import Packet
from passdown.model.pattern import lazy_pattern
from passdown.packet.paths import is_relative
from passdown.redact.neutralise import one_line
from passdown.takeover.claims import list_claims
from passdown.takeover.evaluate import evaluate
from passdown.takeover.ground import Ground

_KINDS = frozenset(
    ("ref_at", "is_ancestor", "blob_at_path", "path_exists", "path_absent", "stash_exists", "artifact_hash")
)  # fmt: skip
_LINE = lazy_pattern(r":\d+(?:-\d+)?$")
_COMMIT = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PATH = lazy_pattern(r"[^\s/][^\s]*[./][^\s]*")
_MOST = 500
_LOOKED_UP = 50
_LARGEST = 64 << 20


class Pointer(Struct, frozen=True, kw_only=True):
    """Something a packet points to: the check that finds it, and the packet's field it stands in.

    `reason` says why it does not resolve, empty when it does; `drifted` when something is there, with other content.
    """

    place: str
    kind: str
    subject: str
    resolved: bool
    drifted: bool = False
    reason: str = ""


def resolve_pointers(packet: Packet, ground: Ground) -> list[Pointer]:
    """Look every pointer of a packet up in the repository, each once, in reading order.

    A commit or content resolves when git has it there, wherever it lies now; a path when something is there; a branch
    when its commit is in the history. Machine settings and recorded outcomes are no pointers.
    """
    claims = list_pointers(packet)
    verdicts = evaluate(claims, packet, ground)
    present = _objects(ground, [name for claim in claims for name in _named(claim.check)])
    asked = [0]
    return [_pointer(verdict, packet, ground, present, asked) for verdict in verdicts]


def list_pointers(packet: Packet) -> list[Claim]:
    """Return what a packet points to, each thing once, in reading order, at most 500."""
    return list(islice(_pointing(packet), _MOST))


def _pointing(packet: Packet) -> Iterator[Claim]:
    seen: set[tuple[str, str, str]] = set()
    for claim in (*list_claims(packet), *_unchecked(packet)):
        check = claim.check
        if check is None or check.kind not in _KINDS:
            continue
        key = (check.kind, check.subject, check.expect)
        weaker = check.kind == "path_exists" and any(subject == check.subject for _, subject, _ in seen)
        if key not in seen and not weaker:
            seen.add(key)
            yield claim


def _unchecked(packet: Packet) -> Iterator[Claim]:
    """Yield what the packet names beside its claims: sources, commits, paths of the next step, clues, decisions."""
    for source in packet.sources:
        check = Check(kind="artifact_hash", subject=source.path, expect=source.sha256)
        yield Claim(place="sources", text=source.path, check=check)
    git = packet.git
    commits = [git.head, "" if git.base_rule == "empty_tree" else git.base, git.last_known_good_commit]
    for commit in (*commits, *(line.id for line in git.commits)):
        if commit:
            yield Claim(place="git", text=commit, check=Check(kind="is_ancestor", subject=commit, expect="HEAD"))
    new = {item.expect for item in packet.next_session_prereqs.conditions if item.kind == "may_create"}
    yield from (_path("next_action", path) for path in packet.next_action.paths if path not in new)
    if packet.interrupted_edit is not None:
        yield _path("interrupted_edit", packet.interrupted_edit.path)
    anchors = [(anchor, "clues") for clue in packet.clues for anchor in clue.anchors if anchor not in clue.broken]
    anchors += [(decision.anchor, "decisions") for decision in packet.decisions]
    for anchor, place in anchors:
        yield from _anchor(place, anchor)


def _anchor(place: str, anchor: str) -> Iterator[Claim]:
    if _COMMIT.fullmatch(anchor):
        yield Claim(place=place, text=anchor, check=Check(kind="is_ancestor", subject=anchor, expect="HEAD"))
        return
    path = _LINE.sub("", anchor.split("::", maxsplit=1)[0]).removeprefix("./")
    if is_relative(path) and _PATH.fullmatch(path):
        yield _path(place, path)


def _path(place: str, path: str) -> Claim:
    return Claim(place=place, text=path, check=Check(kind="path_exists", subject=path))


def _named(check: Check | None) -> tuple[str, ...]:
    return (check.subject, check.expect) if check is not None else ()


def _objects(ground: Ground, names: Sequence[str]) -> frozenset[str]:
    """Return those of the object ids that this repository has."""
    asked = list(dict.fromkeys(name for name in names if ground.is_object(name)))
    if not asked:
        return frozenset()
    lines = "".join(f"{name}\n" for name in asked).encode()
    code, output, _ = try_git(ground.root, "cat-file", "--batch-check", stdin=lines)
    answers = [line.split() for line in output.decode("ascii", "replace").splitlines()] if code == 0 else []
    return frozenset(parts[0] for parts in answers if len(parts) == 3)


def _pointer(verdict: Verdict, packet: Packet, ground: Ground, present: frozenset[str], asked: list[int]) -> Pointer:
    check = verdict.claim.check or Check(kind="path_exists")
    resolved = verdict.state == "holds" or verdict.change in ("advanced", "rewritten", "moved", "appeared")
    if not resolved and check.kind in ("is_ancestor", "stash_exists"):
        resolved = check.subject in present
    elif not resolved and check.kind == "blob_at_path":
        resolved = check.expect in present or _recorded(ground, check.subject) == check.expect
    elif not resolved and check.kind == "artifact_hash" and verdict.change == "edited":
        resolved = "line endings" in verdict.reason
        if not resolved and asked[0] < _LOOKED_UP:
            asked[0] += 1
            resolved = _was_committed(ground, packet.git.head or "", check)
    return Pointer(
        place=verdict.claim.place,
        kind=check.kind,
        subject=one_line(check.subject, 300),
        resolved=resolved,
        drifted=verdict.change == "edited",
        reason="" if resolved else verdict.reason,
    )


def _recorded(ground: Ground, path: str) -> str:
    """Return the id that HEAD records for a path: a submodule's commit is no object of this repository."""
    if not is_relative(path):
        return ""
    code, output, _ = try_git(ground.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"HEAD:{path}")
    return output.decode("ascii", "replace").strip() if code == 0 else ""


def _was_committed(ground: Ground, head: str, check: Check) -> bool:
    """Say whether the commit that the packet was made at holds the content of this hash."""
    if not ground.is_object(head) or not is_relative(check.subject):
        return False
    name = f"{head}:{check.subject}"
    code, output, _ = try_git(ground.root, "cat-file", "-s", name)
    if code != 0 or not output.strip().isdigit() or int(output) > _LARGEST:
        return False
    code, output, _ = try_git(ground.root, "cat-file", "blob", name)
    return code == 0 and hashlib.sha256(output).hexdigest() == check.expect
