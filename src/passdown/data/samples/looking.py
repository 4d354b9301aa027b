"""The look that goes before a person's commits: which of them are there already. No series shows one itself."""

from __future__ import annotations

import json

from passdown.data.records import Trajectory
from passdown.data.samples.messages import Called, Message, Role
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolResult

SAID = "Let me see how far this has got."
MOST = 20
"""Commits that are shown, the newest."""
_COMMITTED = lazy_pattern(r"\[\S+ (?P<id>[0-9a-f]{7,40})\] (?P<subject>.*)")


def look_at_commits(run: Trajectory, start: int) -> list[Message]:
    """Return a look at the log and the status before step `start`, as git answers it there.

    Empty where the step before ended without a commit: what stands in the tree then is not told by commits.
    """
    made: list[str] = []
    ended = False
    for step in run.steps[:start]:
        ended = False
        for event in step.events:
            found = _COMMITTED.match(event.text) if isinstance(event, ToolResult) else None
            ended = found is not None
            if found is not None:
                made.append(f"{found['id']} {found['subject']}")
    if not ended:
        return []
    shown = made[-MOST:][::-1]
    arguments = json.dumps({"command": f"git log --oneline -{len(shown)} && git status --short"})
    call = Called(id="look-1", name="bash", arguments=arguments)
    return [
        Message(role="assistant", content=SAID, calls=(call,), part=Role.ACTION),
        Message(role="tool", content="\n".join(shown), call_id=call.id, part=Role.ENV),
    ]
