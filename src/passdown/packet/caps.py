"""How long every text of a packet may be, and how many items every list. One table for the writer and the schema."""

from __future__ import annotations

from typing import Literal, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Text(Struct, frozen=True):
    """What a string field holds: `line` prose on one line, `block` prose with line breaks, `exact` a path, ref or
    name that must not be normalised, `hash` hexadecimal digits. `cap` is in characters.
    """

    kind: Literal["line", "block", "exact", "hash"]
    cap: int


def _line(cap: int) -> Text:
    return Text("line", cap)


def _block(cap: int) -> Text:
    return Text("block", cap)


PATH = Text("exact", 300)
NAME = Text("exact", 255)
HASH = Text("hash", 64)
ID = Text("line", 64)
CODE = Text("line", 80)
STAMP = Text("line", 20)

TEXTS: dict[str, dict[str, Text]] = {
    "Check": {"subject": Text("exact", 320), "expect": NAME},
    "GitFacts": {
        "branch": NAME, "identity": HASH, "head": HASH, "base": HASH, "base_rule": CODE, "last_known_good_commit": HASH,
        "upstream": NAME, "tree_fingerprint": HASH, "since": STAMP,
    },
    "CommitLine": {"id": HASH, "subject": _line(160)},
    "ChangedFile": {"path": PATH},
    "CompletedItem": {"id": ID, "text": _line(200), "evidence": Text("exact", 160), "from_packet": HASH},
    "RemainingItem": {"id": ID, "text": _line(200), "done_when": _line(200), "source": CODE, "from_packet": HASH},
    "Decision": {
        "id": ID, "choice": _line(240), "why": _line(160), "rejected": _line(80), "anchor": Text("exact", 160),
        "from_packet": HASH,
    },
    "Preference": {"id": ID, "text": _line(200), "from_packet": HASH},
    "Blocker": {"id": ID, "text": _line(240), "waiting_on": _line(120)},
    "DirectiveLine": {"text": _block(600), "at": STAMP, "from_packet": HASH},
    "HarnessSummary": {"text": _block(800), "at": STAMP, "from_packet": HASH},
    "CommandLine": {"cmd": _line(300), "cwd": PATH, "from_packet": HASH},
    "FailedAttempt": {
        "id": ID, "what": _line(300), "why": _line(300), "tried_after": _line(120), "note": _line(200),
        "from_packet": HASH,
    },
    "FeedbackEntry": {
        "cmd": _line(300), "note": _line(200), "out": _block(2048), "err": _block(2048), "source": NAME, "label": CODE,
    },
    "Tests": {
        "commands": _line(300), "last_outcome": CODE, "failing": _line(200), "counts": _line(120),
        "error_line": _line(300), "tree": HASH, "from_packet": HASH,
    },
    "Risk": {"id": ID, "code": CODE, "detail": _line(240), "source": Text("exact", 160), "from_packet": HASH},
    "Assumption": {
        "id": ID, "text": _line(240), "validate_with": _line(300), "source": Text("exact", 160), "from_packet": HASH,
    },
    "Question": {
        "id": ID, "question": _line(300), "default": _line(200), "why": _line(200), "options": _line(80),
        "blocks": _line(64), "source": Text("exact", 160), "from_packet": HASH,
    },
    "NextAction": {
        "text": _line(300), "command": _line(300), "paths": PATH, "question_id": ID, "source": Text("exact", 160),
        "agents_view": _line(300),
    },
    "PrereqArtifact": {"path": PATH, "sha256": HASH, "why": _line(80)},
    "PrereqCondition": {"kind": CODE, "expect": Text("exact", 300)},
    "VerificationPlan": {"how": _line(300), "expect": _line(160)},
    "Receipt": {"path": PATH, "sha256": HASH, "verdict": CODE, "head": HASH},
    "CleanStateSummary": {"fingerprint": HASH, "blocking": CODE, "warnings": CODE},
    "Clue": {
        "id": ID, "text": _line(200), "anchors": Text("exact", 300), "tags": _line(40), "broken": Text("exact", 300),
        "from_packet": HASH,
    },
    "LocalOnly": {"ignored_artifacts": PATH},
    "StashLine": {"id": HASH, "subject": _line(160)},
    "WorktreeLine": {"name": NAME, "branch": NAME},
    "SourceLine": {"path": PATH, "sha256": HASH, "role": CODE},
    "SessionLine": {"agent": CODE, "id": Text("exact", 128), "started_at": STAMP, "ended_at": STAMP},
    "InterruptedEditLine": {"path": PATH, "tool": CODE, "from_packet": HASH},
    "SettleFirst": {"code": CODE, "detail": _line(200), "fix": _line(300), "path": PATH},
    "OverrideLine": {"code": CODE, "by": _line(80), "reason": _line(200)},
    "Scope": {"contract": PATH, "approvals_open": _line(120)},
    "Environment": {
        "os": CODE, "arch": CODE, "tools": CODE, "env_names": CODE, "fs_case": CODE, "eol": CODE, "head_actual": HASH,
    },
    "Producer": {"tool": CODE, "version": CODE},
    "Packet": {
        "schema": CODE, "packet_id": HASH, "supersedes": HASH, "session_id": ID, "topic": ID, "task_id": ID,
        "as_of": STAMP, "goal": _line(300), "summary": _line(600), "review_first": CODE, "unknowns": CODE,
        "superseded_by": HASH,
    },
}  # fmt: skip
"""Text fields by record and attribute. A list of strings stands under its own name, one entry for each string."""

