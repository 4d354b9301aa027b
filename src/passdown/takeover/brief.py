"""The brief of a packet: what holds, what does not, and the little that the successor needs first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from passdown.evidence.kinds import look_at
from passdown.model.brief import Brief, NextStep, Quote, Readiness, Resume, Verdict
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.identifier import normalize_text
from passdown.model.memory import Ranked
from passdown.model.packet import FailedAttempt, Packet, Question, RemainingItem
from passdown.model.pattern import lazy_pattern
from passdown.packet.noted import origin_of
from passdown.redact.neutralise import one_line
from passdown.takeover.ground import Ground
from passdown.takeover.verdict import Decision, name_of, replan, tally, waits_for_a_human

_COMMIT = lazy_pattern(r"[0-9a-f]{40,64}")
_PARTS = lazy_pattern(r"&&|\|\||[;|\n]")
_COMMITS = 3
_DIFFERENCES = 12
_ASSENT = frozenset(
    ("go on", "continue", "please continue", "go ahead", "proceed", "yes", "yes please", "y", "ok", "okay", "sure",
     "thanks", "thank you", "go", "next", "weiter", "ja", "继续", "好的", "続けて", "はい", "oui", "continuez", "sigue")
)  # fmt: skip
"""Words by which a person only lets an agent go on: they tell the next session nothing."""

MISREAD = ("session.unread_records", "session.lost_fields")
"""The codes of what says, as a warning, that the format of a session was not understood."""


def make_brief(
    packet: Packet,
    verdicts: Sequence[Verdict],
    decision: Decision,
    ground: Ground,
    *,
    full: str = "",
    canonical: str = "",
    memory: Sequence[Ranked] = (),
    resume: Resume | None = None,
    built_now: bool = False,
    acknowledged: bool = False,
    findings: Sequence[Finding] = (),
    mask: Callable[[str], str] = str,
) -> Brief:
    """Put the brief together. `full` and `canonical` are where the packet lies; `mask` redacts what git says now."""
    return Brief(
        verdict=decision.verdict,
        packet_id=packet.packet_id,
        title=one_line(packet.task_id or packet.topic, 64),
        branch=one_line(packet.git.branch or "", 120),
        head=(packet.git.head or "")[:64],
        head_now=ground.facts.effective_head,
        kind=packet.kind,
        outcome=packet.outcome,
        as_of=one_line(packet.as_of or "", 20),
        built_now=built_now,
        full=full,
        canonical=canonical,
        sessions=tuple(_leading(packet)),
        reasons=decision.reasons,
        since=tuple(mask(line) for line in _since(packet, verdicts, ground.facts)),
        tally=tally(verdicts),
        next_step=_next_step(packet, verdicts, ground, acknowledged=acknowledged),
        settle_first=tuple(_settle_first(packet, ground.facts)),
        load_first=tuple(_load_first(packet, verdicts)),
        goal=one_line(packet.goal or "", 300),
        human_said=tuple(_human_said(packet)),
        do_not_retry=tuple(_attempt(item) for item in _unresolved(packet) if not _is_test(item.what)),
        red=tuple(_attempt(item) for item in _unresolved(packet) if _is_other_test(item, packet)),
        decisions=tuple(Quote(text=one_line(item.choice, 240), note=_why(item.why)) for item in packet.decisions),
        completed=tuple(_completed(packet, verdicts)),
        changed=tuple(_changed(packet)),
        remaining=tuple(Quote(text=_named(item), note=item.status) for item in packet.remaining),
        questions=tuple(_question(q) for q in packet.questions_for_human if not _blocks(q, packet)),
        blocking=tuple(_question(q) for q in packet.questions_for_human if _blocks(q, packet)),
        tests=_tests(packet, ground.facts),
        noted=tuple(_noted(packet)),
        done_when=tuple(one_line(line, 300) for line in packet.verification.how),
        review_first=tuple(_review_first(packet, verdicts)),
        memory=tuple(memory),
        resume=resume,
        verdicts=tuple(verdicts),
        findings=(*findings, *_misread(packet)),
    )


def _misread(packet: Packet) -> Iterator[Finding]:
    """Yield what says that the format of a session behind this packet was not understood."""
    for risk in packet.open_risks:
        if risk.code in MISREAD and risk.severity == "warn":
            yield Finding(code=risk.code, severity="warn", detail=one_line(risk.detail, 300))


def _leading(packet: Packet) -> Iterator[Quote]:
    for session in packet.sessions:
        if session.primary:
            yield Quote(text=one_line(session.id, 80), note=one_line(session.agent, 40))


def _unresolved(packet: Packet) -> list[FailedAttempt]:
    return [item for item in packet.failed_attempts if not item.resolved]


def refusing_brief(
    packet: Packet, verdict: Readiness, reasons: Sequence[str], findings: Sequence[Finding] = ()
) -> Brief:
    """Return the brief of a packet that is not to be used here: its id and the reasons, none of its content."""
    return Brief(
        verdict=verdict, packet_id=one_line(packet.packet_id, 64), reasons=tuple(reasons), findings=tuple(findings)
    )  # fmt: skip


def _since(packet: Packet, verdicts: Sequence[Verdict], facts: RepositoryFacts) -> Iterator[str]:
    """Yield what happened since the packet was written, the weightiest first."""
    if facts.operation:
        yield f"a {facts.operation} is in progress"
    known = any(v.claim.place == "git.head" and v.state in ("holds", "drifted") for v in verdicts)
    if facts.commits_total and known and facts.base == packet.git.head:
        shown = ", ".join(f'{c.id[:7]} "{_quoted(c.subject, 60)}"' for c in facts.commits[:_COMMITS])
        more = f", and {facts.commits_total - _COMMITS} more" if facts.commits_total > _COMMITS else ""
        yield f"{facts.commits_total} new commit{'' if facts.commits_total == 1 else 's'} ({shown}{more})"
    if facts.behind:
        commits = f"{facts.behind} commit{'' if facts.behind == 1 else 's'}"
        yield f"{commits} behind {one_line(facts.upstream, 80)}, as of the last fetch"
    weight = {"contradicted": 0, "drifted": 1}
    off = sorted((v for v in verdicts if v.state in weight), key=lambda v: (weight[v.state], not v.claim.required))
    listed = [v for v in off if v.change != "advanced"]
    lines: dict[str, str] = {}
    for verdict in listed:
        name = "lost" if verdict.change == "lost" else name_of(verdict)  # one lost commit says it for all
        lines.setdefault(name, f"{name_of(verdict)} {verdict.reason}")
    yield from list(lines.values())[:_DIFFERENCES]
    if len(lines) > _DIFFERENCES:
        yield f"{len(lines) - _DIFFERENCES} more differences (--format json lists all)"
    if not off and facts.tree_fingerprint != packet.git.tree_fingerprint:
        yield "the working tree has other uncommitted changes than it had"


def _quoted(text: str, cap: int) -> str:
    return one_line(text, cap).replace('"', "'")


def _next_step(packet: Packet, verdicts: Sequence[Verdict], ground: Ground, *, acknowledged: bool) -> NextStep:
    action = packet.next_action
    return NextStep(
        text=one_line(action.text, 300),
        command=one_line(action.command, 300),
        basis=action.basis,
        source=one_line(origin_of(action), 80),
        agents_view=one_line(action.agents_view, 300),
        needs_human=waits_for_a_human(action),
        acknowledged=acknowledged and waits_for_a_human(action),
        recorded=_recorded(packet, ground.facts),
        replan=one_line(replan(packet, verdicts, ground), 300),
    )


def _recorded(packet: Packet, facts: RepositoryFacts) -> str:
    return _colour(packet, facts) if packet.next_action.command in packet.tests.commands else ""


def _tests(packet: Packet, facts: RepositoryFacts) -> str:
    """Return what is known of the tests, empty where the next step is about them."""
    if packet.next_action.command in packet.tests.commands:
        return ""
    if packet.tests.state == "not_run":
        risk = next((risk for risk in packet.open_risks if risk.code == "tests.not_run"), None)
        return one_line(risk.detail, 200) if risk is not None else ""
    colour = _colour(packet, facts)
    return one_line(f"{colour}: {' && '.join(packet.tests.commands)}", 240) if colour else ""


def _noted(packet: Packet) -> Iterator[Quote]:
    """Yield the risks, clues and assumptions that somebody noted, pinned ones first."""
    risks = [
        (risk.pinned, Quote(text=one_line(risk.detail, 240), note="risk")) for risk in packet.open_risks if risk.by
    ]
    clues = [
        (clue.pinned, Quote(text=one_line(clue.text, 240), note=one_line(", ".join(["clue", *clue.anchors]), 160)))
        for clue in packet.clues
    ]
    assumed = [
        (item.pinned, Quote(text=one_line(item.text, 240), note="assumed, not confirmed"))
        for item in packet.assumptions_to_validate
        if item.by and item.id not in packet.review_first
    ]
    for _, quote in sorted((*risks, *clues, *assumed), key=lambda entry: not entry[0]):
        yield quote


def _colour(packet: Packet, facts: RepositoryFacts) -> str:
    tests = packet.tests
    if tests.state in ("green", "red", "error"):
        same = tests.tree and tests.tree == facts.tree_fingerprint
        return f"{tests.state} at hand-over, recorded on {'this' if same else 'another'} tree"
    if tests.state == "stale" and tests.last_outcome in ("green", "red", "error"):
        when = "by a session that is not here any more" if tests.from_packet else "before later edits"
        return f"{tests.last_outcome} when last run, {when}"
    return ""


def _settle_first(packet: Packet, facts: RepositoryFacts) -> Iterator[Quote]:
    named = {point.code for point in packet.settle_first}
    if facts.operation and "tree.operation_in_progress" not in named:
        yield Quote(text=f"a {facts.operation} is in progress", note="git status")
    if packet.interrupted_edit is not None:
        yield Quote(text=f"the last edit was cut short: {one_line(packet.interrupted_edit.path, 200)}")
    loose = {change.path for change in facts.changes if change.uncommitted or change.untracked}
    for point in packet.settle_first:
        settled = point.code in ("tree.uncommitted", "tree.untracked") and point.path not in loose
        waits = point.code.startswith("tests.")  # failing tests are what the next step is about
        if point.code != "edit.interrupted" and not settled and not waits:
            yield Quote(text=one_line(point.detail, 200), note=one_line(point.fix, 200))


def _load_first(packet: Packet, verdicts: Sequence[Verdict]) -> Iterator[Quote]:
    states = {v.claim.check.subject: v for v in verdicts if v.claim.check and v.claim.place.endswith("artifacts")}
    for artifact in packet.next_session_prereqs.artifacts:
        verdict = states.get(artifact.path)
        if artifact.mode == "on_demand" or (
            not artifact.sha256 and artifact.check and artifact.check.kind == "path_exists"
        ):
            continue  # a folder is nothing to load
        if verdict is not None and verdict.change == "missing":
            yield Quote(text=one_line(artifact.path, 200), note="missing")
        elif verdict is not None and verdict.state == "drifted":
            yield Quote(text=one_line(artifact.path, 200), note="changed since")
        else:
            yield Quote(text=one_line(artifact.path, 200), note="in part" if artifact.mode == "range" else "")


def _human_said(packet: Packet) -> Iterator[Quote]:
    """Yield the human's own words, the latest first, then standing wishes; the goal is not said twice."""
    said = {normalize_text(packet.goal or "")}
    for line in reversed(packet.directives):
        text = normalize_text(line.text)
        if text not in said and text.casefold().rstrip("!.,") not in _ASSENT:
            said.add(text)
            yield Quote(text=one_line(line.text, 600), note=one_line(line.at or "", 20))
    for wish in packet.preferences:
        if wish.by == "human" and normalize_text(wish.text) not in said:
            yield Quote(text=one_line(wish.text, 200), note="standing wish")


