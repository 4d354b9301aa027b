"""Times as agents have written them: one moment, whatever its form, the zone of this machine, or the clock's mood."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from log_formats import FORMATS, events_of, head, line, of

from passdown.agents.dialogue import moment
from passdown.io.log import milliseconds
from passdown.model.session import AnyEvent, UserMessage
from passdown.sessions.summary import summarize

MOMENT = int(datetime(2026, 3, 1, 10, 0, 1, tzinfo=UTC).timestamp()) * 1000
FORMS: dict[str, Any] = {
    "z": "2026-03-01T10:00:01.000Z", "whole": "2026-03-01T10:00:01Z", "zone": "2026-03-01T12:00:01+02:00",
    "nanoseconds": "2026-03-01T10:00:01.000000000Z", "bare": "2026-03-01T10:00:01", "blank": "2026-03-01 10:00:01.000000",
    "ms": MOMENT, "seconds": MOMENT // 1000, "fraction": MOMENT / 1000,
}  # fmt: skip
AGENTS = sorted({*FORMATS} - {"cursor"})  # Cursor keeps no times


def events_at(agent: str, folder: Path, *stamps: Any) -> list[AnyEvent]:
    """Read a session in which something is said at each of the times."""
    path = folder / f"{agent}.jsonl"
    rows = [line(agent, f"hello {number}", stamp, number) + b"\n" for number, stamp in enumerate(stamps, 1)]
    path.write_bytes(head(agent) + b"".join(rows))
    return events_of(agent, path)


def times(agent: str, folder: Path, *stamps: Any) -> list[int | None]:
    """Return the times that are read, in their order."""
    return [event.at for event in of(events_at(agent, folder, *stamps), UserMessage)]


@pytest.fixture(params=["Asia/Kathmandu", "America/Los_Angeles"])
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another zone than UTC on this machine."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_moment_in_every_zone(tmp_path: Path, form: str) -> None:
    assert {agent: times(agent, tmp_path, FORMS[form]) for agent in AGENTS} == {agent: [MOMENT] for agent in AGENTS}
    assert milliseconds(FORMS[form]) == moment(FORMS[form]) == MOMENT


@pytest.mark.parametrize("agent", AGENTS)
def test_a_clock_that_goes_backwards_keeps_the_order_and_the_span(tmp_path: Path, agent: str) -> None:
    later, earlier = "2026-03-01T10:00:01.000Z", "2026-03-01T09:00:00.000Z"
    assert times(agent, tmp_path, later, earlier) == [MOMENT, MOMENT - 3_601_000]
    summary = summarize(events_at(agent, tmp_path, later, earlier, later))
    assert summary.started_at is not None
    assert summary.ended_at is not None
    assert summary.started_at <= summary.ended_at


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("stamp", ["never", "", 1e300, -1e300, "2026-13-99T99:99:99.999Z", None])
def test_what_is_no_time_is_none(tmp_path: Path, agent: str, stamp: Any) -> None:
    [found] = times(agent, tmp_path, stamp)
    assert found is None or not isinstance(stamp, str)
