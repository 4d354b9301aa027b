"""Where the work began: the base of the diff, and the moment from which sessions count."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from passdown.io.git import try_git
from passdown.model.evidence import RepositoryFacts
from passdown.model.moment import to_milliseconds
from passdown.model.packet import Packet
from passdown.model.session import SessionRef
from passdown.repository.commits import commit_before

_KEPT_RULES = frozenset({"packet", "session_start", "head", "last_known_good"})
"""Base rules whose commit a later packet of the same work keeps; the others are found afresh from git."""


class Anchor(Struct, frozen=True, kw_only=True):
    """An explicit base, or hints (rule, commit) in order. `not_before` is when evidence begins (milliseconds)."""

    explicit: str = ""
    hints: tuple[tuple[str, str], ...] = ()
    not_before: int | None = None

    def since(self, root: Path, repository: RepositoryFacts, primary: SessionRef | None) -> int | None:
        """Return the moment (milliseconds) from which events count; the newest session always counts whole."""
        if self.not_before is not None:
            return self.not_before
        if not repository.base or repository.base_rule == "empty_tree":
            return None
        code, output, _ = try_git(root, "show", "-s", "--format=%ct", repository.base)
        moment = int(output) * 1000 if code == 0 and output.strip().isdigit() else None
        started = primary.started_at if primary else None
        return moment if moment is None or started is None else min(moment, started)


def anchor_for(explicit: str, previous: Packet | None) -> Anchor:
    """Return where the work began as far as it is known before the sessions are looked at."""
    if explicit or previous is None or not previous.git.base or previous.git.base_rule not in _KEPT_RULES:
        return Anchor(explicit=explicit)
    hint = (previous.git.base_rule, previous.git.base)
    return Anchor(hints=(hint,), not_before=to_milliseconds(previous.git.since))


def rebase_anchor(
    root: Path, repository: RepositoryFacts, anchor: Anchor, previous: Packet | None, primary: SessionRef | None
) -> Anchor | None:
    """Return a better anchor once the newest session is known, None when the present one stands.

    A session that began after the packet before it took that packet over: the work begins at the packet's HEAD. On the
    integration branch, where git alone cannot say, it begins at the commit that was HEAD when the session started.
    """
    if anchor.explicit or primary is None:
        return None
    if previous is not None and previous.git.head and primary.session_id not in {s.id for s in previous.sessions}:
        written = to_milliseconds(previous.as_of)
        if written is not None and primary.started_at is not None and primary.started_at > written:
            return Anchor(hints=(("packet", previous.git.head),), not_before=written)
    if repository.base_rule == "head" and primary.started_at is not None and repository.effective_head:
        commit = commit_before(root, primary.started_at, repository.effective_head)
        if commit and commit != repository.effective_head:
            return Anchor(hints=(("session_start", commit),))
    return None
