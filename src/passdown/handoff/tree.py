"""What lies in the working tree, as far as a measured result depends on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from msgspec import structs

from passdown.config import Config
from passdown.evidence.tests import is_relevant
from passdown.model.evidence import RepositoryFacts
from passdown.model.workbench import FeedbackRow, Workbench
from passdown.repository.commits import changed_at
from passdown.repository.content import Counts, TreeState, read_tree
from passdown.repository.own import OwnPaths
from passdown.store.packets import own_paths
from passdown.workbench.document import Notes
from passdown.workbench.feedback import log_paths, read_feedback
from passdown.workbench.local_log import merge_rows, read_local, with_local_log
from passdown.workbench.locate import NAMES, candidates

_STAYS = frozenset({"router", "rules", "contract"})
"""Roles whose files say what is to be done: a result does not outlive a change of them."""


def here(root: Path, config: Config) -> TreeState:
    """Read the working tree at `root`."""
    return read_tree(root, own_paths(config))


def hashes(state: TreeState, config: Config) -> tuple[str, str]:
    """Return the hashes of the content and of the code: the files that tests may depend on.

    Notes and reports about the work belong to neither, so that writing a report or committing it, or ticking off a
    task, takes no result back; nor do passdown's own files.
    """
    content, code = state.contents(counting(config), _code(config))
    return content, code


def _code(config: Config) -> Counts:
    counts = counting(config)
    return lambda path: is_relevant(path) and counts(path)


def counting(config: Config) -> Counts:
    """Return whether a path is content: neither passdown's own nor a note or report about the work."""
    own = OwnPaths.of(own_paths(config))
    notes = _notes_pattern()
    configured = {path for role, path in config.artifacts.items() if role not in _STAYS}
    return _remembering(
        lambda path: (
            path not in configured
            and not notes.fullmatch(path)
            and not own.holds(path.encode("utf-8", "surrogateescape"))
        )
    )


def _remembering(counts: Counts) -> Callable[[str], bool]:
    known: dict[str, bool] = {}

    def ask(path: str) -> bool:
        if path not in known:
            known[path] = counts(path)
        return known[path]

    return ask


@cache
def _notes_pattern() -> re.Pattern[str]:
    names: list[str] = []
    for role, places in NAMES.items():
        if role not in _STAYS:
            names += [*places.canonical, *places.root, *places.suffixed]
    alternatives = "|".join(re.escape(name).replace(re.escape("{task}"), "[^/]+") for name in sorted(set(names)))
    return re.compile(rf"(?:workdir/)?(?:{alternatives})(?:\.[1-9])?")


def measured(
    root: Path, config: Config, workbench: Workbench, repository: RepositoryFacts
) -> tuple[Workbench, RepositoryFacts]:
    """Add the local log, and what tells whether records and the verification report speak of the files as they lie.

    The hashes, and when the code was last committed, are found out only where something asks for them.
    """
    workbench = with_local_log(workbench, repository)
    repository = _with_code_at(root, config, workbench.feedback or (), repository)
    report = workbench.verification
    if not (report and report.content) and not any(row.code for row in workbench.feedback or ()):
        return workbench, repository
    content, code = hashes(here(root, config), config)
    if report and report.content:
        workbench = structs.replace(workbench, verification=structs.replace(report, here=report.content == content))
    return workbench, structs.replace(repository, content=content, code=code)


def _with_code_at(
    root: Path, config: Config, rows: Iterable[FeedbackRow], repository: RepositoryFacts
) -> RepositoryFacts:
    """Tell when the code was last committed, where a run without its hash came before the commit that HEAD is."""
    newest = {row.command: row.started_at for row in rows if not row.code and row.started_at is not None}
    if all(started > repository.head_at for started in newest.values()):
        return repository
    return structs.replace(repository, code_at=changed_at(root, repository.effective_head, _code(config)))


def recorded_runs(
    root: Path, config: Config, facts: RepositoryFacts
) -> tuple[tuple[FeedbackRow, ...], RepositoryFacts]:
    """Return the recorded runs of both logs, and the facts with what tells which of them speak of the files here."""
    logs = [found for path in candidates("feedback", config) if (found := log_paths(root, path))]
    project = read_feedback(root, logs[0], Notes()).rows if logs else ()
    rows = merge_rows(project, read_local(facts)[0])
    if any(row.code for row in rows):
        content, code = hashes(here(root, config), config)
        facts = structs.replace(facts, content=content, code=code)
    return rows, facts
