"""The stages of evidence side by side, and what they share: the window of time, the clock, the places."""

from __future__ import annotations

from passdown.evidence.chains import Chains
from passdown.evidence.identity import identify
from passdown.evidence.links import Links
from passdown.evidence.places import Places
from passdown.evidence.plan import Plan
from passdown.evidence.proving import moves_first
from passdown.evidence.runs import Finished, feedback_run
from passdown.evidence.tests import Tests, declared_commands
from passdown.evidence.touches import Touches
from passdown.evidence.words import Words
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.workbench import Workbench

LATEST = 4_102_444_800_000
"""Times after this (the year 2100, in milliseconds) are broken clocks, not evidence."""


class Stages:
    """All stages. `since` bounds what counts, None for everything."""

    def __init__(self, repository: RepositoryFacts, workbench: Workbench, since: int | None, test_command: str) -> None:
        self.repository = repository
        self.workbench = workbench
        self.since = since
        self.places = Places(repository.root, [worktree.path for worktree in repository.worktrees])
        criteria = declared_commands(workbench, test_command)
        self.tests = Tests(criteria, self.places)
        self.chains = Chains(_acceptance(workbench, test_command, self.places))
        self.words = Words()
        self.touches = Touches(self.places)
        self.plan = Plan()
        self.findings: list[Finding] = []
        self.as_of: int | None = None
        self._newest = 0

    def seen_at(self, at: int | None) -> None:
        """Take note of a time of evidence."""
        if at is not None and self._newest < at < LATEST:
            self.as_of = self._newest = at

    def counts(self, at: int | None) -> bool:
        """Say whether something of this time lies in the window."""
        return self.since is None or at is None or at > self.since

    def read_feedback(self) -> None:
        """Feed the rows of the feedback log."""
        rows = self.workbench.feedback or ()
        links = Links(rows)
        code = self.repository.code
        # The last result on this very code holds, however long ago it was measured.
        proven = {row.command: row for row in rows if code and code in row.codes()}
        for row in rows:
            finished = feedback_run(row, self.places)
            if finished is None or not (self.counts(finished.run.at) or row is proven.get(row.command)):
                continue
            chain, truncated = links.parent_chain(row)
            links.remember(row, self.add_run(finished, 0, key=chain, truncated=truncated))

    def add_run(self, finished: Finished, log: int, *, key: str = "", truncated: bool = False) -> str:
        """Feed one run of log number `log` (0 is the feedback log); returns the key of its chain."""
        key = self.chains.add(finished, log, key=key, truncated=truncated)
        clock = self.chains.doings.clock
        self.seen_at(finished.run.at)
        self.tests.add(finished, key, clock, from_session=log > 0)
        if finished.state and finished.identity.moves and finished.run.result in {"ok", "unknown", "failed"}:
            self._moved(finished, clock)
        return key

    def _moved(self, finished: Finished, clock: int) -> None:
        """Take note that a command changed files: before its own tests ran, or after all that was known."""
        run = finished.run
        if run.kind == "test" and moves_first(finished.identity.parts):
            started = None if run.at is None else run.at - (run.duration_ms or 0) - 1
            self.tests.changed(clock - 1, started)
        else:
            self.tests.changed(clock, run.at)


def _acceptance(workbench: Workbench, test_command: str, places: Places) -> list[tuple[str, ...]]:
    """Return the normal forms of every command that some part of the project calls acceptance."""
    texts = [test_command, workbench.verification_command]
    if workbench.contract is not None:
        texts += workbench.contract.acceptance_criteria
    for task in (*workbench.features, *workbench.tasks):
        texts += task.acceptance
    return [identify(text, "", places).tokens for text in texts if text.strip()]
