"""The fact index: single statements that a prefix supports, each with the step that shows it and how it is known."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from passdown.data.records import Fact, FactStatus, FactType, Step
from passdown.data.requests import requests_since
from passdown.data.reviews.comment import comments_in
from passdown.data.reviews.incoming import comments_of
from passdown.data.views.continuation import step_of
from passdown.data.views.material import Material
from passdown.evidence.chains import is_failure
from passdown.evidence.said import says_something
from passdown.model.evidence import CommandChain, CommandRun, Source
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AssistantMessage, ToolResult
from passdown.packet.escape import code, inline
from passdown.packet.looking import looks_around
from passdown.packet.vague import is_vague
from passdown.redact.neutralise import one_line

KEY = 200
"""Most characters of a key; of a value twice that."""
MOST = 24
"""Most facts of one type."""
POINTS = 8
"""Most of them of one message of a person: what is pasted is longer than what is asked."""

_SENTENCE = lazy_pattern(r"(?<=[.!?])\s+|\n+")
_CHOICE = lazy_pattern(
    r"(?i)\b(?:(?:i|we)(?:(?:'|’)(?:ll|m|re|ve|d))?|let(?:'|’)?s|let me|should|must|better to|safer to|prefer to)\b"
    r"[^\n]{0,160}?\b(?:(?:instead of|rather than)(?! (?:guess|assum|specul))|without changing|go(?:ing)? with"
    r"|decided? (?:to|that|on|against)|chose to|opt(?:ed)? (?:for|to))\b"
    r"|\b(?:the )?(?:best|right|simplest|cleanest|safest) (?:approach|fix|solution|way|option) (?:is|would be)\b"
)
"""How an agent says what it means to do, and not something else. What only describes a fault has no `I` in it."""
_NO_CHOICE = lazy_pattern(
    r"(?i)^(?:(?:ok(?:ay)?|good|great|perfect|now|first|next|then|so|and)[,.!]? )*"
    r"(?:(?:i(?:'|’)m|i am) (?:now |also |just )*"
    r"(?:check|read|look|search|inspect|explor|trac|verify|review|scann?)ing\b"
    r"|i (?:bet|guess|suspect|assume)\b)|\bshould now\b"
)
"""A look around that is announced, a guess, and what is expected to work: none of them chooses anything."""
_GREEN = lazy_pattern(r"(?m)(?i:\b(?:pass(?:ed|es)?|success(?:ful(?:ly)?)?)\b)|\bOK\b|^ok\b")
_VERSION = lazy_pattern(
    r"(?m)^(?P<name>Python|node|go|ruby|rustc|cargo|gcc|java|npm|pip|pytest)"
    r"[ =:]+(?:version )?v?(?P<version>\d+(?:\.\d+){1,3}\S{0,12})"
)


class _Facts:
    """Facts as they are found: bounded by type, cleaned, each key of a type once (the last word stands)."""

    def __init__(self, material: Material) -> None:
        self._clean = material.shared.notes.clean
        self._last = max(0, material.prefix.k - 1)
        self._found: dict[tuple[FactType, str], Fact] = {}

    def add(self, kind: FactType, key: str, value: str, step: int | None, status: FactStatus = "observed") -> None:
        """Add one. A fact whose step nobody knows cites the last one, and is inferred."""
        key, value = one_line(self._clean(key), KEY), one_line(self._clean(value), 2 * KEY)
        if not key:
            return
        known = step is not None and 0 <= step <= self._last
        self._found.pop((kind, key), None)
        self._found[kind, key] = Fact(
            type=kind, key=key, value=value, step=step if known and step is not None else self._last,
            status=status if known else "inferred",
        )  # fmt: skip

    def done(self) -> tuple[Fact, ...]:
        """Return the newest of each type, in the order of the types, then in the order in which they were found."""
        kept: list[Fact] = []
        for kind in _ORDER:
            of_kind = [fact for fact in self._found.values() if fact.type == kind]
            kept += of_kind[-MOST:]
        return tuple(kept)


_ORDER: tuple[FactType, ...] = (
    "goal", "file_changed", "test_result", "cmd", "decision", "request", "review", "todo", "risk", "env",
    "next_action",
)  # fmt: skip


def list_facts(material: Material) -> tuple[Fact, ...]:
    """Return the fact index of a prefix."""
    facts = _Facts(material)
    _goal(material, facts)
    for path, known in sorted(material.ledger.files.items()):
        value = {"A": "added", "M": "modified", "D": "deleted"}[known.status]
        facts.add("file_changed", path, f"{value}, committed" if known.committed else value, known.step)
    _runs(material, facts)
    _words(material, facts)
    _requests(material, facts)
    _reviews(material, facts)
    _environment(material, facts)
    _packet(material, facts)
    return facts.done()


def _goal(material: Material, facts: _Facts) -> None:
    packet = material.packet
    asked = material.evidence.directives
    step = _step(asked[0].source) if asked else 0
    text = packet.goal or material.prefix.task_text
    facts.add("goal", text, packet.goal_basis or "declared", step or 0, "stated")


def _step(source: Source | None) -> int | None:
    return step_of(source.line) if source is not None else None


def _runs(material: Material, facts: _Facts) -> None:
    chains = [chain for chain in material.evidence.chains if chain.runs]
    chains.sort(key=lambda chain: _step(chain.runs[-1].source) or 0)
    tests = material.evidence.tests
    for chain in chains:
        run = chain.runs[-1]
        if chain.kind == "test":
            facts.add("test_result", run.command, _result(material, run), _step(run.source))
        elif chain.final != "ok" or not looks_around(chain.command):
            facts.add("cmd", run.command, _ended(chain, run), _step(run.source))
    for name in tests.failing:
        facts.add("test_result", name, "failed", _step(tests.source))


def _result(material: Material, run: CommandRun) -> str:
    tests = material.evidence.tests
    decided = tests.source == run.source and tests.decided_by == run.command
    if decided and tests.last_outcome:
        word = {"green": "passed", "red": "failed", "error": "gave no result"}[tests.last_outcome]
    else:
        word = "failed" if run.result == "failed" else "passed" if _went_well(material, run) else "gave no result"
    detail = tests.counts if decided and tests.counts else run.error_line if word != "passed" else ""
    return f"{word}: {detail}" if detail else word


def _went_well(material: Material, run: CommandRun) -> bool:
    """Say whether a run that is not known to have failed passed: without an exit code words have to say so."""
    if run.result != "ok" or run.exit is not None:
        return run.result == "ok"
    step = _step(run.source)
    events = material.prefix.steps[step].events if step is not None and step < material.prefix.k else ()
    return any(isinstance(event, ToolResult) and _GREEN.search(event.text[-4000:]) for event in events)


def _ended(chain: CommandChain, run: CommandRun) -> str:
    ended = f"exit {run.exit}" if run.exit is not None else run.result
    often = f", {chain.failures} of {chain.total} runs failed" if chain.failures and chain.total > 1 else ""
    return ended + often + (f": {run.error_line}" if is_failure(run) and run.error_line else "")


def _words(material: Material, facts: _Facts) -> None:
    evidence = material.evidence
    for step in material.prefix.steps:
        for sentence in material.shared.of_step("choices", step, _choices):
            facts.add("decision", sentence, "the agent's own words", step.idx, "stated")
    for answer in evidence.answers:
        facts.add("decision", answer.answer, f"asked: {answer.question}", _step(answer.source), "stated")
    for refused in evidence.rejections:
        if refused.kind == "interrupted" and not refused.reason:
            continue
        why = refused.reason or "reason not recorded"
        facts.add("decision", f"{refused.kind}: {refused.what}", why, _step(refused.source), "stated")
    if evidence.plan is not None:
        for item in evidence.plan.items:
            facts.add("todo", item.text, item.status, _step(evidence.plan.source), "stated")


def _reviews(material: Material, facts: _Facts) -> None:
    """Add what reviews said, whether it was dealt with or not: a fact for each comment. The task is told as it is."""
    first = next((at for at, step in enumerate(material.prefix.steps) if step.actions), 0)
    for step in material.prefix.steps[first:]:
        for comment in material.shared.of_step("reviews", step, comments_of):
            facts.add("review", *_parted(comment.text, comment.place), step.idx, "stated")


def _requests(material: Material, facts: _Facts) -> None:
    """Add what people said since the work began, point by point: what they ask for, and what they say of the work."""
    for at, text in requests_since(material.prefix.steps, material.prefix.task_text):
        for point in comments_in(text)[:POINTS]:
            if not is_vague(point.text):
                facts.add("request", *_parted(point.text, ""), at, "stated")


def _parted(text: str, place: str) -> tuple[str, str]:
    """Return a key, and as its value the place and what the key has no room for."""
    words = " ".join(text.split())
    rest = f"…{words[KEY - 1 :]}" if len(words) > KEY else ""
    return words, ": ".join(part for part in (place, rest) if part)


def _choices(step: Step) -> list[str]:
    """Return the sentences in which the agent says what it chose over something else."""
    found: list[str] = []
    for event in step.events:
        if isinstance(event, AssistantMessage) and not event.reasoning and _CHOICE.search(event.text):
            for piece in _SENTENCE.split(event.text[:20_000]):
                sentence = piece.strip().lstrip("-*# ").strip()
                if len(sentence) <= 300 and _CHOICE.search(sentence) and not _NO_CHOICE.search(sentence):
                    found += [sentence] if says_something(sentence, 6) else []
    return found


def _environment(material: Material, facts: _Facts) -> None:
    for step in material.prefix.steps:
        for action in step.actions:
            if action.kind == "INSTALL" and action.ok is not False and action.target:
                status: FactStatus = "observed" if action.ok else "inferred"
                name = action.target if action.target not in (".", "./") else action.detail or "the project itself"
                facts.add("env", name, "installed" if action.ok else "install was tried", step.idx, status)
        for version in material.shared.of_step("versions", step, _versions):
            facts.add("env", version, "version", step.idx)


def _versions(step: Step) -> list[str]:
    """Return the versions of programs that observations show."""
    texts = [event.text for event in step.events if isinstance(event, ToolResult) and len(event.text) < 4000]
    return [f"{found['name']} {found['version']}" for text in texts for found in _VERSION.finditer(text)]


def _packet(material: Material, facts: _Facts) -> None:
    """Add what only the packet's rules say: risks, and the next step."""
    evidence, packet = material.evidence, material.packet
    tests = _step(evidence.tests.source)
    for risk in packet.open_risks:
        if risk.severity != "info":
            step = tests if risk.code.startswith("tests.") else None
            facts.add("risk", risk.detail, risk.code, step, "inferred")
    for failed in packet.failed_attempts:
        if not failed.resolved:
            how = "begun, no result recorded" if failed.ended == "unknown" else f"tried, failed: {failed.why}"
            facts.add("risk", failed.what, how, step_of(failed.line), "observed")
    action = packet.next_action
    said = evidence.last_step if action.source == "derived:last_step" else None
    step = _step(said.source) if said else tests if action.source.startswith("derived:failing") else None
    facts.add(
        "next_action", action.text, action.source, step, "stated" if action.basis == "declared" else "inferred"
    )  # fmt: skip


def stated_in(facts: Iterable[Fact], text: str) -> tuple[Fact, ...]:
    """Return the facts whose key a text holds, as it is or as Markdown writes it."""
    flat = " ".join(text.split())
    return tuple(fact for fact in facts if _is_in(fact.key, flat))


def _is_in(key: str, flat: str) -> bool:
    return key in flat or any(written in flat for written in _written(key))


@lru_cache(maxsize=512)
def _written(key: str) -> tuple[str, str]:
    """Return the ways in which Markdown writes a key."""
    return inline(key, KEY), code(key, KEY)
