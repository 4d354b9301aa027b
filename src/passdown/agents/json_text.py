"""JSON as people keep it in settings: comments, trailing commas, any indentation; and edits that touch nothing else.

A tree knows where in the text each part lies, so that an edit is an insertion or a removal, never a rewriting. What
was inserted can be removed again to the byte, from the text alone:

- an item goes in behind everything its container holds, and the container keeps or lacks a trailing comma as before;
- a container that was there and empty gets its first item right behind the bracket; one that is ours begins with
  white space. So an emptied container tells whether it goes, too (see `is_made`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import Struct

from passdown.errors import FormatError
from passdown.model.pattern import lazy_pattern

_DEPTH = 64
_SPACE = lazy_pattern(r"[ \t\r\n]*")
_COMMENT = lazy_pattern(r"//[^\n\r]*|/\*.*?\*/", 16)  # 16: a block comment runs over lines
_STRING = lazy_pattern(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = lazy_pattern(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class Item(NamedTuple):
    """One item of a container: its key (None in an array), its value, and its place in the text.

    `lead` is where the last thing before it ends (bracket, comma or comment), `comma` where its comma stands, or -1.
    """

    key: str | None
    value: Node
    start: int
    lead: int
    comma: int


class Node(Struct, frozen=True):
    """A value and the place it has in the text.

    `last` is where the last thing before the closing bracket ends, `spoken` says that comments stand directly in it.
    """

    kind: str
    start: int
    end: int
    value: Any = None
    items: tuple[Item, ...] = ()
    last: int = 0
    spoken: bool = False

    def find(self, *keys: str) -> Item | None:
        """Return the item of the first of these keys that is there; of a repeated key the last, as readers do."""
        for key in keys:
            for item in reversed(self.items):
                if item.key == key:
                    return item
        return None

    def plain(self) -> Any:
        """Return the value without places."""
        if self.kind == "object":
            return {item.key: item.value.plain() for item in self.items}
        return [item.value.plain() for item in self.items] if self.kind == "array" else self.value


class Document(NamedTuple):
    """A whole text: its value (None when it holds none), and where the last thing before the value's place ends."""

    text: str
    root: Node | None
    last: int


def parse_text(text: str, where: str = "") -> Document:
    """Read a JSON text with comments and trailing commas. Raises `FormatError` with line and column."""
    return _Reader(text, where).document()


class _Reader:
    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.at = 1 if text.startswith("\ufeff") else 0
        self.last = self.at
        self.spoken = False

    def document(self) -> Document:
        self.skip()
        last = self.last
        root = self.value(0) if self.at < len(self.text) else None
        self.skip()
        if self.at < len(self.text):
            raise self.wrong("something follows the value")
        return Document(self.text, root, last)

    def skip(self) -> None:
        """Pass white space and comments; remember where the last comment ends."""
        while True:
            match = _SPACE.match(self.text, self.at)
            self.at = match.end() if match else self.at
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return
            self.at = self.last = comment.end()
            self.spoken = True

    def value(self, depth: int) -> Node:
        start = self.at
        opened = self.text[start : start + 1]
        if opened in ("{", "["):
            if depth >= _DEPTH:
                raise self.wrong(f"nested deeper than {_DEPTH}")
            return self.container(depth, "}" if opened == "{" else "]")
        token = self.token(_STRING.match(self.text, start) or _SCALAR.match(self.text, start), "a value")
        return Node("scalar", start, self.at, self.decoded(token, start))

    def token(self, match: Any, what: str) -> str:
        if match is None:
            raise self.wrong(f"expected {what}")
        self.at = self.last = match.end()
        return str(match.group())

    def decoded(self, token: str, start: int) -> Any:
        try:
            return json.loads(token)
        except ValueError as error:
            self.at = start
            raise self.wrong("a string or number that is none") from error

    def container(self, depth: int, close: str) -> Node:
        start, outer = self.at, self.spoken
        self.at = self.last = start + 1
        self.spoken = False
        items: list[Item] = []
        while True:
            self.skip()
            if self.text[self.at : self.at + 1] == close:
                break
            if items and items[-1].comma < 0:
                raise self.wrong(f"expected a comma or {close!r}")
            spoken = self.spoken
            item = self.item(depth, named=close == "}")
            self.spoken = spoken
            self.skip()
            if self.text[self.at : self.at + 1] == ",":
                item = item._replace(comma=self.at)
                self.at = self.last = self.at + 1
            items.append(item)
        node = Node(
            "object" if close == "}" else "array", start, self.at + 1, None, tuple(items), self.last, self.spoken
        )
        self.at = self.last = self.at + 1
        self.spoken = outer
        return node

    def item(self, depth: int, *, named: bool) -> Item:
        lead, start, key = self.last, self.at, None
        if named:
            key = self.decoded(self.token(_STRING.match(self.text, start), "a key"), start)
            self.skip()
            if self.text[self.at : self.at + 1] != ":":
                raise self.wrong("expected a colon")
            self.at = self.last = self.at + 1
            self.skip()
        return Item(key, self.value(depth + 1), start, lead, -1)

    def wrong(self, what: str) -> FormatError:
        return format_error(self.text, self.at, what, self.where)


