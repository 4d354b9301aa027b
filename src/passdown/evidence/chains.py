"""Command chains: all runs of one command in file order, bounded however long the log is.

Of a chain its first failure, last failure, last success and last run are kept, with exact counts of the rest. Each
log (a session, or the feedback log) is a stretch of its own; stretches are put in order by the time of their last run.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter
from typing import Literal

from msgspec import structs

from passdown.evidence.kinds import MAX_LOOKED_AT, Kind, look_at
from passdown.evidence.output import one_line
from passdown.evidence.runs import Finished, named
from passdown.evidence.tried import MAX_WORDS, Doings, merge_tried
from passdown.model.evidence import CommandChain, CommandRun

MAX_CHAINS = 800
MAX_WAITING = 1_000_000
"""Characters of outputs of failed runs that wait to be looked through."""


def is_failure(run: CommandRun) -> bool:
    """Say whether a run is a failed attempt: it failed, timed out or has no result, and that was not the answer."""
    return run.result in {"failed", "timeout", "unknown"} and not run.expected


def is_success(run: CommandRun) -> bool:
    """Say whether a run did what it was for, a non-zero answer included."""
    return run.result == "ok" or (run.result == "failed" and run.expected)


_Place = tuple[int, CommandRun, str]
"""A run's number, the run, and its output while the line that names the failure is still to be looked for in it."""


class Stretch:
    """The runs of one chain in one log."""

    __slots__ = (
        "failed_at", "failures", "first_failure", "last", "last_failure", "last_success", "order", "rank", "state",
        "total", "tried", "truncated",
    )  # fmt: skip

    def __init__(self, order: int) -> None:
        self.order = order
        self.total = 0
        self.failures = 0
        self.rank = 0
        self.first_failure: _Place | None = None
        self.last_failure: _Place | None = None
        self.last_success: _Place | None = None
        self.last: _Place | None = None
        self.state: CommandRun | None = None
        self.failed_at = 0
        self.tried: tuple[str, ...] = ()
        self.truncated = False

    def add(self, finished: Finished, doings: Doings) -> int:
        """Take one more run; returns how many descriptions of what was tried fell out."""
        run = finished.run
        self.total += 1
        dropped = 0
        ended = run.result not in _WITHOUT_END
        if self.failed_at and ended:
            self.tried, dropped = merge_tried(self.tried, doings.between(self.failed_at, doings.clock))
            self.failed_at = 0
        self.last = place = (self.total, run, finished.unread)
        if run.result == "ok":
            if finished.state:
                self.last_success = place
        elif is_failure(run):
            self.failures += 1
            self.last_failure = place
            self.first_failure = self.first_failure or place
            self.failed_at = doings.clock
        elif finished.state and is_success(run):
            self.last_success = place
        if finished.state and ended:
            self.state = run
        return dropped

    def read(self) -> None:
        """Look for the lines that name the failures of the runs that are kept, and let their outputs go."""
        read: dict[int, _Place] = {}
        for name in ("first_failure", "last_failure", "last_success", "last"):
            place: _Place | None = getattr(self, name)
            if place is not None and place[2]:
                if place[0] not in read:
                    read[place[0]] = (place[0], _short(place[1], place[2]), "")
                setattr(self, name, read[place[0]])

    def kept(self) -> list[CommandRun]:
        """Return the runs that are kept, in file order."""
        last, succeeded = self.last, self.last_success
        if not self.failures and last is not None and (succeeded is None or succeeded is last):
            return [_short(last[1], last[2])]
        chosen: dict[int, _Place] = {}
        for place in (last, succeeded, self.last_failure, self.first_failure):
            if place:
                chosen[place[0]] = place
        return [_short(chosen[number][1], chosen[number][2]) for number in sorted(chosen)]

    def at(self) -> int:
        """Return when the last run ended, 0 when the log does not say."""
        return self.last[1].at or 0 if self.last else 0


_WITHOUT_END = frozenset({"rejected", "running"})


def _short(run: CommandRun, unread: str) -> CommandRun:
    """Return a run with the line that names its failure; what it printed is kept of failures alone."""
    failed = is_failure(run)
    if unread:
        return named(run, unread, tail=failed)
    if failed or not (run.stdout_tail or run.stderr_tail):
        return run
    return structs.replace(run, stdout_tail="", stderr_tail="")