def _attempt(attempt: FailedAttempt) -> Quote:
    """Return what was tried, without a word of its output: that is nobody's advice."""
    times = f"failed {attempt.tries} times" if attempt.tries > 1 else "failed"
    ended = f", exit {attempt.exit}" if attempt.exit is not None else ""
    after = (
        f"; then tried {', '.join(one_line(step, 60) for step in attempt.tried_after[:2])}"
        if attempt.tried_after
        else ""
    )
    return Quote(text=one_line(attempt.what, 200), note=f"{times}{ended}{after}")


def _blocks(question: Question, packet: Packet) -> bool:
    return question.severity == "block" or (question.id != "" and question.id == packet.next_action.question_id)


def _question(question: Question) -> Quote:
    default = one_line(f"default: {question.default}", 200)
    return Quote(text=one_line(f"{question.id} {question.question}", 360), note=default)


def _is_test(command: str) -> bool:
    return any(look_at(part.strip()).kind == "test" for part in _PARTS.split(command) if part.strip())


def _is_other_test(attempt: FailedAttempt, packet: Packet) -> bool:
    """Say whether it is a test run that the next step and the proof of the whole do not speak of already."""
    said = {packet.next_action.command, *packet.verification.how}
    return attempt.what not in said and _is_test(attempt.what)


