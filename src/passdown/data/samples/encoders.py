"""Tokenizers behind one call: ids, and which characters each token stands for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from passdown.data.samples.template import END, START
from passdown.errors import UsageError
from passdown.model.pattern import lazy_pattern

_PIECES = lazy_pattern(f"({re.escape(START)}|{re.escape(END)})")
_MODEL = lazy_pattern(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}")


class Encoded(NamedTuple):
    """Token ids with the characters, (start, stop), that each stands for."""

    ids: list[int]
    offsets: list[tuple[int, int]]


Encode = Callable[[str], Encoded]


class Encoder(Protocol):
    """Any tokenizer: `encode` gives ids, or an object with `ids` and `offsets` as the package `tokenizers` has it."""

    def encode(self, text: str, *, add_special_tokens: bool = ...) -> Any:
        """Return the tokens of a text."""


class ByteTokenizer:
    """One token a byte, and one for each of the template's markers: for tests, and for counting without a model."""

    markers = (START, END)

    def encode(self, text: str, *, add_special_tokens: bool = False) -> Encoded:
        """Return the bytes of a text; its markers are single tokens from 256 on."""
        del add_special_tokens
        found = Encoded([], [])
        place = 0
        for piece in _PIECES.split(text):
            if piece in self.markers:
                found.ids.append(256 + self.markers.index(piece))
                found.offsets.append((place, place + len(piece)))
            elif piece.isascii():
                found.ids.extend(piece.encode())
                found.offsets.extend([(at, at + 1) for at in range(place, place + len(piece))])
            else:
                found.ids.extend(piece.encode("utf-8", "surrogatepass"))
                found.offsets.extend(
                    [(at, at + 1) for at, letter in enumerate(piece, place) for _ in range(_width(letter))]
                )
            place += len(piece)
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of some tokens."""
        parts = [self.markers[one - 256].encode() if one >= 256 else bytes((one,)) for one in ids]
        return b"".join(parts).decode("utf-8", "replace")


def _width(letter: str) -> int:
    return 1 if letter < "\x80" else 2 if letter < "\u0800" else 3 if letter < "\U00010000" else 4


def encoder(tokenizer: Encoder) -> Encode:
    """Return how a tokenizer encodes with offsets.

    One that gives ids alone is asked line by line, and each token stands for its whole line: a mask then covers lines.
    """
    if getattr(tokenizer, "is_fast", False):
        return _fast(tokenizer)

    def encode(text: str) -> Encoded:
        made = tokenizer.encode(text, add_special_tokens=False)
        if hasattr(made, "offsets"):
            return Encoded(list(made.ids), list(made.offsets))
        return _by_line(tokenizer, text)

    return encode


def _fast(tokenizer: Any) -> Encode:
    def encode(text: str) -> Encoded:
        made = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return Encoded(list(made["input_ids"]), list(made["offset_mapping"]))

    return encode


def _by_line(tokenizer: Encoder, text: str) -> Encoded:
    found = Encoded([], [])
    place = 0
    for line in text.splitlines(keepends=True):
        for piece in _markers_apart(line):
            ids = list(tokenizer.encode(piece, add_special_tokens=False))
            found.ids.extend(ids)
            found.offsets.extend([(place, place + len(piece))] * len(ids))
            place += len(piece)
    return found


def _markers_apart(line: str) -> list[str]:
    if line.startswith(START):
        return [START, *_markers_apart(line[len(START) :])]
    before, marker, behind = line.partition(END)
    return [piece for piece in (before, marker, behind) if piece]


def tokenizer_file(name: str) -> Path | None:
    """Return the `tokenizer.json` that a name stands for: a file, a folder, or `OWNER/MODEL` in the hub's cache."""
    path = Path(name)
    if path.exists():
        file = path / "tokenizer.json" if path.is_dir() else path
        return file if file.is_file() else None
    if _MODEL.fullmatch(name) is None:
        return None
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache/huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    found = list((cache / f"models--{name.replace('/', '--')}").glob("snapshots/*/tokenizer.json"))
    return max(found, key=lambda file: file.stat().st_mtime, default=None)


def load_tokenizer(name: str) -> Encoder:
    """Load a tokenizer from a `tokenizer.json`, a model's folder or the hub's cache; `bytes` is our own.

    Nothing is fetched.

    Raises `UsageError` when it is not there, or the package that reads it is not installed.
    """
    if name == "bytes":
        return ByteTokenizer()
    file = tokenizer_file(name)
    if file is None:
        raise UsageError(
            "there is no tokenizer at this place", where=name[:200],
            next_step="Name a `tokenizer.json`, a folder that holds one, a model in the hub's cache, or `bytes`.",
        )  # fmt: skip
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as missing:
        raise UsageError(
            "reading a tokenizer needs the extra `hf`", next_step='Run `pip install "passdown[hf]"`.'
        ) from missing
    made: Encoder = Tokenizer.from_file(str(file))
    return made
