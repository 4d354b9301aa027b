"""Who wrote a message in the user's role: the programs put much into it that nobody typed."""

from __future__ import annotations

from typing import NamedTuple

from passdown.agents.genai.parts import Part
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Origin

_HOOK = lazy_pattern(r"(?s)<hook_context>((?:(?!</?hook_context>).)*+)</hook_context>")
_COMMAND = lazy_pattern(r"[/?](?:[A-Za-z][\w:-]{0,80})?(?:\s|\Z)")
_SHELL = lazy_pattern(r"(?s)I ran the following shell command:\s*```(?:sh|bash)?\n(.*?)\n```")
_REFERENCED = "--- Content from referenced files ---"
_PROGRAM = (
    "<session_context>", "<system-reminder>", "<system_reminder>", "System: ", "This is the Gemini CLI.",
    "This is the Qwen Code.", "Please continue.",
)  # fmt: skip
SUMMARY = ("<state_snapshot>", "<compressed_context>", "<compressed_history>", "<history_summary>")
"""How the summary begins that replaces a history."""


class Piece(NamedTuple):
    """A run of text with who wrote it."""

    text: str
    origin: Origin


def pieces_of(parts: list[Part], shown: str) -> list[Piece]:
    """Return who wrote what of a message. `shown` is what the program showed of it, when it showed something else."""
    texts = [part.text for part in parts if part.text]
    typed: list[str] = []
    injected: list[str] = []
    for text in texts:
        (injected if injected or text.lstrip().startswith(_REFERENCED) else typed).append(text)
    whole = shown or "\n".join(typed)
    pieces = [Piece(match, "hook") for match in dict.fromkeys(_HOOK.findall("\n".join(typed)))]
    whole = _HOOK.sub("", whole).strip()
    if whole:
        pieces.append(_piece(whole))
    if injected:
        pieces.append(Piece("\n".join(injected), "injected"))
    return pieces


def _piece(text: str) -> Piece:
    if text.startswith((*_PROGRAM, *SUMMARY)):
        return Piece(text, "injected")
    if match := _SHELL.match(text):
        return Piece(match[1], "shell")
    return Piece(text, "command" if _COMMAND.match(text) else "human")
