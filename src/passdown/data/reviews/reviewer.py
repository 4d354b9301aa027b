"""Reviewers: subagents that were sent to review, members of a team that do, and what they report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passdown.data.actions.delegated import handed_back, unwrapped
from passdown.model.pattern import lazy_pattern

_ABOUT = lazy_pattern(
    r"(?i)(?<!self[- ])\breview(?:er|ing|s)?\b|\bcritiqu(?:e|ing)\b|\brevue de code\b|\brelecture\b"
    r"|\brevisi[\u00f3o]n de c[\u00f3o]digo\b|\u0440\u0435\u0432\u044c\u044e|[\u5ba1\u5be9][\u67e5\u9605\u6838]"
    r"|\u8bc4\u5ba1|\u30ec\u30d3\u30e5\u30fc|\ub9ac\ubdf0|\uac80\ud1a0"
)
_VERDICT = lazy_pattern(r"(?i)\b(?:verdict|approved?|reject(?:ed)?|findings?|blockers?|major|minor|nits?|lgtm)\b")
_DOES = lazy_pattern(
    r"(?i)\b(?:fix(?:es|ing)?|address(?:es|ing)?|apply(?:ing)?|respond(?:ing)?|resolv(?:e|ing))\b"
    r"|\A\W*(?:explore|find|search|collect|implement|add|build|write|create|draft|update|list|analy[sz]e|investigate"
    r"|read|summari[sz]e|mend|repair|migrate|reply|answer|triage|handle|post)\b"
)
"""What a subagent does that is sent to do what a review asks for, or something else that has to do with reviews."""
_LEADS = lazy_pattern(r"(?i)\W*(?:\w+\W+)?review(?:er|ing)?\b(?!\s+(?:fix|comment|feedback|finding))")
_SAID = lazy_pattern(
    r"(?i)\breviewers?\W{1,3}(?:\w+ )?(?:reject|found|said|say|ask|flag|report|approv|return|want|rais|request|point)"
)
"""What speaks of a reviewer who is somebody else."""
_NAMES = ("description", "subagent_type", "agent_type", "agent", "agent_name", "name", "title")
_PROMPTS = ("prompt", "message", "task", "request", "instructions", "objective")
_ACTION = lazy_pattern(r"\s*<user_action>[\s\S]{0,600}?<action>review</action>\s*<results>([\s\S]*?)(?:</results>|\Z)")
_NOTHING = lazy_pattern(
    r"(?i)\bno (?:[\w-]+[ ,/]+){0,4}(?:changes|diff|code|commits?|files?) (?:to|for|that need) review"
    r"|\bno pude revisar\b|\bnothing to review\b"
)
"""A reviewer who had nothing before them."""
_ANNOUNCES = lazy_pattern(r"\s*[^\n]*[:\uff1a]\s*")
"""One line about what comes next: a reviewer who was stopped."""
_RESULT = lazy_pattern(r"<result>([\s\S]*?)(?:</result>|\Z)")
_MATE = lazy_pattern(r"\A\s*<teammate-message\b[^>]*>(?!\s*\{)")
_NAMED = lazy_pattern(r'\b(?:teammate_id|summary)="([^"\n]*)"')
"""What a member of a team of agents says, and who that is; `{` is what its harness says of it."""
_SUMMARY = lazy_pattern(r"<summary>([^\n]*?)</summary>")
_UNABLE = lazy_pattern(
    r"(?i)\b(?:unable to|cannot|can't|could not|couldn't) (?:locate|find|access|see|review|perform)[^.\n]{0,40}"
    r"\b(?:files?|changes|diff|branch|commits?|code|review|implementation)\b"
)
_LIST = lazy_pattern(r"(?m)^\s*(?:[-*+\u2022]|\d{1,2}[.)]|#{1,6}|\|)\s")
"""A reviewer who could not review, and a list, which a report has all the same."""
_TOP = 300
_SHORT = 80
"""Characters below which a report only says that there is one."""


def is_reviewer(about: Mapping[str, Any]) -> bool:
    """Say whether a subagent was sent to review, and not to do what a review asks for, by the arguments of its call."""
    names = [value for name in _NAMES if isinstance(value := about.get(name), str)]
    for value in names:
        if _ABOUT.search(value):
            return _is_review(value)
    if isinstance(described := about.get("description"), str) and _DOES.search(described):
        return False
    prompt = next((value for name in _PROMPTS if isinstance(value := about.get(name), str)), "")[:160]
    return _ABOUT.search(prompt) is not None and _SAID.search(prompt) is None and _is_review(prompt)


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


def report_of_command(text: str) -> str:
    """Return what a review found that a person began by a command (Codex's `/review`); empty for any other text."""
    found = _ACTION.match(text)
    return _long(found.group(1).strip()) if found else ""


def report_in_note(text: str) -> str:
    """Return the report of a reviewer that a note or a message of the harness hands on; empty for any other text."""
    if handed := handed_back(text):
        return _long(handed.told) if _ABOUT.search(handed.told[:_TOP]) else ""
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
    text = unwrapped(text)
    if not is_told(text) or _NOTHING.search(text[:_TOP]) or _ANNOUNCES.fullmatch(text):
        return False
    return _UNABLE.search(text[:_TOP]) is None or _LIST.search(text) is not None


def _long(text: str) -> str:
    return text if is_report(text) else ""
