"""What two trajectories are compared by: 5-grams of their canonical actions and 5-grams of their task's words."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from passdown.data.actions.keys import key
from passdown.data.records import Trajectory
from passdown.errors import UsageError
from passdown.model.pattern import lazy_pattern

try:
    import numpy as np
    import numpy.typing as npt
except ModuleNotFoundError as missing:
    raise UsageError(
        "comparing trajectories needs the extra `data` (pyarrow, numpy)",
        next_step='Run `pip install "passdown[data]"`.',
    ) from missing

__all__ = ["GRAM", "grams", "mixed", "np", "npt", "shingles", "words_of"]

GRAM = 5
_WORD = lazy_pattern(r"\w+")
_TASK = 20_000
_FEWEST = 8
_LONGEST = 64
"""Characters of a token that is remembered: words come again, whole commands do not."""
_BASE = 0x9E3779B97F4A7C15


def shingles(trajectory: Trajectory) -> npt.NDArray[np.uint64]:
    """Return the hashes of a trajectory's 5-grams, sorted and each once.

    Of the task's there are at most half as many as of the actions' (always the same ones of a task, and 8 at least):
    else every other attempt at a long issue would pass for a copy.
    """
    keys = [key(action) for step in trajectory.steps for action in step.actions]
    done = np.unique(grams(keys, GRAM, "a"))
    asked = np.unique(grams(words_of(trajectory.task_text), GRAM, "w"))[: max(_FEWEST, len(done) // 2)]
    found: npt.NDArray[np.uint64] = np.unique(np.concatenate([done, asked]))
    return found


def words_of(text: str) -> list[str]:
    """Return a text's words in lower case."""
    return _WORD.findall(text[:_TASK].lower())


def grams(tokens: list[str], size: int, salt: str = "") -> npt.NDArray[np.uint64]:
    """Return the hash of every run of `size` tokens; of fewer tokens, that of them all."""
    each = ((_word_hash if len(token) <= _LONGEST else _hash)(salt, token) for token in tokens)
    hashes = np.fromiter(each, np.uint64, len(tokens))
    width = min(size, len(tokens))
    found: npt.NDArray[np.uint64] = np.zeros(len(tokens) - width + 1 if tokens else 0, np.uint64)
    for offset in range(width):
        found *= np.uint64(_BASE)
        found += hashes[offset : offset + len(found)]
    return mixed(found)


def _hash(salt: str, token: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{salt}\x1f{token}".encode("utf-8", "replace"), digest_size=8).digest())


_word_hash = lru_cache(maxsize=1 << 13)(_hash)


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return values with every bit spread over the whole word (the end of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
