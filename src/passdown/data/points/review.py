"""Reviews: somebody looked at the work, and their comments are there."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.points.brought import brings
from passdown.data.points.delegation import is_away, returns
from passdown.data.points.fetched import shows
from passdown.data.points.run import Found, Run
from passdown.data.points.signals import Signals
from passdown.data.records import Mark
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AssistantMessage, ToolCall, UserMessage

_ABOUT = lazy_pattern(r"(?i)\breview(?:er|ing|s)?\b")
_VERDICT = lazy_pattern(r"(?i)\b(?:verdict|approved?|reject(?:ed)?|findings?|blockers?|major|minor|nits?|lgtm)\b")
_DOES = lazy_pattern(
    r"(?i)\b(?:fix(?:es|ing)?|address(?:es|ing)?|apply(?:ing)?|respond(?:ing)?|resolv(?:e|ing))\b"
    r"|\A\W*(?:explore|find|search|collect|implement|add|build|write|create|draft|update|list|analy[sz]e|investigate"
    r"|read|summari[sz]e|mend|repair|migrate|reply|answer|triage|handle|post)\b"
)
"""What a subagent does that is sent to do what a review asks for, or something else that has to do with reviews."""
_LEADS = lazy_pattern(r"(?i)\W*(?:\w+\W+)?review(?:er|ing)?\b(?!\s+(?:fix|comment|feedback|finding))")
_RESULT = lazy_pattern(r"<result>([\s\S]*?)(?:</result>|\Z)")
_MATE = lazy_pattern(r"\A\s*<teammate-message\b[^>]*>(?!\s*\{)")
_NAMED = lazy_pattern(r'\b(?:teammate_id|summary)="([^"\n]*)"')
"""What a member of a team of agents says, and who that is; `{` is what its harness says of it."""
_SUMMARY = lazy_pattern(r"<summary>([^\n]*?)</summary>")
_ENDED = lazy_pattern(r"<[^<>\n]{0,80}exit code -?\d+>")
_FORGES = ("gh ", "glab ")
_OWN = "::code-comment{"
_SHORT = 80
"""Characters below which a return only says that there is one."""


def marks(run: Run) -> Iterator[Found]:
    """Yield where the comments of a review have just come in."""
    away: dict[str, ToolCall] = {}
    reviewers = 0
    for at, signals in enumerate(run.signals):
        found = _wrote(signals) or _fetched(signals) or _told(signals) or _said(signals)
        for one in returns(signals, at, away):
            if _reviews(one.call):
                found = found or len(_result(one.text) if one.note else one.text) > _SHORT
        for event in signals.delegated:
            results = signals.results.get(event.call_id, [])
            if is_away(results):
                away[event.call_id] = event
                reviewers += _reviews(event)
            elif _reviews(event):
                found = found or (results[-1].outcome == "ok" and len(results[-1].text) > _SHORT)
        if reviewers and not found:
            found = _delivered(signals)
        if found:
            yield Found(at + 1, Mark(detector="review_received", kind="review", steps=(at,)))


def _reviews(call: ToolCall) -> bool:
    """Say whether a subagent was sent to review, and not to do what a review asks for."""
    for name in ("description", "subagent_type", "agent_type", "name", "title"):
        value = call.arguments.get(name)
        if isinstance(value, str) and _ABOUT.search(value):
            return _is_review(value)
    prompt = call.arguments.get("prompt") or call.arguments.get("message")
    return isinstance(prompt, str) and _ABOUT.search(prompt[:160]) is not None and _is_review(prompt[:160])


def _is_review(words: str) -> bool:
    return _LEADS.match(words) is not None or _DOES.search(words) is None


def _result(note: str) -> str:
    """Return what a note of the harness hands on of a subagent's report."""
    found = _RESULT.search(note)
    return found.group(1).strip() if found else ""


def _wrote(signals: Signals) -> bool:
    return any(isinstance(event, AssistantMessage) and _OWN in event.text for event in signals.step.events)


def _said(signals: Signals) -> bool:
    return any(
        isinstance(event, UserMessage) and event.origin in ("human", "queued") and brings(event.text)
        for event in signals.step.events
    )


def _told(signals: Signals) -> bool:
    """Say whether a member of a team of agents that was to review reported."""
    for event in signals.step.events:
        if isinstance(event, UserMessage) and event.origin == "injected" and (mate := _MATE.match(event.text)):
            names = _NAMED.findall(mate.group())
            if any(_ABOUT.search(name) for name in names) and all(_is_review(name) for name in names):
                return len(event.text) - mate.end() > _SHORT
    return False


def _fetched(signals: Signals) -> bool:
    done = {action.call_id for action in signals.done if action.ok is not False}
    forge = {action.call_id for action in signals.done if action.kind == "VCS" and action.target.startswith(_FORGES)}
    for event in signals.step.events:
        if not isinstance(event, ToolCall) or event.call_id not in done:
            continue
        results = signals.results.get(event.call_id)
        text = _ENDED.sub("", results[-1].text) if results and results[-1].outcome != "running" else ""
        if len(text) > _SHORT and shows(event, text, forge=event.call_id in forge):
            return True
    return False


def _delivered(signals: Signals) -> bool:
    """Say whether a reviewer's report was delivered after a note said that it was there."""
    for event in signals.step.events:
        if not isinstance(event, UserMessage) or event.origin != "injected" or "<result>" not in event.text:
            continue
        named = _SUMMARY.search(event.text[:4000])
        if _ABOUT.search(named.group(1) if named else event.text[:1200]) and len(_result(event.text)) > _SHORT:
            return True
    for action in signals.done:
        if action.target == "env:process":
            for result in signals.results.get(action.call_id, ()):
                if _ABOUT.search(result.text[:400]) and _VERDICT.search(result.text):
                    return True
    return False
