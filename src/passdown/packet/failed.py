"""What was tried and failed, so that nobody tries it again unknowing."""

from __future__ import annotations

from itertools import islice

from passdown.model.evidence import Check, CommandChain
from passdown.model.packet import CommandLine, FailedAttempt
from passdown.packet.brief import brief
from passdown.packet.caps import LISTS
from passdown.packet.carry import attempts_of_gone, fill_with, handed_down, last_known
from passdown.packet.context import Context
from passdown.packet.looking import looks_around
from passdown.packet.noted import noted_attempts
from passdown.packet.runs import (
    ended,
    failures,
    is_acceptance,
    is_failure,
    is_unresolved,
    line_of,
    made_good,
    place,
    runs_total,
)

_NEVER_RAN = "<tool_use_error>"
_WEIGHT = {"test": 0, "build": 1, "lint": 2, "edit": 3, "vcs": 4, "other": 5, "search": 6}


def list_failed(context: Context) -> tuple[list[FailedAttempt], int]:
    """Return the failed attempts in log order, the noted ones last, and how many are left out.

    Noted ones have room first, then what is unresolved.
    """
    noted, left = noted_attempts(context)
    accepted = context.accepted
    chains = context.chains
    failed = [chain for chain in chains if failures(chain) and (is_acceptance(chain, accepted) or not _aside(chain))]
    good = {
        at
        for at, chain in enumerate(failed)
        if not is_unresolved(chain) or made_good(chain, context.greens, context.ranks)
    }
    order = range(len(failed))
    weight = {at: (at in good, not is_acceptance(failed[at], accepted), _WEIGHT[failed[at].kind], -at) for at in order}
    room = max(0, LISTS["failed_attempts"] - len(noted))
    kept = sorted(sorted(order, key=weight.__getitem__)[:room])
    recorded = [_attempt(context, failed[at], resolved=at in good) for at in kept]
    attempts = fill_with([*recorded, *noted], attempts_of_gone(context), "failed_attempts")
    return attempts, left + len(failed) - len(kept)


def _aside(chain: CommandChain) -> bool:
    """Say whether the failures tell nothing about the work: looking around, or calls the agent's program never ran."""
    runs = [run for run in chain.runs if is_failure(run)]
    return _only_looks(chain) or all(run.error_line.startswith(_NEVER_RAN) for run in runs)


def _attempt(context: Context, chain: CommandChain, *, resolved: bool) -> FailedAttempt:
    runs = [run for run in chain.runs if is_failure(run)]
    newest = runs[-1] if runs else None
    note = next((run.note for run in reversed(runs) if run.note.strip()), "")
    error = next((run.error_line for run in reversed(runs) if run.error_line.strip()), "")
    is_test = chain.kind == "test" or chain.acceptance
    return FailedAttempt(
        id=context.id("F-", f"{chain.cwd}\n{chain.key or chain.command}"),
        what=shown(context, chain),
        exit=newest.exit if newest else None,
        ended=ended(newest) if newest else "",
        why=error or note,
        tries=failures(chain),
        resolved=resolved,
        tried_after=list(chain.tried_after[-LISTS["FailedAttempt.tried_after"] :]),
        note=note if error else "",
        line=line_of(newest) if newest else 0,
        check=Check(kind="test_outcome_recorded", subject=chain.command, expect=chain.final) if is_test else None,
    )


def list_commands(context: Context) -> tuple[list[CommandLine], int]:
    """Return the commands by identity, in the order of their last run, and how many are left out.

    Acceptance, tests, builds and what still fails have room first; what only looks around has none.
    """
    accepted = context.accepted
    every = context.chains
    ranked = sorted(
        range(len(every)),
        key=lambda at: (
            not is_acceptance(every[at], accepted), not is_unresolved(every[at]), _WEIGHT[every[at].kind], -at,
        ),
    )  # fmt: skip
    worth = (every[at] for at in ranked if is_acceptance(every[at], accepted) or not _only_looks(every[at]))
    kept = list(islice(worth, LISTS["commands_run"]))
    kept.sort(
        key=lambda chain: (place(chain.runs[-1], context.ranks) if chain.runs else (0, 0, 0), chain.key, chain.command)
    )
    lines = [_line(context, chain) for chain in kept]
    return [*_of_gone(context, lines), *lines], len(every) - len(kept)


def _of_gone(context: Context, lines: list[CommandLine]) -> list[CommandLine]:
    """Return the commands of gone sessions that the list still has room for, the newest."""
    previous, here = last_known(context), {(line.cmd, line.cwd) for line in lines}
    known = [line for line in previous.commands_run if (line.cmd, line.cwd) not in here] if previous else []
    room = LISTS["commands_run"] - len(lines)
    return handed_down(context, known[-room:]) if room > 0 else []


def _only_looks(chain: CommandChain) -> bool:
    """Say whether an agent only looked around. What a feedback log holds was put there on purpose."""
    logged = any(run.source and run.source.kind == "artifact" for run in chain.runs)
    return not logged and looks_around(chain.command)


def shown(context: Context, chain: CommandChain) -> str:
    """Return a command in short; one of tests whole, because it is compared and run again."""
    if chain.acceptance or (chain.kind == "test" and "\n" not in chain.command):
        return chain.command
    return brief(context.mask(chain.command))


def _last_line(chain: CommandChain) -> int:
    return line_of(chain.runs[-1]) if chain.runs else 0


def _line(context: Context, chain: CommandChain) -> CommandLine:
    return CommandLine(
        cmd=shown(context, chain),
        cwd=chain.cwd,
        runs=max(runs_total(chain), 1),
        last_exit=chain.runs[-1].exit if chain.runs else None,
        ended=ended(chain.runs[-1]) if chain.runs else "",
        first_line=line_of(chain.runs[0]) if chain.runs else 0,
        last_line=_last_line(chain),
    )
