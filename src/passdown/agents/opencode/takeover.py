"""Start OpenCode with a brief: as its prompt in a terminal; `run` takes a file beside the message."""

from __future__ import annotations

from passdown.agents.first_message import FirstMessage, Start


def start(message: FirstMessage, extra: tuple[str, ...]) -> Start:
    """Return the words after `opencode`. `--file` takes every word behind it, so it stands last."""
    if extra[:1] == ("run",):
        return Start((*extra, message.words("in the file attached"), "--file", message.file), "file")
    text, road = message.argument()
    return Start((*extra, f"--prompt={text}"), road)
