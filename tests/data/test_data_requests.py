"""What people ask for in the course of a run, and that views tell it."""

from __future__ import annotations

import pytest

from passdown.data.prefix import cut
from passdown.data.requests import requests_since
from passdown.data.views.table import views_at
from passdown.model.session import UserMessage

LOCK = "The lock is dropped before the channel is closed."
NAME = "The limit of five has no name of its own."


def begun(script):
    return script().asks("Mend the parser.").runs("cat src/a.py", "x = 1\n").runs("sed -i s/1/2/ src/a.py")


def since(run):
    trajectory = run.trajectory()
    return [text for _, text in requests_since(trajectory.steps, trajectory.task_text)]


def test_only_what_people_said_since_the_work_began_counts(script):
    run = script().asks("Hello.").says("Hello.").asks("Mend the parser.").runs("ls", "src").asks("And its test.")
    run.events.append(UserMessage(text="<system-reminder>Remember.</system-reminder>", origin="injected"))
    run.events.append(UserMessage(text="/clear", origin="command"))
    run.events.append(UserMessage(text="", images=1))
    run.events.append(UserMessage(text="Mend the parser.", origin="queued"))  # the task again
    assert since(run.says("Yes.").asks("Then push it.").says("Yes.")) == ["And its test.", "Then push it."]


def test_what_was_taken_back_and_sent_again_counts_once(script):
    run = begun(script).asks("Name it").asks("Name it by the folder.").says("Yes.").asks("Name it").says("Yes.")
    assert since(run) == ["Name it by the folder.", "Name it"]


@pytest.mark.parametrize("view", ["repo", "summary", "structured", "trace"])
def test_every_view_tells_what_was_asked_since(view, script):
    run = begun(script).says("Done.").asks(f"Codex looked at it:\n\n1. {LOCK}\n2. {NAME}\n\nMend both.").says("Yes.")
    before, after = (found[0] for found in views_at(run.trajectory(), [4, 5], (view,)))
    assert LOCK in after.text
    assert NAME in after.text
    assert LOCK not in before.text


def test_points_of_a_message_are_facts_with_their_step(script):
    run = begun(script).says("Done.").asks(f"Codex looked at it:\n\n1. {LOCK}\n2. {NAME}\n\nok").says("Yes.")
    [[view]] = views_at(run.trajectory(), [6], ("summary",))
    assert [(fact.key, fact.step, fact.status) for fact in view.facts if fact.type == "request"] == [
        (f"1. {LOCK}", 4, "stated"), (f"2. {NAME}", 4, "stated"),
    ]  # fmt: skip


def test_the_repository_view_has_room_for_the_newest_requests(script):
    run = begun(script)
    for number in range(9):
        run = run.says("Yes.").asks(f"Request {number}.\n# Notes of the session before\n" + "and more " * 400)
    trajectory = run.says("Yes.").trajectory()
    [[view]] = views_at(trajectory, [len(trajectory.steps)], ("repo",))
    assert "(3 more before these)" in view.text
    assert [number for number in range(9) if f"Request {number}." in view.text] == [3, 4, 5, 6, 7, 8]
    assert "\n# Notes of the session before" not in view.text
    assert view.tokens < 6_000
    assert cut(trajectory, 3).task_text == "Mend the parser."
