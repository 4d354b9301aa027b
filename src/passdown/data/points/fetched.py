"""Comments of a review in what a call showed: those of a forge, or of a program that reviews."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall

_MOST = 200_000
"""Characters of an answer that are looked at."""

_WRITES = r"\s(?:-f|-F|--field|--raw-field|--input|-X|--method)\b"
_READS = rf"\bgh api\b(?:(?!{_WRITES})[^\n|;&])*\b"
_ONLY = rf"(?![/\w])(?![^\n|;&]*{_WRITES})"
_REVIEWS = lazy_pattern(
    rf"{_READS}pulls/(?:[^\s/]+/(?:comments|reviews(?:/\d+(?:/comments)?)?)|comments/\d+){_ONLY}"
    r"|\bgh api graphql\b(?![\s\S]*\bmutation\b)[\s\S]*\b(?:reviewThreads|reviews|latestReviews)\b"
    r"|\bgh pr view\b[^\n|;&]*(?:\s(?:--comments|-c)\b|--json[ =][^\s]*\b(?:comments|reviews|latestReviews)\b)"
    r"|\bglab mr (?:note|view)\b[^\n|;&]*--comments"
)
_ISSUE = lazy_pattern(rf"{_READS}issues/[^\s/]+/comments{_ONLY}")
"""A change has an issue's comments too, and these need not come from somebody who read it."""
_PROGRAM = lazy_pattern(
    r"(?:\A|[;&|(\n])\s*(?!(?:git|gh|glab|hub|npm|pnpm|yarn|bun) )[\w./-]+ (?:exec )?review(?![\w:.-])"
)
"""A program that reviews, as `coderabbit review --plain`."""
_TOOL = lazy_pattern(r"(?i)(?:get|list|read|fetch)_?\w*(?:review|pull_?request|pr)\w*_?(?:comments|reviews|threads)")
_METHOD = lazy_pattern(r"(?i)\Aget_?(?:review_?comments|review_?threads|reviews|comments)\Z")
_REVIEWER = lazy_pattern(r"(?i)\breview|rabbit|copilot|bugbot|greptile|qodo|\bpotential issue\b")
_SERVICES = frozenset((
    "codecov", "coveralls", "vercel", "netlify", "dependabot", "renovate", "changeset-bot", "linear", "cla-assistant",
    "sonarqubecloud",
))  # fmt: skip
"""Those who say on a change what they built or measured, without having read it."""
_JSON = lazy_pattern(r"(?m)^[\[{]")
_NEXT = lazy_pattern(r"\S|\Z")
_DECODER = json.JSONDecoder()
_PARTS = frozenset(("reviews", "latestReviews", "reviewThreads", "comments"))
_PROSE = lazy_pattern(r"(?:\b[A-Za-z'`-]{1,40}[,;:.]? ){3}[A-Za-z'`-]")
"""Four words in a row: what a comment has, and a list of names and states has not."""


def shows(call: ToolCall, text: str, *, forge: bool) -> bool:
    """Say whether a call showed comments of a review, and not only that there are some, or what else was said.

    `forge` says that its command ran a forge's own program.
    """
    command = call.command[:4000]
    if command:
        issue = forge and _ISSUE.search(command) is not None
        if not issue and not (forge and _REVIEWS.search(command)) and not _PROGRAM.search(command):
            return False
        said = _comments(text[:_MOST])
        return _PROSE.search(said) is not None and (not issue or _REVIEWER.search(command + said) is not None)
    method = str(call.arguments.get("method", ""))
    if not _TOOL.search(call.tool) and not (_METHOD.match(method) and "pull" in call.tool):
        return False
    return _PROSE.search(_comments(text[:_MOST])) is not None


def _comments(text: str) -> str:
    """Return what people say in an answer: of JSON the bodies of comments, else all of it."""
    at = _JSON.search(text)
    if at is None:
        return _of_people(text)
    said: list[str] = []
    start = at.start()
    while start < len(text):
        try:
            answer, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        said += _bodies(answer)
        following = _NEXT.search(text, end)
        start = following.start() if following else len(text)
    return "\n".join(said) if start > at.start() else text


def _of_people(text: str) -> str:
    """Leave out what services say, in what `gh pr view --comments` prints."""
    kept: list[str] = []
    service = False
    for line in text.split("\n"):
        if line.startswith("author:\t"):
            service = line[8:].strip().removesuffix("[bot]") in _SERVICES
        if not service:
            kept.append(line)
    return "\n".join(kept)


def _bodies(answer: Any) -> Iterator[str]:
    """Yield what comments say. The body of the change itself, which lists them, is none of it."""
    whole = isinstance(answer, dict) and ("data" in answer or not _PARTS.isdisjoint(answer))
    left: list[tuple[Any, bool]] = [(answer, not whole)]
    while left:
        value, inside = left.pop()
        if isinstance(value, list):
            left += [(one, inside) for one in value]
        elif isinstance(value, dict) and _author(value) not in _SERVICES:
            left += [(part, inside or key in _PARTS) for key, part in value.items() if isinstance(part, (dict, list))]
            texts = {key: part for key, part in value.items() if isinstance(part, str)}
            if inside:
                yield from [part for key, part in texts.items() if "body" in key] or texts.values()


def _author(comment: dict[str, Any]) -> str:
    by = comment.get("author") or comment.get("user")
    name = by.get("login") if isinstance(by, dict) else by
    return name.removesuffix("[bot]") if isinstance(name, str) else ""
