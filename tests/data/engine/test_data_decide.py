"""The step that sees the whole set finds the same copies as a comparison of everything with everything."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from passdown.data.engine.decide import Signed, decide
from passdown.data.engine.decisions import open_decisions, write_decisions
from passdown.data.engine.pipeline import FilterTable
from passdown.data.engine.shards import Row, written
from passdown.data.engine.shared import shared_rows
from passdown.data.filters.minhash import Entry, near_duplicates, signature


def _signed(chance: random.Random, number: int, grams: set[int], group: str, content: str) -> Signed:
    key = f"made\x1frows.jsonl\x1f{number}\x1ft{number}"
    values = np.array(sorted(grams), np.uint64)
    rank = (chance.random() < 0.5, False, False, -len(grams), key)
    return Signed(
        content_hash=content, entry=Entry(key=key, group=group, rank=rank, signature=signature(values).tobytes())
    )


def _set(seed: int) -> list[Signed]:
    """Runs of three groups: some alone, some like others to all degrees, exact copies, and some with nothing in them."""
    chance = random.Random(seed)
    made: list[Signed] = []
    kept: list[set[int]] = []
    for number in range(300):
        group = chance.choice(["a/b", "c/d", ""])
        grams = {chance.getrandbits(64) for _ in range(chance.randrange(20, 120))}
        if kept and chance.random() < 0.6:
            grams = set(chance.choice(kept))
            for value in chance.sample(sorted(grams), chance.randrange(len(grams) // 3 + 1)):
                grams.remove(value)
                grams.add(chance.getrandbits(64))
        grams = set() if number % 23 == 0 else grams
        kept = [*kept[-40:], grams]
        content = f"{chance.randrange(3) if number % 29 == 0 else number:064x}"
        made.append(_signed(chance, number, grams, group, content))
    return made


def _all_with_all(rows: list[Signed]) -> dict[str, tuple[str, str]]:
    by_content: dict[str, list[Entry]] = {}
    for row in rows:
        by_content.setdefault(row.content_hash, []).append(row.entry)
    gone: dict[str, tuple[str, str]] = {}
    best = [min(entries, key=lambda entry: entry.rank) for entries in by_content.values()]
    for one, entries in zip(best, by_content.values(), strict=True):
        gone.update((entry.key, ("duplicate", one.key)) for entry in entries if entry is not one)
    gone.update((key, ("near_duplicate", kept)) for key, kept in near_duplicates(best, 0.8).items())
    return gone


@pytest.mark.parametrize("seed", range(4))
def test_the_decision_is_that_of_comparing_everything(tmp_path: Path, seed: int) -> None:
    rows = _set(seed)
    wanted = _all_with_all(rows)
    assert {reason for reason, _ in wanted.values()} == {"duplicate", "near_duplicate"}
    random.Random(seed).shuffle(rows)
    for part in range(3):
        with written(tmp_path / f"signed/part-{part:05}.parquet") as writer:
            for row in rows[part::3]:
                writer.write(Row(id=row.entry.key, kind="signature", record=msgspec.json.encode(row)))
    with open_decisions(decide(tmp_path / "signed", tmp_path / "decisions.sqlite", FilterTable())) as decisions:
        found = {key: (reason, kept) for key, reason, kept in decisions}
        assert all(decisions.of(row.entry.key) == found.get(row.entry.key) for row in rows)
    assert found.keys() == wanted.keys()
    assert {key: reason for key, (reason, _) in found.items()} == {key: reason for key, (reason, _) in wanted.items()}
    assert {kept for _, kept in found.values()}.isdisjoint(found), "what is kept instead is kept"
    assert not list(tmp_path.glob("*.tmp"))


def test_a_set_without_trajectories_has_no_copies(tmp_path: Path) -> None:
    with written(tmp_path / "signed/part-00000.parquet"):
        pass
    with open_decisions(decide(tmp_path / "signed", tmp_path / "d.sqlite", FilterTable())) as decisions:
        assert list(decisions) == []


def test_the_same_file_given_twice_is_not_lost(tmp_path: Path) -> None:
    one = _set(1)[5]
    write_decisions(tmp_path / "d.sqlite", [(one.content_hash, one.entry)] * 2, 0.8)
    with open_decisions(tmp_path / "d.sqlite") as decisions:
        assert decisions.of(one.entry.key) is None


def _few(draw: np.random.Generator, rows: int, columns: int) -> npt.NDArray[np.uint32]:
    """Hashes of the whole range, of which some stand there often."""
    some = draw.integers(0, 1 << 32, rows, dtype=np.uint32)
    some[:2] = 0, 0xFFFFFFFF
    return draw.choice(some, (rows, columns))


@pytest.mark.parametrize("part_rows", [1, 7, 100_000])
@pytest.mark.parametrize("block", [1, 64, 1000])
def test_rows_that_share_a_hash_are_found_in_any_parts(tmp_path: Path, part_rows: int, block: int) -> None:
    hashes = _few(np.random.default_rng(part_rows * block), 300, 3)
    seen = [Counter(column.tolist()) for column in hashes.T]
    wanted = [
        any(value and count[value] > 1 for value, count in zip(row, seen, strict=True)) for row in hashes.tolist()
    ]
    blocks = (hashes[at : at + block] for at in range(0, len(hashes), block))
    found = shared_rows(blocks, len(hashes), tmp_path, part_rows)
    assert found.tolist() == wanted
    assert 0 < sum(wanted) < 300
    assert not list(tmp_path.iterdir())
