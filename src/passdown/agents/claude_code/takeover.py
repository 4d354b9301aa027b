"""Start Claude Code with a brief: it reads the file that the prompt mentions before it asks the model."""

from __future__ import annotations

from passdown.agents.first_message import FirstMessage, Start
from passdown.model.pattern import lazy_pattern

_PLAIN = lazy_pattern(r"/[\w./+-]+")


def start(message: FirstMessage, extra: tuple[str, ...]) -> Start:
    """Return the words after `claude`. The two dashes keep options that take several words from taking the prompt."""
    if '"' in message.file:  # no way to mention it
        text, road = message.argument()
        return Start((*extra, "--", text), road)
    mention = f"@{message.file}" if _PLAIN.fullmatch(message.file) else f'@"{message.file}"'
    return Start((*extra, "--", f"{message.words('in the file mentioned last')}\n{mention}"), "file")