LISTS: dict[str, int] = {
    "GitFacts.commits": 20, "GitFacts.check": 4, "changed_files": 60, "completed": 15, "remaining": 15, "decisions": 15,
    "Decision.rejected": 6, "preferences": 10, "blockers": 10, "directives": 15, "harness_summaries": 2,
    "commands_run": 30, "failed_attempts": 15, "FailedAttempt.tried_after": 4, "feedback_tail": 30,
    "Tests.commands": 10, "Tests.failing": 20, "open_risks": 25, "assumptions_to_validate": 20,
    "questions_for_human": 5, "Question.options": 4, "Question.blocks": 8, "NextAction.paths": 8,
    "Prereqs.artifacts": 20, "Prereqs.conditions": 12, "VerificationPlan.how": 10, "CleanStateSummary.blocking": 20,
    "CleanStateSummary.warnings": 20, "clues": 15, "Clue.anchors": 6, "Clue.tags": 6, "Clue.broken": 6,
    "LocalOnly.stashes": 10, "LocalOnly.worktrees": 10, "LocalOnly.ignored_artifacts": 10, "Scope.approvals_open": 10,
    "settle_first": 10, "sessions": 10, "review_first": 10, "unknowns": 20, "overrides": 10, "sources": 20,
    "Environment.env_names": 40,
}  # fmt: skip
"""Most items of every list; a list of the packet itself stands under its bare name."""

MAPS: dict[str, int] = {"omitted": 40, "redactions": 40, "changed_elsewhere": 20, "Environment.tools": 20}
"""Most entries of every mapping."""


def first(items: list[T], name: str) -> tuple[list[T], int]:
    """Return the first items that the list has room for, pinned ones before all others, and how many are left out."""
    kept = keep(items, LISTS[name])
    return kept, len(items) - len(kept)


def last(items: list[T], name: str) -> tuple[list[T], int]:
    """Return the last items that the list has room for, pinned ones before all others, and how many are left out."""
    kept = keep(items, LISTS[name], newest=True)
    return kept, len(items) - len(kept)


def keep(items: list[T], cap: int, *, newest: bool = False) -> list[T]:
    """Return at most `cap` items in their order: the pinned ones, then the first (or the newest) of the others."""
    if len(items) <= cap:
        return items
    rank = sorted(range(len(items)), key=lambda at: (not is_pinned(items[at]), -at if newest else at))
    return [items[at] for at in sorted(rank[:cap])]


def is_pinned(item: object) -> bool:
    """Say whether somebody marked an item to be kept."""
    return getattr(item, "pinned", False) is True
