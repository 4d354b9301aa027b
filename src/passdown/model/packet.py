"""Packet v1: the handoff as written to disk, field by field. JSON is canonical; Markdown is derived from it.

Integers and strings only, so that number formatting never matters. Everything but `UNHASHED_FIELDS` is in the
identity hash.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any, Literal

from msgspec import Struct, field

from passdown.model.evidence import Basis, Check
from passdown.model.packet_items import (
    Assumption,
    Blocker,
    ChangedFile,
    Clue,
    CommandLine,
    CompletedItem,
    Decision,
    DirectiveLine,
    Ended,
    FailedAttempt,
    FeedbackEntry,
    HarnessSummary,
    NextAction,
    Preference,
    Question,
    RemainingItem,
    Risk,
    Tests,
)

__all__ = [
    "HANDOFF_FIELDS",
    "SCHEMA",
    "SCHEMA_MINOR",
    "SCHEMA_VERSION",
    "UNHASHED_FIELDS",
    "Assumption",
    "Blocker",
    "ChangedFile",
    "CleanStateSummary",
    "Clue",
    "CommandLine",
    "CommitLine",
    "CompletedItem",
    "Decision",
    "DirectiveLine",
    "Ended",
    "Environment",
    "FailedAttempt",
    "FeedbackEntry",
    "GitFacts",
    "HarnessSummary",
    "InterruptedEditLine",
    "LocalOnly",
    "NextAction",
    "OverrideLine",
    "Packet",
    "Preference",
    "PrereqArtifact",
    "PrereqCondition",
    "Prereqs",
    "Producer",
    "Question",
    "Receipt",
    "RemainingItem",
    "Risk",
    "Scope",
    "SessionLine",
    "SettleFirst",
    "SourceLine",
    "StashLine",
    "Tests",
    "VerdictPointer",
    "VerificationPlan",
    "WorktreeLine",
]

SCHEMA = "urn:passdown:handoff:1"
SCHEMA_VERSION = 1
SCHEMA_MINOR = 0


class CommitLine(Struct, frozen=True, kw_only=True):
    """A commit since the base, newest first."""

    id: str
    subject: str


class GitFacts(Struct, frozen=True, kw_only=True):
    """Where the work stands in git. `branch` is None when HEAD is detached; ids are full; `head` is effective.

    `since` is the moment from which sessions count.
    """

    branch: str | None = None
    detached: bool = False
    identity: str | None = None
    head: str | None = None
    base: str | None = None
    base_rule: str = ""
    since: str | None = None
    last_known_good_commit: str | None = None
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None
    commits: list[CommitLine] = field(default_factory=list)
    tree_fingerprint: str = ""
    check: list[Check] = field(default_factory=list)
    basis: Basis = "observed"


class PrereqArtifact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file the next session loads before acting, and why."""

    path: str
    sha256: str
    bytes: int
    why: str
    mode: Literal["full", "range", "on_demand"] = "full"
    required: bool = False
    tracked: bool = False
    basis: Basis = "observed"
    check: Check | None = None


class PrereqCondition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that must hold before acting."""

    kind: str
    expect: str
    check: Check | None = None
    basis: Basis = "observed"


class Prereqs(Struct, frozen=True, kw_only=True):
    """What the next session must load or satisfy before acting; not a reading list."""

    artifacts: list[PrereqArtifact] = field(default_factory=list)
    conditions: list[PrereqCondition] = field(default_factory=list)


class VerificationPlan(Struct, frozen=True, kw_only=True):
    """How to prove the whole goal."""

    how: list[str] = field(default_factory=list)
    expect: str = ""
    by: Literal["command", "manual"] = "manual"


class Receipt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A report this packet leans on. `stale` when it judged another tree."""

    path: str
    sha256: str
    passed: bool | None = None
    verdict: str = ""
    head: str = ""
    stale: bool = False
    check: Check | None = None


class VerdictPointer(Struct, frozen=True, kw_only=True):
    """The receipts, or null where there is none."""

    verification: Receipt | None = None
    review: Receipt | None = None
    clean_state: Receipt | None = None


class CleanStateSummary(Struct, frozen=True, kw_only=True):
    """The result of the clean-state check; `checked` is False when it was not run."""

    checked: bool = False
    fingerprint: str = ""
    blocking: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class StashLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stash by object id."""

    id: str
    subject: str
    noted: bool = False
    check: Check | None = None


class WorktreeLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Another worktree, by name and branch; never by path."""

    name: str
    branch: str = ""
    dirty: bool | None = None


