"""Rows of Kwai-Klear's runs of mini-swe-agent-plus on SWE-smith: `instance_id, messages`, every one of them resolved.

A call is the one block of shell code in an answer; `MINI_SWE_AGENT_FINAL_OUTPUT` hands the work in.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.conversing import acted, converse
from passdown.data.sources.origin import Origin, task_of
from passdown.data.trajectory import assemble
from passdown.trajectories.conversation import Conversation
from passdown.trajectories.document import Row, decoded


class Columns(Struct, gc=False):
    """A row, as far as it is used."""

    messages: Raw = Raw()
    instance_id: Any = None


_COLUMNS = msgspec.json.Decoder(Columns)


def read_row(row: Row, origin: Origin) -> Trajectory | Reject:
    """Return the trajectory of a row, or why it is none."""
    columns = decoded(row.data or b"", _COLUMNS)
    if columns is None:
        return origin.reject("unreadable", row.line, "not a row of this set")
    task = task_of(columns.instance_id)
    events = converse(
        columns.messages, row, agent="mini_swe_agent_plus", session_id=task.instance_id,
        conversation=Conversation(blocks=True),
    )  # fmt: skip
    if not acted(events):
        return origin.reject("empty", row.line)
    return assemble(
        events, origin.at(row.line), instance_id=task.instance_id, repo=task.repo, base_commit=task.base_commit,
        outcome=Outcome(resolved=True),
    )  # fmt: skip
