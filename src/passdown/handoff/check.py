"""Check: is the work safe to leave? Gathers the evidence, drafts the packet, and judges both."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from passdown.clean.check import check_clean
from passdown.clean.options import CleanOptions
from passdown.clean.overrides import check_allowed
from passdown.clean.report import encode_clean_state, write_clean_state
from passdown.errors import NoEvidenceError
from passdown.handoff.gather import Gathered, Options, gather
from passdown.handoff.path_facts import path_facts
from passdown.io.files import write_files
from passdown.model.clean import CleanCheck, CleanState
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.packet.build import build_packet
from passdown.redact.scan import Redactor
from passdown.repository.locate import locate


class Checked(Struct, frozen=True, kw_only=True):
    """The result, the repository's root (None outside of one), and what was off while gathering."""

    state: CleanState
    root: Path | None = None
    findings: tuple[Finding, ...] = ()


def check(
    folder: Path, options: Options, clean: CleanOptions, *, output: Path | None = None, terminal: bool = False
) -> Checked:
    """Judge the repository around `folder`, and keep the result on the local shelf and in `output`.

    Outside a repository the result says so (`git.absent`). Raises `UnsafeError` for an override by an agent,
    `ConflictError` when two sessions are live at once, and `UsageError` for an option that is none.
    """
    check_allowed(clean.allow, clean.environ, terminal=terminal)
    if locate(folder) is None:
        checked = Checked(state=_no_repository())
    else:
        gathered = gather(folder, options)
        state = check_clean(gathered.evidence, _draft(gathered, options, clean), gathered.config, clean)
        write_clean_state(Path(gathered.repository.common_dir), state)
        checked = Checked(state=state, root=gathered.root, findings=gathered.findings)
    if output is not None:
        if not output.parent.is_dir():
            raise NoEvidenceError("there is no such folder", where=str(output.parent), next_step="Make it first.")
        write_files([(output, encode_clean_state(checked.state))])
    return checked


def _draft(gathered: Gathered, options: Options, clean: CleanOptions) -> Packet:
    """Build the packet as wrap would, without its environment, which no check looks at."""
    folders = {str(Path.home()): "~"} | dict.fromkeys(gathered.evidence.roots, ".")
    return build_packet(
        gathered.evidence,
        topic=gathered.topic,
        previous=gathered.previous,
        redactor=Redactor(clean.environ, folders),
        strict_assumptions=gathered.config.strict_assumptions,
        next_action=options.next_action,
        paths=path_facts(gathered.root, gathered.tracked),
    )


def _no_repository() -> CleanState:
    finding = Finding(
        code="git.absent", severity="block", detail="this is no git repository: nothing here outlives this folder",
        fix="git init",
    )  # fmt: skip
    check_of_tree = CleanCheck(id="tree", status="block", findings=(finding,))
    return CleanState(checks=(check_of_tree,), blocking=(finding.code,), clean=False)
