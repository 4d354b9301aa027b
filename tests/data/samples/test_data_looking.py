"""What goes before a person's commits: a look at those that are there."""

from __future__ import annotations

import json
from typing import Any

from passdown.data.samples.looking import SAID, look_at_commits
from passdown.data.samples.messages import Role


def test_a_persons_commits_begin_with_a_look_at_those_made(script: Any) -> None:
    run = (
        script().asks("Do both.")
        .says("Add a").runs("git add -A && git commit -m 'Add a'", "[main 1a2b3c4] Add a\n 1 file changed")
        .says("Add b").runs("git add -A && git commit -m 'Add b'", "[main 5d6e7f8] Add b\n 1 file changed")
        .says("Add c").runs("touch c", "").trajectory()
    )  # fmt: skip
    look, answer = look_at_commits(run, 3)
    assert (look.content, look.part, answer.part) == (SAID, Role.ACTION, Role.ENV)
    assert json.loads(look.calls[0].arguments) == {"command": "git log --oneline -2 && git status --short"}
    assert answer.content == "5d6e7f8 Add b\n1a2b3c4 Add a"
    assert answer.call_id == look.calls[0].id
    assert look_at_commits(run, 2)[1].content == "1a2b3c4 Add a"
    assert look_at_commits(run, 1) == []
    assert look_at_commits(run, 4) == [], "what a step left without a commit is told by no log"
