"""Reviews: somebody looked at the work, and their comments are there."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.points.delegation import is_away, returns
from passdown.data.points.run import Found, Run
from passdown.data.points.signals import Signals
from passdown.data.records import Mark
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AssistantMessage, ToolCall, UserMessage

_ASKED = lazy_pattern(
    r"(?im)\breview(?:er)?(?:'s)?s? (?:comments?|feedback|findings|notes|remarks)\b"
    r"|\b(?:comments?|feedback|findings) (?:from|of|in|on) (?:the |my |your |this )?(?:code |pr |pull request )?review"
    r"|\baddress(?:ing)? (?:the |these |all |my |those )*(?:\w+ )?(?:review|comments|feedback|findings)\b"
    r"|\b(?:changes requested|requested changes)\b|^\s*(?:nit|nitpick|blocking|suggestion)s?\b\s*(?:\(.{0,40}\))?:"
    r"|^\s*(?:[-*] )?\[(?:P[0-3]|blocker|major|minor|nit)\]"
)
_ABOUT = lazy_pattern(r"(?i)\breview(?:er|ing|s)?\b")
_PULLS = lazy_pattern(
    r"\bgh api\b(?:(?!\s(?:-f|-F|--field|--raw-field|--input|-X|--method)\b)[^\n|;&])*"
    r"\bpulls/[^\s/]+/(?:comments|reviews)\b"
    r"(?!/)(?![^\n|;&]*\s(?:-f|-F|--field|--raw-field|--input|-X|--method)\b)"
    r"|\bgh pr view\b[^\n|;&]*(?:\s(?:--comments|-c)\b|--json[ =][^\s]*\b(?:comments|reviews)\b)"
    r"|\bglab mr (?:note|view)\b[^\n|;&]*--comments"
)
_VERDICT = lazy_pattern(r"(?i)\b(?:verdict|approved?|reject(?:ed)?|findings?|blockers?|major|minor|nits?|lgtm)\b")
_ANSWERS = lazy_pattern(r"(?i)\b(?:fix(?:es|ing)?|address(?:es|ing)?|apply(?:ing)?|respond(?:ing)?|resolv(?:e|ing))\b")
_LEADS = lazy_pattern(r"(?i)\W*(?:\w+\W+)?review(?:er|ing)?\b(?!\s+(?:fix|comment|feedback|finding))")
_ENDED = lazy_pattern(r"<[^<>\n]{0,80}exit code -?\d+>")
_PROSE = lazy_pattern(r"(?:\b[A-Za-z'`-]+[,;:.]? ){3}[A-Za-z'`-]+")
"""Four words in a row: what a comment has, and a list of names and states has not."""
_OWN = "::code-comment{"
_SHORT = 80
"""Characters below which a return only says that there is one."""


def marks(run: Run) -> Iterator[Found]:
    """Yield where the comments of a review have just come in."""
    away: dict[str, ToolCall] = {}
    reviewers = 0
    worked = False
    for at, signals in enumerate(run.signals):
        found = _said(signals, worked) or _fetched(signals)
        for one in returns(signals, at, away):
            if _reviews(one.call) and (not one.note or "<result>" in one.text):
                found = found or len(one.text) > _SHORT
        for event in signals.delegated:
            results = signals.results.get(event.call_id, [])
            if is_away(results):
                away[event.call_id] = event
                reviewers += _reviews(event)
            elif _reviews(event):
                found = found or (results[-1].outcome == "ok" and len(results[-1].text) > _SHORT)
        if reviewers and not found:
            found = _delivered(signals)
        worked = worked or bool(signals.edits)
        if found:
            yield Found(at + 1, Mark(detector="review_received", kind="review", steps=(at,)))


def _reviews(call: ToolCall) -> bool:
    """Say whether a subagent was sent to review, and not to do what a review asks for."""
    for name in ("description", "subagent_type", "agent_type", "name", "title"):
        value = call.arguments.get(name)
        if isinstance(value, str) and _ABOUT.search(value):
            return _LEADS.match(value) is not None or _ANSWERS.search(value) is None
    prompt = call.arguments.get("prompt") or call.arguments.get("message")
    return isinstance(prompt, str) and _ABOUT.search(prompt[:160]) is not None


def _said(signals: Signals, worked: bool) -> bool:
    for event in signals.step.events:
        if isinstance(event, AssistantMessage) and _OWN in event.text:
            return True
        if not worked or not isinstance(event, UserMessage) or event.origin not in ("human", "queued"):
            continue
        if _ASKED.search(event.text[:8000]):
            return True
    return False


def _fetched(signals: Signals) -> bool:
    for action in signals.done:
        if action.kind == "VCS" and action.ok is not False and action.target.startswith(("gh ", "glab ")):
            call = next(
                event
                for event in signals.step.events
                if isinstance(event, ToolCall) and event.call_id == action.call_id
            )
            if _PULLS.search(call.command[:4000]):
                results = signals.results.get(action.call_id)
                text = results[-1].text if results else ""
                return len(text) > _SHORT and _PROSE.search(_ENDED.sub("", text)) is not None
    return False


def _delivered(signals: Signals) -> bool:
    """Say whether a reviewer's report was delivered after a note said that it was there."""
    for event in signals.step.events:
        if not isinstance(event, UserMessage) or event.origin != "injected" or "<result>" not in event.text:
            continue
        if _ABOUT.search(event.text[:1200]):
            return True
    for action in signals.done:
        if action.target == "env:process":
            for result in signals.results.get(action.call_id, ()):
                if _ABOUT.search(result.text[:400]) and _VERDICT.search(result.text):
                    return True
    return False
