"""Evidence in, packet out: a pure function, without clock, files or processes."""

from __future__ import annotations

import re
from typing import Any, Literal

from msgspec import structs

from passdown.errors import NoEvidenceError
from passdown.model.evidence import Evidence
from passdown.model.packet import (
    SCHEMA,
    SCHEMA_MINOR,
    SCHEMA_VERSION,
    CleanStateSummary,
    Environment,
    NextAction,
    Packet,
    Producer,
    Question,
    Risk,
)
from passdown.packet.assumptions import list_assumptions
from passdown.packet.blockers import list_blockers
from passdown.packet.boundary import clean_packet, count_redactions
from passdown.packet.budget import HARD_CAP, RESERVE, fit
from passdown.packet.changed import list_changed
from passdown.packet.clues import list_clues
from passdown.packet.completed import list_completed
from passdown.packet.context import Context
from passdown.packet.decisions import list_decisions, list_preferences
from passdown.packet.failed import list_commands, list_failed
from passdown.packet.git_facts import git_facts
from passdown.packet.goal import find_goal
from passdown.packet.identity import derived_session_id, packet_id
from passdown.packet.local_only import list_local_only
from passdown.packet.next_action import choose_next_action, state_refusal
from passdown.packet.outcome import decide_outcome
from passdown.packet.paths import PathFacts, path_lookup
from passdown.packet.prereqs import list_prereqs, unportable
from passdown.packet.questions import by_weight, list_questions, trim_questions
from passdown.packet.record import (
    interrupted_edit,
    list_directives,
    list_overrides,
    list_sessions,
    list_sources,
    list_summaries,
    scope_of,
    stamp,
    upstream_omissions,
)
from passdown.packet.remaining import list_remaining
from passdown.packet.risks import Problem, list_risks
from passdown.packet.settle import list_settle_first
from passdown.packet.summary import summarize
from passdown.packet.tests import tests_state
from passdown.packet.trim import trim_feedback
from passdown.packet.unknowns import list_unknowns
from passdown.packet.verification import plan_verification, verdict_pointer
from passdown.redact.scan import Redactor

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def build_packet(
    evidence: Evidence,
    *,
    topic: str = "",
    session_id: str = "",
    kind: Literal["interim", "final"] = "interim",
    previous: Packet | None = None,
    environment: Environment | None = None,
    redactor: Redactor | None = None,
    strict_assumptions: bool = False,
    next_action: str = "",
    clean_state: CleanStateSummary | None = None,
    paths: PathFacts | None = None,
) -> Packet:
    """Build the handoff packet. The same evidence gives the same bytes, whatever the clock, locale or dict order.

    `previous` is the packet this one continues: what is still open there is carried, marked with its id. `paths`
    answers what is known of a path beyond the evidence. Without `redactor`, secrets are found by shape only.
    Raises `NextActionError` when `next_action` is vague, or a final packet has none; `NoEvidenceError` when a final
    packet's project has a contract or board but no verification report.
    """
    redactor = redactor or Redactor(folders=dict.fromkeys(evidence.roots, "."))
    context = Context(
        evidence=evidence,
        look=path_lookup(paths, evidence),
        mask=redactor.text,
        previous=previous,
        clean_state=clean_state or CleanStateSummary(),
        strict_assumptions=strict_assumptions,
    )
    if kind == "final" and context.governed and evidence.workbench.verification is None:
        raise NoEvidenceError(
            "a final packet of this project needs a verification report",
            next_step="Run the verification gate, or write an interim packet.",
        )
    draft = _draft(context, kind, next_action, _topic(context, topic))
    draft = structs.replace(draft, environment=environment or Environment())
    packet: Packet = clean_packet(draft, redactor)
    chosen = session_id or (evidence.workbench.state.session_id if evidence.workbench.state else "")
    chosen = chosen if _SLUG.fullmatch(chosen) and redactor.text(chosen) == chosen else ""
    packet = structs.replace(
        packet, redactions=count_redactions(packet), packet_id="0" * 64, session_id=chosen or "s-000000000000"
    )
    packet = fit(packet, HARD_CAP - RESERVE)
    packet = structs.replace(packet, redactions=count_redactions(structs.replace(packet, redactions={})))
    packet = structs.replace(packet, session_id=chosen or derived_session_id(packet))
    return structs.replace(packet, packet_id=packet_id(packet))


def _topic(context: Context, given: str) -> str:
    """Return a slug: the given topic, else the task, else the branch."""
    name = given or context.task_id or context.evidence.repository.branch or "detached"
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", context.mask(name)).strip("-._")[:64]
    return slug if any(map(str.isalnum, slug)) else context.id("t-", name)


