"""The gates: what a view may not hold. Every gate looks at the finished view, however it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field, structs

from passdown.data.prefix import cut
from passdown.data.records import Outcome, Prefix, Snapshot, Trajectory, View
from passdown.data.scrubber import Grown
from passdown.data.views.changes import Ledger, ledger_of
from passdown.data.views.leaks import added_lines, bare, grams, grams_in, said_in, tokens_of
from passdown.data.views.lookahead import Lookahead
from passdown.data.views.shared import Shared
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AssistantMessage, ToolCall, ToolResult
from passdown.packet.tokens import estimate_tokens

CODES = (
    "view.tail_dependent", "view.future_code", "view.hidden_test", "view.reveals_cut", "view.false_change",
    "view.missing_change", "view.false_result", "view.future_fact", "view.secret", "view.over_budget",
    "view.miscounted",
)  # fmt: skip
"""Every code that a gate gives. All of them block."""

_MOST = 5
_SHORT_NAME = 12
_LABELS = lazy_pattern(
    r"(?i)\b(?:first_meaningful_modification|post_first_validation_result|post_failed_repair_edit|test_transition"
    r"|file_complete|todo_ticked|validation_result|wrong_file_edit|edit_burst|context_limit_cut|oracle_select"
    r"|mid[-_]state|error[-_]state|handoff[ _]points?|lifecycle checkpoints?|checkpoint kind|cut[ _]points?"
    r"|cut (?:at|after) step \d+|(?:the )?(?:rest|remainder|tail) of the trajectory|fail_to_pass|pass_to_pass)\b"
)
_IN_LABELS = (
    "meaningful_modification", "validation_result", "failed_repair_edit", "test_transition", "file_complete",
    "todo_ticked", "wrong_file_edit", "edit_burst", "context_limit_cut", "oracle_select", "mid-state", "mid_state",
    "error-state", "error_state", "handoff point", "handoff_point", "lifecycle checkpoint", "checkpoint kind",
    "cut point", "cut_point", "cut at step", "cut after step", "of the trajectory", "to_pass",
)  # fmt: skip
"""A text without any of these holds no label; to look for them costs a tenth."""
_NO_CHANGE = "- Source changes present: no"


class Shown(NamedTuple):
    """What a view shows: its text, and its facts as lines."""

    text: str
    facts: str

    @property
    def whole(self) -> str:
        """Both as one text."""
        return f"{self.text}\n{self.facts}"


class Labels:
    """Paragraphs and lines that hold no label are remembered: the views of one trajectory share most of them."""

    def __init__(self) -> None:
        self._paragraphs: set[str] = set()
        self._lines: set[str] = set()
        self._grown = Grown()

    def may_stand_in(self, text: str) -> bool:
        """Say whether a closer look is due."""
        fresh = set(text[self._grown.new_from(text) :].split("\n\n")) - self._paragraphs
        lines = set("\n".join(fresh).split("\n")) - self._lines
        folded = "\n".join(lines).casefold()
        if any(part in folded for part in _IN_LABELS):
            return True
        self._paragraphs |= fresh
        self._lines |= lines
        self._grown.keep(text)
        return False


class Known(Struct, frozen=True, kw_only=True, dict=True):
    """What may be said: the prefix and its task, as one text, made when something has to be looked up in it.

    The other fields are those of the whole trajectory, where its cuts are looked at one after the other.
    """

    prefix: Prefix
    trajectory: Trajectory
    shared: Shared
    ledger: Ledger
    lookahead: Lookahead | None = None
    labels: Labels = field(default_factory=Labels)

    @cached_property
    def text(self) -> str:
        """Everything that was said, called and seen up to the cut."""
        return said_in(self.prefix)

    @cached_property
    def tokens(self) -> str:
        """The same as tokens with one space between: as it was said, and as views write it."""
        texts = (self.text, self.shared.trace.clean(self.text), self.shared.notes.clean(self.text))
        return "".join(map(tokens_of, dict.fromkeys(texts)))

    @cached_property
    def added(self) -> tuple[str, ...]:
        """The lines that only come after the cut."""
        return added_lines(self.trajectory, self.prefix.k)

    def is_clear(self, shown: Shown, added: Sequence[str]) -> bool:
        """Say whether a quick look shows that nothing of the added lines is told. It takes the task for known."""
        if self.lookahead is None or self.prefix.task_text != self.trajectory.task_text:
            return False
        return self.lookahead.is_clear(*shown, self.prefix.k, added)

    @cached_property
    def ended(self) -> dict[str, tuple[int, int]]:
        """The commands that were run up to the cut, each with the step and the exit code of its last run."""
        found: dict[str, tuple[int, int]] = {}
        for step in self.prefix.steps:
            results = {event.call_id: event for event in step.events if isinstance(event, ToolResult)}
            for event in step.events:
                result = results.get(event.call_id) if isinstance(event, ToolCall) and event.command else None
                if isinstance(event, ToolCall) and result is not None and result.exit_code is not None:
                    found[" ".join(event.command.split())] = step.idx, result.exit_code
        return found


def known_at(trajectory: Trajectory, ks: Sequence[int], shared: Shared) -> Iterator[Known]:
    """Yield what may be said at each cut, in the order of `ks`. `shared` may be that of the views."""
    lookahead, labels = Lookahead(trajectory, shared), Labels()
    ledgers = _ledgers(trajectory, ks)
    for k in ks:
        yield Known(
            prefix=cut(trajectory, k), trajectory=trajectory, shared=shared, ledger=ledgers[k], lookahead=lookahead,
            labels=labels,
        )  # fmt: skip


def _ledgers(trajectory: Trajectory, ks: Sequence[int]) -> dict[int, Ledger]:
    """Return what was changed up to each cut, in one walk over the steps."""
    ledger, done = Ledger(), 0
    found: dict[int, Ledger] = {}
    for k in sorted(set(ks)):
        for step in trajectory.steps[done:k]:
            ledger.take(step)
        found[k], done = ledger.copy(), k
    return found


def gate(
    view: View,
    prefix: Prefix,
    trajectory: Trajectory,
    *,
    snapshot: Snapshot | None = None,
    budget: int | None = None,
    known: Known | None = None,
) -> tuple[Finding, ...]:
    """Return what is wrong with a view, empty when it may be used. The oracle passes no gate about the future.

    `snapshot` is the state at the cut, where replay knows it; without it claims are held against the actions.
    `known` is what several views of one prefix can share.
    """
    if known is None:
        ledger = ledger_of(prefix.steps)
        known = Known(prefix=prefix, trajectory=trajectory, shared=Shared(prefix.root), ledger=ledger)
    found: list[Finding] = []
    shown = Shown(view.text, "\n".join(text for fact in view.facts for text in (fact.key, fact.value)))
    if view.name != "oracle_structured":
        found += _future_code(view, shown, known)
        found += _hidden_tests(view, shown, known, trajectory.outcome)
        found += _reveals(view, shown, known)
    found += _changes(view, known, snapshot)
    found += _results(view, known)
    found += _steps(view)
    found += _secrets(view, shown, known)
    found += _size(view, budget)
    return tuple(found)


def tail_dependence(
    build: Callable[[Trajectory, int], Sequence[View]], trajectory: Trajectory, k: int
) -> tuple[Finding, ...]:
    """Gate 1: build views from the trajectory and from ones with another future; return where they differ."""
    views = build(trajectory, k)
    others = [build(other, k) for other in other_futures(trajectory, k)]
    return tuple(
        _finding("view.tail_dependent", "it is another one with another future", view)
        for number, view in enumerate(views)
        if any(len(other) != len(views) or other[number] != view for other in others)
    )


def other_futures(trajectory: Trajectory, k: int) -> Iterator[Trajectory]:
    """Yield the trajectory without a tail, with its tail turned round, and with another outcome and other words.

    The task of each is the one that was known at the cut: a message of the tail may tell it.
    """
    trajectory = structs.replace(trajectory, task_text=cut(trajectory, k).task_text)
    head, tail = trajectory.steps[:k], trajectory.steps[k:]
    yield structs.replace(trajectory, steps=head, outcome=Outcome(), content_hash="", split="", extras="")
    turned = tuple(structs.replace(step, idx=k + at) for at, step in enumerate(reversed(tail)))
    outcome = Outcome(
        resolved=not trajectory.outcome.resolved, exit="other", patch="+++ b/other.py\n+another_line = 1\n",
        fail_to_pass=("tests/test_other.py::test_other",),
    )  # fmt: skip
    yield structs.replace(trajectory, steps=(*head, *turned), outcome=outcome, content_hash="x")
    words = AssistantMessage(text="I decided to write src/elsewhere.py instead of what was planned.")
    changed = tuple(structs.replace(step, events=(words,), actions=()) for step in tail)
    yield structs.replace(trajectory, steps=(*head, *changed), outcome=outcome)


def _finding(code: str, detail: str, view: View) -> Finding:
    return Finding(code=code, severity="block", detail=detail, where=f"{view.trajectory_id}@{view.k}/{view.name}")


def _texts(view: View) -> Iterator[str]:
    yield view.text
    for fact in view.facts:
        yield fact.key
        yield fact.value


def _future_code(view: View, shown: Shown, known: Known) -> Iterator[Finding]:
    """Gate 2: eight tokens in a row of a line that only the future adds."""
    lines = known.added
    if not lines or known.is_clear(shown, lines):
        return
    met = grams_in(tokens_of(shown.whole), {gram for line in lines for gram in grams(line)})
    fresh = met - grams_in(known.tokens, met) if met else met
    leaked = {gram for gram in fresh if bare(gram) not in known.tokens}
    reported = 0
    for line in lines if leaked else ():
        if reported < _MOST and any(gram in leaked for gram in grams(line)):
            reported += 1
            yield _finding("view.future_code", f"holds what only a later edit adds: {line.strip()[:120]}", view)


def _hidden_tests(view: View, shown: Shown, known: Known, outcome: Outcome) -> Iterator[Finding]:
    """The names of the tests that judge the work are nobody's business before they were met."""
    text, reported = shown.whole, 0
    for name in dict.fromkeys((*outcome.fail_to_pass, *outcome.pass_to_pass)):
        for spelt in _spellings(name):
            if spelt in text and spelt not in known.text:
                reported += 1
                if reported <= _MOST:
                    yield _finding("view.hidden_test", f"names a test that was not met yet: {spelt[:160]}", view)
                break


