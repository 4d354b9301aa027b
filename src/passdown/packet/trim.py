"""The trimmed command log. In a passed run it is a receipt; in a failed run it is the work product (exercise 2)."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct, structs

from passdown.model.evidence import CommandChain, CommandRun
from passdown.model.packet import FeedbackEntry
from passdown.model.pattern import lazy_pattern
from passdown.packet.caps import LISTS
from passdown.packet.context import Context, Outcome
from passdown.packet.failed import shown
from passdown.packet.runs import (
    RunPlace,
    failures,
    is_acceptance,
    is_failure,
    is_success,
    is_unresolved,
    line_of,
    place,
    runs_total,
    signal_label,
)
from passdown.packet.tokens import estimate_tokens

Kind = Literal["tail", "failure", "resolved", "receipt", "anchor"]

_MASKED = lazy_pattern(
    r"0x[0-9a-f]+|\b[0-9a-f]{7,64}\b|(?:[\w.-]*/)+[\w.-]+|\d+(?:\.\d+)?(?:ms|s|m|h)?\b", re.IGNORECASE
)
_STREAM_BYTES = 2048


class Profile(Struct, frozen=True):
    """How much of the log is kept: tail length, token budget, and whether output and notes stay."""

    tail: int
    tokens: int
    output: bool


PASSED = Profile(3, 400, False)
FAILED = Profile(8, 1600, True)


class _Record(Struct, frozen=True, kw_only=True):
    """A log record that may enter the tail: one run, or several that count as one."""

    at: RunPlace
    run: CommandRun
    chain: CommandChain
    count: int = 1
    kind: Kind = "tail"
    vital: bool = False


def trim_feedback(context: Context, outcome: Outcome) -> tuple[list[FeedbackEntry], int]:
    """Return the trimmed log in file order, and how many of its records no entry stands for.

    Every failure is represented (its own entry, a count, or the one line of a resolved chain) until the cap of 30.
    An outcome that is not known to be passed is trimmed as a failed one.
    """
    profile = PASSED if outcome == "passed" else FAILED
    accepted = context.accepted
    chains = context.chains
    ranks = context.ranks
    records: list[_Record] = []
    for chain in chains:
        records += _chain_records(chain, ranks, profile, acceptance=is_acceptance(chain, accepted))
    records.sort(key=lambda record: record.at)
    before = max(0, len(records) - profile.tail)
    kept = [record for record in records[:before] if record.kind != "tail"] + records[before:]
    entries = _within_tokens([_entry(context, r, profile) for r in _within_cap(kept)], profile)
    total = sum(map(runs_total, chains))
    return entries, max(0, total - sum(entry.count for entry in entries))


def _chain_records(
    chain: CommandChain, ranks: dict[tuple[str, str], int], profile: Profile, *, acceptance: bool
) -> list[_Record]:
    if not acceptance and not failures(chain):
        return [
            _Record(at=place(run, ranks, position), run=run, chain=chain)
            for position, run in enumerate(chain.runs)
            if run.result != "rejected"
        ]
    places = [place(run, ranks, position) for position, run in enumerate(chain.runs)]
    ran = [(at, run) for at, run in zip(places, chain.runs, strict=True) if run.result != "rejected"]
    records = [
        _Record(at=at, run=run, chain=chain) for at, run in ran if is_success(run) or not is_failure(run)
    ]  # fmt: skip
    failed = [(at, run) for at, run in ran if is_failure(run)]
    if failed and is_unresolved(chain):
        records = _with_anchor(records, failed, profile)
        records += _unresolved(chain, failed, acceptance=acceptance)
    elif failed:
        at, run = failed[-1]
        records.append(_Record(at=at, run=run, chain=chain, count=failures(chain), kind="resolved"))
    return _with_receipt(records, profile) if acceptance else records


def _unresolved(
    chain: CommandChain, failed: list[tuple[RunPlace, CommandRun]], *, acceptance: bool
) -> list[_Record]:  # fmt: skip
    """Merge equal failures, and keep the first and the last of what is left; the last stands for those between."""
    groups: list[list[tuple[RunPlace, CommandRun]]] = []
    for item in failed:
        if groups and _signature(groups[-1][-1][1]) == _signature(item[1]):
            groups[-1].append(item)
        else:
            groups.append([item])
    total = failures(chain)
    at, run = groups[-1][-1]
    if len(groups) == 1:
        return [_Record(at=at, run=run, chain=chain, count=total, kind="failure", vital=acceptance)]
    start, first = groups[0][-1]
    opening = len(groups[0])
    return [
        _Record(at=start, run=first, chain=chain, count=opening, kind="failure", vital=acceptance),
        _Record(at=at, run=run, chain=chain, count=total - opening, kind="failure", vital=acceptance),
    ]


def _with_anchor(
    records: list[_Record], failed: list[tuple[RunPlace, CommandRun]], profile: Profile
) -> list[_Record]:  # fmt: skip
    """Mark the last success before the failing streak: where a bisection starts."""
    if profile is PASSED:
        return records
    good = [record for record in records if is_success(record.run) and record.at < failed[-1][0]]
    return [structs.replace(r, kind="anchor") if good and r is good[-1] else r for r in records]


def _with_receipt(records: list[_Record], profile: Profile) -> list[_Record]:
    """Mark the last record of an acceptance command (in a passed run: its last success) as a receipt."""
    eligible = [r for r in records if profile is FAILED or is_success(r.run)]
    last = max(eligible, key=lambda record: record.at, default=None)
    if last is None or last.kind in ("failure", "resolved"):
        return records
    return [structs.replace(r, kind="receipt") if r is last else r for r in records]


def _signature(run: CommandRun) -> tuple[int | None, str]:
    line = run.error_line or next((s for s in reversed(run.stderr_tail.splitlines()) if s.strip()), "")
    return run.exit, _MASKED.sub("#", line[:400]).strip()


_DROP_ORDER: tuple[tuple[Kind, bool], ...] = (
    ("resolved", False), ("tail", False), ("anchor", False), ("failure", False), ("receipt", False), ("failure", True),
)  # fmt: skip


def _within_cap(records: list[_Record]) -> list[_Record]:
    """Drop the oldest resolved lines, then the oldest of the tail, and failures of acceptance commands last."""
    kept = list(records)
    for kind, vital in _DROP_ORDER:
        for record in [r for r in kept if (r.kind, r.vital) == (kind, vital)]:
            if len(kept) <= LISTS["feedback_tail"]:
                return kept
            kept.remove(record)
    return kept


def _within_tokens(entries: list[FeedbackEntry], profile: Profile) -> list[FeedbackEntry]:
    """Bring the log under its token budget: output first, oldest first, then what may be dropped.

    Unresolved failures stay, and say at least their command and exit.
    """
    kept = list(entries)
    cost = sum(map(_cost, kept))
    for index, entry in enumerate(kept):
        if cost <= profile.tokens:
            return kept
        kept[index] = silent = structs.replace(entry, out="", err="")
        cost += _cost(silent) - _cost(entry)
    for kind in ("resolved", "tail"):
        for entry in [e for e in kept if e.kind == kind]:
            if cost <= profile.tokens:
                return kept
            kept.remove(entry)
            cost -= _cost(entry)
    return kept


def _cost(entry: FeedbackEntry) -> int:
    return sum(map(estimate_tokens, (entry.cmd[:300], entry.note[:200], entry.out, entry.err))) + 12


def _entry(context: Context, record: _Record, profile: Profile) -> FeedbackEntry:
    run = record.run
    with_output = profile.output and is_failure(run) and record.kind != "resolved"
    note = run.note if profile.output and record.kind != "resolved" else ""
    if record.kind == "resolved":
        note = f"{record.count} failed of {runs_total(record.chain)} runs; passes now"
    return FeedbackEntry(
        line=line_of(run),
        cmd=shown(context, record.chain) or run.command,
        exit=run.exit,
        duration_ms=run.duration_ms,
        kind=record.kind,
        count=record.count,
        note=note,
        out=_last_lines(context.mask(run.stdout_tail), 10) if with_output else "",
        err=_last_lines(context.mask(run.stderr_tail), 20) if with_output else "",
        source=run.source.path if run.source else "",
        label=signal_label(run.exit),
        truncated_chain=record.chain.truncated_chain,
    )


def _last_lines(text: str, lines: int) -> str:
    kept = "\n".join(text.rstrip().splitlines()[-lines:])
    data = kept.encode("utf-8", "replace")
    return kept if len(data) <= _STREAM_BYTES else data[-_STREAM_BYTES:].decode("utf-8", "ignore")
