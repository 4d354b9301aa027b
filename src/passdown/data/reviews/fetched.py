"""Comments of a review that a call showed: those of a forge, or of a program that reviews."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from passdown.data.reviews.comment import Comment, comments_in, visible
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall

_MOST = 200_000
"""Characters of an answer that are looked at."""

_WRITES = r"\s(?:-f|-F|--field|--raw-field|--input|-X|--method)\b"
_READS = rf"\bgh api\b(?:(?!{_WRITES})[^\n|;&])*\b"
_ONLY = rf"(?![/\w])(?![^\n|;&]*{_WRITES})"
_REVIEWS = lazy_pattern(
    rf"{_READS}pulls/(?:(?:\$\([^()\n]*\)|[^\s/]+)/(?:comments|reviews(?:/\d+(?:/comments)?)?)|comments/\d+){_ONLY}"
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
_SPEAKER = lazy_pattern(r"\nauthor:\t")
_JSON = lazy_pattern(r"(?m)^[\[{]")
_NEXT = lazy_pattern(r"\S|\Z")
_DECODER = json.JSONDecoder()
_PARTS = frozenset(("reviews", "latestReviews", "reviewThreads", "comments"))
_PROSE = lazy_pattern(
    r"(?:(?<!\w)[^\W\d_][\w'`-]{0,39}[,;:.]? ){3}[^\W\d_]|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af][^\x00-\x7f]{7}"
)
"""Four words in a row, or eight signs of a script without spaces: a list of names and states has neither."""

_FAILED = lazy_pattern(
    r"(?i)\s*(?:error:|error connecting|gh: |graphql: |fatal: |exited [1-9]|http (?:error )?[45]\d\d|could not resolve"
    r"|unknown json field|no pull requests found|to get started with github cli)"
)
"""What is printed where nothing was fetched."""
_BODY = lazy_pattern(r'"\w*body\w*"\s*:\s*"((?:[^"\\]|\\.)*)')
_PART = lazy_pattern(r'"(?:reviews|latestReviews|reviewThreads|comments)"\s*:')
"""What comments stand under in JSON, and what the whole change's own description does not."""
_ANSWER = lazy_pattern(
    r"(?i)\W{0,4}(?:(?:good|nice|great) (?:catch|point)\W{1,3}|thank(?:s| you)\W{1,3}|agreed\W{1,3})?"
    r"(?:fixed|done|addressed|resolved|applied|implemented)\b"
    r"[^\n]{0,30}\b(?:in|by|with|as of) (?:commit )?\W{0,2}[0-9a-f]{7,40}\b"
)
"""What somebody answers who dealt with a comment: `Fixed in 1a2b3c4`."""


def fetched(call: ToolCall, text: str, *, forge: bool) -> list[Comment]:
    """Return the comments that a call showed: none where it only showed that there are some, or what else was said.

    `forge` says that its command ran a forge's own program.
    """
    command = call.command[:4000]
    if not command:
        method = str(call.arguments.get("method", ""))
        asked = _TOOL.search(call.tool) or (_METHOD.match(method) and "pull" in call.tool)
        return _comments(text[:_MOST]) if asked else []
    if _FAILED.match(text):
        return []
    issue = forge and _ISSUE.search(command) is not None
    if not issue and not (forge and _REVIEWS.search(command)) and not _PROGRAM.search(command):
        return []
    found = _comments(text[:_MOST])
    said = " ".join((command, *(comment.text for comment in found)))
    return found if not issue or _REVIEWER.search(said) else []


def _comments(text: str) -> list[Comment]:
    """Return what people say in an answer: of JSON the bodies of comments, else all of it; not what was dealt with."""
    shown = (comment._replace(text=visible(comment.text)) for comment in _all(text))
    return [comment for comment in shown if _PROSE.search(comment.text) and not _ANSWER.match(comment.text)]


def _all(text: str) -> list[Comment]:
    at = _JSON.search(text)
    if at is None:
        return _of_people(text)
    said: list[Comment] = []
    start = at.start()
    while start < len(text):
        try:
            answer, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        said += _bodies(answer)
        following = _NEXT.search(text, end)
        start = following.start() if following else len(text)
    if said or _BODY.search(text, start):
        return said + _torn(text[start:])
    return comments_in(text) if start == at.start() else []


def _torn(text: str) -> list[Comment]:
    """Return what can be read of the comments of JSON that was cut."""
    part = _PART.search(text)
    bodies = _BODY.finditer(text, part.end() if part else 0)
    return [Comment(_unescaped(found.group(1))) for found in bodies]


def _unescaped(body: str) -> str:
    try:
        return str(json.loads(f'"{body}"', strict=False))
    except ValueError:
        return body


def _of_people(text: str) -> list[Comment]:
    """Return what is printed, without what services say: `gh pr view --comments` names who speaks, and then `--`."""
    first, *parts = _SPEAKER.split("\n" + text)
    said = comments_in(first)
    for part in parts:
        head, _, body = part.partition("\n--\n")
        if head.partition("\n")[0].strip().removesuffix("[bot]") not in _SERVICES:
            said += comments_in(body.removesuffix("\n--"))
    return said


def _bodies(answer: Any) -> Iterator[Comment]:
    """Yield what comments say. The body of the change itself, which lists them, is none of it."""
    whole = isinstance(answer, dict) and ("data" in answer or not _PARTS.isdisjoint(answer))
    left: list[tuple[Any, bool]] = [(answer, not whole)]
    while left:
        value, inside = left.pop()
        if isinstance(value, list):
            left += [(one, inside) for one in reversed(value)]
        elif isinstance(value, dict) and _author(value) not in _SERVICES and value.get("isResolved") is not True:
            parts = [(key, part) for key, part in value.items() if isinstance(part, (dict, list))]
            left += [(part, inside or key in _PARTS) for key, part in reversed(parts)]
            texts = {key: part for key, part in value.items() if isinstance(part, str)}
            if inside:
                bodies = [part for key, part in texts.items() if "body" in key] or texts.values()
                yield from (Comment(body, _place(value)) for body in bodies)


def _author(comment: dict[str, Any]) -> str:
    by = comment.get("author") or comment.get("user")
    name = by.get("login") if isinstance(by, dict) else by
    return name.removesuffix("[bot]") if isinstance(name, str) else ""


def _place(comment: dict[str, Any]) -> str:
    path, line = comment.get("path"), comment.get("line")
    return (
        f"{path}:{line}" if isinstance(path, str) and isinstance(line, int) else path if isinstance(path, str) else ""
    )
