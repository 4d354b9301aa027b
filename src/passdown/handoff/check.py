"""Check: is the work safe to leave? Gathers the evidence, drafts the packet, and judges both."""

from __future__ import annotations

import errno
from contextlib import nullcontext
from pathlib import Path

from msgspec import Struct, structs

from passdown.clean.check import check_clean
from passdown.clean.options import CleanOptions
from passdown.clean.overrides import check_allowed
from passdown.clean.report import NAME, encode_clean_state, write_clean_state
from passdown.config import load_config
from passdown.errors import NoEvidenceError
from passdown.handoff.draft import begin, packet_redactor
from passdown.handoff.gather import Options, gather
from passdown.handoff.mend import Mending, check_names, mend
from passdown.handoff.place import find_root
from passdown.handoff.report import Report, write_report
from passdown.handoff.sync_board import Synced, sync_board
from passdown.handoff.testing import TIMEOUT, Announce, Tested, run_tests
from passdown.io.files import write_files
from passdown.io.git import one_moment
from passdown.model.clean import CleanCheck, CleanState
from passdown.model.finding import Finding
from passdown.repository.locate import locate


class Checked(Struct, frozen=True, kw_only=True):
    """The result, the repository's root (None outside of one), and what was off while gathering.

    `tested` says what was run, `report` which verification report was written, `synced` what was set to done on the
    board, `mended` what was changed by name, where that was asked for. `state` is that after all of it.
    """

    state: CleanState
    root: Path | None = None
    tested: Tested | None = None
    report: Report | None = None
    synced: tuple[Synced, ...] = ()
    mended: Mending = Mending()
    findings: tuple[Finding, ...] = ()


class Running(Struct, frozen=True, kw_only=True):
    """What check may do beyond looking: run the tests, each for at most `timeout` seconds, write the report, set what
    is proven on the board to done, and carry out the mends of these names (`dry`: only say how).

    With `only_look` nothing is run, whatever the configuration says.
    """

    run_tests: bool = False
    report: bool = False
    sync_board: bool = False
    only_look: bool = False
    mend: tuple[str, ...] = ()
    dry: bool = False
    timeout: float = TIMEOUT
    announce: Announce = lambda _: None


def check(
    folder: Path, options: Options, clean: CleanOptions, *, output: Path | None = None, terminal: bool = False,
    running: Running | None = None,
) -> Checked:  # fmt: skip
    """Judge the repository around `folder`, and keep the result on the local shelf and in `output`.

    Nothing is run but git unless `running`, or the configuration, says so.
    Outside a repository the result says so (`git.absent`). Raises `UnsafeError` for an override by an agent,
    `ConflictError` when two sessions are live at once, and `UsageError` for an option that is none.
    """
    check_allowed(clean.allow, clean.environ, terminal=terminal)
    running = running or Running()
    clean = structs.replace(clean, base=options.base, session=options.session)
    check_names(running.mend)
    checked = Checked(state=_no_repository()) if locate(folder) is None else _checked(folder, options, clean, running)
    if output is not None:
        if not output.parent.is_dir():
            raise NoEvidenceError("there is no such folder", where=str(output.parent), next_step="Make it first.")
        write_files([(output, encode_clean_state(checked.state))])
    return checked


def _checked(folder: Path, options: Options, clean: CleanOptions, running: Running) -> Checked:
    tested = _tested(folder, running)
    looks = not (running.report or running.mend or running.sync_board)
    with one_moment() if looks else nullcontext():
        return _judged(folder, options, clean, running, tested)


def _judged(folder: Path, options: Options, clean: CleanOptions, running: Running, tested: Tested | None) -> Checked:
    gathered = gather(folder, options)
    report = None
    if running.report:
        report = write_report(gathered, packet_redactor(gathered))
        gathered = gather(folder, options)
    begun = begin(gathered, options, packet_redactor(gathered))
    mended = Mending()
    if running.mend:
        mended = mend(gathered, begun.packet, clean, running.mend, dry=running.dry)
        gathered = gather(folder, options)
        begun = begin(gathered, options, packet_redactor(gathered))
    synced: tuple[Synced, ...] = ()
    if running.sync_board and (synced := sync_board(gathered, begun.packet, clean)):
        gathered = gather(folder, options)
        begun = begin(gathered, options, packet_redactor(gathered))
    state = check_clean(gathered.evidence, begun.packet, gathered.config, clean)
    unkept = _keep(Path(gathered.repository.common_dir), state)
    return Checked(
        state=state, root=gathered.root, findings=(*gathered.findings, *unkept), tested=tested, report=report,
        synced=synced, mended=mended,
    )  # fmt: skip


def _keep(common_dir: Path, state: CleanState) -> tuple[Finding, ...]:
    """Keep the result on the local shelf; where git's folder cannot be written to, it is told all the same."""
    try:
        write_clean_state(common_dir, state)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        detail = f"{NAME} cannot be kept in git's own folder: {error.strerror}"
        return (Finding(code="check.not_kept", severity="warn", detail=detail),)
    return ()


def _tested(folder: Path, running: Running) -> Tested | None:
    """Run the tests when asked to. A configuration alone never has a command run that only manifests point to."""
    if running.only_look or not (running.run_tests or load_config(find_root(folder)).run_tests):
        return None
    return run_tests(folder, timeout=running.timeout, heuristics=running.run_tests, announce=running.announce)


def _no_repository() -> CleanState:
    finding = Finding(
        code="git.absent", severity="block", detail="this is no git repository: nothing here outlives this folder",
        fix="git init",
    )  # fmt: skip
    check_of_tree = CleanCheck(id="tree", status="block", findings=(finding,))
    return CleanState(checks=(check_of_tree,), blocking=(finding.code,), clean=False)
