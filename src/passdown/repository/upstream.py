"""Remotes and upstream: how far this branch is from what others can see. Nothing is fetched."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from passdown.io.git import require_git
from passdown.model.finding import Finding
from passdown.model.path import decode_path
from passdown.repository.head import Head
from passdown.repository.status import Status


class Upstream(Struct, frozen=True):
    """The upstream's short name, the distance to it (None without one), and how many commits no remote has.

    passdown's own commits at the tip do not count. `unpushed` is None when the repository has no remote.
    """

    name: str = ""
    ahead: int | None = None
    behind: int | None = None
    unpushed: int | None = None
    findings: tuple[Finding, ...] = ()


def read_upstream(root: Path, head: Head, status: Status, remotes: tuple[str, ...]) -> Upstream:
    """Return what the last fetch and push left behind."""
    own = len(head.looked_through)
    ahead = None if status.ahead is None else max(0, status.ahead - own)
    unpushed = None
    if remotes and head.commit:
        total = require_git(root, "rev-list", "--count", head.commit, "--not", "--remotes")
        unpushed = max(0, int(total) - own)
    gone = bool(status.upstream) and status.ahead is None and bool(head.commit)
    findings = (
        Finding(
            code="branch.upstream_gone",
            severity="warn",
            detail=f"the upstream {decode_path(status.upstream.encode('utf-8', 'surrogateescape'))} is gone",
            fix="git branch --unset-upstream",
        ),
    )
    name = decode_path(status.upstream.encode("utf-8", "surrogateescape"))
    return Upstream(name, ahead, status.behind, unpushed, findings if gone else ())
