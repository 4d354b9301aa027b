"""Wrap: draft, check, seal, publish. A state that is not safe to leave is refused, or written as an interim packet."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from passdown.clean.options import CleanOptions
from passdown.clean.overrides import check_allowed
from passdown.clean.report import write_clean_state
from passdown.handoff.commit import commit_packet
from passdown.handoff.draft import draft, require_evidence
from passdown.handoff.options import Options
from passdown.handoff.publish import Wrapped, publish


def wrap(
    folder: Path,
    options: Options,
    clean: CleanOptions,
    *,
    terminal: bool = False,
    local: bool = False,
    commit: bool = False,
) -> Wrapped:
    """Write the packet of the repository around `folder`, and what the clean-state check found beside git's own files.

    `local` keeps the packet in git's own folder; `commit` commits its files and nothing else.

    Raises `BlockedError` when something blocks a final packet and `options.interim` does not ask for another; then no
    packet is touched. Raises `NoEvidenceError` when there is nothing to hand over, no session could be understood or a
    verification report is missing, `NextActionError` without a usable next action, `UnsafeError` for an override by an
    agent.
    """
    check_allowed(clean.allow, clean.environ, terminal=terminal)
    drafted = draft(folder, options, clean)
    require_evidence(drafted, interim=options.interim)
    write_clean_state(Path(drafted.gathered.repository.common_dir), drafted.state)
    if drafted.refusal is not None and not options.interim:
        raise drafted.refusal
    wrapped = publish(drafted, local=local)
    if not commit:
        return wrapped
    return structs.replace(wrapped, commit=commit_packet(folder, wrapped.packet).commit)
