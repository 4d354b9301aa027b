"""The one next step: given, taken from the state, or derived by a fixed order of rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import structs

from passdown.errors import NextActionError
from passdown.evidence.proving import proving_part
from passdown.model.evidence import Basis, CommandChain, Directive, Statement
from passdown.model.packet import NextAction, Question, RemainingItem, Risk
from passdown.model.pattern import lazy_pattern
from passdown.packet.brief import brief
from passdown.packet.caps import LISTS
from passdown.packet.carry import step_of_gone
from passdown.packet.changed import removed_paths, runs_what_is_gone
from passdown.packet.context import Context
from passdown.packet.criteria import is_command
from passdown.packet.excused import are_excused
from passdown.packet.goal import first_request, last_request, last_substance, wish_of
from passdown.packet.irreversible import needs_a_human
from passdown.packet.looking import looks_around
from passdown.packet.noted import NOTE, noted_step
from passdown.packet.paths import mentioned_paths
from passdown.packet.questions import NEXT_ACTION
from passdown.packet.stated import is_answered_question, is_carried_out, is_closed, says_what_next
from passdown.packet.vague import MAX_LENGTH, is_vague, refusal

_TEST_NAME = lazy_pattern(r"[\w./:\-\[\]#@+=,]{1,160}")
_SPAN = lazy_pattern(r"`([^`\n]{2,300})`")

_NOTHING_KNOWN = "derived:nothing_known"
_MAX_QUOTE = 220

Kind = Literal["command", "edit", "ask", "review"]


def choose_next_action(
    context: Context,
    given: str | None,
    questions: list[Question],
    risks: list[Risk],
    remaining: list[RemainingItem],
) -> NextAction:
    """Return the next action: the given one, the newest noted one, the state's, else the first that a rule derives.

    Raises `NextActionError` when the given one is vague or ignores a question it waits for. When nothing is known, it
    is to look around; `require_step` refuses that for a final packet.
    """
    asked = next((q for q in questions if NEXT_ACTION in q.blocks), None)
    if given is not None:
        return _finish(context, _given(context, given, asked))
    noted = noted_step(context)
    if noted is not None and (asked is None or asked.id in noted.text):
        action = _stated(context, noted.text, f"{NOTE}{context.name('N-', noted.id, noted.text)}", asked)
        return _finish(context, structs.replace(action, by=noted.by))
    state = context.evidence.workbench.state
    stated = state.next_action if state else ""
    if stated.strip() and not refusal(context.mask(stated)) and (asked is None or asked.id in stated):
        source = context.artifact("state") or "agent_state.json"
        return _finish(context, _stated(context, stated, source, asked))
    for action in _derived(context, questions, risks, remaining):
        if not refusal(context.mask(action.text)):
            return _finish(context, action)
    return _finish(context, _look_around(context))


def require_step(action: NextAction) -> None:
    """Raise `NextActionError` for an action that is no better than looking around."""
    if action.source == _NOTHING_KNOWN:
        raise NextActionError(
            "no usable next action can be derived: no open item says what to do in so many words",
            next_step='Say it: `passdown wrap --next "<one concrete step>"`, or `passdown wrap --interim` without one.',
        )


def state_refusal(context: Context) -> str:
    """Return why the state's next action was not taken over, or an empty string."""
    state = context.evidence.workbench.state
    return refusal(context.mask(state.next_action)) if state and state.next_action.strip() else ""


def _given(context: Context, text: str, asked: Question | None) -> NextAction:
    reason = refusal(context.mask(text))
    if reason:
        raise NextActionError(
            f"the next action is not usable: {reason}",
            where=context.mask(text)[:80],
            next_step="Name one concrete step: a path, a command, or a question's id, on one line.",
        )
    if asked is not None and asked.id not in text:
        raise NextActionError(
            f"the next action waits for the open question {asked.id} but does not name it",
            where=context.mask(text)[:80],
            next_step=f'Name it ("get the answer to {asked.id}"), or choose work that does not depend on it.',
        )
    return _stated(context, text, "given", asked)


def _stated(context: Context, text: str, source: str, asked: Question | None) -> NextAction:
    command = next((span for span in _SPAN.findall(text) if is_command(context, span)), "")
    kind: Kind = "ask" if asked else "command" if command else "edit"
    return NextAction(
        text=text.strip(), kind=kind, command=command, question_id=asked.id if asked else "", source=source,
        basis="declared",
    )  # fmt: skip


