"""The drain: make packets of what hooks spooled, and prepare the brief for the next session's start.

    python -m passdown.hooks.drain FOLDER

It runs detached from the agent, or as a child of the command that catches up. What it has not finished stays spooled.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from msgspec import structs

from passdown.config import Config, load_config
from passdown.errors import ConflictError, PassdownError
from passdown.evidence.kinds import look_at
from passdown.handoff.draft import Draft, draft
from passdown.handoff.options import Options
from passdown.handoff.place import find_root
from passdown.handoff.publish import publish
from passdown.handoff.shelves import common_dir_of
from passdown.handoff.status import LIVE_MS, read_status
from passdown.hooks.brief import prepare_brief
from passdown.hooks.compactions import note_compactions
from passdown.hooks.entry import log, state_folder
from passdown.hooks.fullness import note_fullness
from passdown.hooks.ground import find_repository
from passdown.hooks.spool import GONE_AFTER, WORK, Spooled, forget_old, in_worktree, read_spool, remove
from passdown.io.files import lock
from passdown.model.evidence import Evidence
from passdown.model.moment import to_milliseconds

BOUND = 120.0
"""Seconds after which a drain gives up; the next one begins anew."""

_LOCK_WAIT = 30.0
_TRIES = 3


class LateError(PassdownError):
    """The hook's work took longer than it may."""


def drain(folder: Path) -> str:
    """Catch up on the repository around `folder`, then on every other one the spool names. Say what was done."""
    records, broken = read_spool()
    told = [f"{broken} broken records put aside"] if broken else []
    first = find_repository(str(folder))
    roots = dict.fromkeys([first[0]] if first is not None else [])
    gone = []
    for record in records:
        place = find_repository(record.cwd)
        if place is not None:
            roots[place[0]] = None
        elif Path(record.cwd).is_dir() or record.at < time.time() * 1000 - GONE_AFTER:
            gone.append(record)
    remove(gone)
    told += [f"no repository for {len(gone)} records, which are dropped"] if gone else []
    forget_old()
    for root in roots:
        wait = _LOCK_WAIT if first is not None and root == first[0] else 0.0
        try:
            told.append(catch_up_on(Path(root), wait=wait))
        except (PassdownError, OSError) as error:
            if isinstance(error, LateError):
                raise
            told.append(f"{type(error).__name__}: {error}".replace("\n", " "))
    return "; ".join(told) or "nothing to do"


def catch_up_on(folder: Path, *, own: str = "", wait: float = _LOCK_WAIT) -> str:
    """Write the packet of what sessions did in this worktree since the last one, and prepare the next brief.

    `own` is the session that asks and is left out. Safe to be killed anywhere: the spool is emptied last, and a packet
    that lies there already is not written again. Raises `ConflictError` while another drain goes on for `wait` seconds.
    """
    root = find_root(folder)
    common = common_dir_of(root)
    with lock(common / "passdown" / "drain.lock", wait=wait):
        now = time.time_ns() // 1_000_000
        spooled, broken = read_spool()
        records = in_worktree(spooled, root)
        config = load_config(root)
        outcome = "switched off"
        if config.hooks.publish != "off":
            outcome = _hand_over(root, config, records, own, now)
            told = prepare_brief(root, config, now)
            outcome += ", brief ready" if told else ", no brief"
            note_fullness(root, common, config.budget, records)
            note_compactions(root, common, records)
        remove(records)
    return f"{outcome}, {broken} broken records put aside" if broken else outcome


def _hand_over(root: Path, config: Config, records: list[Spooled], own: str, now: int) -> str:
    worked = any(record.event in WORK and record.session != (own or "-") for record in records)
    if not worked:
        newer = [line for line in read_status(root, now=now).newer_sessions if line.session_id != own]
        if not newer:
            return "nothing new"
    for _ in range(_TRIES):
        drafted = _draft(root, Options(now=now, without=(own,) if own else ()))
        if drafted.empty or not drafted.packet.sessions:
            return "nothing to hand over"
        if drafted.same_as is None and not adds_work(drafted):
            return "only talk and reading since the packet, which stays"
        with contextlib.suppress(ConflictError):  # somebody wrapped meanwhile: what is there now is built upon
            wrapped = publish(drafted, local=config.hooks.publish == "local")
            if not wrapped.changed:
                return "unchanged"
            return f"packet {wrapped.packet.packet_id[:12]} ({wrapped.packet.kind})"
    return "another passdown goes on writing"


def adds_work(drafted: Draft) -> bool:
    """Say whether there is what the packet before does not tell: talk alone displaces no handoff.

    That is so for the questions of another session, and for the last words after a deliberate `passdown wrap`.
    """
    gathered, previous = drafted.gathered, drafted.gathered.previous
    if previous is None or gathered.previous_path is None:
        return True
    hooks_own = gathered.previous_path.is_relative_to(Path(gathered.repository.common_dir))
    same = previous.sessions[:1] and previous.sessions[0].id == drafted.packet.sessions[0].id  # the newest of each
    now, then = drafted.packet.git, previous.git
    if (same and hooks_own) or (now.head, now.tree_fingerprint) != (then.head, then.tree_fingerprint):
        return True
    return worked_after(gathered.evidence, to_milliseconds(previous.as_of) or 0)


def worked_after(evidence: Evidence, moment: int) -> bool:
    """Say whether agents did more after a moment than to talk, look and read."""
    last = moment // 1000 * 1000 + 999  # packets tell seconds
    plan = evidence.plan
    if evidence.interrupted_edit is not None or (plan is not None and (plan.at or 0) > last):
        return True
    edits = (touch for touch in evidence.touches if touch.action in ("edit", "write", "delete"))
    if any((touch.last_at or 0) > last for touch in edits):
        return True
    runs = ((chain.command, run.at) for chain in evidence.chains for run in chain.runs)
    return any((at or 0) > last and not look_at(command).reader for command, at in runs)


def _draft(root: Path, options: Options) -> Draft:
    """Draft from all sessions. Where two are live at once nobody is here to choose one: both count, nothing is lost."""
    try:
        return draft(root, options)
    except ConflictError:
        return draft(root, structs.replace(options, now=(options.now or 0) + 10 * LIVE_MS))


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise `LateError` in the main thread when what is done within takes longer."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise LateError(f"gave up after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run_logged(event: str, work: Callable[[], str], seconds: float) -> int:
    """Do a hook's work within its time and tell the hook log how it went. Return an exit code."""
    begun = time.monotonic()
    code = 0
    try:
        with bounded(seconds):
            outcome = work()
    except BaseException as error:  # noqa: BLE001 - nobody reads a detached process: all of it goes to the log
        outcome, code = f"{type(error).__name__}: {error}".replace("\n", " "), 1
    with contextlib.suppress(OSError):
        log(state_folder(), "passdown", event, begun, outcome)
    return code


def main() -> int:
    """Drain the spool for the folder named, and then for all others."""
    with contextlib.suppress(OSError):
        os.nice(5)
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else BOUND
    return run_logged("drain", lambda: drain(folder), seconds)


if __name__ == "__main__":
    sys.exit(main())
