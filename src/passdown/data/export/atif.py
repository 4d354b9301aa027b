"""One ATIF document (version 1.8) a sample: the predecessor's steps as copied context, the handoff, the turns after it.

Copied steps are no training data, as the format says. What the successor was given is the message behind them; the
steps after it say in `extra.training` whether they are a `target`, their `observation` is, or all of it is `context`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from passdown.data.export.parquet import row_of
from passdown.data.export.written import PLAIN, How, Written, new_folder
from passdown.data.samples.messages import Called, Message, Role
from passdown.data.samples.render import Rendered
from passdown.io.log import safe_id
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from passdown.redact.scan import Redactor
from passdown.sessions.export import redacted_events
from passdown.trajectories.atif_writer import write_atif
from passdown.trajectories.tools import action_of, paths_of

_TRAINED = frozenset({Role.ACTION, Role.RECONSTRUCTION})
_ENDS = (SessionStart, SessionEnd)
UNNAMED = "its id is no file name"
_META = (
    "kind", "trajectory_id", "repo", "split", "source", "licence", "k", "point", "view", "level", "ops", "continuation",
    "group_key",
)  # fmt: skip


def write_atif_files(samples: Iterable[Rendered], path: Path, _how: How = PLAIN) -> Written:
    """Write the samples of one shard and split into the folder `path`, each as a file of its own."""
    dropped: Counter[str] = Counter()
    count = 0
    redactor = Redactor(folders={})
    with new_folder(path) as folder:
        for rendered in samples:
            name = safe_id(rendered.sample.sample_id)
            if not name:
                dropped[UNNAMED] += 1
                continue
            document = msgspec.json.encode(document_of(rendered, redactor), order="deterministic")
            (folder / f"{name}.json").write_bytes(document + b"\n")
            count += 1
    return Written(count, dict(dropped))


def document_of(rendered: Rendered, redactor: Redactor | None = None) -> dict[str, Any]:
    """Return a sample as an ATIF document."""
    redactor = redactor or Redactor(folders={})
    sample, run = rendered.sample, rendered.trajectory
    turns: dict[str, Role] = {}
    start = SessionStart(
        session_id=sample.sample_id, agent=run.scaffold or "successor", cwd=run.root, commit=run.base_commit,
        parent_id=run.trajectory_id, parent_kind="continuation",
    )  # fmt: skip
    before = (event for step in run.steps[: sample.k] for event in step.events if not isinstance(event, _ENDS))
    copied = (structs.replace(event, copied=True) for event in redacted_events(before, redactor))
    given = [event for message in rendered.prompt for event in _events(message, turns)]
    follows = [event for message in rendered.completion for event in _events(message, turns)]
    document: dict[str, Any] = msgspec.json.decode(write_atif([start, *copied, *given, *follows]).data)
    document["trajectory_id"] = sample.sample_id
    row = row_of(rendered)
    document["extra"]["sample"] = {name: row[name] for name in _META}
    for step in document["steps"]:
        turn = step.get("extra", {}).get("passdown", {}).get("response_id", "")
        if turn in turns and not step.get("is_copied_context"):
            step["extra"]["training"] = _training(turns[turn], echo=sample.kind == "echo")
    return document


def _training(role: Role, *, echo: bool) -> str:
    """Return what is learned of a turn. For ECHO that is what the environment answered, whoever acted, and how well."""
    if echo:
        return "observation"
    return "target" if role in _TRAINED else "context"


def _events(message: Message, turns: dict[str, Role]) -> Iterator[AnyEvent]:
    """Yield a message's events. Each turn of the successor gets a name, under which `turns` keeps its role."""
    if message.role == "tool":
        yield ToolResult(call_id=message.call_id, outcome="unknown", text=message.content)
    elif message.role == "assistant":
        turn = f"turn-{len(turns) + 1}"
        turns[turn] = message.part
        if message.reasoning:
            yield AssistantMessage(text=message.reasoning, reasoning=True, response_id=turn)
        if message.content:
            yield AssistantMessage(text=message.content, response_id=turn)
        for call in message.calls:
            yield _call(call, turn)
    else:
        by_harness = message.role == "system" or message.part == Role.HARNESS
        yield UserMessage(text=message.content, origin="injected" if by_harness else "human")


def _call(call: Called, turn: str) -> ToolCall:
    try:
        arguments = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except msgspec.DecodeError:
        arguments = {"arguments": call.arguments}
    action = action_of(call.name, arguments)
    return ToolCall(
        call_id=call.id, tool=call.name, action=action, arguments=arguments, paths=paths_of(action, arguments),
        response_id=turn,
    )  # fmt: skip
