"""The older container: one JSON document with all messages, which a crash leaves cut off at any place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from passdown.agents.gemini.records import ROW, Row
from passdown.io.jsonl import read_document, salvage
from passdown.io.log import BAD
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Unknown

MAX_DOCUMENT = 256 << 20
"""Longest document that is read, in bytes."""

_MESSAGES = lazy_pattern(r'"messages"\s*:\s*\[')
_COMMA = lazy_pattern(r"[\s,\x00]*")


class Item(NamedTuple):
    """A message of the document, or its header (`found` is None). `number` and `size` count what was read so far."""

    found: Row | Unknown | None
    offset: int
    number: int
    size: int
    title: str | None = None


def messages_in(path: Path) -> Iterator[Item]:
    """Yield the document's header, then its messages in order; of one that is cut off, those that are whole."""
    data = read_document(path, MAX_DOCUMENT + 1)
    size = len(data)
    if size > MAX_DOCUMENT:
        yield Item(Unknown(reason="line_too_long", length=size), 0, 1, size)
        return
    row = _document(data)
    if row is None:
        yield from _pulled_apart(data)
        return
    yield Item(None, 0, 1, size, row.summary)
    at = 0
    for number, raw in enumerate(row.messages or (), 2):
        text = bytes(raw)
        at = max(data.find(text, at), at)
        try:
            yield Item(ROW.decode(text), at, number, size)
        except BAD:
            yield Item(Unknown(reason="bad_shape", length=len(text), offset=at), at, number, size)
        at += len(text)


def _document(data: bytes) -> Row | None:
    try:
        return ROW.decode(data)
    except BAD:
        documents = salvage(data)
    try:
        return ROW.decode(documents[0]) if len(documents) == 1 else None
    except BAD:
        return None


def _pulled_apart(data: bytes) -> Iterator[Item]:
    size = len(data)
    text = data.decode("utf-8", "replace")
    begin = _MESSAGES.search(text)
    yield Item(None, 0, 1, size)
    decoder, at, number = json.JSONDecoder(), begin.end() if begin else len(text), 1
    offset, counted = 0, 0
    while True:
        gap = _COMMA.match(text, at)
        at = gap.end() if gap else at
        if not text.startswith("{", at):
            break
        offset, counted, number = offset + len(text[counted:at].encode()), at, number + 1
        try:
            _, end = decoder.raw_decode(text, at)
            yield Item(ROW.decode(text[at:end].encode()), offset, number, size)
        except (ValueError, RecursionError):
            break
        at = end
    yield Item(Unknown(reason="torn_line", length=max(0, size - offset), offset=offset), offset, number, size)