def _derived(
    context: Context, questions: list[Question], risks: list[Risk], remaining: list[RemainingItem]
) -> Iterator[NextAction]:
    yield from _owed(questions)
    yield from _failing(context)
    yield from _blocking(risks)
    earlier = step_of_gone(context)
    if earlier is not None and earlier.kind == "command":  # a failing test; any other gives way to what is open here
        yield earlier
    for rule, items in _open_items(remaining):
        for item in items:
            text = f"{item.id}: {item.text}" if rule.startswith("board") and is_vague(item.text) else item.text
            if not is_vague(text):
                yield _action(text, f"derived:{rule}", basis=item.basis)
    if earlier is not None:
        yield earlier
    step, request = context.evidence.last_step, last_request(context)
    waiting = request is not None and step is not None and _is_after(request, step)
    ahead = step is not None and says_what_next(step.text) and not is_carried_out(step)
    if step is not None and ahead and not waiting:
        yield _action(_one(context, step.text), "derived:last_step", basis="declared")
    if request is not None:
        yield _requested(context, request, waiting=waiting)
    elif context.evidence.cut_off and (begun := _begun_last(context)):
        ended = f"Find out whether `{begun}` finished; the session ended in the middle of it"
        yield _action(_one(context, ended), "derived:begun", kind="review")
    elif (wish := first_request(context)) is not None and context.evidence.repository.changes:
        yield _action(f"Review the diff against the plan “{wish_of(wish)}”", "derived:plan", kind="review")


def _is_after(request: Directive, said: Statement) -> bool:
    """Say whether a person asked after the agent's last words: by the clock, else by the line of their session."""
    if request.at and said.at:
        return request.at > said.at
    asked, answered = request.source, said.source
    if asked is None or answered is None or (asked.kind, asked.path) != (answered.kind, answered.path):
        return False
    return asked.line > answered.line > 0


def _requested(context: Context, request: Directive, *, waiting: bool) -> NextAction:
    """Return what the last request leaves to do; `waiting` when the agent said nothing after it."""
    repository = context.evidence.repository
    changed = bool(repository.changes or repository.commits)
    if waiting or not (changed or is_closed(context.evidence, request)):
        return _about(context, "Take up the last request", request)
    removed = frozenset() if changed else removed_paths(context)
    edited = [touch.path for touch in context.evidence.touches if not touch.failed and touch.path not in removed]
    if not changed and edited:
        named = ", ".join(edited[:3]) + (f" and {len(edited) - 3} more" if len(edited) > 3 else "")
        lost = f"Find out where the session's changes went: git shows none of {named}"
        return _action(_one(context, lost), "derived:claims")
    if not changed or is_answered_question(context.evidence, request):
        ask = "Ask the human what is next; the agent's turn is closed after the last request"
        return _about(context, ask, request, kind="review")
    if context.evidence.cut_off:
        begun = _begun_last(context)
        go_on = f"Find out whether `{begun}` finished, then go on with" if begun else "Go on with"
        return _about(context, f"{go_on} the last request", request, "; the session ended in the middle of it")
    return _about(
        context, "Review the diff against the last request", last_substance(context) or request, kind="review"
    )


def _about(context: Context, before: str, request: Directive, after: str = "", kind: Kind = "edit") -> NextAction:
    """Return an action that quotes a request, as far as the length of an action leaves room for it."""
    room = min(_MAX_QUOTE, MAX_LENGTH - len(f"{before}: “”{after}"))
    return _action(f"{before}: “{_one(context, request.text, room)}”{after}", "derived:last_request", kind=kind)


def _begun_last(context: Context) -> str:
    """Return the command that the log ends in, when nothing says how it ended and it did more than look."""
    begun = [chain for chain in context.chains if chain.runs and not looks_around(chain.command)]
    newest = max(begun, key=lambda chain: chain.runs[-1].at or 0, default=None)
    if newest is None or newest.runs[-1].result != "unknown":
        return ""
    shown = brief(context.mask(newest.command), 80)
    return "" if "`" in shown else shown


