"""Reviews that people bring along: who said what of the work, in the words of a person."""

from __future__ import annotations

import time

import pytest

from passdown.data.points.comments import brings

SAID = """\
my lead reviewed the branch and says that the cache leaks
I asked codex to review your change, it says the retry never stops
another agent looked at your diff and found that the retry never stops
gemini code assist flagged two things here
the other AI gave this feedback on your plan:
Reviewer #2 asks why the parser accepts empty input
the maintainers want us to add a test first
coderabbit is still not happy
the review came back, two blockers
this is another round of feedback: use a set
per the review, rename the function
as suggested by copilot, use a set here
the reviewer did not like the flag, remove it
do you agree with this review?
fix what the reviewer found
here is what the reviewer had to say
Opus said this about your diff: no rollback
Gemini's review of your plan: no rollback
please respond to coderabbit on the PR
address the remaining nits
resolve the open threads on the pull request
fix the issues in docs/parser-review.md
read docs/review.md and fix what is right
look at the last comment on the PR
see Maria's review and fix it
Nathan commented on the PR that a map is enough
check if there are any new comments on PR 42 and answer them
the reviewer is asking why it is cloned
Joe says in the PR that a map is enough
the pull request was rejected, the names are off
please do the concern mentioned in the review
points raised by Dan on the PR
I showed your plan to gemini and it said that a rollback is missing
feedback from another session: a rollback is missing
number 2 in the review is wrong, do the rest
PR12の指摘として、命名が良くないと言われました
opus has some suggestions: use a set
address the PR comments and mark them as resolved
address the PR comments and make sure they are resolved
fix the review comments so that they are resolved before the release
work through the PR comments until they are fixed
codex has two doubts/suggestions, see below
why have you not answered the review comments?
have you fixed this PR feedback: the lock is dropped
have you answered Sam? his review comments on the PR still stand
PR 12 の指摘で、名前を変えるように言われた
コードレビューで指摘をもらった
make sure all review comments are addressed
исправь замечания по ревью
los comentarios del PR dicen que el bucle no termina
Bitte die Review-Kommentare im PR beheben
리뷰 코멘트 반영해줘"""
STATED = [
    "# Review findings:\n\n## Finding 1 (docs/retry-workflow-notes.md:7) [added]\n[P2] Name the limit\n\nIt is left open.",
    "Code review results:\n1. The retry never stops (src/net.py)",
    "External review (second round):\n- the plan lacks a rollback",
    "Reviewer 2: The parser accepts empty input.",
    "Severity: High\nFile: src/net.py\nIssue: The retry never stops.",
    "[high/logic] The retry in `fetch` never stops when the server answers with an empty body.",
    "_Potential issue_ | _Major_\n\nThe retry never stops.",
    "I reviewed your changes and found some problems",
    "I did a review of it:\n1. the retry never stops",
    "After reviewing the diff I noticed that the retry never stops",
]
NONE = """\
get a review from another agent when you are done
unless a reviewer rejects it, merge it
I don't see any comment from the reviewer on the pull request
is there any feedback on the PR?
all the review comments are addressed now
moving forward, answer review comments in the thread
claude reports an error: no key
fix the items of the review queue
this is customer feedback on the page
improve the look of the review comments
I reviewed it and it looks good
feedback from users: the page is slow
codex thinks for too long
how would the maintainers want this done?
add docs on how to handle review comments
set all the comments on the PR to resolved
have you also answered the review comments?
close the PR comments with a note that they were fixed
codex took your feedback, go on
answer review feedback as it lands
deal with review feedback when it arrives
did you fix the comments on the PR?
mark the open review threads and all PR comments as done
answer on the PR comments too and flag them as resolved
gemini applied all your suggestions, is it complete?
look for races in the new code and grade each finding
PR にコメントを書いて
show the PR comments in the sidebar
reviewer: claude, author: me"""
NOT_STATED = [
    "Code review:\n- check that the lock is held\n- look for leaks",
    "Review: src/net.py",
    "Severity: High\nType: bug\nSteps to reproduce: start it twice\nDescription: it hangs",
]


@pytest.mark.parametrize("text", SAID.split("\n") + STATED)
def test_what_somebody_said_of_the_work(text):
    assert brings(text)


@pytest.mark.parametrize("text", NONE.split("\n") + NOT_STATED)
def test_words_on_reviews_that_bring_none(text):
    assert not brings(text)


@pytest.mark.parametrize("text", ["\n", "[high/a-", "I reviewed ", "look at a's ", "fix in a/b/", "codex has the "])
def test_no_text_takes_long(text):
    start = time.process_time()
    brings(text * (8000 // len(text)))
    assert time.process_time() - start < 2
