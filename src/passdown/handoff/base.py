"""Where the work began: the base of the diff, and the moment from which sessions count."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from passdown.io.git import try_git
from passdown.model.evidence import RepositoryFacts
from passdown.model.moment import to_milliseconds
from passdown.model.packet import Packet
from passdown.model.session import SessionRef
from passdown.repository.commits import commit_before
from passdown.repository.history import History
from passdown.takeover.receipt import last_takeover, read_receipts

if TYPE_CHECKING:
    from passdown.model.brief import TakeoverReceipt

_KEPT_RULES = frozenset({"packet", "receipt", "session_start", "head", "last_known_good"})
"""Base rules whose commit a later packet of the same work keeps; the others are found afresh from git."""


class Anchor(Struct, frozen=True, kw_only=True):
    """An explicit base, or hints (rule, commit) in order. `not_before` is when evidence begins (milliseconds)."""

    explicit: str = ""
    hints: tuple[tuple[str, str], ...] = ()
    not_before: int | None = None

    def since(
        self, root: Path, repository: RepositoryFacts, primary: SessionRef | None, history: History
    ) -> int | None:
        """Return the moment (milliseconds) from which events count; the newest session always counts whole."""
        if self.not_before is not None:
            return self.not_before
        if not repository.base or repository.base_rule == "empty_tree":
            return None
        moment = (
            repository.head_at
            if repository.base == repository.effective_head
            else _date(root, repository.base, history)
        )
        started = primary.started_at if primary else None
        # What a human asked for first is the session's first event: it happened at its start, not after it.
        return moment if moment is None or started is None else min(moment, started - 1)


def _date(root: Path, commit: str, history: History) -> int | None:
    if step := history.steps.get(commit):
        return step.at * 1000
    code, output, _ = try_git(root, "show", "-s", "--format=%ct", commit)
    return int(output) * 1000 if code == 0 and output.strip().isdigit() else None


def anchor_for(explicit: str, previous: Packet | None) -> Anchor:
    """Return where the work began as far as it is known before the sessions are looked at."""
    if explicit or previous is None or not previous.git.base or previous.git.base_rule not in _KEPT_RULES:
        return Anchor(explicit=explicit)
    hint = (previous.git.base_rule, previous.git.base)
    return Anchor(hints=(hint,), not_before=to_milliseconds(previous.git.since))


def takeover_on(
    repository: RepositoryFacts, branch: str | None, known: Collection[str], topic: str = ""
) -> TakeoverReceipt | None:
    """Return the takeover that the present work on this branch began with, of a packet that is `known` here."""
    receipts, _ = read_receipts(Path(repository.common_dir))
    return last_takeover([receipt for receipt in receipts if receipt.packet_id in known], branch or "", topic)


def rebase_anchor(
    root: Path,
    repository: RepositoryFacts,
    anchor: Anchor,
    previous: Packet | None,
    primary: SessionRef | None,
    history: History,
    taken: TakeoverReceipt | None = None,
) -> Anchor | None:
    """Return a better anchor once the newest session is known, None when the present one stands.

    Work that began with a takeover begins at its receipt. A session that began after the packet before it took that
    packet over all the same: the work begins at the packet's HEAD. On the integration branch, where git alone cannot
    say, it begins at the commit that was HEAD when the session started.
    """
    if anchor.explicit:
        return None
    written = to_milliseconds(previous.as_of) if previous is not None else None
    receipt = _receipt_anchor(repository, anchor, taken, primary)
    if receipt is not None and (written is None or _moment(taken) >= written):
        return receipt
    if primary is None:
        return receipt
    unknown = previous is not None and primary.session_id not in {session.id for session in previous.sessions}
    later = written is not None and primary.started_at is not None and primary.started_at > written
    if unknown and later and previous is not None and previous.git.head:
        return Anchor(hints=(("packet", previous.git.head),), not_before=written)
    if receipt is not None:
        return receipt
    older = primary.started_at is not None and (repository.head_at or 0) // 1000 <= primary.started_at // 1000
    if repository.base_rule == "head" and primary.started_at is not None and repository.effective_head and not older:
        commit = commit_before(root, primary.started_at, repository.effective_head, history=history)
        if commit and commit != repository.effective_head:
            return Anchor(hints=(("session_start", commit),))
    return None


def _receipt_anchor(
    repository: RepositoryFacts, anchor: Anchor, taken: TakeoverReceipt | None, primary: SessionRef | None
) -> Anchor | None:
    """Return where the work after a takeover begins; None when no work came after it.

    A session that the packet itself was made of does not take it over by going on. The taker's own session counts from
    its beginning: what the human asked for came before the packet was taken.
    """
    at = _moment(taken)
    if taken is None or not taken.head or (anchor.not_before is not None and at < anchor.not_before):
        return None
    grew = (primary.modified_at or primary.started_at or 0) if primary is not None else 0
    if primary is None or grew <= at:
        moved = repository.effective_head not in ("", taken.head)
        return Anchor(hints=(("receipt", taken.head),), not_before=at) if moved else None
    if primary.session_id in taken.sessions:
        return None
    began, as_of = primary.started_at, to_milliseconds(taken.as_of)
    own = began is not None and began < at and (as_of is None or began > as_of)
    return Anchor(hints=(("receipt", taken.head),), not_before=began - 1 if own and began is not None else at)


def _moment(taken: TakeoverReceipt | None) -> int:
    return (to_milliseconds(taken.at) or 0) if taken is not None else 0