def _spellings(name: str) -> Iterator[str]:
    yield name
    last = name.split("[", maxsplit=1)[0].rpartition("::")[2].split(" (")[0].rpartition(".")[2]
    if len(last) >= _SHORT_NAME and "_" in last:
        yield last


def _reveals(view: View, shown: Shown, known: Known) -> Iterator[Finding]:
    if not any(known.labels.may_stand_in(text) for text in shown):
        return
    for label in dict.fromkeys(found.group() for found in _LABELS.finditer(shown.whole)):
        if label not in known.text:
            yield _finding("view.reveals_cut", f"says how the cut was chosen: {label}", view)


def _changes(view: View, known: Known, snapshot: Snapshot | None) -> Iterator[Finding]:
    """Gate 3, files: what is said to be changed is, and not the other way round."""
    ledger = known.ledger
    changed = set(ledger.files)
    if snapshot is not None:
        changed = {state.path for state in snapshot.delta} | set(snapshot.dirty) | _committed(ledger)
    claimed = [fact.key for fact in view.facts if fact.type == "file_changed"]
    false = [path for path in claimed if path not in changed]
    if false:
        yield _finding("view.false_change", f"says that a file changed which did not: {', '.join(false[:_MOST])}", view)
    sources = {file.path for file in ledger.sources()} & changed
    if sources and _NO_CHANGE in view.text:
        named = ", ".join(sorted(sources)[:_MOST])
        yield _finding("view.missing_change", f"says that no source changed, but these did: {named}", view)
    elif view.name in ("structured", "oracle_structured") and sources - set(claimed) and len(claimed) < _MOST:
        named = ", ".join(sorted(sources - set(claimed))[:_MOST])
        yield _finding("view.missing_change", f"does not name changed files: {named}", view)


