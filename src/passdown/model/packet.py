"""Packet v1: the handoff as written to disk, field by field. JSON is canonical; Markdown is derived from it.

Integers and strings only, so that number formatting never matters. Everything but `UNHASHED_FIELDS` is in the
identity hash.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from passdown.model.evidence import Basis, Check
from passdown.model.finding import Severity

SCHEMA = "urn:passdown:handoff:1"
SCHEMA_VERSION = 1
SCHEMA_MINOR = 0


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


class CommitLine(Struct, frozen=True, kw_only=True):
    """A commit since the base, newest first."""

    id: str
    subject: str


class ChangedFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A path that differs from the base. `claimed` is True when the session or the state said it touched it.

    A path the session claims but git calls unchanged has status `=` and basis `declared`.
    """

    path: str
    status: Literal["A", "M", "D", "T", "R", "U", "="]
    added: int = 0
    deleted: int = 0
    binary: bool = False
    uncommitted: bool = False
    claimed: bool = False
    basis: Basis = "observed"
    check: Check | None = None


class CompletedItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finished thing in one line; `evidence` is a commit id, a report path or a plan."""

    id: str
    text: str
    evidence: str = ""
    basis: Basis = "declared"
    check: Check | None = None
    from_packet: str = field(default="", name="from")


class RemainingItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One open thing, in board or plan order. `source` is `board`, `features` or `plan`."""

    id: str
    text: str
    status: Literal["todo", "in_progress", "blocked"] = "todo"
    done_when: str = ""
    source: str = ""
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


class Decision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A decision that outlives the session. `why` is "reason not recorded" when nobody gave one."""

    id: str
    choice: str
    why: str
    rejected: list[str] = field(default_factory=list)
    by: Literal["human", "agent"] = "agent"
    anchor: str = ""
    state: Literal["made", "assumed"] = "made"
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


class Preference(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A standing wish."""

    id: str
    text: str
    by: Literal["human", "agent"] = "human"
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


class Blocker(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something in the way; the same `id` stands among the risks."""

    id: str
    text: str
    waiting_on: str = ""
    basis: Basis = "declared"


class DirectiveLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A human's own words, verbatim up to the cap; `cut` characters are missing."""

    text: str
    at: str | None = None
    cut: int = 0
    basis: Basis = "declared"


class HarnessSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent's harness wrote when it compacted its context: its words, not checked."""

    text: str
    at: str | None = None
    cut: int = 0
    by: Literal["harness"] = "harness"
    basis: Basis = "declared"


Ended = Literal["", "ok", "failed", "interrupted", "rejected", "timeout", "running", "unknown"]
"""How a run ended whose exit code nobody knows (a pipe hides it, the session ended first); empty with an exit code."""


class CommandLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command that was run, grouped by identity; lines are 1-based positions in its log."""

    cmd: str
    cwd: str = ""
    runs: int = 1
    last_exit: int | None = None
    ended: Ended = ""
    first_line: int = 0
    last_line: int = 0
    basis: Basis = "observed"


class FailedAttempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that was tried and failed: what, how it ended, why, what was tried after, whether it passed later."""

    id: str
    what: str
    exit: int | None = None
    ended: Ended = ""
    why: str = ""
    tries: int = 1
    resolved: bool = False
    tried_after: list[str] = field(default_factory=list)
    note: str = ""
    line: int = 0
    basis: Basis = "observed"
    check: Check | None = None


class FeedbackEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the trimmed command log, in file order; `line` finds the full record.

    `count` is how many records of the log the entry stands for. `label` says how a signal ended the run.
    """

    line: int
    cmd: str
    exit: int | None = None
    duration_ms: int | None = None
    kind: Literal["tail", "failure", "resolved", "receipt", "anchor"] = "tail"
    count: int = 1
    note: str = ""
    out: str = ""
    err: str = ""
    source: str = ""
    label: str = ""
    truncated_chain: bool = False


class Tests(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of the tests as recorded. passdown did not run them."""

    commands: list[str] = field(default_factory=list)
    state: Literal["green", "red", "error", "stale", "not_run", "manual"] = "not_run"
    last_outcome: str = ""
    failing: list[str] = field(default_factory=list)
    counts: str = ""
    error_line: str = ""
    evidence_line: int = 0
    tree: str = ""
    basis: Basis = "observed"
    check: Check | None = None


class Risk(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A known problem: severity, dotted code, one line, and where it comes from."""

    id: str
    code: str
    severity: Severity
    detail: str
    source: str = ""
    basis: Basis = "derived"


class Assumption(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An assumption nobody has confirmed; `score` None is unreviewed."""

    id: str
    text: str
    score: int | None = None
    score_basis: Literal["item", "dimension", "unreviewed"] = "unreviewed"
    validate_with: str | None = None
    source: str = ""
    basis: Basis = "declared"


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question only a human can answer. `default` is what happens unanswered: an inaction or revertable."""

    id: str
    question: str
    default: str
    why: str = ""
    options: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    severity: Severity = "warn"
    score: int = 0
    source: str = ""
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


class NextAction(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The one next step. `source` names the artifact it was copied from, or `derived:<rule>`."""

    text: str
    kind: Literal["command", "edit", "ask", "review"] = "edit"
    command: str = ""
    paths: list[str] = field(default_factory=list)
    question_id: str = ""
    requires_human: bool = False
    source: str = ""
    basis: Basis = "derived"
    agents_view: str = ""


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


class Clue(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chunk worth keeping, reachable through its anchors; `broken` lists anchors that lead nowhere now."""

    id: str
    text: str
    anchors: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    pinned: bool = False
    broken: list[str] = field(default_factory=list)
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


class LocalOnly(Struct, frozen=True, kw_only=True):
    """What another device lacks."""

    stashes: list[StashLine] = field(default_factory=list)
    unpushed: int | None = None
    ignored_artifacts: list[str] = field(default_factory=list)
    worktrees: list[WorktreeLine] = field(default_factory=list)
    uncommitted: int = 0


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