class Chains:
    """Builds the chains of all logs in one pass."""

    def __init__(self, acceptance: Iterable[tuple[str, ...]] = ()) -> None:
        self._acceptance = frozenset(acceptance)
        self._stretches: dict[str, dict[int, Stretch]] = {}
        self._worth: dict[str, int] = {}
        self._waiting = 0
        self.doings = Doings()
        self.omitted = 0
        self.omitted_runs = 0
        self.omitted_tried = 0

    def add(self, finished: Finished, log: int, *, key: str = "", truncated: bool = False) -> str:
        """Add a run to its chain (`key` when it is known, else by identity); returns the chain's key."""
        run = finished.run
        key = key or finished.identity.key
        clock = self.doings.note(describe(run))
        stretches = self._stretches.pop(key, None)
        if stretches is None:
            stretches = {}
        self._stretches[key] = stretches
        stretch = stretches.get(log)
        if stretch is None:
            stretch = stretches[log] = Stretch(log)
        if truncated:
            stretch.truncated = True
        if dropped := stretch.add(finished, self.doings):
            self.omitted_tried += dropped
        if finished.unread:
            self._read_all(len(finished.unread))
        stretch.rank = clock
        checks = run.kind == "test" or (bool(self._acceptance) and run.tokens in self._acceptance)
        quiet = len(stretches) == 1 and not stretch.failures
        self._worth[key] = (4 if checks else 0) + (0 if quiet else _trouble(stretches))
        if len(self._stretches) > MAX_CHAINS:
            self._evict()
        return key

    def _read_all(self, more: int) -> None:
        """Look through the outputs that wait for it, once there are so many that they would take much memory."""
        self._waiting += more
        if self._waiting > MAX_WAITING:
            for stretches in self._stretches.values():
                for stretch in stretches.values():
                    stretch.read()
            self._waiting = 0

    def _evict(self) -> None:
        """Drop a quarter of the chains, those that say least: old successes first, open failures and tests last."""
        # Of the same worth, the one that ran longest ago goes first: the dictionary is in that order, sorting stable.
        ranked = sorted(self._stretches, key=self._worth.__getitem__)
        for key in ranked[: MAX_CHAINS // 4]:
            gone = self._stretches.pop(key)
            del self._worth[key]
            for stretch in gone.values():
                self.omitted_runs += stretch.total
        self.omitted += MAX_CHAINS // 4

    def rank(self, key: str) -> int:
        """Return the number of the chain's last run among everything done."""
        return max((stretch.rank for stretch in self._stretches.get(key, {}).values()), default=0)

    def finish(self) -> tuple[CommandChain, ...]:
        """Return the chains in the order in which their first runs stand."""
        built = [self._chain(key, stretches) for key, stretches in self._stretches.items()]
        built.sort(key=lambda item: item[0])
        return tuple(chain for _, chain in built)

    def _chain(self, key: str, stretches: dict[int, Stretch]) -> tuple[tuple[int, int], CommandChain]:
        if len(stretches) == 1:
            ordered = list(stretches.values())
            tried = ordered[0].tried
            state = ordered[0].state
        else:
            ordered = sorted(stretches.values(), key=lambda stretch: (stretch.at(), stretch.order))
            tried = ()
            for stretch in ordered:
                tried, dropped = merge_tried(tried, stretch.tried[::-1])
                self.omitted_tried += dropped
            state = next((stretch.state for stretch in reversed(ordered) if stretch.state is not None), None)
        runs = _join(ordered)
        newest = runs[-1]
        total = sum([stretch.total for stretch in ordered])
        self.omitted_runs += total - len(runs)
        chain = CommandChain(
            key=key,
            command=newest.command,
            cwd=newest.cwd,
            kind=newest.kind,
            runs=tuple(runs),
            total=total,
            failures=sum([stretch.failures for stretch in ordered]),
            final=final_outcome(state),
            tried_after=tried,
            truncated_chain=any(stretch.truncated for stretch in ordered),
            acceptance=bool(self._acceptance) and any(run.tokens in self._acceptance for run in runs),
        )
        return min([(stretch.order, _line(stretch)) for stretch in ordered]), chain


def _trouble(stretches: dict[int, Stretch]) -> int:
    """Return 2 for a chain that failed and still does, 1 for one that failed once, 0 for one that never did."""
    if not any(stretch.failures for stretch in stretches.values()):
        return 0
    last = next(reversed(stretches.values()))
    return 2 if last.state is None or is_failure(last.state) else 1


def _line(stretch: Stretch) -> int:
    """Return the line of the first of the runs that are kept."""
    places = [place for place in (stretch.first_failure, stretch.last_success, stretch.last) if place]
    source = min(places, key=itemgetter(0))[1].source
    return source.line if source else 0


def _join(ordered: list[Stretch]) -> list[CommandRun]:
    """Return the runs kept of several stretches: the same four as of one."""
    if len(ordered) == 1:
        return ordered[0].kept()
    joined = [run for stretch in ordered for run in stretch.kept()]
    failed = [index for index, run in enumerate(joined) if is_failure(run)]
    passed = [index for index, run in enumerate(joined) if is_success(run)]
    wanted = {len(joined) - 1, *failed[:1], *failed[-1:], *passed[-1:]}
    return [joined[index] for index in sorted(wanted)]


def final_outcome(state: CommandRun | None) -> Literal["ok", "failed", "unknown"]:
    """Return the outcome of a chain's last run: `unknown` without a result, `failed` for tests red on purpose."""
    if state is None or (state.exit is None and state.result in {"unknown", "timeout", "interrupted", "running"}):
        return "unknown"
    if state.result == "ok" or (state.expected and state.kind != "test"):
        return "ok"
    return "failed"


_TELLING = frozenset({"curl", "wget", "docker", "kubectl", "sed"})
"""Programs of the readers' table that may well have been a try."""


def describe(run: CommandRun) -> str:
    """Return a run in a few words for the list of what was tried; empty for mere looking around."""
    if run.kind == "search" or run.result in {"rejected", "running"}:
        return ""
    return _described(run.kind, run.command)


@lru_cache(maxsize=1024)
def _described(kind: Kind, command: str) -> str:
    if kind in {"vcs", "other"} and len(command) < MAX_LOOKED_AT and "&&" not in command:
        look = look_at(command)
        if look.reader and look.program not in _TELLING:
            return ""
    return one_line(f"run {command}", MAX_WORDS)
