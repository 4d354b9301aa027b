"""The brief: what a successor gets of a packet, each claim judged against the repository in front of it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from passdown.model.evidence import Basis, Check
from passdown.model.finding import Finding
from passdown.model.memory import Ranked

State = Literal["holds", "drifted", "contradicted", "cannot_tell"]
"""What became of a claim: it is as stated; it moved on; it is false here; nobody can say."""

Change = Literal[
    "same",
    "advanced",  # the branch moved forward from there
    "rewritten",  # amended, rebased or squashed: another commit, the content is here
    "edited",  # other content now
    "moved",  # the same content, at another path
    "reverted",  # the content from before the work
    "appeared",  # absent then, there now
    "missing",  # there then, gone now
    "lost",  # a commit that is not in the history any more, and its content is not here
    "changed",  # a setting, version or outcome that is not what it was
    "unknown",
]
"""How the state now differs from the one claimed."""

Readiness = Literal["ready", "ready_with_drift", "stale", "blocked", "refused"]
"""`refused`: the packet is of another branch or repository."""


class Claim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing a packet says. `check` is complete: subject and expectation are filled in.

    `place` is the packet's own field, `required` when the next action cannot do without it.
    """

    place: str
    text: str
    basis: Basis = "declared"
    check: Check | None = None
    required: bool = False


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a claim here, and why it is judged so."""

    claim: Claim
    state: State
    change: Change = "unknown"
    reason: str = ""


class Tally(Struct, frozen=True, kw_only=True):
    """How many claims with a check ended in each state; `declared` counts the claims that nothing can check."""

    holds: int = 0
    drifted: int = 0
    contradicted: int = 0
    cannot_tell: int = 0
    declared: int = 0

    @property
    def checkable(self) -> int:
        """How many claims have a check."""
        return self.holds + self.drifted + self.contradicted + self.cannot_tell


class Quote(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Text out of the packet, to be shown as data. `note` is ours."""

    text: str
    note: str = ""


class NextStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The one next action, as a proposal. `replan` says why it can no longer be taken as it stands.

    `recorded` is how its command, or the tests, ended last.
    """

    text: str
    command: str = ""
    basis: Basis = "derived"
    source: str = ""
    agents_view: str = ""
    needs_human: bool = False
    acknowledged: bool = False
    recorded: str = ""
    replan: str = ""


class Resume(Struct, frozen=True, kw_only=True):
    """A cheaper road than a fresh session: the agent's own newest one, with room left. A suggestion, nothing more.

    `context` is how many tokens it held at its last answer, `window` how many fit.
    """

    agent: str
    session_id: str
    command: str
    context: int
    window: int


class Brief(Struct, frozen=True, kw_only=True):
    """What the next session needs in its first minute. Every text in it is data about earlier work.

    `reasons` say why the verdict is not `ready`; `since` is what happened after the packet was written. `built_now`
    when there was no packet, or an outdated one, and this one was built on the spot. `full` names the whole packet as
    Markdown, `canonical` as JSON; `sessions` are those it was made of. `tests` is what was recorded of them, where the
    next step does not say it; `noted` are risks, clues and assumptions left for whoever continues. `memory` is from
    other topics. Times are RFC 3339.
    """

    schema_version: int = 1
    verdict: Readiness
    packet_id: str
    title: str = ""
    branch: str = ""
    head: str = ""
    head_now: str = ""
    kind: str = ""
    outcome: str = ""
    as_of: str = ""
    built_now: bool = False
    full: str = ""
    canonical: str = ""
    sessions: tuple[Quote, ...] = ()
    reasons: tuple[str, ...] = ()
    since: tuple[str, ...] = ()
    tally: Tally = Tally()
    next_step: NextStep | None = None
    settle_first: tuple[Quote, ...] = ()
    load_first: tuple[Quote, ...] = ()
    goal: str = ""
    human_said: tuple[Quote, ...] = ()
    do_not_retry: tuple[Quote, ...] = ()
    red: tuple[Quote, ...] = ()
    decisions: tuple[Quote, ...] = ()
    completed: tuple[Quote, ...] = ()
    changed: tuple[Quote, ...] = ()
    remaining: tuple[Quote, ...] = ()
    questions: tuple[Quote, ...] = ()
    blocking: tuple[Quote, ...] = ()
    tests: str = ""
    noted: tuple[Quote, ...] = ()
    done_when: tuple[str, ...] = ()
    review_first: tuple[str, ...] = ()
    memory: tuple[Ranked, ...] = ()
    resume: Resume | None = None
    verdicts: tuple[Verdict, ...] = ()
    findings: tuple[Finding, ...] = ()


class ColdStart(Struct, frozen=True, kw_only=True):
    """What there is to go by without packet and without session: git, the board and the plan."""

    schema_version: int = 1
    verdict: Literal["cold_start"] = "cold_start"
    branch: str = ""
    head: str = ""
    operation: str = ""
    upstream: str = ""
    commits: tuple[Quote, ...] = ()
    dirty: tuple[Quote, ...] = ()
    dirty_total: int = 0
    stashes: tuple[Quote, ...] = ()
    board: tuple[Quote, ...] = ()
    load_first: tuple[str, ...] = ()
    next_step: str = ""
    other_packets: tuple[Quote, ...] = ()
    memory: tuple[Ranked, ...] = ()
    findings: tuple[Finding, ...] = ()


class TakeoverReceipt(Struct, frozen=True, kw_only=True):
    """That a packet was taken over: which one, where HEAD then was (effective), when, by whom, and how it stood.

    `by` is an agent's id or `human`. `as_of` and `sessions` are the packet's; `shelved` is False for a packet that was
    built on the spot and lies nowhere. `taker` is the session of the agent that took it and `processes` are the
    programs it ran in, where known; `memory` names what the brief told of other topics. `steal` is a human's word
    that the agent before has no claim any more. `started_by` says who started the agent with the brief, where it did
    not take it itself: `human`, or the agent inside which a human started it all the same.
    """

    schema_version: int = 1
    packet_id: str
    branch: str = ""
    topic: str = ""
    head: str = ""
    at: str
    by: str
    verdict: Readiness
    tally: Tally = Tally()
    acknowledged: bool = False
    as_of: str = ""
    sessions: tuple[str, ...] = ()
    shelved: bool = True
    taker: str = ""
    processes: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    steal: bool = False
    started_by: str = ""
