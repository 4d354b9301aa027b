"""Whether a view holds what only a later edit adds, found out at little cost for all cuts of one trajectory.

Texts become arrays of numbers, one for each token, and a paragraph that was met before costs one look: traces of later
cuts repeat those of earlier ones. What is not clear is looked at again, token by token (`gates`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from passdown.data.filters.shingles import np, npt
from passdown.data.records import Trajectory
from passdown.data.scrubber import Grown
from passdown.data.views.leaks import GRAM, said_in_step
from passdown.data.views.numbered import Paragraphs
from passdown.data.views.shared import Shared
from passdown.redact.neutralise import neutralise

Hashes = npt.NDArray[np.uint64]
_BASE = 0x9E3779B97F4A7C15
_BUCKETS = 16


class _Grams:
    """A set of hashes that many are held against: the first bits decide for most of them."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = np.unique(hashes)
        self._first = np.zeros(1 << _BUCKETS, np.bool_)
        self._first[self._bucket(self.hashes)] = True

    def _bucket(self, hashes: Hashes) -> npt.NDArray[np.int64]:
        return (hashes >> np.uint64(64 - _BUCKETS)).astype(np.int64)

    def among(self, hashes: Hashes) -> Hashes:
        """Return those of the given hashes that are in the set, each once."""
        likely = hashes[self._first[self._bucket(hashes)]]
        return np.intersect1d(likely, self.hashes)


class _Said(NamedTuple):
    """The grams of a run's texts one after the other, and how many there are up to the end of each text."""

    grams: Hashes
    ends: list[int]


class Lookahead:
    """What the cuts of one trajectory share when their views are held against what comes later."""

    def __init__(self, trajectory: Trajectory, shared: Shared) -> None:
        self._paragraphs = Paragraphs()
        self._texts = [trajectory.task_text, *(said_in_step(step) for step in trajectory.steps)]
        self._scrubbers = iter((shared.trace, shared.notes))
        self._shown: list[str] = []
        self._said: list[_Said] = []
        self._grown, self._grown_tokens = Grown(), np.zeros(0, np.uint64)
        self._at = -1
        self._wanted = _Grams(np.zeros(0, np.uint64))
        self._met: list[Hashes] = []

    def _met_before(self, k: int) -> Iterator[Hashes]:
        """Yield which of the wanted grams `k` steps hold: as they were said and, when asked on, as views write it."""
        yield from self._met
        while len(self._met) < len(self._said) or self._another_way():
            said = self._said[len(self._met)]
            self._met.append(self._wanted.among(said.grams[: said.ends[k]]))
            yield self._met[-1]

    def _another_way(self) -> bool:
        """Put the texts in order as they are when cleaned for the next kind of view, if that changes anything."""
        if not self._said:
            self._said.append(self._sequence(self._texts))
            return True
        self._shown = self._shown or [neutralise(text) for text in self._texts]
        for scrubber in self._scrubbers:
            texts = [scrubber.text(text) for text in self._shown]
            if texts != self._texts:
                self._said.append(self._sequence(texts))
                return True
        return False

    def _sequence(self, texts: Sequence[str]) -> _Said:
        parts = self._paragraphs.of_texts(texts)
        ends = np.cumsum([len(part) for part in parts]) - (GRAM - 1)
        return _Said(_grams(np.concatenate(parts)), [max(0, int(end)) for end in ends])

    def _tokens(self, text: str, more: str) -> Hashes:
        begin = self._grown.new_from(text)
        before = self._grown_tokens[: len(self._grown_tokens) if begin else 0]
        rest, after = self._paragraphs.of_texts([text[begin:], more])
        if self._grown.keep(text):
            self._grown_tokens = np.concatenate([before, rest])
        return np.concatenate([before, rest, after])

    def is_clear(self, text: str, more: str, k: int, added: Sequence[str]) -> bool:
        """Say whether every eight tokens in a row that a text shares with a line of `added` were met in `k` steps.

        `more` follows the text. `added` are the lines that the trajectory adds after the cut. By hashes of 64 bits.
        """
        if self._at != k:
            self._at, self._wanted, self._met = k, _Grams(self._within(added)), []
        left = self._wanted.among(_grams(self._tokens(text, more)))
        met = self._met_before(k)
        while len(left) and (known := next(met, None)) is not None:
            left = np.setdiff1d(left, known, assume_unique=True)
        return self._paragraphs.sure and not len(left)

    def _within(self, lines: Sequence[str]) -> Hashes:
        """Return the grams of each line by itself."""
        tokens, owner = self._paragraphs.of_lines(lines)
        grams = _grams(tokens)
        return grams[owner[: len(grams)] == owner[GRAM - 1 :]] if len(grams) else grams


def _grams(tokens: Hashes) -> Hashes:
    """Return the hash of every eight tokens in a row."""
    found, width = tokens, 1
    while width < GRAM:  # two halves make a run of twice the length; GRAM is a power of two
        found = found[:-width] * np.uint64(pow(_BASE, width, 1 << 64)) + found[width:]
        width *= 2
    return found
