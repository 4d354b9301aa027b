"""What stands in Cline's messages besides plain words: whose words they are, and calls that are written as XML."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.agents.cline.tools import TOOLS
from passdown.model.pattern import lazy_pattern

_LONGEST = 4 << 20

_TYPED = lazy_pattern(r"(?s)<(task|feedback|user_message|answer|user_input)(?: [^>\n]{0,80})?>\n?(.*?)\n?</\1>")
_DETAILS = lazy_pattern(r"(?s)<environment_details>.*?(?:</environment_details>|\Z)")
_RESULT = lazy_pattern(r"(?s)\A\s*\[([a-z_]{2,40})(?: for '.{0,4096}?')?\] Result:\s*(.*)\Z")
_CALL = lazy_pattern(r"<([a-z_]{3,40})>")
_THINKING = lazy_pattern(r"(?s)<thinking>(.*?)</thinking>")
_CWD = lazy_pattern(r"# Current (?:Working|Workspace) Directory \(([^)\n]{1,4096})\)")


def typed_in(text: str) -> list[str]:
    """Return the words in a text that a person typed, by the tags that the program puts around them."""
    return [words.strip() for _, words in _TYPED.findall(text[:_LONGEST]) if words.strip()]


def without_details(text: str) -> str:
    """Return a text without the surroundings that the program adds to every message."""
    return _DETAILS.sub("", text[:_LONGEST]).strip()


def folder_in(text: str) -> str:
    """Return the working folder that the surroundings in a text name."""
    match = _CWD.search(text[:_LONGEST])
    return match[1] if match else ""


class Announced(NamedTuple):
    """The head of a call's result, and what of the result stands behind it."""

    tool: str
    rest: str


def announced(text: str) -> Announced | None:
    """Return what a text says it is the result of, None when it is no result."""
    match = _RESULT.match(text[:_LONGEST])
    return Announced(match[1], match[2].strip()) if match else None


class Written(NamedTuple):
    """A call as XML in the words of the model."""

    tool: str
    arguments: dict[str, Any]


class Answer(NamedTuple):
    """The words of an answer without what is not meant for a reader: its thinking and its calls."""

    text: str
    thinking: str
    calls: list[Written]


def answer_in(text: str) -> Answer:
    """Take an answer apart. A call that is cut off is left in the text."""
    thinking = "\n".join(words.strip() for words in _THINKING.findall(text[:_LONGEST]))
    rest = _THINKING.sub("", text[:_LONGEST])
    calls: list[Written] = []
    kept, at = [], 0
    while (match := _CALL.search(rest, at)) is not None:
        tool = match[1]
        end = rest.find(f"</{tool}>", match.end()) if tool in TOOLS else -1
        if end < 0:
            kept.append(rest[at : match.end()])
            at = match.end()
            continue
        kept.append(rest[at : match.start()])
        calls.append(Written(tool, _parameters(rest[match.end() : end])))
        at = end + len(tool) + 3
    kept.append(rest[at:])
    return Answer("".join(kept).strip(), thinking, calls)


def _parameters(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    at = 0
    while (match := _CALL.search(text, at)) is not None:
        name = match[1]
        # What a parameter holds may have its own end in it: a file's content reaches to the last one.
        end = text.rfind(f"</{name}>") if name in ("content", "diff") else text.find(f"</{name}>", match.end())
        if end < match.end():
            at = match.end()
            continue
        found[name] = text[match.end() : end].strip("\n")
        at = end + len(name) + 3
    return found
