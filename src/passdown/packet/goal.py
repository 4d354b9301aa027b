"""The goal: what a person wanted, in the words of the contract, the board, or the person."""

from __future__ import annotations

from passdown.model.evidence import Basis, Directive
from passdown.packet.context import Context
from passdown.packet.vague import is_filler, is_rounding_off, is_vague


def find_goal(context: Context) -> tuple[str | None, Basis | None]:
    """Return the goal and its basis: contract, board, feature, else the first human request of the earliest session.

    Where that is missing or says no more than "go on", the goal of the packet before; of a session that is a
    subagent's own, what it was told to do. Never invented: `(None, None)` where nobody stated one.
    """
    task = context.active_task
    text = (context.contract.goal if context.contract else "") or (task.goal if task else "")
    if not text.strip():
        request = first_request(context)
        carried = _carried(context)
        text = (
            carried if carried and (request is None or is_vague(request.text)) else wish_of(request) if request else ""
        )
        assignment = context.evidence.assignment
        text = text or (assignment.text if assignment else "")
    return (text, "declared") if text.strip() else (None, None)


def _carried(context: Context) -> str:
    """Return the goal of the packet before; not on the integration branch, which sees one work after another."""
    repository, previous = context.evidence.repository, context.previous
    own = repository.branch not in ("", repository.integration_branch, "main", "master")
    return (previous.goal or "") if (own or context.sessions_gone) and previous is not None else ""


def first_request(context: Context) -> Directive | None:
    """Return the earliest session's first human message that asks for something."""
    evidence = context.evidence
    started = sorted(evidence.sessions, key=lambda s: (s.started_at is None, s.started_at or 0))
    order = [session.session_id for session in started]
    asked = (
        [directive for directive in evidence.directives if not is_vague(directive.text)]
        or [directive for directive in evidence.directives if directive.origin == "command"]
        or list(evidence.directives)
    )
    for name in order:
        for directive in asked:
            if directive.source and directive.source.kind == "session" and directive.source.path == name:
                return directive
    return asked[0] if asked else None


def last_request(context: Context) -> Directive | None:
    """Return the last human message that asks for something: more than "go on", "yes" or "thanks".

    Without one, the last slash command that stands for a prompt.
    """
    directives = context.evidence.directives
    asked = [d for d in directives if d.origin == "human" and not is_filler(d.text)]
    asked = asked or [d for d in directives if d.origin == "command"]
    return asked[-1] if asked else None


def last_substance(context: Context) -> Directive | None:
    """Return the last request that is about the work itself, not about committing or pushing it; else the last one."""
    last = last_request(context)
    asked = [d for d in context.evidence.directives if d.origin == "human" and not is_filler(d.text)]
    return next((d for d in reversed(asked) if not is_rounding_off(d.text)), last)


def wish_of(request: Directive) -> str:
    """Return the words of a request; of a plan, its title; of a slash command, that it is one."""
    if request.origin == "command":
        return f"{request.text} (slash command)"
    if request.origin != "plan":
        return request.text
    _, _, plan = request.text.partition(":")
    lines = [line.strip().lstrip("#").strip() for line in plan.splitlines()]
    title = next((line for line in lines if line), "")
    named, colon, rest = title.partition(":")
    return rest.strip() if colon and rest.strip() and named.casefold() in {"plan", "implementation plan"} else title
