"""Rows of nebius' SWE-agent set: `instance_id, model_name, target, trajectory, exit_status, generated_patch`.

A message is `{role: system|ai|user, text, system_prompt, mask, cutoff_date}`. There are no calls: the last block of
code in an answer is one, and the last lines of an observation tell the folder and the open file.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.conversing import acted
from passdown.data.sources.fences import OPEN, OPEN_TAIL, last_block
from passdown.data.sources.origin import Origin, decided, extras_of, task_of, text_in
from passdown.data.trajectory import assemble
from passdown.trajectories import swe_agent
from passdown.trajectories.document import Row, decoded


class Columns(Struct, gc=False):
    """A row, as far as it is used."""

    trajectory: Raw = Raw()
    instance_id: Any = None
    model_name: Any = None
    target: Any = None
    exit_status: Any = None
    generated_patch: Any = None


class Turn(Struct, gc=False):
    """A message of the row."""

    role: str = ""
    text: str | None = None


_COLUMNS = msgspec.json.Decoder(Columns)
_TURNS = msgspec.json.Decoder(list[Turn])
_TEXT = msgspec.json.Decoder(str)


def read_row(row: Row, origin: Origin) -> Trajectory | Reject:
    """Return the trajectory of a row, or why it is none."""
    columns = decoded(row.data or b"", _COLUMNS)
    listed = bytes(columns.trajectory) if columns is not None else b""
    if listed[:1] == b'"':
        listed = (decoded(listed, _TEXT) or "").encode("utf-8", "replace")
    turns = decoded(listed, _TURNS)
    if columns is None or turns is None:
        return origin.reject("unreadable", row.line, "not a row of this set")
    task = task_of(columns.instance_id)
    data = _document(turns, task.instance_id, text_in(columns.model_name), text_in(columns.exit_status))
    events = list(swe_agent.read_row(Row(data, task.instance_id, 0, row.line, len(data)), Path("row.traj")))
    if not acted(events):
        return origin.reject("empty", row.line)
    return assemble(
        events, origin.at(row.line), instance_id=task.instance_id, repo=task.repo, base_commit=task.base_commit,
        outcome=Outcome(
            resolved=decided(columns.target), exit=text_in(columns.exit_status),
            patch=text_in(columns.generated_patch),
        ),
        extras=extras_of(model_name=columns.model_name),
    )  # fmt: skip


def _document(turns: list[Turn], instance: str, model: str, status: str) -> bytes:
    """Return the row as the program itself writes a run down."""
    history: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    for turn in turns:
        text = turn.text or ""
        if turn.role == "ai":
            said, action = last_block(text)
            history.append(
                {"role": "assistant", "content": text, "thought": said, "action": action, "agent": "primary"}
            )
            steps.append({"action": action})
        elif turn.role == "user":
            history.append({"role": "user", "content": text, "agent": "primary"})
            if steps and (match := OPEN.search(text[-OPEN_TAIL:])) is not None:
                steps[-1]["state"] = {"open_file": match[1], "working_dir": match[2]}
    return msgspec.json.encode({
        "history": history, "trajectory": steps, "info": {"exit_status": status},
        "replay_config": {"problem_statement": {"id": instance}, "agent": {"model": {"name": model}}},
    })  # fmt: skip