def format_error(text: str, at: int, what: str, where: str) -> FormatError:
    """Return the error that names a place in a text by line and column."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    place = f"{where}:{line}:{column}" if where else f"{line}:{column}"
    return FormatError(what, where=place, next_step="Mend it by hand; it was left as it is.")


def line_end(text: str) -> str:
    """Return how the text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"


def indent_unit(document: Document) -> str:
    """Return what the text indents by: the indentation of the root's first item, else two spaces."""
    root = document.root
    return (own_indent(document.text, root) if root else None) or "  "


def own_indent(text: str, node: Node) -> str | None:
    """Return the indentation of a container's items, None when the first one does not begin a line."""
    if not node.items:
        return None
    start = node.items[0].start
    begin = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    indent = text[begin:start]
    return indent if begin > node.start and not indent.strip(" \t") else None


def outer_indent(text: str, at: int) -> str:
    """Return the indentation of the line that holds `at`."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def append_item(document: Document, node: Node, written: str, indent: str | None) -> str:
    """Return the text with one more item at the container's end; on a line of its own when `indent` is given."""
    text, end = document.text, line_end(document.text)
    silent = not _after_line_comment(text, node.last)
    lead = end + (indent or "") if indent is not None or not silent else " "
    if not node.items:
        if silent and not node.spoken:
            lead = ""
        return text[: node.last] + lead + written + text[node.last :]
    final = node.items[-1]
    if final.comma >= 0:
        return text[: node.last] + lead + written + "," + text[node.last :]
    behind = final.value.end
    return text[:behind] + "," + text[behind : node.last] + lead + written + text[node.last :]


def remove_item(document: Document, node: Node, index: int) -> str:
    """Return the text without one item of a container, and without the comma and white space that came with it."""
    text, item = document.text, node.items[index]
    cut = [(item.lead, item.value.end)]
    if item.comma >= 0:
        cut.append((item.comma, item.comma + 1))
    elif index:
        before = node.items[index - 1].comma
        cut.append((before, before + 1))
    return _without(text, cut)


def _without(text: str, cut: list[tuple[int, int]]) -> str:
    for start, end in sorted(cut, reverse=True):
        text = text[:start] + text[end:]
    return text


def is_made(text: str, node: Node) -> bool:
    """Say whether a container with one item was made for it, and goes when the item goes.

    A list that was there and empty holds an object with a space behind its brace. Without that space, and right behind
    the bracket, somebody has written the whole anew, and nothing tells any more; then the list goes.
    """
    if len(node.items) != 1 or node.spoken:
        return False
    inside = text[node.start + 1 : node.start + 3]
    return inside[:1] in (" ", "\t", "\n", "\r") or (node.kind == "array" and inside != "{ ")


def _after_line_comment(text: str, at: int) -> bool:
    """Say whether what ends at `at` is a comment that runs to the end of its line."""
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return any(match.end() == at and match.group().startswith("//") for match in _comments(text, begin, at))


def _comments(text: str, begin: int, end: int) -> Iterator[Any]:
    at = begin
    while at < end:
        for pattern in (_STRING, _COMMENT):
            if match := pattern.match(text, at):
                if pattern is _COMMENT:
                    yield match
                at = match.end()
                break
        else:
            at += 1
