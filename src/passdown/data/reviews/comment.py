"""One comment of a review."""

from __future__ import annotations

from typing import NamedTuple

from passdown.model.pattern import lazy_pattern

_ITEM = lazy_pattern(
    r"(?P<indent>[ \t]*)(?:[-*+\u2022\u25cf]|\d{1,2}[.)]|[A-Z]{1,2}\d{1,2}[.):]|\[\w{1,12}\]|>)[ \t]\S"
)
_HEADING = lazy_pattern(r"[ \t]*(?:#{1,6} |\*\*[^*\n]+\*\*:?\s*\Z)")
_MARKUP = lazy_pattern(r"\s*(?:</?[a-zA-Z!]|\||[^\w\n]{0,4}<a )")
"""A table, or tags that only fold or decorate what stands elsewhere."""
_HIDDEN = lazy_pattern(r"<!--(?:(?!-->|<!--)[\s\S]){0,2000}-->")
"""What a page does not show."""
_SHORT = 40
"""Characters below which a paragraph between the items of a list is no comment."""


class Comment(NamedTuple):
    """What a review says of one thing. `place` is the file and line."""

    text: str
    place: str = ""


def visible(text: str) -> str:
    """Return a text without what a page does not show."""
    return _HIDDEN.sub("", text).strip() if "<!--" in text else text


def comments_in(text: str) -> list[Comment]:
    """Split a text that holds comments: at the items of its lists, else at its paragraphs; headings stay with both.

    Left out are the line that leads to them, and short words around a list.
    """
    blocks = _blocks(visible(text))
    listed = any(item for item, _ in blocks)
    found: list[Comment] = []
    heading = ""
    for item, block in blocks:
        if _HEADING.match(block) and "\n" not in block.strip():
            heading = block.strip("#* \t").rstrip(":\uff1a")
            continue
        if _MARKUP.match(block):
            continue
        if not item and (block.rstrip().endswith((":", "\uff1a")) or (listed and len(block) < _SHORT)):
            continue
        found.append(Comment(f"{heading}: {block}" if heading else block))
        heading = ""
    return found


def _blocks(text: str) -> list[tuple[bool, str]]:
    """Return the paragraphs and the items of lists, outermost ones, each with whether it is an item."""
    blocks: list[tuple[bool, list[str]]] = []
    margin: int | None = None
    apart = True
    for line in text.split("\n"):
        if not line.strip():
            apart = True
            continue
        item = _ITEM.match(line)
        if item and (margin is None or len(item["indent"]) <= margin):
            margin = len(item["indent"])
            blocks.append((True, [line]))
        elif not blocks or (apart and not line.startswith((" ", "\t"))) or _HEADING.match(line):
            blocks.append((False, [line]))
        else:
            blocks[-1][1].append(line)
        apart = _HEADING.match(line) is not None
    return [(item, "\n".join(lines)) for item, lines in blocks]
