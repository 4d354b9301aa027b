"""Runs and chains of commands: which ones failed, which are settled, and in which order the log holds them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, structs

from passdown.evidence.covering import covers
from passdown.model.command import normalize_command
from passdown.model.evidence import CommandChain, CommandRun, Evidence, Source
from passdown.model.packet import Ended
from passdown.model.pattern import lazy_pattern

OWN_COMMANDS = frozenset({"passdown", "passdown-hook"})
"""Runs of these are the handover itself: counting them would change the packet by making it."""

RunPlace = tuple[int, int, int]
"""Where a run stands: rank of its log, line in it, position in its chain."""

Ranks = dict[tuple[str, str], int]
"""The rank of each log, by its kind and its path or session."""

_ROTATED = lazy_pattern(r"\.\d$")

_SIGNALS = {130: "interrupted", 137: "killed", 143: "terminated"}


def is_failure(run: CommandRun) -> bool:
    """Say whether a run failed. No result counts as a failure; what was refused, stopped or still runs does not."""
    if run.expected or run.exit == 0 or run.result in ("rejected", "running"):
        return False
    if run.result == "interrupted" and run.exit is None:
        return False
    return run.exit is not None or run.result != "ok"


def is_success(run: CommandRun) -> bool:
    """Say whether a run ended as it should: exit 0, reported as fine, or a non-zero exit that was the answer."""
    return run.expected or run.exit == 0 or (run.exit is None and run.result == "ok")


def failures(chain: CommandChain) -> int:
    """Return how many runs of the chain failed, including those that the evidence no longer holds."""
    return max(chain.failures, sum(map(is_failure, chain.runs)))


def runs_total(chain: CommandChain) -> int:
    """Return how many runs the chain had, including those that the evidence no longer holds."""
    return max(chain.total, len(chain.runs))


def is_unresolved(chain: CommandChain) -> bool:
    """Say whether the chain's last word is a failure."""
    return chain.final != "ok" and failures(chain) > 0


class Green(Struct, frozen=True, gc=False):
    """A chain's last green run, and where it stands."""

    chain: CommandChain
    run: CommandRun
    at: RunPlace


class Greens:
    """The green runs, and which of them name a program."""

    def __init__(self, runs: list[Green]) -> None:
        self._runs = runs
        self._naming: dict[str, list[Green]] = {}

    def naming(self, program: str) -> list[Green]:
        """Return the runs whose command holds the program's name."""
        found = self._naming.get(program)
        if found is None:
            found = self._naming[program] = [green for green in self._runs if program in green.run.command]
        return found


def green_runs(chains: Iterable[CommandChain], ranks: Ranks) -> Greens:
    """Return the last green run of every chain that has one."""
    found = []
    for chain in chains:
        green = next((run for run in reversed(chain.runs) if is_success(run) and not run.expected), None)
        if green is not None:
            found.append(Green(chain, green, place(green, ranks)))
    return Greens(found)


def made_good(chain: CommandChain, greens: Greens, ranks: Ranks) -> bool:
    """Say whether a later green run of another command proves what this chain's last run failed to."""
    if not chain.runs:
        return False
    failed = chain.runs[-1]
    program = (failed.tokens or ("",))[0]
    at = place(failed, ranks)
    return any(
        green.at > at and green.chain is not chain and covers(green.run, failed) for green in greens.naming(program)
    )


def ended(run: CommandRun) -> Ended:
    """Return how a run without an exit code ended; empty with one."""
    return "" if run.exit is not None else run.result


def signal_label(exit_code: int | None) -> str:
    """Return how a signal ended a run (`interrupted`, `killed`, `terminated`), or an empty string."""
    return _SIGNALS.get(exit_code, "") if exit_code is not None else ""


def with_red_ends(evidence: Evidence) -> Evidence:
    """Return the evidence with tests that were meant to fail, and fail to this day, counted as failures after all."""
    return structs.replace(evidence, chains=tuple(map(_red_end, evidence.chains)))


def _red_end(chain: CommandChain) -> CommandChain:
    meant = [run for run in chain.runs if run.expected and run.exit not in (0, None)]
    if not meant or chain.final != "failed" or not chain.runs[-1].expected or chain.kind != "test":
        return chain
    runs = tuple(structs.replace(run, expected=False) if run in meant else run for run in chain.runs)
    return structs.replace(chain, runs=runs, failures=chain.failures + len(meant))


def work_chains(evidence: Evidence, ranks: Ranks) -> list[CommandChain]:
    """Return the chains of the work itself, in the order their first runs stand in the log."""
    chains = [chain for chain in evidence.chains if not _own(chain)]
    return sorted(chains, key=lambda chain: place(chain.runs[0], ranks) if chain.runs else (len(ranks) + 1, 0, 0))


def _own(chain: CommandChain) -> bool:
    tokens = chain.runs[-1].tokens if chain.runs else ()
    tokens = tokens or normalize_command(chain.command)
    return bool(tokens) and tokens[0].rsplit("/", 1)[-1] in OWN_COMMANDS


def log_ranks(evidence: Evidence) -> Ranks:
    """Rank the logs: sessions by their start, then artifacts by path. Times inside a log are never compared.

    The parts of a rotated log (`.5` … `.1`, then the live file) are one log, whose lines are numbered through.
    """
    sessions = sorted(evidence.sessions, key=lambda s: (s.started_at is None, s.started_at or 0))
    ranks = {("session", session.session_id): rank for rank, session in enumerate(sessions)}
    others = sorted(
        {
            _log(run.source)
            for chain in evidence.chains
            for run in chain.runs
            if run.source and _log(run.source) not in ranks
        }
    )
    return ranks | {name: len(ranks) + rank for rank, name in enumerate(others)}


def _log(source: Source) -> tuple[str, str]:
    return source.kind, _ROTATED.sub("", source.path) if source.kind == "artifact" else source.path


def place(run: CommandRun, ranks: Ranks, position: int = 0) -> RunPlace:
    """Return the key that sorts runs of several logs into file order."""
    if run.source is None:
        return (len(ranks), 0, position)
    return (ranks.get(_log(run.source), len(ranks)), run.source.line, position)


def line_of(run: CommandRun) -> int:
    """Return the run's 1-based line in its log, 0 when it has none."""
    return run.source.line if run.source else 0


def acceptance_chains(chains: Iterable[CommandChain], criteria: Iterable[str]) -> list[CommandChain]:
    """Return those of acceptance commands, in the order of the criteria, then in the order given."""
    wanted = [normalize_command(command) for command in criteria]
    chains = [chain for chain in chains if chain.acceptance or chain_tokens(chain) in wanted]
    return sorted(chains, key=lambda chain: _rank(chain_tokens(chain), wanted))


def is_acceptance(chain: CommandChain, accepted: Iterable[CommandChain]) -> bool:
    """Say whether a chain is one of the acceptance chains."""
    return any(chain is other for other in accepted)


def chain_tokens(chain: CommandChain) -> tuple[str, ...]:
    """Return the tokens that identify the chain's command."""
    return (chain.runs[-1].tokens if chain.runs else ()) or normalize_command(chain.command)


def _rank(tokens: tuple[str, ...], wanted: list[tuple[str, ...]]) -> int:
    return wanted.index(tokens) if tokens in wanted else len(wanted)