def _draft(context: Context, kind: Literal["interim", "final"], given: str, topic: str) -> Packet:
    """Fill every field; texts are raw and lists at their caps."""
    evidence = context.evidence
    omitted: dict[str, int] = upstream_omissions(evidence)
    lists: dict[str, Any] = {}

    def put(name: str, section: tuple[Any, int]) -> Any:
        lists[name] = section[0]
        omitted[name] = omitted.get(name, 0) + section[1]
        return section[0]

    outcome = decide_outcome(context)
    goal, goal_basis = find_goal(context)
    tests, left_failing = tests_state(context)
    completed = put("completed", list_completed(context))
    remaining = put("remaining", list_remaining(context, completed))
    blockers = put("blockers", list_blockers(context))
    action, questions, left_questions, risks, left_risks = _steer(context, given, goal, blockers, remaining, kind)
    put("questions_for_human", (questions, left_questions))
    put("open_risks", (risks, left_risks))
    changed, left_changed, elsewhere = list_changed(context)
    put("changed_files", (changed, left_changed))
    assumptions, left_assumptions, unscored = list_assumptions(context)
    put("assumptions_to_validate", (assumptions, left_assumptions))
    put("decisions", list_decisions(context))
    put("preferences", list_preferences(context))
    put("directives", list_directives(context))
    put("harness_summaries", list_summaries(context))
    put("commands_run", list_commands(context))
    put("failed_attempts", list_failed(context))
    put("feedback_tail", trim_feedback(context, outcome))
    put("clues", list_clues(context))
    put("settle_first", list_settle_first(context))
    put("sessions", list_sessions(context))
    put("overrides", list_overrides(context))
    put("sources", list_sources(context))
    put("unknowns", list_unknowns(context, outcome))
    prereqs, left_prereqs = list_prereqs(context, action, tests, questions)
    git, left_commits = git_facts(context)
    plan, left_how = plan_verification(context)
    local, left_local = list_local_only(context)
    omitted |= {"tests.failing": left_failing, "git.commits": left_commits, "verification.how": left_how}
    omitted |= left_prereqs | left_local
    return Packet(
        schema=SCHEMA,
        schema_version=SCHEMA_VERSION,
        schema_minor=SCHEMA_MINOR,
        packet_id="",
        status="active",
        supersedes=None,
        kind=kind,
        outcome=outcome,
        session_id="",
        topic=topic,
        task_id=context.task_id,
        as_of=stamp(evidence.as_of),
        goal=goal,
        goal_basis=goal_basis,
        summary=summarize(context, outcome, tests, completed, remaining),
        git=git,
        tests=tests,
        next_action=action,
        next_session_prereqs=prereqs,
        verification=plan,
        verdict_pointer=verdict_pointer(context),
        clean_state=context.clean_state,
        local_only=local,
        interrupted_edit=interrupted_edit(context),
        review_first=_review_first(action, assumptions),
        omitted={name: count for name, count in sorted(omitted.items()) if count > 0},
        redactions={},
        environment=Environment(),
        scope=scope_of(context),
        producer=Producer(),
        assumptions_unscored=unscored,
        changed_elsewhere=elsewhere,
        **lists,
    )


def _steer(
    context: Context, given: str, goal: str | None, blockers: list[Any], remaining: list[Any], kind: str
) -> tuple[NextAction, list[Question], int, list[Risk], int]:
    """Choose the next action, and ask about it when it waits for a person."""
    questions = list_questions(context)
    risks, _ = list_risks(context, goal=goal, blockers=blockers, extra=[])
    shown, _ = trim_questions(questions)
    action = choose_next_action(context, given, shown, risks, remaining, final=kind == "final")
    if action.requires_human and not action.question_id:
        asked = _approval(context, action)
        action = structs.replace(action, question_id=asked.id)
        questions = by_weight([asked, *questions])
    shown, left = trim_questions(questions)
    prereqs, _ = list_prereqs(context, action, tests_state(context)[0], shown)
    extra = [
        Problem(
            code="prereq.not_portable", severity="warn", source=path,
            detail=f"the next session needs {path}, which git does not track: another device will not have it",
        )
        for path in unportable(prereqs.artifacts)
    ]  # fmt: skip
    if refused := state_refusal(context):
        detail = f"the state's next action was not taken over: {refused}"
        extra.append(
            Problem(code="next_action.vague", severity="warn", detail=detail, source=context.artifact("state"))
        )
    risks, left_risks = list_risks(context, goal=goal, blockers=blockers, extra=extra)
    return action, shown, left, risks, left_risks


def _approval(context: Context, action: NextAction) -> Question:
    text = f"May the next session do this: {action.text}"
    return Question(
        id=context.id("Q-", text),
        question=text,
        default="it is not done",
        why="it cannot be taken back, or it reaches outside",
        blocks=["next_action"],
        severity="block",
        score=6,
        source="next_action",
        basis="derived",
    )


def _review_first(action: NextAction, assumptions: list[Any]) -> list[str]:
    """Name the claims nobody can check that the next action leans on."""
    found = ["next_action"] if action.basis == "declared" and action.source != "given" else []
    named = set(action.paths)
    found += [a.id for a in assumptions if named and any(path in a.text for path in named)]
    return found[:10]
