"""Rows of Kwai-Klear's runs of mini-swe-agent-plus on SWE-smith: `instance_id, messages`, every one of them resolved.

A call is the one block of shell code in an answer; `MINI_SWE_AGENT_FINAL_OUTPUT` hands the work in. The program that
replaces a text that stands in a file once is typed with the texts in here-documents, and is read as the edit it is.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.conversing import acted, converse
from passdown.data.sources.origin import Origin, task_of
from passdown.data.trajectory import assemble
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent
from passdown.trajectories.conversation import ASSISTANT, Conversation, Message, text_of
from passdown.trajectories.document import Row, decoded
from passdown.trajectories.said_calls import said_calls


class Columns(Struct, gc=False):
    """A row, as far as it is used."""

    messages: Raw = Raw()
    instance_id: Any = None


_COLUMNS = msgspec.json.Decoder(Columns)
_OLD = lazy_pattern(r"\s*old=\$\(cat <<'(\w{1,40})'\n")
_NEW = lazy_pattern(r"\s*&&\s*new=\$\(cat <<'(\w{1,40})'\n")
_RUN = lazy_pattern(
    r"\s*&&\s*python3? +(?:[\w./-]{1,200}/)?edit_via_str_replace(?:\.py)? +([\w./-]{1,400}) +-- +"
    r'"\$old" +"\$new"\s*\Z'
)


def read_row(row: Row, origin: Origin) -> Trajectory | Reject:
    """Return the trajectory of a row, or why it is none."""
    columns = decoded(row.data or b"", _COLUMNS)
    if columns is None:
        return origin.reject("unreadable", row.line, "not a row of this set")
    task = task_of(columns.instance_id)
    conversation = Conversation(blocks=True)
    events = converse(
        columns.messages, row, agent="mini_swe_agent_plus", session_id=task.instance_id,
        conversation=conversation,
        tell=lambda message, place: _tell(conversation, message, place),
    )  # fmt: skip
    if not acted(events):
        return origin.reject("empty", row.line)
    return assemble(
        events, origin.at(row.line), instance_id=task.instance_id, repo=task.repo, base_commit=task.base_commit,
        outcome=Outcome(resolved=True),
    )  # fmt: skip


def _tell(conversation: Conversation, message: Message, place: dict[str, Any]) -> list[AnyEvent] | None:
    """Tell an answer that runs the editing program as an edit; every other message in the conversation's own way."""
    if message.role not in ASSISTANT or "edit_via_str_replace" not in (text := text_of(message.content)):
        return conversation.add(message, place)
    said = said_calls(text, blocks=True)
    arguments = edit_in(said.calls[0].arguments["command"]) if said.calls else None
    if arguments is None:
        return conversation.add(message, place)
    conversation.begin(place)
    conversation.say(said.text)
    conversation.call("str_replace", arguments, said=True)
    return conversation.taken()


def edit_in(command: str) -> dict[str, Any] | None:
    """Return the edit that a typed command makes with the editing program, None when it is not that alone."""
    old, at = _document(command, _OLD, 0)
    new, at = _document(command, _NEW, at) if old is not None else (None, 0)
    run = _RUN.match(command, at) if new is not None else None
    return {"path": run[1], "old_str": old, "new_str": new} if run is not None else None


def _document(command: str, begin: re.Pattern[str], at: int) -> tuple[str | None, int]:
    """Return a here-document's text without the line feeds at its end, as the shell gives it, and where it is over."""
    match = begin.match(command, at)
    if match is None:
        return None, at
    close = f"\n{match[1]}\n)"
    end = command.find(close, match.end() - 1)
    if end < 0:
        return None, at
    return command[match.end() : max(end, match.end())].rstrip("\n"), end + len(close)
