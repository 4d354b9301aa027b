"""Reviews that people bring: a message that holds comments and calls them a review's."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from passdown.data.reviews.brought import brings

LEADS = """\
Here are the review comments:
The reviewer's feedback:
Review findings
## Code review
Second design review (round 2):
PR comments:
Comments from the pull request:
Feedback on your plan:
Feedback over this part
feedback for @src/net.py
some more feedeback:
Some remarks on src/net.py:
Feedback:
feedback from Maria:
Maria's review:
Codex reviewed your change and found:
gemini code assist flagged two things:
CodeRabbit:
coderabbit says:
Reviewer 2:
Another AI gave this feedback:
My colleague left these comments on the branch:
Opus' take on the diff:
the other agent suggests the following:
I asked claude to review it, here is the output:
I've reviewed the plan:
This was found in the last code review:
I got this feedback on your fix:
Another round of comments:
Please address the comments from this code review:
What do you think of copilot's remarks below:
What do you think of this review:
The review is back:
レビュー結果：
レビューで以下の指摘をもらいました：
评审意见如下：
review 的反馈：
리뷰 코멘트:
Замечания по ревью:
Comentarios de la revisión:
Anmerkungen aus dem Review:
Enkele opmerkingen:
Мне дали ревью на код.:"""
BLOCKS = [
    "- the lock is dropped before the channel is closed",
    "1. Why is there no rollback when the second step fails?",
    "> `close()` can hang, since it has no timeout.",
    "**Joe**: the limit should have a name",
]
REPORT = """\
I read it twice. Overall the structure is solid. The biggest issue is the lock: it is dropped before the channel is closed. Consider
moving the call to the end of the function. The design has no place for the limit, which stands in two files.

Strengths
- it is short

