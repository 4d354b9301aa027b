"""The workbench: the files a project keeps about its own work, in their users' own field names.

Paths are repository-relative POSIX. A field that the file did not have stays at its default; nothing is made up.
The artifacts and their variants are those of the course "AI engineering from scratch", phase 14, lessons 31 to 42.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from passdown.model.finding import Finding, Severity

Author = Literal["", "human", "agent"]
"""Who said something; empty when nobody recorded it."""

BoardStatus = Literal["todo", "in_progress", "done", "blocked"]

Role = Literal[
    "router", "state", "board", "features", "rules", "rule_report", "init_report", "last_known_good", "prereqs_lock",
    "contract", "scope_report", "feedback", "coverage", "verification", "overrides", "review", "diff_summary",
    "clean_state", "handoff", "decisions", "questions", "clues", "audit", "other",
]  # fmt: skip


class Artifact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Provenance of one file that was read: where it lies, what its bytes hash to (as git would store them), its size.

    `tracked` is False for a file git ignores or does not know: another device will not have it.
    """

    path: str
    role: Role
    sha256: str
    bytes: int
    tracked: bool = False


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """agent_state.json. `touched_files` are claims, not git's truth."""

    schema_version: int = 1
    active_task_id: str = ""
    touched_files: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    next_action: str = ""
    branch: str = ""
    session_id: str = ""
    last_run: str = ""