def _completed(packet: Packet, verdicts: Sequence[Verdict]) -> Iterator[Quote]:
    """Yield what is done, the newest first, with how that is known; what turned out otherwise here says so."""
    off = {
        v.claim.check.subject: v.change
        for v in verdicts
        if v.claim.check is not None and v.claim.check.kind == "is_ancestor" and v.state in ("contradicted", "drifted")
    }
    for item in reversed(packet.completed):
        proof = one_line(item.evidence[:12] if _COMMIT.fullmatch(item.evidence) else item.evidence, 80)
        how = f"{proof}, {off[item.evidence]}" if item.evidence in off else proof or "declared"
        yield Quote(text=one_line(item.text, 160), note=how)


def _named(item: RemainingItem) -> str:
    """Return an open item, with the id by which board and branch know it."""
    known = item.id and item.source in ("board", "features") and item.id != item.text
    return one_line(f"{item.id}: {item.text}" if known else item.text, 200)


def _changed(packet: Packet) -> Iterator[Quote]:
    """Yield the files the work touched, uncommitted ones first."""
    for item in sorted(packet.changed_files, key=lambda item: not item.uncommitted):
        if item.status != "=":
            yield Quote(
                text=one_line(item.path, 200), note=f"{item.status}{', uncommitted' if item.uncommitted else ''}"
            )


def _why(why: str) -> str:
    return "" if why == "reason not recorded" else one_line(why, 160)


def _review_first(packet: Packet, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield what the next action leans on and nobody can check."""
    assumptions = {item.id: item.text for item in packet.assumptions_to_validate}
    for name in packet.review_first:
        text = "the next step itself, which is only declared" if name == "next_action" else assumptions.get(name, name)
        yield one_line(text, 200)
    named = set(packet.next_action.paths)
    for verdict in verdicts:
        check = verdict.claim.check
        if check is not None and verdict.state == "cannot_tell" and check.subject in named:
            yield one_line(f"{check.subject}: {verdict.reason}", 200)