Weaknesses
- nobody holds the lock when the channel is closed
"""
LAID_OUT = [
    "Verify each finding first.\n\nIn `@src/a.py` around lines 3 - 9, the lock is dropped.",
    "src/a.py\nComment on lines +3 to +9\n  lock.release()\nsome-bot\nThis drops the lock.",
    "Look:\nP2 Badge Close the file before it is renamed\n\nOn some systems that fails.",
    "[P1] The lock is dropped too early\n\nNobody holds it when the channel is closed.",
    "nit: rename x",
    "what of this?\n1. High: the lock is dropped\n   src/a.py:12 releases it twice",
    "# Second review\n\nVerdict: not yet\n\nThe lock is dropped.",
    "# Review findings:\n\n## Finding 1 (docs/notes.md:7) [added]\nThe limit has no name.",
    "Severity: High\nFile: src/net.py\nIssue: The retry never stops.",
    "[high/logic] The retry in `fetch` never stops when the server answers with an empty body.",
    "_Potential issue_ | _Major_\n\nThe retry never stops.",
    "- src/a.py:12 This should be a method.\n- src/a.py:30-34 Same as above, please.",
    "src/a.py Comment on lines +3 to +9\nThe lock is dropped.",
    "At src/a.py, line 3:\n\n<comment>The lock is dropped.</comment>",
    "- src/a.py:12-19 \u2014 The lock is dropped before the channel is closed.",
    "CRITICAL BUGS (now)\n\n1. The lock is dropped (src/a.py:12-19)",
    "Critical \u00b7 @src/a.py\nThe lock is dropped.\n\nMinor \u00b7 @src/b.py\nThe limit has no name.",
    REPORT,
    "issue (blocking, security): the lock is dropped",
    "Some-bot left a comment\nThe lock is dropped.",
    'The reviewer says "the lock is dropped before the channel is closed", is that so?',
]
NONE = """\
Please address the review comments on the PR.
https://github.com/o/r/pull/7#discussion_r12345
Check the PR comments: https://github.com/o/r/pull/7
Check the review comments: see which are right and fix them.
copilot has two new comments on it, have a look
the reviewer says that the lock is dropped
Now review the code and tell me what you think.
Please do a code review: src/net.py
Code review:\\n- check that the lock is held\\n- look for leaks
Give me feedback on the plan:\\n- is it complete?
Write review comments:\\n- one for each file
Report the findings:\\n- as a table of two columns
When you get review feedback:\\n- answer each of its comments
Add a page with review comments:\\n- sorted by date, newest first
The review comments table:\\n- needs an index on the date
We got feedback from users:\\n- the page is far too slow
Our customers' feedback:\\n- the page is far too slow
The linter's findings are in:\\nno
Lint findings:\\n- unused import in line 3 of the file
I have addressed the review comments:\\n- the lock is held now
I reviewed and approved the plan:\\n- go on with the second step
I reviewed it, it looks good.\\n\\n- go on with the second step
There are no review comments:\\n- go on with the second step
Severity: High\\nType: bug\\nSteps to reproduce: start it twice\\nDescription: it hangs
Base directory for this skill: /skills/pr\\n\\n# Review comments:\\n- fetch them all
[info] Starting the build of src/a.py
Review:\n11:52\nTraced the slow import to one module of three
Could not read the reviewer output\n> exited with 1
- The buttons have zero feedback\n- the page is too slow
Give the card a P1 badge.
Review: src/net.py
レビューをお願いします
レビューが来たら教えて
看一下代码，做个 review"""


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("lead", LEADS.split("\n"))
def test_comments_under_words_that_call_them_a_reviews(lead, block):
    assert brings(f"{lead}\n\n{block}")
    assert not brings(lead)


@pytest.mark.parametrize("text", LAID_OUT)
def test_comments_in_the_layout_of_a_reviews(text):
    assert brings(text)


@pytest.mark.parametrize("text", NONE.split("\n"))
def test_what_brings_no_comments(text):
    assert not brings(text.replace("\\n", "\n"))


@pytest.mark.parametrize(
    "text",
    [
        "\n",
        "review ",
        "I reviewed ",
        "## review\n",
        "[high/a-",
        "my other ",
        "a: ",
        "a.b.c/d",
        "> +a\n",
        "a/b.c:1 — a b\n",
        "our lead engineer of the team said\n",
        "(review by the ",
        "レビュー",
        "codex a",
        "comment",
    ],
)
def test_no_text_takes_long(text):
    start = time.process_time()
    brings(text * (8000 // len(text)))
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        "The lock is dropped too early.\nWhy is there no rollback?\n\nThese are the comments on my PR, please fix them.",
        "> the docstring is a lie\n> this is quadratic\n\n(review by the maintainers) can you take care",
        "my colleague looked at the branch and wrote\n\nThe lock is dropped too early. And there is no rollback at all when the second step fails.",
        "Kim went over the migration script:\n1 no transaction\n2 it cannot be run twice",
        'our lead had a look at the PR and said "the lock is dropped too early, and there is no rollback"',
        "I gave the plan to another model and asked what it thinks\n\n- no rollback\n- the second phase needs the third",
        "from the chat:\n\nKim 10:42\nhad a look at your PR\nKim 10:43\nthe lock is dropped too early",
        "| # | Severity | File | Finding |\n|---|---|---|---|\n| 1 | High | src/a.py | the lock is dropped |",
        '> +\tif (ret)\n> +\t\treturn -1;\nReturn ret.\n\n> +\tprintf("ok");\nNo noise.\n',
    ],
)
def test_what_stands_around_comments(text):
    assert brings(text)


@pytest.mark.parametrize(
    "text",
    [
        "Please review the branch and tell me what you think:\n\n- the lock\n- the rollback",
        "my colleague went on holiday and left this task to us:\n\n- write the import\n- test it",
        "Fix the export. These are the steps:\n1. read the file\n2. write the table",
        "Our users said of the new page:\n- it is slow\n- the button is hard to find",
        "- Say what the review found\n- Find the comments that came by mail\n- Name the commit that mended them",
        "Add a table for review comments:\n- place\n- text\n- author",
        "I reviewed the plan and it looks good. Go on with:\n\n- the import\n- the export of everything",
    ],
)
def test_what_stands_around_something_else(text):
    assert not brings(text)


def test_made_messages():
    """600 messages, made for this without sight of the rules, which were then tuned on them: these are floors."""
    rows = [json.loads(line) for line in (Path(__file__).parent / "messages.jsonl").read_text("utf-8").splitlines()]
    found = Counter((row["review"], brings(row["text"])) for row in rows)
    assert sum(found.values()) == 600
    assert found[True, True] / (found[True, True] + found[True, False]) >= 0.88
    assert found[True, True] / (found[True, True] + found[False, True]) >= 0.94
