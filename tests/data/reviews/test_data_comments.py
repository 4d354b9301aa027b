"""What reviews say, comment by comment, and that views tell it."""

from __future__ import annotations

import json
import time

import pytest

from passdown.data.reviews.comment import comments_in
from passdown.data.reviews.fetched import fetched
from passdown.data.reviews.incoming import comments_of
from passdown.data.reviews.own import own_comments
from passdown.data.views.table import views_at
from passdown.model.session import ToolCall, ToolResult, UserMessage

LOCK = "The lock is dropped before the channel is closed."
NAME = "The limit of five has no name of its own."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Codex found:\n\n1. {LOCK}\n2. {NAME}\n   It stands in two files.\n\nPlease mend both.",
         [f"1. {LOCK}", f"2. {NAME}\n   It stands in two files."]),
        (f"Review:\n\n{LOCK}\n\n{NAME}", [LOCK, NAME]),
        (f"## Finding 1 (src/a.py:3)\n{LOCK}\n\n## Finding 2 (src/b.py:7)\n{NAME}",
         [f"Finding 1 (src/a.py:3): {LOCK}", f"Finding 2 (src/b.py:7): {NAME}"]),
        (f"**Changes:**\n\n{LOCK}", [f"Changes: {LOCK}"]),
        (f"- {LOCK}\n  - in `close`\n- {NAME}", [f"- {LOCK}\n  - in `close`", f"- {NAME}"]),
        (f"<details>\n<summary>Files</summary>\n\n| File | What |\n| --- | --- |\n\n{LOCK}\n\n</details>", [LOCK]),
        (f"### Lock\n\n<!-- DESCRIPTION START -->\n{LOCK}\n<!-- DESCRIPTION END -->", [f"Lock: {LOCK}"]),
        ("", []),
    ],
)  # fmt: skip
def test_a_text_is_split_at_its_comments(text, said):
    assert [comment.text for comment in comments_in(text)] == said


def begun(script):
    return script().asks("Mend it.").runs("cat src/a.py", "x = 1\n").runs("sed -i s/1/2/ src/a.py")


def test_every_way_in_which_comments_come(script):
    run = begun(script)
    body = json.dumps([{"path": "src/a.py", "line": 3, "user": {"login": "m"}, "body": NAME}])
    run = run.runs("gh api repos/o/r/pulls/7/comments", body)
    shown = (
        f"author:\tm\nassociation:\tmember\n--\n{LOCK}\n--\nauthor:\tvercel\n--\nYour preview is ready to be seen.\n--"
    )
    run = run.runs("gh pr view 7 --comments", shown)
    call = {"description": "Review the change", "prompt": "Look at it."}
    run.events.append(ToolCall(call_id="d", tool="Task", action="delegate", arguments=call))
    run.events.append(ToolResult(call_id="d", outcome="ok", text=f"REJECT.\n\n- {LOCK}\n- {NAME}"))
    run.events.append(ToolCall(call_id="e", tool="Task", action="delegate", arguments=call))
    run.events.append(ToolResult(call_id="e", outcome="ok", text="Agent started in background. You will be told. " * 3))
    note = f'<task-notification>\n<summary>Agent "Review it" finished</summary>\n<result>{LOCK} {NAME}</result>'
    run.events.append(UserMessage(text=note, origin="injected"))
    head = "Agent completed. agent_id: r, agent_type: car, status: completed, description: Review it, elapsed: 9s\n\n"
    run = run.uses("read_agent", {"agent_id": "r"}, f"{head}{LOCK} {LOCK}")
    found = [comment for step in run.says("Good.").trajectory().steps for comment in comments_of(step)]
    assert [comment.place for comment in found] == ["src/a.py:3", "", "", "", "", ""]
    assert [comment.text for comment in found] == [
        NAME,
        LOCK,
        f"- {LOCK}",
        f"- {NAME}",
        f"{LOCK} {NAME}",
        f"{LOCK} {LOCK}",
    ]


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ([{"body": f"<!-- START -->{LOCK}<!-- END\n-->"}, {"body": "<!-- only what a page does not show -->"}], [LOCK]),
        ([{"body": "\u3053\u306e\u540d\u524d\u306f\u4ed6\u3068\u63c3\u3063\u3066\u3044\u307e\u305b\u3093"}], ["\u3053\u306e\u540d\u524d\u306f\u4ed6\u3068\u63c3\u3063\u3066\u3044\u307e\u305b\u3093"]),
        ([{"body": NAME}, {"body": "Good catch, fixed in 1a2b3c4 by holding it longer."}], [NAME]),
        ([{"body": "Fixed the name in `8d7c6b5a`, thanks for that."}], []),
        ([{"body": "Fixed names are not what the issue asks for, which names them by the folder."}], ["Fixed names are not what the issue asks for, which names them by the folder."]),
        ({"data": {"reviewThreads": {"nodes": [
            {"isResolved": True, "comments": {"nodes": [{"body": LOCK}]}},
            {"isResolved": False, "comments": {"nodes": [{"body": NAME}]}},
        ]}}}, [NAME]),
        ({"data": {"reviewThreads": {"nodes": [{"isResolved": True, "comments": {"nodes": [{"body": LOCK}]}}]}}}, []),
    ],
)  # fmt: skip
def test_what_was_dealt_with_is_no_comment(script, shown, said):
    run = begun(script).runs("gh api repos/o/r/pulls/7/comments", json.dumps(shown)).says("Good.")
    assert [comment.text for step in run.trajectory().steps for comment in comments_of(step)] == said


