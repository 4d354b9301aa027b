"""The rows that agents may write by hand: examples for the skill, and their JSON Schema."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_BY = {"enum": ["agent", "human"], "description": "Who says it. Write `agent`; `human` only for a person's own words."}
_ID = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9._-]{0,63}$", "description":
       "Made from the text when it is absent. A later row with the same id amends the earlier one."}  # fmt: skip
_AT = {"type": ["integer", "string"], "description": "Milliseconds since 1970, or ISO 8601."}
_TAKEN_BACK = {"enum": ["made", "assumed", "withdrawn"]}


class Example(Struct, frozen=True, kw_only=True):
    """A kind of evidence: when to leave it, in which log, with which words of `passdown note`, or as which row."""

    log: str
    what: str
    words: str
    row: dict[str, Any]


EXAMPLES: tuple[Example, ...] = (
    Example(
        log="decisions", what="a decision that outlives this session, with what was turned down",
        words='decision "<what you chose>" --why "<why>" --rejected "<what you turned down>"',
        row={"choice": "<what you chose>", "why": "<why>", "rejected": ["<what you turned down>"], "by": "agent"},
    ),
    Example(
        log="decisions", what="a person's standing wish, in the person's words",
        words='preference "<the wish>"',
        row={"kind": "preference", "choice": "<the wish>", "by": "agent"},
    ),
    Example(
        log="decisions", what="an approach that failed, so that nobody tries it again",
        words='attempt "<what you tried>" --why "<why it failed>"',
        row={"kind": "attempt", "text": "<what you tried>", "why": "<why it failed>", "by": "agent"},
    ),
    Example(
        log="decisions", what="a known problem, such as a test that stays red",
        words='risk "<what is wrong, with the test\'s name>"',
        row={"kind": "risk", "text": "<what is wrong, with the test's name>", "by": "agent"},
    ),
    Example(
        log="questions", what="a question that only a person can answer",
        words='question "<the question>" --default "<what you do until it is answered>"',
        row={
            "question": "<the question>", "default": "<what you do until it is answered>", "blocks": ["the work"],
            "impact": 2, "authority": 2, "by": "agent",
        },
    ),
    Example(
        log="clues", what="what was hard to find out, with where it stands",
        words='clue "<what you found out>" --anchor "<path:line>"',
        row={"text": "<what you found out>", "anchors": ["<path:line>"], "by": "agent"},
    ),
    Example(
        log="decisions", what="the next step: one file, one command",
        words='next "<the next step>"',
        row={"kind": "next", "text": "<the next step>", "by": "agent"},
    ),
)  # fmt: skip
"""What only somebody who worked can say. `<…>` is to be filled in."""

STEP = EXAMPLES[-1]
"""The next step, which is named last."""


_DECISION: dict[str, Any] = {
    "id": _ID, "kind": {"enum": ["decision", "preference"]}, "choice": _TEXT, "why": {"type": "string"},
    "rejected": _TEXTS, "by": _BY, "anchor": {"type": "string"}, "state": _TAKEN_BACK,
    "pinned": {"type": "boolean"},
}  # fmt: skip
_NOTE: dict[str, Any] = {
    "id": _ID, "kind": {"enum": ["attempt", "risk", "assumption", "next"]}, "text": _TEXT,
    "why": {"type": "string"}, "check": {"type": "string"}, "code": {"type": "string"},
    "severity": {"enum": ["block", "warn", "info"]}, "by": _BY, "score": {"enum": [0, 1, 2]}, "scored_by": _BY,
    "pinned": {"type": "boolean"}, "state": _TAKEN_BACK, "at": _AT, "branch": {"type": "string"},
    "head": {"type": "string", "pattern": "^[0-9a-f]{7,64}$"},
}  # fmt: skip
_SCALE = {"enum": [0, 1, 2]}
_QUESTION: dict[str, Any] = {
    "id": _ID, "question": _TEXT, "why": {"type": "string"}, "options": _TEXTS, "default": {"type": "string"},
    "blocks": _TEXTS, "impact": _SCALE, "irreversibility": _SCALE, "authority": _SCALE,
    "status": {"enum": ["open", "answered", "withdrawn"]}, "answer": {"type": "string"}, "answered_by": _BY,
    "asked_at": _AT, "by": _BY, "pinned": {"type": "boolean"},
}  # fmt: skip
_CLUE: dict[str, Any] = {
    "id": _ID, "text": _TEXT, "anchors": _TEXTS, "tags": _TEXTS, "by": _BY, "pinned": {"type": "boolean"},
    "withdrawn": {"type": "boolean"},
}  # fmt: skip
_FEEDBACK: dict[str, Any] = {
    "command": {"anyOf": [_TEXT, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
    "exit_code": {"type": ["integer", "null"]}, "started_at": {"type": ["integer", "number", "string"]},
    "duration_ms": {"type": "integer", "minimum": 0}, "stdout_tail": {"type": "string"},
    "stderr_tail": {"type": "string"}, "agent_note": {"type": "string"}, "cwd": {"type": "string"},
    "task_id": {"type": "string"}, "session_id": {"type": "string"},
}  # fmt: skip


def rows_schema() -> dict[str, Any]:
    """Return the JSON Schema of the rows of the four logs, each under `$defs`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:passdown:rows:1",
        "title": "One row, a line of JSON, of the logs that passdown reads",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in ("decision", "note", "question", "clue", "feedback")],
        "$defs": {
            "decision": _row(_DECISION, "choice", "decisions.jsonl: a decision, or a person's standing wish."),
            "note": _row(_NOTE, "text", "decisions.jsonl: attempt, risk, assumption or next step.", "kind"),
            "question": _row(_QUESTION, "question", "questions.jsonl: what only a person can answer."),
            "clue": _row(_CLUE, "text", "clues.jsonl: what was hard to find out."),
            "feedback": _row(_FEEDBACK, "command", "feedback_record.jsonl: a command that was run, and how it ended."),
        },
    }


def _row(properties: dict[str, Any], text: str, what: str, *more: str) -> dict[str, Any]:
    required = [*more, text, "exit_code"] if text == "command" else [*more, text]
    return {"type": "object", "description": what, "required": required, "properties": properties}
