"""Reviews that arrive, what people say, and work that goes to a subagent and comes back."""

from __future__ import annotations

import pytest

from passdown.model.session import ToolCall, ToolResult, UserMessage


def begun(script):
    """A run that has looked around: cuts from the second step on are possible."""
    return script().asks("Mend it.").runs("cat src/a.py", "x = 1\n")


@pytest.mark.parametrize("text", ["Here are the review comments:\n- [P1] drops the lock", "Now the tests, please."])
def test_what_a_person_says_is_a_turn_whatever_it_is(text, script, marks_of):
    run = begun(script).says("Done.").asks(text).says("On it.")
    found = marks_of(run.trajectory())
    assert (found["user_turn"], found["review_received"]) == ([4], [])


@pytest.mark.parametrize(
    ("event", "is_turn"),
    [
        (UserMessage(text="Go on.", origin="queued"), True),
        (UserMessage(text="the parser", origin="command", command="/fix"), True),
        (UserMessage(text="/fix", origin="command", command="/fix"), True),
        (UserMessage(text="the parser", origin="command"), True),
        (UserMessage(text="/clear", origin="command"), False),
        (UserMessage(text="ls", origin="shell"), False),
        (UserMessage(text="# A plan", origin="plan"), False),
        (UserMessage(text="Remember the rules.", origin="hook"), False),
        (UserMessage(text="<system-reminder>Remember.</system-reminder>", origin="injected"), False),
        (UserMessage(text="Find the callers.", origin="subagent"), False),
    ],
)
def test_who_speaks(event, is_turn, script, marks_of):
    run = begun(script).says("Done.")
    run.events.append(event)
    assert marks_of(run.says("On it.").trajectory())["user_turn"] == ([4] if is_turn else [])


def test_before_anything_was_done_is_no_turn(script, marks_of):
    run = script().asks("Hello.").says("Hello.").asks("Mend it.").runs("cat src/a.py", "x = 1\n").says("Done.")
    assert not marks_of(run.trajectory())["user_turn"]