class LocalOnly(Struct, frozen=True, kw_only=True):
    """What another device lacks."""

    stashes: list[StashLine] = field(default_factory=list)
    unpushed: int | None = None
    ignored_artifacts: list[str] = field(default_factory=list)
    worktrees: list[WorktreeLine] = field(default_factory=list)
    uncommitted: int = 0


class SourceLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An artifact that was read."""

    path: str
    sha256: str
    bytes: int
    role: str
    tracked: bool = False


class SessionLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session that fed this packet. Named for a person's sake; nothing depends on it being there."""

    agent: str
    id: str
    events: int = 0
    unknown: int = 0
    compactions: int = 0
    started_at: str | None = None
    ended_at: str | None = None
    primary: bool = False


class InterruptedEditLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last edit was cut short: look at this file first."""

    path: str
    tool: str = ""
    basis: Basis = "observed"
    from_packet: str = field(default="", name="from")


class SettleFirst(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something to settle before the next action, with the mending command."""

    code: str
    detail: str
    fix: str = ""
    path: str = ""


class OverrideLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A human override and whether it carries a signature."""

    code: str
    by: str = ""
    reason: str = ""
    signed: bool = False


class Scope(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The contract and how the writes stood to it."""

    contract: str
    in_scope: int = 0
    off_scope: int = 0
    forbidden: int | None = None
    approvals_open: list[str] = field(default_factory=list)


class Environment(Struct, frozen=True, kw_only=True):
    """Where the packet was made. Not hashed; names of variables, never values."""

    os: str = ""
    arch: str = ""
    tools: dict[str, str] = field(default_factory=dict)
    env_names: list[str] = field(default_factory=list)
    fs_case: str = ""
    eol: str = ""
    head_actual: str = ""


class Producer(Struct, frozen=True, kw_only=True):
    """The program that wrote the packet. No model id."""

    tool: str = "passdown"
    version: str = ""


class Packet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Handoff packet v1. Required fields may be empty, never absent.

    `assumptions_unscored` counts assumptions that a reviewer scored only as a whole; `changed_elsewhere` counts, by
    folder, the changed files that `changed_files` has no room for. `omitted` counts what each list left out.
    """

    schema: str
    schema_version: int
    schema_minor: int
    packet_id: str
    status: Literal["active", "superseded", "archived"]
    supersedes: str | None
    kind: Literal["final", "interim"]
    outcome: Literal["passed", "failed", "unknown"]
    session_id: str
    topic: str
    task_id: str | None
    as_of: str | None
    goal: str | None
    goal_basis: Basis | None
    summary: str
    git: GitFacts
    changed_files: list[ChangedFile]
    completed: list[CompletedItem]
    remaining: list[RemainingItem]
    decisions: list[Decision]
    preferences: list[Preference]
    blockers: list[Blocker]
    directives: list[DirectiveLine]
    harness_summaries: list[HarnessSummary]
    commands_run: list[CommandLine]
    failed_attempts: list[FailedAttempt]
    feedback_tail: list[FeedbackEntry]
    tests: Tests
    open_risks: list[Risk]
    assumptions_to_validate: list[Assumption]
    questions_for_human: list[Question]
    next_action: NextAction
    next_session_prereqs: Prereqs
    verification: VerificationPlan
    verdict_pointer: VerdictPointer
    clean_state: CleanStateSummary
    clues: list[Clue]
    local_only: LocalOnly
    interrupted_edit: InterruptedEditLine | None
    settle_first: list[SettleFirst]
    sessions: list[SessionLine] = field(default_factory=list)
    review_first: list[str]
    unknowns: list[str]
    overrides: list[OverrideLine]
    sources: list[SourceLine]
    omitted: dict[str, int]
    redactions: dict[str, int]
    environment: Environment
    scope: Scope | None = None
    superseded_by: str | None = None
    producer: Producer | None = None
    assumptions_unscored: int = 0
    changed_elsewhere: dict[str, int] = field(default_factory=dict)
    ext: dict[str, Any] = field(default_factory=dict)


HANDOFF_FIELDS = (
    "summary", "changed_files", "commands_run", "failed_attempts", "open_risks", "next_action", "verdict_pointer",
)  # fmt: skip
"""The seven fields of the course's lesson 40, whose names are kept."""

UNHASHED_FIELDS = ("packet_id", "status", "supersedes", "superseded_by", "environment", "producer", "sessions")
"""Top-level fields outside the identity hash: content only. A log grows while it is being handed over."""
