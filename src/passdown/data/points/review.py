"""Reviews: somebody looked at the work, and their comments are there."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.actions.delegated import handed_back, is_away, looked_at
from passdown.data.points.away import Away
from passdown.data.points.run import Found, Run
from passdown.data.points.signals import Signals
from passdown.data.records import Mark
from passdown.data.reviews.incoming import shown
from passdown.data.reviews.own import own_comments
from passdown.data.reviews.reviewer import (
    is_report,
    is_reviewer,
    is_verdict,
    report_in_note,
    report_of_command,
    report_of_mate,
    result_in,
)
from passdown.model.session import AssistantMessage, UserMessage


def marks(run: Run) -> Iterator[Found]:
    """Yield where the comments of a review have just come in."""
    away = Away()
    reviewers = 0
    begun = False
    for at, signals in enumerate(run.signals):
        found = _wrote(signals) or bool(shown(signals.step)) or (begun and _reported(signals))
        begun = begun or bool(signals.done)  # before that is no place to cut, and first messages are long
        for one in away.back(signals):
            if is_reviewer(one.about):
                found = found or is_report(result_in(one.text) if one.note else one.text)
        for event in signals.delegated:
            results = signals.results.get(event.call_id, [])
            if is_away(results):
                away.send(event, results)
                reviewers += is_reviewer(event.arguments)
            elif is_reviewer(event.arguments):
                found = found or (results[-1].outcome == "ok" and is_report(results[-1].text))
        if reviewers and not found:
            found = _delivered(signals)
        if found:
            yield Found(at + 1, Mark(detector="review_received", kind="review", steps=(at,)))


def _wrote(signals: Signals) -> bool:
    return any(isinstance(event, AssistantMessage) and own_comments(event.text) for event in signals.step.events)


def _reported(signals: Signals) -> bool:
    """Say whether a member of a team of agents that was to review reported, or a review that a command began."""
    return any(
        isinstance(event, UserMessage)
        and event.origin == "injected"
        and (report_of_mate(event.text) or report_of_command(event.text))
        for event in signals.step.events
    )


def _delivered(signals: Signals) -> bool:
    """Say whether a reviewer's report was delivered after a note said that it was there."""
    for event in signals.step.events:
        if not isinstance(event, UserMessage) or event.origin != "injected":
            continue
        if handed_back(event.text) is None and report_in_note(event.text):  # a hand-back names who it is from
            return True
    return any(
        is_verdict(result.text) and looked_at(result.text) is None
        for action in signals.done if action.target == "env:process"
        for result in signals.results.get(action.call_id, ())
    )  # fmt: skip
