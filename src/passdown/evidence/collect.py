"""Collect evidence: one pass over each session, the feedback log and git's facts, in memory that does not grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import structs

from passdown.evidence.reading import Reading
from passdown.evidence.stages import Stages
from passdown.model.evidence import Evidence, RepositoryFacts, SessionUse
from passdown.model.session import AnyEvent, SessionRef, TakenBackError, Unread
from passdown.model.workbench import Workbench

Events = Iterable[AnyEvent] | Callable[[Unread | None], Iterable[AnyEvent]]
"""A session's events, or what reads them once it is told whose results' texts are of no use here (None: all are)."""


def collect_evidence(
    repository: RepositoryFacts,
    workbench: Workbench | None = None,
    sessions: Iterable[tuple[SessionRef, Events]] = (),
    *,
    since: int | None = None,
    primary: str = "",
    test_command: str = "",
) -> Evidence:
    """Collect everything known about the work, each fact with its source.

    Reads each session's events once, oldest session first. `since` (milliseconds) leaves out what happened up to then;
    events without a time always count. `primary` is the id of the leading session, by default the newest.
    """
    ordered = sorted(sessions, key=lambda pair: (_begun(pair[0]), pair[0].agent, pair[0].session_id))
    workbench = workbench or Workbench()
    # Nothing may be left out where another session could not be read a second time.
    sparing = all(callable(events) for _, events in ordered)
    try:
        stages = Stages(repository, workbench, since, test_command)
        uses = _read(stages, ordered, sparing=sparing)
    except TakenBackError:
        stages = Stages(repository, workbench, since, test_command)
        uses = _read(stages, ordered, sparing=False)
    return _evidence(stages, _with_primary(uses, primary))


def _read(stages: Stages, ordered: list[tuple[SessionRef, Events]], *, sparing: bool) -> list[SessionUse]:
    stages.read_feedback()
    uses = []
    for number, (ref, events) in enumerate(ordered, 1):
        reading = Reading(stages, ref, number)
        unread = reading.leaves_unread if sparing else None
        for event in events(unread) if callable(events) else events:
            reading.take(event)
        uses.append(reading.finish())
    return uses


def _begun(ref: SessionRef) -> int:
    return ref.started_at if ref.started_at is not None else ref.modified_at or 0


def _evidence(stages: Stages, sessions: tuple[SessionUse, ...]) -> Evidence:
    stages.seen_at(stages.repository.head_at)
    stages.seen_at(_last_noted(stages))
    words, workbench = stages.words, stages.workbench
    touches = stages.touches.finish()
    evidence = Evidence(
        repository=stages.repository,
        roots=stages.places.roots,
        workbench=workbench,
        artifacts=workbench.artifacts,
        sessions=sessions,
        directives=words.directives(),
        chains=stages.chains.finish(),
        log_lines=len(workbench.feedback or ()),
        tests=stages.tests.finish(stages.repository, {touch.path: touch.last_at for touch in touches}),
        plan=stages.plan.finish(),
        statements=words.statements(),
        last_step=words.last_step(),
        assignment=words.assignment,
        cut_off=words.cut_off,
        turn_closed=words.turn_closed,
        harness_summaries=words.harness_summaries(),
        rejections=words.rejections(),
        answers=words.answers(),
        touches=touches,
        interrupted_edit=stages.touches.interrupted_edit(),
        findings=tuple(stages.findings),
        since=stages.since,
        as_of=stages.as_of,
    )
    return structs.replace(evidence, omitted=_omitted(stages))


def _last_noted(stages: Stages) -> int | None:
    """Return when the newest next step was noted, rounded up to the second in which a packet can say it."""
    steps = [row.at for row in stages.workbench.notes if row.kind == "next" and not row.withdrawn]
    times = [-(-at // 1000) * 1000 for at in steps if at is not None and stages.counts(at)]
    return max(times, default=None)


def _omitted(stages: Stages) -> dict[str, int]:
    counted = {
        "chains": stages.chains.omitted,
        "runs": stages.chains.omitted_runs,
        "tried_after": stages.chains.omitted_tried,
        "touches": stages.touches.omitted,
        "touches_outside": stages.touches.outside,
        "plan": stages.plan.omitted,
        "feedback_lines": stages.workbench.feedback_skipped,
        **stages.words.omitted,
    }
    return {name: count for name, count in sorted(counted.items()) if count}


def _with_primary(uses: list[SessionUse], primary: str) -> tuple[SessionUse, ...]:
    """Mark the leading session: the one asked for, else the one whose events end last."""
    if not uses:
        return ()
    chosen = next((index for index, use in enumerate(uses) if primary and use.session_id == primary), None)
    if chosen is None:
        chosen = max(range(len(uses)), key=lambda index: (uses[index].ended_at or 0, index))
    return tuple(structs.replace(use, primary=index == chosen) for index, use in enumerate(uses))