def _committed(ledger: Ledger) -> set[str]:
    return {path for path, known in ledger.files.items() if known.committed}


def _results(view: View, known: Known) -> Iterator[Finding]:
    """Gate 3, tests: a run that failed, as its exit code says, is not called passed."""
    for fact in view.facts:
        if fact.type != "test_result" or not fact.value.startswith("passed"):
            continue
        when, code = known.ended.get(fact.key, (-1, 0))
        if code and when >= fact.step:
            yield _finding("view.false_result", f"says passed of a run with exit {code}: {fact.key[:120]}", view)


def _steps(view: View) -> Iterator[Finding]:
    late = [fact for fact in view.facts if not 0 <= fact.step < view.k]
    if late:
        yield _finding("view.future_fact", f"a fact cites step {late[0].step}, the cut is at {view.k}", view)


def _secrets(view: View, shown: Shown, known: Known) -> Iterator[Finding]:
    """Gate 4: redacting once more finds nothing."""
    if all(known.shared.trace.leaves(text) for text in shown):
        return
    scrubber = Shared(known.prefix.root).trace  # a new one, that counts what it finds
    for text in _texts(view):
        scrubber.text(text)
    if scrubber.counts:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(scrubber.counts.items()))
        yield _finding("view.secret", f"holds what looks like a secret: {kinds}", view)


def _size(view: View, budget: int | None) -> Iterator[Finding]:
    """Gate 5: no larger than allowed, and as large as it says."""
    if budget is not None and view.tokens > budget:
        yield _finding("view.over_budget", f"{view.tokens} tokens, {budget} allowed", view)
    if view.text and view.tokens != estimate_tokens(view.text):
        yield _finding("view.miscounted", f"says {view.tokens} tokens, has {estimate_tokens(view.text)}", view)
