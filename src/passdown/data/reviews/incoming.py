"""The comments of reviews that come in with a step: fetched by a command, or reported."""

from __future__ import annotations

from passdown.data.actions.delegated import is_away, looked_at, unwrapped
from passdown.data.records import Step
from passdown.data.reviews.comment import Comment, comments_in
from passdown.data.reviews.fetched import fetched
from passdown.data.reviews.own import own_comments
from passdown.data.reviews.reviewer import (
    is_report,
    is_reviewer,
    is_told,
    report_in_note,
    report_of_command,
    report_of_mate,
)
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AssistantMessage, ToolCall, ToolResult, UserMessage

_FORGES = ("gh ", "glab ")
_IN_COMMANDS = ("review", *_FORGES)
_IN_TOOLS = ("omments", "eviews", "hreads", "OMMENTS", "EVIEWS", "HREADS", "pull")
"""What every call has that shows comments: the program, or the name of the tool."""
_ENDED = lazy_pattern(r"<[^<>\n]{0,80}exit code -?\d+>")


def comments_of(step: Step) -> list[Comment]:
    """Return the comments that came in with a step, in order: a background reviewer's with the note or the look."""
    found: list[Comment] = []
    for event in step.events:
        if isinstance(event, UserMessage):
            found += _said(event)
        elif isinstance(event, AssistantMessage):
            found += own_comments(event.text)
        elif isinstance(event, ToolCall) and event.action == "delegate" and is_reviewer(event.arguments):
            results = _results(step, event.call_id)
            if not is_away(results) and results[-1].outcome == "ok" and is_report(results[-1].text):
                found += comments_in(unwrapped(results[-1].text))
        elif isinstance(event, ToolResult) and (look := looked_at(event.text)) and is_reviewer(look.about):
            found += comments_in(look.told) if is_report(look.told) else []
    return found + shown(step)


def _said(event: UserMessage) -> list[Comment]:
    if event.origin != "injected":
        return []
    text = event.text
    return comments_in(report_of_mate(text) or report_of_command(text) or report_in_note(text))


def shown(step: Step) -> list[Comment]:
    """Return the comments that the calls of a step showed."""
    calls = [event for event in step.events if isinstance(event, ToolCall) and _may_show(event)]
    if not calls:
        return []
    done = {action.call_id for action in step.actions if action.ok is not False}
    forge = {action.call_id for action in step.actions if action.kind == "VCS" and action.target.startswith(_FORGES)}
    found: list[Comment] = []
    for call in calls:
        results = _results(step, call.call_id) if call.call_id in done else []
        text = _ENDED.sub("", results[-1].text) if results and results[-1].outcome != "running" else ""
        if is_told(text):
            found += fetched(call, text, forge=call.call_id in forge)
    return found


def _may_show(call: ToolCall) -> bool:
    """Say whether a call is worth a look: most name neither a forge nor a review."""
    words = _IN_COMMANDS if call.command else _IN_TOOLS
    named = call.command or call.tool
    return any(word in named for word in words)


def _results(step: Step, call_id: str) -> list[ToolResult]:
    return [event for event in step.events if isinstance(event, ToolResult) and event.call_id == call_id]
