"""Near-duplicates: MinHash over action and task 5-grams, bands to find candidates, within one repository.

In memory `near_unique` does all of it. Over shards, `entry` is made of each trajectory by itself; `band_hashes` tell at
128 bytes each which of them can have a near-duplicate, and `near_duplicates` takes those entries and says which are
dropped. None depends on any order.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from passdown.data.filters.result import Filtered, dropped, key_of, rank_of
from passdown.data.filters.shingles import mixed, np, npt, shingles
from passdown.data.filters.split import group_of
from passdown.data.records import Trajectory

STAGE = "minhash"
PERMUTATIONS = 128
BANDS, ROWS = 32, 4
"""A pair with a similarity of 0.8 shares a band with probability 1 - (1 - 0.8^4)^32 = 0.9999999."""
SIMILAR = 0.8
_SEED = 0x70617373646F776E
_AT_ONCE = 4096


class Entry(Struct, frozen=True, kw_only=True):
    """What is known of a trajectory to find its near-duplicates: its key, its group, its rank, its signature."""

    key: str
    group: str
    rank: tuple[bool, bool, bool, int, str]
    signature: bytes


@lru_cache(maxsize=1)
def _seeds() -> npt.NDArray[np.uint64]:
    start = np.arange(1, PERMUTATIONS + 1, dtype=np.uint64) * np.uint64(_SEED | 1)
    return mixed(start)[:, None]


def signature(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """Return the 128 smallest hashes of a set, one of each permutation; of the empty set, the largest number."""
    smallest: npt.NDArray[np.uint32] = np.full(PERMUTATIONS, np.iinfo(np.uint32).max, np.uint32)
    for begin in range(0, len(values), _AT_ONCE):
        part = (values[None, begin : begin + _AT_ONCE] ^ _seeds()) * np.uint64(0x9FB21C651E98DF25)
        part ^= part >> np.uint64(35)
        part *= np.uint64(0xD6E8FEB86659FD93)
        part >>= np.uint64(32)
        np.minimum(smallest, part.min(axis=1).astype(np.uint32), out=smallest)
    return smallest


def similarity(one: npt.NDArray[np.uint32], other: npt.NDArray[np.uint32]) -> float:
    """Return the estimated Jaccard similarity of two sets from their signatures."""
    return float((one == other).mean())


def entry(trajectory: Trajectory) -> Entry:
    """Return what the search needs of a trajectory."""
    return Entry(
        key=key_of(trajectory), group=group_of(trajectory), rank=rank_of(trajectory),
        signature=signature(shingles(trajectory)).tobytes(),
    )  # fmt: skip


def band_hashes(entries: Sequence[Entry]) -> npt.NDArray[np.uint32]:
    """Return a row of 32 hashes for each entry: two that are near-duplicates have one in common, at its place.

    Of the empty signature all are 0.
    """
    signed = np.frombuffer(b"".join(found.signature for found in entries), np.uint32)
    halves = signed.view(np.uint64).reshape(-1, BANDS, ROWS // 2)
    groups = np.fromiter((_group_hash(found.group) for found in entries), np.uint64, len(entries))
    made = mixed(halves[:, :, 0] ^ mixed(halves[:, :, 1] + groups[:, None]))
    hashes = (made >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
    hashes[signed.reshape(-1, PERMUTATIONS).min(axis=1) == np.iinfo(np.uint32).max] = 0
    return hashes


@lru_cache(maxsize=4096)
def _group_hash(group: str) -> int:
    return int.from_bytes(hashlib.blake2b(group.encode("utf-8", "replace"), digest_size=8).digest())


def near_unique(trajectories: Iterable[Trajectory], least: float = SIMILAR) -> Filtered:
    """Yield one trajectory of each set of near-duplicates, and a reject for every other. Holds what it is given."""
    held = list(trajectories)
    gone = near_duplicates((entry(trajectory) for trajectory in held), least)
    for trajectory in held:
        kept = gone.get(key_of(trajectory))
        yield trajectory if kept is None else dropped(STAGE, trajectory, "near_duplicate", kept.replace("\x1f", " "))


def near_duplicates(entries: Iterable[Entry], least: float = SIMILAR) -> dict[str, str]:
    """Return the keys that are dropped, each with the key that is kept instead of it.

    Trajectories that are joined by pairs of at least this similarity are one set; its first by rank is kept, so that
    what is kept holds no such pair.
    """
    groups: dict[str, list[Entry]] = defaultdict(list)
    for found in entries:
        groups[found.group].append(found)
    gone: dict[str, str] = {}
    for group in sorted(groups):
        members = sorted(groups[group], key=lambda found: found.rank)
        for number, first in _joined(members, least):
            gone[members[number].key] = members[first].key
    return gone


def _joined(members: list[Entry], least: float) -> Iterator[tuple[int, int]]:
    """Yield every member that is in a set with an earlier one, and the first of that set."""
    if len(members) < 2:
        return
    table = np.frombuffer(b"".join(found.signature for found in members), np.uint32).reshape(-1, PERMUTATIONS)
    sets = np.arange(len(members))
    empty = table.min(axis=1) == np.iinfo(np.uint32).max
    for band in range(BANDS):
        part = np.ascontiguousarray(table[:, band * ROWS : (band + 1) * ROWS]).view("V16").ravel()
        _, place = np.unique(part.view(np.uint64).reshape(-1, 2), axis=0, return_inverse=True)
        order = np.argsort(place.ravel(), kind="stable")
        edges = np.flatnonzero(np.diff(place.ravel()[order])) + 1
        for bucket in np.split(order, edges):
            if len(bucket) > 1:
                _join(table, sets, bucket[~empty[bucket]], least)
    for number in np.flatnonzero(sets != np.arange(len(members))):
        yield int(number), int(sets[number])


def _join(
    table: npt.NDArray[np.uint32], sets: npt.NDArray[np.int64], bucket: npt.NDArray[np.int64], least: float
) -> None:
    """Join the sets of a bucket's members that are similar enough; a set is named by its first member."""
    for place, number in enumerate(bucket[:-1]):
        others = bucket[place + 1 :]
        others = others[sets[others] != sets[number]]
        if not len(others):
            continue
        alike = others[(table[others] == table[number]).mean(axis=1) >= least]
        for other in alike:
            low, high = sorted((int(sets[number]), int(sets[other])))
            if low != high:
                sets[sets == high] = low
