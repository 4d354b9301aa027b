"""Delegation: work goes to a subagent, and what it found comes back."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.actions.delegated import is_away
from passdown.data.points.away import Away
from passdown.data.points.run import Found, Run
from passdown.data.records import Mark


def marks(run: Run) -> Iterator[Found]:
    """Yield where work was delegated and where it came back."""
    away = Away()
    for at, signals in enumerate(run.signals):
        back = any(not one.late for one in away.back(signals))
        sent = False
        for event in signals.delegated:
            results = signals.results.get(event.call_id, [])
            if results and all(result.outcome in ("failed", "rejected", "interrupted") for result in results):
                continue
            if is_away(results):
                away.send(event, results)
                sent = True
            else:
                back = True
                yield Found(at, Mark(detector="delegated", kind="delegation", steps=(at,), oracle_select=True))
        if sent:
            yield Found(at + 1, Mark(detector="delegated", kind="delegation", steps=(at,)))
        if back:
            yield Found(at + 1, Mark(detector="returned", kind="delegation", steps=(at,)))
