"""The lines that Aider itself writes into the history, behind `> `: tokens, edits applied, models, folders."""

from __future__ import annotations

from typing import NamedTuple

from passdown.model.pattern import lazy_pattern
from passdown.model.session import Origin

_TOKENS = lazy_pattern(r"Tokens: ([\d.,]{1,20}[kM]?) sent(.{0,200}?), ([\d.,]{1,20}[kM]?) received")
_CACHE = lazy_pattern(r", ([\d.,]{1,20}[kM]?) (cache write|cache hit|cached)")
MODEL = lazy_pattern(r"(?:Main model|Models?): (\S{1,200}) with ")
VERSION = lazy_pattern(r"Aider (?:v(\S{1,40})|(\d\S{0,39}))\s*\Z")
FOLDER = lazy_pattern(r"(?:Git|Cur) working dir: (/.{1,4000}|[A-Za-z]:\\.{1,4000})")
APPLIED = lazy_pattern(r"Applied edit to (.{1,4096})")
REFUSED = lazy_pattern(r"Skipping edits to (.{1,4096}?)\.{0,3}\Z")
DRY = lazy_pattern(r"Did not apply edit to (.{1,4096}?) \(--dry-run\)")
MISSED = lazy_pattern(r"#{1,3} ?\w{0,40}NoExactMatch: This SEARCH block failed to exactly match lines in (.{1,4096})")
OTHERS = lazy_pattern(r"# The other \d{1,4} SEARCH/REPLACE blocks? (?:was|were) applied successfully")
RUNNING = lazy_pattern(r"Running (\S.{0,4000})")
FAILED_TESTS = lazy_pattern(r"Attempt to fix test errors\?")
OWN = lazy_pattern(r"Added \d+ lines? of output|Commit [0-9a-f]{7} |You can use /|Use /|Restored previous|Git repo")
"""What Aider says of itself, and no command that it ran."""
PASSED_TESTS = lazy_pattern(
    r"(?m)^=+ \d+ passed(?:, \d+ (?:skipped|deselected|xfailed|xpassed|warnings?))* in [\d.]+s.*=+\s*\Z"
    r"|^Ran \d+ tests? in [\d.]+s\n+OK(?: \(.*\))?\s*\Z"
)
TEST_COMMAND = lazy_pattern(
    r" --test-cmd (.{1,1000}?)(?= --(?:no-)?(?:auto-test|test|yes-always|yes|model|message|auto-lint|edit-format|read"
    r"|file|auto-commits)\b)"
)
"""The command for the tests, out of the line that Aider was started with; its quotes are lost there."""
_COMMAND = lazy_pattern(r"/([a-z][a-z-]{0,30})(?:\s+(.*))?\Z", 16)
_REQUESTS = frozenset({"ask", "code", "architect", "context", "help", "chat-mode"})
_SHELLS = frozenset({"run", "test", "git"})
_PUT_IN = ("# Fix any errors below", "I ran this command:", "## Running:", "I ran this command\n")
_SCALE = {"k": 1_000, "M": 1_000_000}
GOES_ON = (
    "Add", "Attempt to fix", "The LLM did not conform", "Retrying in", "Unexpected error", "Fix any errors",
    "Create new file", "Allow creation", "Allow edits", "Run shell command",
)  # fmt: skip
"""Beginnings of what Aider writes before it asks the model once more by itself."""


class Tokens(NamedTuple):
    """Tokens of one response, rounded as Aider writes them."""

    fresh: int
    read: int
    written: int
    output: int


def tokens_of(note: str) -> Tokens | None:
    """Return what a response cost, None when the note says nothing of it. What is sent holds what the cache took."""
    match = _TOKENS.match(note)
    if match is None:
        return None
    cached = {what: _number(number) for number, what in _CACHE.findall(match[2])}
    read, written = cached.get("cache hit", 0) + cached.get("cached", 0), cached.get("cache write", 0)
    return Tokens(max(0, _number(match[1]) - written), read, written, _number(match[3]))


def _number(text: str) -> int:
    try:
        return round(float(text.rstrip("kM").replace(",", "")) * _SCALE.get(text[-1], 1))
    except (ValueError, OverflowError):
        return 0


class Typed(NamedTuple):
    """What stands behind `#### `: who wrote it, what it asks for, and whether the model will answer.

    `tests`: the model is asked by itself when the tests fail.
    """

    origin: Origin
    text: str
    asks: bool
    tests: bool = False


def typed(text: str) -> Typed:
    """Tell a request from a command, a person's own shell command, and what Aider puts in."""
    if text.startswith(_PUT_IN):
        return Typed("injected", text, asks=True)
    if text.startswith("!"):
        return Typed("shell", text[1:].strip(), asks=False)
    match = _COMMAND.match(text[:50_000])
    if match is None:
        return Typed("human", text, asks=True)
    name, rest = match[1], (match[2] or "").strip()
    if name in _SHELLS and rest:
        return Typed("shell", f"git {rest}" if name == "git" else rest, asks=False, tests=name == "test")
    asks = name in _REQUESTS and bool(rest)
    return Typed("command", rest if asks else text, asks=asks)
