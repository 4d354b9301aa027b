"""A run as detectors look at it: signals, the files it left changed, the subtasks."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

from passdown.data.points.signals import Signals, commits, read_signals
from passdown.data.records import Graph, Mark, Trajectory
from passdown.data.subtasks.tests import test_results
from passdown.model.pattern import lazy_pattern

CONTEXT_BUDGET = 32_768
"""Tokens of the context limit that cuts are looked for in, unless the caller names another."""

_PATCHED = lazy_pattern(r"(?m)^(?:\+\+\+ b|--- a)/(.+?)\s*$")


class Files(Protocol):
    """What is needed of a replay."""

    def content(self, k: int, path: str) -> bytes | None:
        """Return a file's bytes after `k` steps, None when there is none or its content is not known."""


class Found(NamedTuple):
    """A mark and the cut it is at."""

    k: int
    mark: Mark


class Run:
    """One trajectory with everything that a detector may look at."""

    def __init__(self, trajectory: Trajectory, replay: Files, graph: Graph, budget: int = CONTEXT_BUDGET) -> None:
        self.trajectory = trajectory
        self.replay = replay
        self.graph = graph
        self.budget = budget
        self.signals: list[Signals] = read_signals(trajectory, replay.content)

    @cached_property
    def edits(self) -> dict[str, list[int]]:
        """The project's files (by-products left out), and the steps that changed each; putting back counts too."""
        found: dict[str, list[int]] = {}
        for at, signals in enumerate(self.signals):
            for edit in signals.edits:
                if edit.sort != "scratch" and (not (steps := found.setdefault(edit.path, [])) or steps[-1] != at):
                    steps.append(at)
        return found

    @cached_property
    def final(self) -> frozenset[str]:
        """The files that the run left changed: those of its final patch, else those it changed and did not undo."""
        patch = self.trajectory.outcome.patch
        if patch:
            return frozenset(_PATCHED.findall(patch))
        last: dict[str, bool] = {}
        made: set[str] = set()
        committed: set[str] = set()
        for signals in self.signals:
            for action in signals.done:
                if action.kind == "CREATE" and action.ok is not False:
                    made.update(set(action.writes).difference(action.reads))
            for edit in signals.edits:
                if edit.restored:
                    last[edit.path] = edit.path in committed
                else:
                    last[edit.path] = not (edit.deleted and edit.path in made)
            if commits(signals):
                committed.update(path for path, kept in last.items() if kept)
        return frozenset(path for path, kept in last.items() if kept)

    @cached_property
    def moved(self) -> frozenset[str]:
        """The files that were moved to another place."""
        return frozenset(
            read
            for signals in self.signals
            for action in signals.done
            if action.kind in ("CREATE", "EDIT") and len(action.writes) > 1
            for read in action.reads
            if read in action.writes
        )

    @cached_property
    def tests(self) -> list[dict[str, bool]]:
        """What each step shows of tests: single ones where they are named, and each run as a whole, by its selector."""
        return [_results(signals) for signals in self.signals]


def _results(signals: Signals) -> dict[str, bool]:
    found: dict[str, bool] = {}
    if signals.checks:
        for call_id in {action.call_id: None for action in signals.done if action.kind == "TEST"}:
            for result in signals.results.get(call_id, ()):
                found.update(test_results(result.text))
        found |= {f"run:{check.tests}": check.ok for check in signals.checks if check.ok is not None and check.tests}
    return found
