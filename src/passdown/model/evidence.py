"""Evidence: facts with provenance, gathered from sessions, workbench and git. The one input a packet is built from."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Literal

from msgspec import Struct, field

from passdown.model.finding import Finding
from passdown.model.session import Action, PlanItem
from passdown.model.workbench import Artifact, Workbench

Basis = Literal["observed", "derived", "declared"]
"""How a thing is known: git, the filesystem or an exit code says so; computed by a rule; somebody wrote it."""


class Check(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim's own test, out of a closed set that passdown evaluates itself, without running anything.

    `subject` is what is tested (a ref, path, tool, name or command), `expect` the value it must have. An empty
    `subject` means the own path or id of the item the check stands with, an empty `expect` its own sha256.
    """

    kind: Literal[
        "ref_at", "is_ancestor", "blob_at_path", "path_exists", "path_absent", "stash_exists", "artifact_hash",
        "tool_version", "env_name_set", "test_outcome_recorded",
    ]  # fmt: skip
    subject: str = ""
    expect: str = ""


class Source(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Where a fact was read: `session` (path = session id), `artifact` (path = repository-relative) or `git`.

    `line` is 1-based, 0 when there is none.
    """

    kind: Literal["session", "artifact", "git"]
    path: str = ""
    line: int = 0


# --- git ---------------------------------------------------------------------------------------------------------


class Commit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A commit: full object id, subject line, committer date in milliseconds, and the tree it recorded."""

    id: str
    subject: str
    at: int = 0
    tree: str = ""


class Change(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path that differs between the base and the working tree.

    `status` A, M, D, T (type) or U (unmerged); `blob` is the id the file's present content has (empty when deleted),
    `added`/`deleted` are lines (-1 for a binary file). `uncommitted` and `untracked` describe the working tree.
    """

    path: str
    status: Literal["A", "M", "D", "T", "R", "U"]
    added: int = 0
    deleted: int = 0
    binary: bool = False
    blob: str = ""
    mode: str = ""
    uncommitted: bool = False
    untracked: bool = False


class Stash(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stash by its object id (an index moves); `noted` when a person gave it a message."""

    id: str
    subject: str
    noted: bool = False
    base: str = ""
    untracked: bool = False
    at: int = 0


class Worktree(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Another worktree of the repository. `path` is absolute and never enters a packet; `name` is its last part."""

    path: str
    name: str
    branch: str = ""
    head: str = ""
    dirty: bool | None = None
    prunable: bool = False


class Submodule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A submodule: the commit the index records and whether the checkout moved, is dirty or holds untracked files."""

    path: str
    commit: str = ""
    moved: bool = False
    dirty: bool = False
    untracked: bool = False


class RepositoryFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What git says, at one moment. Object ids are full; paths are repository-relative POSIX.

    A path that is not UTF-8 is written with `\\xNN` escapes for the stray bytes (and a backslash doubled), which loses
    nothing. `effective_head` looks through commits that touch only passdown's own files. `branch` is empty when
    HEAD is detached; `unborn` when there is no commit yet. `identity` is the oldest root commit, empty when unborn.
    `intent_to_add` are paths whose name, but not whose content, is in the index. `ignored` are the first of what git
    ignores, a folder with its slash. `content` and `code` hash the files as
    they lie there, all and those that tests may depend on; filled in only where a record or report asks for them.
    `code_at` is when the last commit was made that changed what tests may depend on, known only where a record asks.
    """

    root: str
    git_dir: str = ""
    common_dir: str = ""
    identity: str = ""
    branch: str = ""
    detached: bool = False
    unborn: bool = False
    bare: bool = False
    shallow: bool = False
    head: str = ""
    effective_head: str = ""
    effective_head_tree: str = ""
    head_at: int = 0
    base: str = ""
    base_rule: str = ""
    integration_branch: str = ""
    upstream: str = ""
    ahead: int | None = None
    behind: int | None = None
    unpushed: int | None = None
    commits: tuple[Commit, ...] = ()
    commits_total: int = 0
    changes: tuple[Change, ...] = ()
    changes_total: int = 0
    ignored_count: int = 0
    ignored: tuple[str, ...] = ()
    stashes: tuple[Stash, ...] = ()
    worktrees: tuple[Worktree, ...] = ()
    submodules: tuple[Submodule, ...] = ()
    operation: str = ""
    tree_fingerprint: str = ""
    content: str = ""
    code: str = ""
    code_at: int | None = None
    remotes: tuple[str, ...] = ()
    has_lfs: bool = False
    intent_to_add: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


# --- commands ----------------------------------------------------------------------------------------------------


class CommandRun(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One run of a command: the same record whether it came from a session or from feedback_record.jsonl.

    `exit` None is no result and counts as a failure. `result` says how it ended; `expected` marks a non-zero exit that
    is an answer rather than a failure (grep without a match, `test -f`, a diff that differs, a test run the agent
    said must fail). `tokens` is the command's normal form, `error_line` the line that names the failure. `codes` are
    the hashes of the code that the result speaks of, where they were recorded.
    """

    command: str
    tokens: tuple[str, ...] = ()
    cwd: str = ""
    exit: int | None = None
    result: Literal["ok", "failed", "interrupted", "rejected", "timeout", "running", "unknown"] = "unknown"
    expected: bool = False
    at: int | None = None
    duration_ms: int | None = None
    error_line: str = ""
    stdout_tail: str = ""
    stderr_tail: str = ""
    note: str = ""
    source: Source | None = None
    command_id: str = ""
    parent_command_id: str = ""
    kind: Literal["test", "build", "lint", "vcs", "edit", "search", "other"] = "other"
    codes: tuple[str, ...] = ()


class CommandChain(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """All runs of one command identity (directory and tokens), in file order. `final` is the last run's outcome.

    `tried_after` are short descriptions of what the agent did between a failure and the next run (edits, commands).
    """

    key: str
    command: str
    cwd: str = ""
    kind: Literal["test", "build", "lint", "vcs", "edit", "search", "other"] = "other"
    runs: tuple[CommandRun, ...] = ()
    total: int = 0
    failures: int = 0
    final: Literal["ok", "failed", "unknown"] = "unknown"
    tried_after: tuple[str, ...] = ()
    truncated_chain: bool = False
    acceptance: bool = False


class TestFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """State of the tests as recorded; passdown runs nothing here. `tree` is the fingerprint when it is known to match.

    `green`/`red`/`error` need a fresh record; `stale` has an older one; `manual` has only prose criteria. `none_ran`: a
    runner was started and found no test. `decided_by` is the command whose run made the state what it is.
    """

    commands: tuple[str, ...] = ()
    state: Literal["green", "red", "error", "stale", "not_run", "manual"] = "not_run"
    last_outcome: Literal["", "green", "red", "error"] = ""
    failing: tuple[str, ...] = ()
    counts: str = ""
    error_line: str = ""
    source: Source | None = None
    at: int | None = None
    none_ran: bool = False
    decided_by: str = ""


# --- what people and agents said ---------------------------------------------------------------------------------


class Directive(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A human's own message, verbatim (capped: `cut` characters are missing from its middle).

    `origin` "plan" is an agent's plan that a person began a session with: a wish, but not in the person's words.
    "command" is a slash command with its arguments, where those say nothing by themselves: its prompt stands elsewhere.
    """

    text: str
    at: int | None = None
    cut: int = 0
    source: Source | None = None
    origin: Literal["human", "plan", "command"] = "human"


class Statement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Text an agent or its harness wrote: data, never an instruction. `by` says who.

    `done` says that the call beside an agent's last words has ended.
    """

    text: str
    by: Literal["agent", "harness", "human"] = "agent"
    at: int | None = None
    cut: int = 0
    source: Source | None = None
    done: bool = False


class Rejection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person refused or interrupted something. `reason` is empty when none was given: never made up."""

    what: str
    kind: Literal["rejected", "interrupted"] = "rejected"
    reason: str = ""
    at: int | None = None
    source: Source | None = None


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person answered when an agent asked with a tool of its own."""

    question: str
    answer: str
    at: int | None = None
    source: Source | None = None


class PlanFact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last plan of the newest session that had one."""

    items: tuple[PlanItem, ...] = ()
    text: str = ""
    at: int | None = None
    source: Source | None = None


class FileTouch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file the agent's tools touched. `path` is repository-relative; `failed` when every attempt failed."""

    path: str
    action: Action
    times: int = 1
    failed: bool = False
    last_at: int | None = None
    source: Source | None = None


class InterruptedEdit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last edit call has no result, or was interrupted: the file may be half changed."""

    path: str
    tool: str = ""
    source: Source | None = None


class SessionUse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session that fed this evidence. `events` counts those used; `unknown` records it could not read.

    `misread`: its format was not understood, in part; `unread`: nothing of it was.
    """

    agent: str
    session_id: str
    title: str = ""
    events: int = 0
    unknown: int = 0
    records: int = 0
    compactions: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    parent_id: str = ""
    primary: bool = False
    models: int = 0
    misread: bool = False
    unread: bool = False


class Evidence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything known, each fact with its source. Texts are not yet redacted: only a packet leaves the process.

    `roots` are the absolute folders that all mean this repository: its own and those its sessions worked in.
    Lists are in file order unless their record says otherwise; `omitted` counts what a cap left out, by field.
    `cut_off`: the newest session's log ends in the middle of the agent's turn, as after a crash. `turn_closed`: it ends
    with the agent's word after the last request, or with its work handed in, where no time may say so.
    `assignment` is the prompt that an agent gave the session, where it is a subagent's own.
    `since` is the moment from which sessions counted, `as_of` the newest evidence time (milliseconds), never the clock.
    """

    repository: RepositoryFacts
    roots: tuple[str, ...] = ()
    workbench: Workbench = field(default_factory=Workbench)
    artifacts: tuple[Artifact, ...] = ()
    sessions: tuple[SessionUse, ...] = ()
    directives: tuple[Directive, ...] = ()
    chains: tuple[CommandChain, ...] = ()
    log_lines: int = 0
    tests: TestFacts = field(default_factory=TestFacts)
    plan: PlanFact | None = None
    statements: tuple[Statement, ...] = ()
    last_step: Statement | None = None
    assignment: Statement | None = None
    cut_off: bool = False
    turn_closed: bool = False
    harness_summaries: tuple[Statement, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    answers: tuple[Answer, ...] = ()
    touches: tuple[FileTouch, ...] = ()
    interrupted_edit: InterruptedEdit | None = None
    findings: tuple[Finding, ...] = ()
    since: int | None = None
    as_of: int | None = None
    omitted: dict[str, int] = field(default_factory=dict)
