"""Comments that an agent which was asked to review writes itself, as marks that its program shows beside the code."""

from __future__ import annotations

from passdown.data.reviews.comment import Comment
from passdown.model.pattern import lazy_pattern

_MARK = "::code-comment{"
_FIELD = lazy_pattern(r"[\s,]*(\w+)=(?:\"((?:[^\"\\]|\\.)*+)\"|([^\s,\"{}]+))")


def own_comments(text: str) -> list[Comment]:
    """Return the comments that a message of an agent holds (Codex, `::code-comment{title="…" body="…" file="…"}`)."""
    found: list[Comment] = []
    for part in text.split(_MARK)[1:]:
        fields: dict[str, str] = {}
        at = 0
        while field := _FIELD.match(part, at):
            name, quoted, bare = field.groups()
            fields[name] = (quoted if quoted is not None else bare).replace('\\"', '"')
            at = field.end()
        words = ": ".join(fields[name] for name in ("title", "body") if fields.get(name))
        if words:
            place = ":".join(fields[name] for name in ("file", "start") if fields.get(name))
            found.append(Comment(words, place))
    return found