class Task(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One item of the task board or the feature list. `source` is the artifact's path."""

    id: str
    goal: str = ""
    status: BoardStatus = "todo"
    owner: str = ""
    acceptance: tuple[str, ...] = ()
    source: str = ""


class Contract(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """scope_contract.json."""

    task_id: str = ""
    goal: str = ""
    allowed_files: tuple[str, ...] = ()
    forbidden_files: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    rollback_plan: str = ""
    approvals_required: tuple[str, ...] = ()
    time_budget_minutes: int | None = None
    network_egress: tuple[str, ...] | None = None
    docs_paths_soft: tuple[str, ...] = ()
    branch: str = ""
    path: str = ""


class ScopeReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """scope_report.json in either form. `forbidden_known` is False for the archived form, which has no such list."""

    task_id: str = ""
    in_scope_writes: tuple[str, ...] = ()
    off_scope_writes: tuple[str, ...] = ()
    forbidden_writes: tuple[str, ...] = ()
    soft_off_scope_writes: tuple[str, ...] = ()
    forbidden_known: bool = True
    findings: tuple[Finding, ...] = ()
    passed: bool | None = None
    path: str = ""


class Verification(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The verification report (lesson 38). `coverage` values are in basis points (8125 = 81.25 %).

    `content` hashes the files that were judged, where passdown wrote the report; `here` then says whether they are the
    files that lie here now.
    """

    task_id: str = ""
    passed: bool | None = None
    findings: tuple[Finding, ...] = ()
    head_commit: str = ""
    strict: bool = False
    coverage_current: int | None = None
    coverage_previous: int | None = None
    path: str = ""
    content: str = ""
    here: bool | None = None


class ReviewDimension(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One scored dimension; `score` is None when it was no integer from 0 to 2."""

    name: str
    score: int | None = None
    note: str = ""
    items: tuple[AssumptionScore, ...] = ()


class AssumptionScore(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reviewer's score for one assumption, by id or by text; None when it was no integer from 0 to 2."""

    id: str = ""
    text: str = ""
    score: int | None = None
    note: str = ""


class Review(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The review report (lesson 39). `total` is in tenths (65 = 6.5) and None when absent or not a number."""

    task_id: str = ""
    total: int | None = None
    verdict: Literal["", "pass", "soft_fail", "hard_fail"] = ""
    dimensions: tuple[ReviewDimension, ...] = ()
    assumption_scores: tuple[AssumptionScore, ...] = ()
    head_commit: str = ""
    path: str = ""


class RuleResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of rule_report.json."""

    slug: str
    passed: bool
    category: str = ""


class Probe(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One probe of init_report.json."""

    name: str
    status: Literal["pass", "warn", "fail"]
    detail: str = ""


class Override(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One human override. `signed` says that a signature is present, not that it was verified."""

    code: str
    reason: str = ""
    user_id: str = ""
    task_id: str = ""
    signed: bool = False


class FeedbackRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of feedback_record.jsonl. `line` counts through the rotated files, oldest first, as one log.

    `exit_code` None means no result (timeout, missing binary), which is a failure. `cwd` is repository-relative.
    The rest is what `passdown run` adds. `tree` is the fingerprint of the tree it ran on; `content` and `code` hash the
    files as they lay there, all and those that tests may depend on; `..._after` as they lay behind it, when the run
    itself changed them, `edited` of them having been there before. `worktree` is git's name of a linked worktree.
    """

    line: int
    command: str
    argv: tuple[str, ...] = ()
    command_id: str = ""
    parent_command_id: str = ""
    exit_code: int | None = None
    stdout_tail: str = ""
    stderr_tail: str = ""
    started_at: int | None = None
    duration_ms: int | None = None
    agent_note: str = ""
    error: str = ""
    cwd: str = ""
    task_id: str = ""
    session_id: str = ""
    path: str = ""
    tree: str = ""
    content: str = ""
    code: str = ""
    content_after: str = ""
    code_after: str = ""
    edited: int = 0
    worktree: str = ""
    branch: str = ""
    head: str = ""

    def contents(self) -> tuple[str, ...]:
        """Return the hashes of the contents that this result speaks of: new files of its own making change nothing."""
        return tuple(filter(None, (self.content, "" if self.edited else self.content_after)))

    def codes(self) -> tuple[str, ...]:
        """Return the same for the files that tests may depend on."""
        return tuple(filter(None, (self.code, "" if self.edited else self.code_after)))


class DecisionRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of decisions.jsonl (ours): a decision, or with `kind` preference a standing wish."""

    id: str
    choice: str
    kind: Literal["decision", "preference"] = "decision"
    why: str = ""
    rejected: tuple[str, ...] = ()
    by: Literal["human", "agent"] = "agent"
    anchor: str = ""
    state: Literal["made", "assumed", "withdrawn"] = "made"
    pinned: bool = False
    line: int = 0


class NoteRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Another row of decisions.jsonl, told by its `kind`: what was assumed, what may go wrong, what was tried in vain,
    and the next step.

    `check` is a command that would tell whether an assumption holds (never run), `code` and `severity` belong to a
    risk, `why` to an attempt, `score` (0 to 2) is a reviewer's word on an assumption, `at` says when it was noted
    (milliseconds), and for a next step `branch` and `head` where.
    """

    id: str
    text: str
    kind: Literal["assumption", "risk", "attempt", "next"]
    why: str = ""
    check: str = ""
    code: str = ""
    severity: Severity = "warn"
    by: Author = ""
    score: int | None = None
    scored_by: Author = ""
    pinned: bool = False
    withdrawn: bool = False
    at: int | None = None
    branch: str = ""
    head: str = ""
    line: int = 0


class QuestionRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of questions.jsonl (ours). Scores run from 0 to 2; later rows with the same id win."""

    id: str
    question: str
    why: str = ""
    options: tuple[str, ...] = ()
    default: str = ""
    blocks: tuple[str, ...] = ()
    impact: int = 0
    irreversibility: int = 0
    authority: int = 0
    status: Literal["open", "answered", "withdrawn"] = "open"
    answer: str = ""
    answered_by: Author = ""
    asked_at: int | None = None
    by: Author = ""
    pinned: bool = False
    line: int = 0


class ClueRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of clues.jsonl (ours): a chunk worth keeping, with anchors (`path`, `path:line` or a commit)."""

    id: str
    text: str
    anchors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    by: Author = ""
    pinned: bool = False
    withdrawn: bool = False
    line: int = 0


class Workbench(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything the workbench says, with provenance and with what was wrong while reading it.

    `None` means the artifact does not exist (or could not be read: then a finding says why).
    """

    artifacts: tuple[Artifact, ...] = ()
    findings: tuple[Finding, ...] = ()
    router: str = ""
    rules_files: tuple[str, ...] = ()
    rule_slugs: tuple[str, ...] = ()
    verification_command: str = ""
    state: State | None = None
    tasks: tuple[Task, ...] = ()
    features: tuple[Task, ...] = ()
    active_feature: str = ""
    contract: Contract | None = None
    closed_contracts: tuple[Contract, ...] = ()
    scope_report: ScopeReport | None = None
    verification: Verification | None = None
    verified_commits: tuple[str, ...] | None = None
    review: Review | None = None
    rule_results: tuple[RuleResult, ...] | None = None
    probes: tuple[Probe, ...] | None = None
    last_known_good: str = ""
    overrides: tuple[Override, ...] = ()
    feedback: tuple[FeedbackRow, ...] | None = None
    feedback_skipped: int = 0
    diff_summary: tuple[str, ...] | None = None
    decisions: tuple[DecisionRow, ...] = ()
    notes: tuple[NoteRow, ...] = ()
    questions: tuple[QuestionRow, ...] = ()
    clues: tuple[ClueRow, ...] = ()
    imported_packets: tuple[str, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)
