"""A conversation as one JSON document, which is written whole each time: a crash leaves it cut off at any place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Raw

from passdown.io.jsonl import read_document as load
from passdown.io.jsonl import salvage
from passdown.io.log import BAD
from passdown.model.pattern import lazy_pattern

MAX_DOCUMENT = 256 << 20
"""Longest document that is read, in bytes."""

_COMMA = lazy_pattern(r"[\s,\x00]*")
_RAWS = msgspec.json.Decoder(dict[str, Raw])
_LIST = msgspec.json.Decoder(list[Raw])


class Item(NamedTuple):
    """One item of the list as bytes. `data` is None for what is cut off, or for a document over the cap (`long`)."""

    data: bytes | None
    offset: int
    length: int
    long: bool = False


class Document(NamedTuple):
    """What stands around the list, key by key, and the list's items in order."""

    around: dict[str, bytes]
    items: list[Item]
    size: int


def read_document(path: Path, key: str = "") -> Document:
    """Read a document that is a list, or an object with a list under `key`; of a damaged one what is whole.

    Raises `FileNotFoundError` when the file is gone.
    """
    data = load(path, MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        return Document({}, [Item(None, 0, len(data), long=True)], len(data))
    whole = _whole(data, key)
    if whole is None:
        documents = salvage(data)
        whole = _whole(documents[0], key) if len(documents) == 1 else None
    if whole is None:
        return Document({}, list(_pulled_apart(data, key)), len(data))
    around, listed = whole
    return Document(around, list(_placed(data, listed)), len(data))


def _whole(data: bytes, key: str) -> tuple[dict[str, bytes], list[Raw]] | None:
    try:
        if not key:
            return {}, _LIST.decode(data)
        held = _RAWS.decode(data)
        listed = _LIST.decode(held.pop(key)) if key in held else []
        return {name: bytes(raw) for name, raw in held.items()}, listed
    except BAD:
        return None


def _placed(data: bytes, listed: list[Raw]) -> Iterator[Item]:
    at = 0
    for raw in listed:
        text = bytes(raw)
        at = max(data.find(text, at), at)
        yield Item(text, at, len(text))
        at += len(text)


def _pulled_apart(data: bytes, key: str) -> Iterator[Item]:
    """Yield what is whole of a list that is cut off, and then what is not."""
    text = data.decode("utf-8", "replace")
    decoder, at, offset, counted = json.JSONDecoder(), _begin(text, key), 0, 0
    while at:
        gap = _COMMA.match(text, at)
        at = gap.end() if gap else at
        if not text.startswith("{", at):
            break
        offset, counted = offset + len(text[counted:at].encode("utf-8", "replace")), at
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        part = text[at:end].encode("utf-8", "replace")
        yield Item(part, offset, len(part))
        at = end
    if data.strip(b"\x00 \t\r\n"):
        yield Item(None, min(offset, len(data)), max(0, len(data) - offset))


def _begin(text: str, key: str) -> int:
    if not key:
        return text.find("[") + 1
    found = re.search(rf'"{re.escape(key)}"\s*:\s*\[', text)
    return found.end() if found else 0
