"""A command in one line: what of it tells, without the body of a here-document or a script."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern

MOST = 160
"""Characters of a command in a list; the whole of it stands in the log."""

_CONTINUED = lazy_pattern(r"[ \t]*\\\n[ \t]*")
_BLANKS = lazy_pattern(r"[ \t]{2,}")
_MESSAGE = lazy_pattern(r"\"\$\(cat <<-?\s*['\"]?\w+['\"]?\s*$")


def brief(command: str, most: int = MOST) -> str:
    """Return a command's first line with an ellipsis for what follows, at most `most` characters.

    Lines joined by a backslash are one line. A command on one line that fits is returned as it is.
    """
    joined = _CONTINUED.sub(" ", command.strip())
    first, newline, _ = joined.partition("\n")
    if newline:
        shown = _MESSAGE.sub('"', first.rstrip())
        first = f"{shown.rstrip()}…" if shown.endswith('"') else f"{shown} …"
    flat = _BLANKS.sub(" ", first) if newline or joined != command.strip() else first
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"