UNABLE = (
    "With this lock the second worker cannot access the file any more, and waits for it until it is stopped by hand."
)
TORN = f'[\n {{"path": "src/a.py", "body": "{LOCK}"}},\n {{"path": "src/b.py", "body": "{NAME[:-4]}'
WHOLE = f'{{"body": "{LOCK}", "reviews": [{{"author": {{"login": "m"}}, "body": "{NAME}"}}, {{"body": "And \\"this'


@pytest.mark.parametrize(
    ("command", "shown", "said"),
    [
        ("gh api repos/o/r/pulls/7/comments", TORN, [LOCK, NAME[:-4]]),
        ("gh pr view 7 --json body,reviews", WHOLE, [NAME]),
        ("gh api repos/o/r/pulls/7/comments", f'{{"body": "{LOCK}"}}\n... 300 more lines were left out of this\n', [LOCK]),
        ("gh api repos/o/r/pulls/$(gh pr view --json number --jq .number)/comments | jq -r .[].body", LOCK * 2, [LOCK * 2]),
        ("gh pr view 7 --comments", "Error: Exit code 1\nerror connecting to the forge, which is said to be away", []),
        ("gh api repos/o/r/pulls/7/comments | jq -r .[].body", UNABLE, [UNABLE]),
        ("gh pr view 7 --json reviewThreads", 'Unknown JSON field: "reviewThreads"\nAvailable fields:\nadditions\nassignees', []),
    ],
)  # fmt: skip
def test_what_was_cut_and_what_failed(script, command, shown, said):
    run = begun(script).runs(command, shown).says("Good.")
    assert [comment.text for step in run.trajectory().steps for comment in comments_of(step)] == said


def test_views_tell_what_a_review_said(script):
    body = json.dumps([{"path": "src/a.py", "line": 3, "body": LOCK}, {"path": "src/b.py", "line": 7, "body": NAME}])
    run = begun(script).runs("gh api repos/o/r/pulls/7/comments", body).says("On it.").runs("ls", "src")
    before, after = views_at(run.trajectory(), [3, 4], ("summary", "structured"))
    for view in after:
        assert LOCK in view.text
        assert {(fact.key, fact.value) for fact in view.facts if fact.type == "review"} == {
            (LOCK, "src/a.py:3"), (NAME, "src/b.py:7"),
        }  # fmt: skip
    assert all(LOCK not in view.text for view in before)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'I found one.\n\n::code-comment{{title="[P1] Lock" body="{LOCK}" file="/w/a.py" start=3 end=4 priority=1}}',
         [(f"[P1] Lock: {LOCK}", "/w/a.py:3")]),
        ('::code-comment{title="[P2] A \\"name\\"" body="none" file="a.py"}', [('[P2] A "name": none', "a.py")]),
        ("Write them as ::code-comment{...}", []),
        ("::code-comment{" + 'x="' + "a" * 30000, []),
    ],
)  # fmt: skip
def test_comments_that_an_agent_writes_itself(text, said):
    assert [(comment.text, comment.place) for comment in own_comments(text)] == said


@pytest.mark.parametrize("text", ["<!--", '"body": "', "<!-- a ", '[{"body": "a"', "- a\n", "**a**\n"])
def test_no_answer_takes_long(text):
    start = time.process_time()
    comments_in(text * (200_000 // len(text)))
    call = ToolCall(call_id="a", tool="Bash", action="execute", command="gh pr view 7 --comments")
    fetched(call, text * (200_000 // len(text)), forge=True)
    assert time.process_time() - start < 5
