"""A branch without a packet: what to do there, and on which other branch a packet waits that is not checked out."""

from __future__ import annotations

import shlex
from pathlib import Path

from passdown.errors import GitError
from passdown.io.git import ask_ahead, ask_git
from passdown.redact.neutralise import one_line

_SINCE, _SECONDS = 90 * 86_400, 2.0
"""How far back (seconds), and for how long, other branches are looked through: this is a glance."""


def branches_with_packets(root: Path, output: str, now: int) -> tuple[str, ...]:
    """Return branches, here and at remotes, with a packet that HEAD's history lacks: the newest three.

    `now` is in milliseconds; what is older than three months is left alone.
    """
    try:
        code, listed, _ = ask_git(root, *_order(output, now), timeout=_SECONDS)
    except GitError:  # too long a history for a glance
        return ()
    names = listed.decode("utf-8", "replace").splitlines() if code == 0 else []
    short = [name.removeprefix("refs/heads/").removeprefix("refs/remotes/") for name in names]
    return tuple(dict.fromkeys(one_line(name, 120) for name in short if name and not name.endswith("/HEAD")))[:3]


def look_ahead(root: Path, output: str, now: int) -> None:
    """Have git look while other things are done, for `branches_with_packets` in the same moment."""
    ask_ahead(root, *_order(output, now))


def _order(output: str, now: int) -> tuple[str, ...]:
    wanted = f":(top,glob){output}/*/handoff.json"
    since = f"--since={now // 1000 - _SINCE}"
    span = ("--branches", "--remotes", "--not", "HEAD", "--max-count=30", since, "--diff-filter=AM")
    return ("log", "--source", "--format=%S", *span, "--", wanted)


def first_step(*, dirty: int, ahead: int, sessions: bool, more: bool, waiting: tuple[str, ...]) -> tuple[str, str]:
    """Return the command and the reason for a branch on which nobody wrapped yet."""
    if sessions:
        return "passdown wrap", "agents worked here, and there is no packet of it yet; passdown take goes on from it"
    if dirty:
        files = "1 file is" if dirty == 1 else f"{dirty} files are"
        return "passdown check", f"no packet yet, and {files} not committed; then passdown wrap hands it over"
    if ahead:
        commits = "1 commit is" if ahead == 1 else f"{ahead} commits are"
        return "passdown wrap", f"no packet yet, and {commits} new here"
    if waiting:
        branch = waiting[0].partition("/")[2] if waiting[0].startswith("origin/") else waiting[0]
        return f"git switch {shlex.quote(branch)}", "a packet waits on that branch; then passdown take"
    if more:
        return "passdown take", "no packet, and none of the newest logs is of this repository"
    return "passdown take", "no packet and no session: take reports what git and the board say"
