"""The items a packet lists: what was changed, done, tried, decided, asked, and what comes next.

Every item says how it is known (`basis`) and, where that can be, how it is checked again (`check`). `by` says who
noted it, `pinned` that somebody marked it to be kept.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Literal

from msgspec import Struct, field

from passdown.model.evidence import Basis, Check
from passdown.model.finding import Severity
from passdown.model.workbench import Author

Ended = Literal["", "ok", "failed", "interrupted", "rejected", "timeout", "running", "unknown"]
"""How a run ended whose exit code nobody knows (a pipe hides it, the session ended first); empty with an exit code."""


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
    pinned: bool = False
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


class Preference(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A standing wish."""

    id: str
    text: str
    by: Literal["human", "agent"] = "human"
    pinned: bool = False
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
    from_packet: str = field(default="", name="from")


class HarnessSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent's harness wrote when it compacted its context: its words, not checked."""

    text: str
    at: str | None = None
    cut: int = 0
    by: Literal["harness"] = "harness"
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


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
    from_packet: str = field(default="", name="from")


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
    by: Author = ""
    pinned: bool = False
    basis: Basis = "observed"
    check: Check | None = None
    from_packet: str = field(default="", name="from")


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
    from_packet: str = field(default="", name="from")


class Risk(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A known problem: severity, dotted code, one line, and where it comes from."""

    id: str
    code: str
    severity: Severity
    detail: str
    source: str = ""
    by: Author = ""
    pinned: bool = False
    basis: Basis = "derived"
    from_packet: str = field(default="", name="from")


class Assumption(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An assumption nobody has confirmed; `score` None is unreviewed."""

    id: str
    text: str
    score: int | None = None
    score_basis: Literal["item", "dimension", "unreviewed"] = "unreviewed"
    validate_with: str | None = None
    source: str = ""
    by: Author = ""
    pinned: bool = False
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


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
    by: Author = ""
    pinned: bool = False
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")


class NextAction(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The one next step. `source` names the artifact it was copied from, `note:<id>`, or `derived:<rule>`."""

    text: str
    kind: Literal["command", "edit", "ask", "review"] = "edit"
    command: str = ""
    paths: list[str] = field(default_factory=list)
    question_id: str = ""
    requires_human: bool = False
    source: str = ""
    basis: Basis = "derived"
    by: Author = ""
    agents_view: str = ""


class Clue(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chunk worth keeping, reachable through its anchors; `broken` lists anchors that lead nowhere now."""

    id: str
    text: str
    anchors: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    pinned: bool = False
    by: Author = ""
    broken: list[str] = field(default_factory=list)
    basis: Basis = "declared"
    from_packet: str = field(default="", name="from")
