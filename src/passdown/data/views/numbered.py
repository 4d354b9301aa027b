"""The tokens of texts as numbers, worked out for many paragraphs at once; one that was met before costs one look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from passdown.data.filters.shingles import np, npt
from passdown.data.scrubber import paragraphs
from passdown.data.views.leaks import words_in
from passdown.model.pattern import lazy_pattern

Numbers = npt.NDArray[np.uint64]

PIECE = 1 << 14
"""Characters that are looked at together: what that needs for a moment is some forty times as many bytes."""

_BASE = 0xD1342543DE82EF95  # not that of the runs of tokens, which are sums of these numbers
_INVERSE = pow(_BASE, -1, 1 << 64)
_NOTHING, _WORD, _SIGN, _UNKNOWN = range(4)
_RUN = lazy_pattern(r"\w*")


class _Powers(NamedTuple):
    """Powers of the base, and of its inverse, modulo 2**64."""

    up: Numbers
    down: Numbers


class _Characters(NamedTuple):
    """The codes of a text's characters, and what each is to a token."""

    codes: npt.NDArray[np.uint8] | npt.NDArray[np.uint32]
    kinds: npt.NDArray[np.uint8]


class _Tokens(NamedTuple):
    """The tokens of a text: where each begins, and its number."""

    begin: npt.NDArray[np.int64]
    numbers: Numbers


class Paragraphs:
    """Gives texts as the numbers of their tokens, which are those of `words_in`. Equal tokens have equal numbers.

    `sure` is false once a word was met that is too long to be looked at: then a text may have more tokens than one.
    """

    def __init__(self) -> None:
        self.sure = True
        self._known: dict[str, bytes] = {}

    def of_texts(self, texts: Sequence[str]) -> list[Numbers]:
        """Return the numbers of each text's tokens."""
        split = [paragraphs(text) for text in texts]
        self._learn(dict.fromkeys(part for parts in split for part in parts))
        known = self._known
        return [np.frombuffer(b"".join([known[part] for part in parts]), np.uint64) for parts in split]

    def of_lines(self, lines: Sequence[str]) -> tuple[Numbers, npt.NDArray[np.int64]]:
        """Return the numbers of all the lines' tokens, and of each token which line it is in. Nothing is remembered."""
        parts = list(self._parts(lines))
        owners = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return np.concatenate([np.zeros(0, np.uint64), *parts]), owners

    def _learn(self, parts: Iterable[str]) -> None:
        fresh = [part for part in parts if part not in self._known]
        for part, numbers in zip(fresh, self._parts(fresh), strict=True):
            self._known[part] = numbers.tobytes()

    def _parts(self, texts: Sequence[str]) -> Iterator[Numbers]:
        """Yield the numbers of each text: short ones are looked at together, a long one piece by piece."""
        waiting: list[str] = []
        size = 0
        for text in texts:
            if size + len(text) > PIECE and waiting:
                yield from _apart(waiting)
                waiting, size = [], 0
            if len(text) > PIECE:
                yield self._long(text)
            else:
                waiting.append(text)
                size += len(text) + 1
        if waiting:
            yield from _apart(waiting)

    def _long(self, text: str) -> Numbers:
        parts: list[Numbers] = []
        position = 0
        while position < len(text):
            run = _RUN.match(text, position + PIECE, position + 2 * PIECE)
            end = run.end() if run else len(text)
            self.sure = self.sure and (run is None or end < position + 2 * PIECE)
            parts.append(_tokens(text[position:end]).numbers)
            position = end
        return np.concatenate(parts)


def _apart(texts: Sequence[str]) -> Iterator[Numbers]:
    begin, numbers = _tokens("\n".join(texts))
    ends = np.searchsorted(begin, np.cumsum([len(text) + 1 for text in texts]))
    first = 0
    for end in ends.tolist():
        yield numbers[first:end]
        first = end


def _tokens(text: str) -> _Tokens:
    """Return the tokens of one piece.

    A token's number is the sum of its characters' codes, each times a power of the base, cut out of the sums up to
    every character.
    """
    codes, kinds = _characters(text)
    word = np.zeros(len(codes) + 2, np.bool_)
    word[1:-1] = kinds == _WORD
    sign = kinds == _SIGN
    begin = np.flatnonzero((word[1:-1] & ~word[:-2]) | sign)
    end = np.flatnonzero((word[1:-1] & ~word[2:]) | sign) + 1
    powers = _powers(1 << max(10, len(codes).bit_length()))
    sums = np.empty(len(codes) + 1, np.uint64)
    sums[0] = 0
    np.cumsum(codes * powers.up[: len(codes)], out=sums[1:])
    return _Tokens(begin, (sums[end] - sums[begin]) * powers.down[begin])


def _characters(text: str) -> _Characters:
    """Return a text's characters. One outside of ASCII is looked up once in the life of the process."""
    if text.isascii():
        data = text.encode("ascii")
        return _Characters(np.frombuffer(data, np.uint8), np.frombuffer(data.translate(_ascii()), np.uint8))
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    table = _table()
    for code in np.unique(codes[table[codes] == _UNKNOWN]).tolist():
        table[code] = _kind(chr(code))
    return _Characters(codes, table[codes])


def _kind(character: str) -> int:
    if not words_in(character):
        return _NOTHING
    return _WORD if len(words_in(character * 2)) == 1 else _SIGN


@cache
def _ascii() -> bytes:
    return bytes(_kind(chr(code)) if code < 128 else _NOTHING for code in range(256))


@cache
def _table() -> npt.NDArray[np.uint8]:
    return np.full(0x110000, _UNKNOWN, np.uint8)


@cache
def _powers(count: int) -> _Powers:
    def of(base: int) -> Numbers:
        factors = np.full(count, base, np.uint64)
        factors[0] = 1
        return np.cumprod(factors, dtype=np.uint64)

    return _Powers(of(_BASE), of(_INVERSE))
