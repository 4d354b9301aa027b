"""Whose commit it is: a person's, a bot's or a coding agent's; and what a person's words are without who they are."""

from __future__ import annotations

from typing import Literal

from passdown.model.pattern import lazy_pattern

Author = Literal["person", "bot", "agent"]

_BOT = lazy_pattern(
    r"(?i)\[bot\]|\bbots?\b|(?:^|[^a-z])(?:dependabot|renovate|greenkeeper|snyk|weblate|transifex|pyup|allcontributors|"
    r"semantic-release|release-please|github-actions|gitlab-ci|travis|jenkins|circleci|codecov|imgbot|mergify|"
    r"pre-commit-ci|copybara|crowdin)(?:[^a-z]|$)"
)
_AGENT = lazy_pattern(
    r"(?i)\b(?:claude|anthropic|copilot|codex|chatgpt|openai|cursor ?agent|openhands|all-hands|aider|devin(?:-ai)?|"
    r"gemini|qwen|opencode|sweep ?ai|jules|goose|amp)\b"
)
_MADE = lazy_pattern(r"(?im)^\W{0,6}generated (?:with|by) .{0,80}$")
_TRAILER = lazy_pattern(
    r"(?im)^(?:[A-Za-z]+(?:-[A-Za-z]+)*-by|cc|thanks(?:-to)?|author|committer|change-id|reviewers?|assignees?|"
    r"on-behalf-of)[ \t]*:.*$\n?"
)
_MAIL = lazy_pattern(r"[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}")
_MAIL_BYTES = lazy_pattern(rb"[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}")
NOBODY = "someone@example.com"
_PEOPLE = lazy_pattern(
    r"(?i)(?:^|/)(?:authors|contributors|maintainers|codeowners|credits|owners|\.mailmap)(?:\.\w+)?$"
)
_MERGED = lazy_pattern(
    r"Merge (?:pull request|PR) #\d+ from \S+|Merge (?:remote-tracking )?branch(?:es)? '([^'\n]{1,200})'.*|"
    r"Merge branch (\S{1,200}).*"
)
_LONGEST = 4000


def author_of(name: str, mail: str, message: str) -> Author:
    """Say who made a commit. Of name and mail nothing is kept."""
    if _BOT.search(name) or _BOT.search(mail.partition("@")[0]):
        return "bot"
    said = "\n".join(match[0] for match in _TRAILER.finditer(message))
    made = _MADE.search(message)
    if _AGENT.search(name) or _AGENT.search(said) or (made is not None and _AGENT.search(made[0])):
        return "agent"
    return "person"


def words_of(message: str, name: str) -> str:
    """Return a commit's message without trailers, mail addresses and its author's name."""
    text = _MAIL.sub(NOBODY, _TRAILER.sub("", _MADE.sub("", message[: 2 * _LONGEST])))
    if len(name.strip()) >= 4:
        text = text.replace(name.strip(), "someone")
    return text.strip()[:_LONGEST]


def without_mails(data: bytes) -> bytes:
    """Return a file's bytes with every mail address replaced by one that is nobody's."""
    return _MAIL_BYTES.sub(NOBODY.encode(), data) if b"@" in data else data


def lists_people(path: str) -> bool:
    """Say whether a file is there to name people."""
    return _PEOPLE.search(path) is not None


def title_of(merge: str) -> str:
    """Return what a merge says was merged: the request's title, else the branch's name without its owner."""
    subject, _, body = merge.strip().partition("\n")
    match = _MERGED.fullmatch(subject.strip())
    if match is None:
        return subject.strip()[:200]
    first = next((line.strip() for line in body.splitlines() if line.strip()), "")
    return (first or branch_words(match[1] or match[2] or ""))[:200]


def branch_words(branch: str) -> str:
    """Return a branch's name as words, without what stands before its last slash."""
    return branch.rpartition("/")[2].replace("-", " ").replace("_", " ").strip()
