"""Reviewers: subagents that were sent to review, members of a team that do, and what they report."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall

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
_UNABLE = lazy_pattern(
    r"(?i)\b(?:unable to|cannot|can't|could not|couldn't) (?:locate|find|access|see|review|perform)[^.\n]{0,40}"
    r"\b(?:files?|changes|diff|branch|commits?|code|review|implementation)\b|\bnothing to review\b"
)
_LIST = lazy_pattern(r"(?m)^\s*(?:[-*+\u2022]|\d{1,2}[.)]|#{1,6}|\|)\s")
"""A reviewer who could not review, and a list, which a report has all the same."""
_TOP = 300
_SHORT = 80
"""Characters below which a report only says that there is one."""


def is_reviewer(call: ToolCall) -> bool:
    """Say whether a subagent was sent to review, and not to do what a review asks for."""
    for name in ("description", "subagent_type", "agent_type", "name", "title"):
        value = call.arguments.get(name)
        if isinstance(value, str) and _ABOUT.search(value):
            return _is_review(value)
    prompt = call.arguments.get("prompt") or call.arguments.get("message")
    return isinstance(prompt, str) and _ABOUT.search(prompt[:160]) is not None and _is_review(prompt[:160])


def _is_review(words: str) -> bool:
    return _LEADS.match(words) is not None or _DOES.search(words) is None


def result_in(note: str) -> str:
    """Return what a note of the harness hands on of a subagent's report."""
    found = _RESULT.search(note)
    return found.group(1).strip() if found else ""


def report_of_mate(text: str) -> str:
    """Return what a member of a team of agents that was to review reported; empty for any other text."""
    mate = _MATE.match(text)
    names = _NAMED.findall(mate.group()) if mate else ()
    if mate is None or not any(_ABOUT.search(name) for name in names) or not all(_is_review(name) for name in names):
        return ""
    return _long(text[mate.end() :])


def report_in_note(text: str) -> str:
    """Return the report of a reviewer that a note of the harness hands on; empty for any other text."""
    if "<result>" not in text:
        return ""
    named = _SUMMARY.search(text[:4000])
    return _long(result_in(text)) if _ABOUT.search(named.group(1) if named else text[:1200]) else ""


def is_verdict(text: str) -> bool:
    """Say whether an answer to a look at what runs in the background is a reviewer's verdict."""
    return _ABOUT.search(text[:400]) is not None and _VERDICT.search(text) is not None


def is_told(text: str) -> bool:
    """Say whether an answer is long enough to tell what a review says, and not only that there is one."""
    return len(text) > _SHORT


def is_report(text: str) -> bool:
    """Say whether what a reviewer gave back is a report, and not only the word that there is one, or none was made."""
    return is_told(text) and (_UNABLE.search(text[:_TOP]) is None or _LIST.search(text) is not None)


def _long(text: str) -> str:
    return text if is_report(text) else ""