def _owed(questions: list[Question]) -> Iterator[NextAction]:
    for question in questions:
        if question.severity == "block":
            text = f"Get the answer to {question.id}: {question.question}"
            yield structs.replace(_action(text, "derived:question", kind="ask"), question_id=question.id)


def _failing(context: Context) -> Iterator[NextAction]:
    tests = context.evidence.tests
    name = next((n for n in tests.failing if _TEST_NAME.fullmatch(n)), "")
    for chain in context.accepted:
        if chain.final != "ok":
            yield _repair(chain.command, name if len(context.accepted) == 1 else "", "acceptance")
    red = tests.state in ("red", "error") or (tests.state == "stale" and tests.last_outcome in ("red", "error"))
    if red and not are_excused(context.evidence):
        command = _failing_test(context)
        if command or name:
            yield _repair(command, name, "test")


def _failing_test(context: Context) -> str:
    failing: list[CommandChain] = [
        chain for chain in context.chains if chain.kind == "test" and chain.final != "ok" and chain.runs
    ]
    ran = [proving_part(chain.command) for chain in failing]
    known = [command for command in ran if command in context.evidence.tests.commands]
    decided = [proving_part(context.evidence.tests.decided_by)] if context.evidence.tests.decided_by else []
    commands = [*(known and decided), *known, *reversed(ran), *decided, *context.evidence.tests.commands]
    removed = removed_paths(context) if commands else frozenset()
    return next((command for command in commands if not runs_what_is_gone(context, command, removed)), "")


def _repair(command: str, name: str, rule: str) -> NextAction:
    shown = " ".join(command.split())
    quotable = "`" not in shown and len(shown) <= 200
    what = f"`{name}`" if name else f"`{shown}`" if quotable else f"the failing {rule} command (see `command`)"
    text = f"Make {what} pass"
    return structs.replace(_action(text, f"derived:failing_{rule}", kind="command"), command=shown)


def _blocking(risks: list[Risk]) -> Iterator[NextAction]:
    """Yield what a report, the workbench or git calls blocking; what is merely absent is no work to do."""
    for risk in risks:
        if risk.severity == "block" and not risk.code.endswith(".missing") and not risk.code.startswith("tests."):
            yield _action(f"Settle {risk.code}: {risk.detail}", "derived:blocking_finding")


def _open_items(remaining: list[RemainingItem]) -> Iterator[tuple[str, list[RemainingItem]]]:
    running = [item for item in remaining if item.status == "in_progress"]
    waiting = [item for item in remaining if item.status == "todo"]
    for rule, items in (("in_progress", running), ("todo", waiting)):
        yield f"plan_{rule}", [item for item in items if item.source == "plan"]
        yield f"board_{rule}", [item for item in items if item.source in ("board", "features")]
        yield f"carried_{rule}", [item for item in items if item.source == ""]


def _look_around(context: Context) -> NextAction:
    repository = context.evidence.repository
    if repository.unborn and not repository.changes:
        return _action("Ask the human what is wanted next: the repository is empty", _NOTHING_KNOWN, kind="review")
    base = repository.base
    command = f"git diff --stat {base[:12]}" if base else "git status"
    text = f"Review `{command}` and ask the human what is wanted next"
    return structs.replace(_action(text, _NOTHING_KNOWN, kind="review"), command=command)


def _action(text: str, source: str, *, kind: Kind = "edit", basis: Basis = "derived") -> NextAction:
    return NextAction(text=" ".join(text.split()), kind=kind, source=source, basis=basis)


def _one(context: Context, text: str, cap: int = MAX_LENGTH) -> str:
    flat = " ".join(context.mask(text).split())
    return flat if len(flat) <= cap else flat[: cap - 1].rstrip() + "…"


def _finish(context: Context, action: NextAction) -> NextAction:
    """Shorten, find the paths it names, keep the agent's own word beside it, and mark what waits for a person."""
    text = _one(context, action.text)
    step = context.evidence.last_step
    view = action.agents_view  # of a gone session
    if step is not None:
        view = "" if action.source == "derived:last_step" else _one(context, step.text)
    return structs.replace(
        action,
        text=text,
        paths=mentioned_paths(f"{text} {action.command}", context.look)[: LISTS["NextAction.paths"]],
        agents_view=view,
        requires_human=action.kind == "ask" or (action.kind != "review" and needs_a_human(text, action.command)),
    )