@pytest.mark.parametrize(
    ("command", "is_review"),
    [
        ("gh api repos/o/r/pulls/7/comments --paginate", True),
        ("gh pr view 7 --comments", True),
        ("gh pr view 7 --json number,reviews", True),
        ("gh api repos/o/r/pulls/7/comments/3/replies -f body='Thanks'", False),
        ("gh api repos/o/r/pulls/7/comments -X POST -f body='Mine'", False),
        ("gh pr view 7 --json number,reviewDecision", False),
        ("gh api repos/o/r/pulls/comments/3", True),
        ("gh api repos/o/r/pulls/7/reviews/3/comments", True),
        ("gh api graphql -f query='{ repository { pullRequest { reviewThreads { nodes { body } } } } }'", True),
        ("gh api graphql -f query='mutation { resolveReviewThread(input: {threadId: 1}) { thread { id } } }'", False),
        ("some-reviewer review --plain", True),
        ("git review --draft", False),
        ("grep -rn 'gh pr view 7 --comments' docs", False),
        ("gh api repos/o/r/issues/7/comments", False),
        ("gh api repos/o/r/issues/7/comments --jq '.[] | select(.user.login == \"code-review\")'", True),
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
        (
            '{"path": "a", "body": "This drops the lock too early."}\n{"path": "b", "body": "So does this one here."}',
            True,
        ),
        ('{"user": "somebody", "text": "This drops the lock before the channel is closed."}\n' * 2, True),
        ('{"body": "What this change does and why it does it.", "reviews": [], "number": 7, "url": "here"}', False),
        ('{"body": "", "reviews": [{"author": {"login": "a"}, "body": "Please keep the lock until the end."}]}', True),
        (
            '{"comments": [{"author": {"login": "codecov"}, "body": "All lines are covered by tests. Well done."}]}',
            False,
        ),
        ("author:\tvercel\nstatus:\tnone\n--\nYour preview is ready to be looked at by all of you.\n--\n" * 2, False),
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
        ("Test coverage review", True),
        ("Explore how the reviews are stored", False),
        ("Reply to the reviewer's threads", False),
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


def test_comments_that_a_tool_of_a_server_showed(script, marks_of):
    said = '[{"path": "src/a.py", "body": "The lock is dropped before the channel is closed."}]' * 2
    run = begun(script).uses("mcp__forge__get_pull_request_comments", {"number": 7}, said).says("I see.")
    run = run.uses("mcp__forge__pull_request_read", {"method": "get_review_comments"}, said).says("I see.")
    run = run.uses("mcp__forge__pull_request_read", {"method": "get_diff"}, said).says("I see.")
    assert marks_of(run.trajectory())["review_received"] == [3, 4]


@pytest.mark.parametrize(
    ("report", "is_review"),
    [
        (
            "I was unable to locate any changed files, so that I cannot perform a meaningful review. Which are they?",
            False,
        ),
        ("The report was given already.", False),
        ("The lock is dropped before the channel is closed. " * 3, True),
    ],
)
def test_a_note_that_a_reviewer_is_done_is_no_review(report, is_review, script, marks_of):
    run = delegate(begun(script), "d1", description="Review the change", told="Async agent launched successfully.")
    note = f'<task-notification>\n<summary>Agent "Review the change" finished</summary>\n<result>{report}</result>'
    run.runs("ls", "src").events.append(UserMessage(text=note, origin="injected"))
    assert marks_of(run.says("Good.").trajectory())["review_received"] == ([5] if is_review else [])


@pytest.mark.parametrize(
    ("who", "said", "is_review"),
    [
        ("outside-reviewer", "Changes are needed: the lock is dropped before the channel is closed. " * 2, True),
        (
            "outside-reviewer",
            '{"type": "idle_notification", "from": "outside-reviewer", "reason": "available"}' * 2,
            False,
        ),
        ("engineer", "Both fixes are in, the build passes and the branch is pushed. " * 2, False),
    ],
)
def test_a_member_of_a_team_that_reviews(who, said, is_review, script, marks_of):
    run = begun(script).runs("ls", "src")
    run.events.append(UserMessage(text=f'<teammate-message teammate_id="{who}">\n{said}', origin="injected"))
    assert marks_of(run.says("Good.").trajectory())["review_received"] == ([4] if is_review else [])


def looked(run, agent, *, described="Look at the change", status="completed", told="", turns=0):
    head = f"Agent {'is idle (waiting for messages)' if status == 'idle' else status}. agent_id: {agent}, agent_type: car, "
    head += f"status: {status}, description: {described}, elapsed: 9s, total_turns: {turns}, duration: 9s\n\n"
    return run.uses("read_agent", {"agent_id": agent}, head + told)


LOCK = "The lock is dropped before the channel is closed, and the second worker waits for it. "


def test_a_look_at_a_subagent_shows_what_it_gave_back(script, marks_of):
    away = "Agent started in background with agent_id: second-look. You can use read_agent with this agent_id."
    run = delegate(begun(script), "d1", description="Find the callers", told=away.replace("second-look", "finder"))
    run = delegate(run.says("Then."), "d2", description="Review of round 1", told=away).says("I wait.")
    run = looked(run, "second-look", status="running", told="Still at it. " * 9).says("So.")
    run = looked(run, "finder", told="Three callers are reviewed by nobody: a, b, c. " * 3).says("So.")
    run = looked(run, "second-look", status="idle", told=f"[Turn 0]\n{LOCK}", turns=1).says("So.")
    run = looked(run, "second-look", status="idle", told=f"[Turn 0]\n{LOCK}", turns=1).says("So.")
    run = looked(run, "second-look", described="Review of round 1", status="idle", told=f"[Turn 1]\n{LOCK}", turns=2)
    found = marks_of(run.says("So.").trajectory())
    assert (found["review_received"], found["returned"]) == ([7, 9], [6, 7])


FRAME = "[Subagent hand-back] The text below is the final report of a subagent. The report follows:\n"


@pytest.mark.parametrize("before", ["", "Another Claude session sent a message:\n"])
@pytest.mark.parametrize(("description", "is_review"), [("Review the change", True), ("Find the callers", False)])
def test_a_hand_back_is_what_a_subagent_gave_back(description, is_review, before, script, marks_of):
    run = delegate(
        begun(script), "d0", description="Write the docs", told="Async agent launched successfully. agentId: a1"
    )
    run = delegate(run, "d1", description=description, told="Async agent launched successfully. agentId: b2")
    run = delegate(run, "d2", description="Review the plan", told="Async agent launched successfully. agentId: c3")
    told = f'{before}<agent-message from="b2">\n{FRAME}  Nobody reviewed it yet; a review would see: {LOCK}\n</agent-message>'
    run.says("I wait.").events.append(UserMessage(text=told, origin="injected"))
    found = marks_of(run.says("So.").trajectory())
    assert (found["review_received"], found["returned"]) == ([7] if is_review else [], [7])


@pytest.mark.parametrize(
    ("arguments", "told", "is_review"),
    [
        ({"task": "Review the proposed fix, and say what is wrong."}, LOCK, True),
        ({"agent": "code-reviewer", "request": "Look at the change."}, LOCK, True),
        ({"description": "\u5ba1\u67e5\u8fd9\u4e2a\u4fee\u6539"}, LOCK, True),
        ({"description": "Review it"}, f'<task id="s1" state="completed">\n<task_result>\n{LOCK}\n</task_result>', True),
        ({"description": "Review it"}, '<task id="s1" state="completed">\n<task_result>\n\n</task_result>\n</task>' * 2, False),
        ({"description": "Review it"}, f"{FRAME}  There are no uncommitted changes to review. Shall I look at a branch?", False),
        ({"description": "Review it"}, "Let me check whether there are tests that show how the functions are really called:", False),
        ({"description": "Propose a fix", "prompt": "The `reviewer` rejected the first one:"}, LOCK, False),
        ({"prompt": "The reviewer found two faults in it."}, LOCK, False),
        ({"description": "The change", "subagent_type": "explore", "prompt": "Review the change."}, LOCK, True),
        ({"prompt": "Build it, test it, then self-review."}, LOCK, False),
    ],
)  # fmt: skip
def test_who_reviews_and_what_is_a_report(arguments, told, is_review, script, marks_of):
    run = begun(script)
    run.events.append(ToolCall(call_id="d1", tool="Task", action="delegate", arguments=arguments))
    run.events.append(ToolResult(call_id="d1", outcome="ok", text=told))
    assert marks_of(run.says("So.").trajectory())["review_received"] == ([3] if is_review else [])


@pytest.mark.parametrize(("results", "is_review"), [(LOCK, True), ("None.", False)])
def test_a_review_that_a_person_began_by_a_command(results, is_review, script, marks_of):
    told = f"<user_action>\n  <context>A review.</context>\n  <action>review</action>\n  <results>\n  {results}\n  </results>"
    run = begun(script).says("Done.")
    run.events.append(UserMessage(text=told, origin="injected"))
    assert marks_of(run.says("So.").trajectory())["review_received"] == ([4] if is_review else [])
