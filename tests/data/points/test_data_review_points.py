"""Reviews that arrive, and work that goes to a subagent and comes back."""

from __future__ import annotations

import pytest

from passdown.model.session import ToolCall, ToolResult, UserMessage


def begun(script):
    """A run that has looked around: cuts from the second step on are possible."""
    return script().asks("Mend it.").runs("cat src/a.py", "x = 1\n")


@pytest.mark.parametrize(
    ("text", "is_review"),
    [
        ("Here are the review comments:\n- [P1] drops the lock", True),
        ("Please address the reviewer feedback on the PR.", True),
        ("nit: rename x", True),
        ("Now review the code and tell me what you think.", False),
        ("Spawn a review agent.", False),
        ("Looks good, add a comment to the function.", False),
    ],
)
def test_a_persons_review(text, is_review, script, marks_of):
    change = {"command": "str_replace", "path": "/testbed/src/a.py", "old_str": "1", "new_str": "2"}
    run = begun(script).uses("str_replace_editor", change).says("Done.").asks(text).says("On it.")
    assert marks_of(run.trajectory())["review_received"] == ([5] if is_review else [])


@pytest.mark.parametrize(
    ("command", "is_review"),
    [
        ("gh api repos/o/r/pulls/7/comments --paginate", True),
        ("gh pr view 7 --comments", True),
        ("gh pr view 7 --json number,reviews", True),
        ("gh api repos/o/r/pulls/7/comments/3/replies -f body='Thanks'", False),
        ("gh api repos/o/r/pulls/7/comments -X POST -f body='Mine'", False),
        ("gh pr view 7 --json number,reviewDecision", False),
    ],
)
def test_comments_that_were_fetched(command, is_review, script, marks_of):
    run = begun(script).runs(command, '[{"path": "src/a.py", "body": "This drops the lock."}]' * 3).says("I see.")
    assert marks_of(run.trajectory())["review_received"] == ([3] if is_review else [])


@pytest.mark.parametrize(
    ("shown", "is_review"),
    [
        ('{"user": "bot", "state": "COMMENTED", "body_len": 1843}\n' * 4 + "<shell completed with exit code 0>", False),
        ('[{"path": "src/a.py", "body": "The lock is dropped before the channel is closed."}]', True),
    ],
)
def test_that_there_are_comments_is_no_comment(shown, is_review, script, marks_of):
    run = begun(script).runs("gh api repos/o/r/pulls/7/reviews", shown).says("I see.")
    assert marks_of(run.trajectory())["review_received"] == ([3] if is_review else [])


@pytest.mark.parametrize(
    ("description", "is_review"),
    [
        ("Review: fixes of round 1", True),
        ("Adversarial review", True),
        ("Car 7 adversarial review", True),
        ("Car: PR review fixes", False),
        ("Address review comments", False),
    ],
)
def test_who_does_what_a_review_asks_for_is_no_reviewer(description, is_review, script, marks_of):
    run = delegate(begun(script), "d1", description=description, told="The lock is held until the end. " * 9)
    assert marks_of(run.says("I see.").trajectory())["review_received"] == ([3] if is_review else [])


def delegate(run, call_id, *, description="Find the callers", told="Three callers: a, b, c. " * 8, outcome="ok"):
    arguments = {"description": description, "prompt": "Look at the tree."}
    run.events.append(ToolCall(call_id=call_id, tool="Task", action="delegate", arguments=arguments))
    run.events.append(ToolResult(call_id=call_id, outcome=outcome, text=told))
    return run


def test_work_goes_to_a_subagent_and_comes_back(script, marks_of):
    run = delegate(begun(script).says("Let me ask."), "d1").runs("ls", "src")
    found = marks_of(run.trajectory())
    assert (found["delegated"], found["returned"], found["review_received"]) == ([2], [3], [])
    refused = marks_of(delegate(begun(script), "d1", outcome="rejected").says("No.").trajectory())
    assert (refused["delegated"], refused["returned"]) == ([], [])


def test_a_subagent_in_the_background_comes_back_later(script, marks_of):
    run = delegate(begun(script), "d1", told="Async agent launched successfully.").runs("ls", "src")
    note = '<task-notification>\n<summary>Agent "Find the callers" finished</summary>\n<result>Three.</result>'
    run.events.append(UserMessage(text=note, origin="injected"))
    found = marks_of(run.says("Good.").trajectory())
    assert (found["delegated"], found["returned"]) == ([3], [5])


def test_a_reviewers_report_is_a_review(script, marks_of):
    run = delegate(
        begun(script), "d1", description="Review the change", told="REJECT. Major: the lock is dropped. " * 9
    )
    found = marks_of(run.says("I see.").trajectory())
    assert found["review_received"] == found["returned"] == [3]
