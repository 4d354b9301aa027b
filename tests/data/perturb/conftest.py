"""One cut of a small piece of work: the files it began with, how they were left, the views, a fix that is known."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from passdown.data.perturb.scene import MemoryBlobs
from passdown.data.perturb.table import perturb
from passdown.data.prefix import cut
from passdown.data.records import FileState, Perturbed, Prefix, Reject, Snapshot, View
from passdown.data.replay.snapshot import snapshot_id
from passdown.data.views.table import build_view
from passdown.model.session import PlanItem, PlanUpdate

BASE = {
    "src/cart.py": b"""\
def total(items):
    amount = 0
    for item in items:
        amount = item["price"]
    return amount


def count(items):
    return 0
""",
    "src/prices.py": b"TAX = 2\n",
    "tests/test_cart.py": b"def test_nothing():\n    pass\n",
    "requirements.txt": b"tablib==3.5.0\nattrs>=23.1\n",
}
LEFT = {
    "src/cart.py": b"""\
def total(items):
    amount = 0
    for item in items:
        amount = amount + item["price"]
    return amount


def count(items):
    found = 0
    return found
""",
    "reproduce.py": b"from src.cart import total\nprint(total([]))\n",
    "run.log": b"1 failed\n",
}
FIXED = {
    "src/cart.py": b"""\
def total(items):
    amount = 0
    for item in items:
        amount = amount + item["price"]
    return amount


def count(items):
    found = 0
    for item in items:
        found += item["number"]
    return found
""",
}
HIDDEN = {
    "hidden_cart.py": b"""\
import unittest

from src.cart import count, total


class Cart(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([{"price": 2}, {"price": 3}]), 5)

    def test_count(self):
        self.assertEqual(count([{"number": 2}, {"number": 3}]), 5)
"""
}


class Work(NamedTuple):
    """The cut, with everything that an operator may ask for."""

    prefix: Prefix
    snapshot: Snapshot
    blobs: MemoryBlobs
    base: dict[str, bytes]
    left: dict[str, bytes]
    fixed: dict[str, bytes]
    hidden: dict[str, bytes]
    views: dict[str, View]

    def perturb(self, *ops: str, view: str = "structured", seed: int = 1) -> Perturbed | Reject:
        """Apply operators to one view of the cut and its snapshot."""
        return perturb(ops, self.snapshot, self.views[view], seed, blobs=self.blobs, prefix=self.prefix, base=self.base)

    def done(self, *ops: str, view: str = "structured", seed: int = 1) -> Perturbed:
        """Apply operators that have to apply."""
        made = self.perturb(*ops, view=view, seed=seed)
        assert isinstance(made, Perturbed), made
        return made

    def files(self, snapshot: Snapshot | None) -> dict[str, bytes]:
        """Return the whole tree of a snapshot."""
        assert snapshot is not None
        tree = dict(self.base)
        for state in snapshot.delta:
            tree.pop(state.path, None)
            if state.blob:
                tree[state.path] = self.blobs.get(state.blob)
        return tree


@pytest.fixture(scope="module")
def work(request: pytest.FixtureRequest) -> Work:
    """A cart whose total is mended and whose count is not."""
    script: Callable[..., Any] = request.getfixturevalue("scripts")
    run = script().asks("`total()` and `count()` in src/cart.py give wrong sums. Mend both; keep their names.")
    run.says("I look at the cart first.")
    items = {"Mend the total": "completed", "Mend the count": "in_progress", "Cover the cart with tests": "pending"}
    run.events.append(PlanUpdate(items=tuple(PlanItem(text=text, status=how) for text, how in items.items())))  # type: ignore[arg-type]
    trajectory = (
        run.runs("cat src/cart.py", BASE["src/cart.py"].decode())
        .runs("pip install tablib==3.5.0", "Successfully installed tablib-3.5.0")
        .runs("cat > reproduce.py <<'EOF'\nfrom src.cart import total\nprint(total([]))\nEOF")
        .runs("python reproduce.py", "0")
        .runs("python -m pytest -q tests/test_cart.py", "E   assert 3 == 5\n1 failed, 3 passed in 0.10s", 1)
        .says("I'll add up in a plain loop instead of using a generator, so that it reads like the rest.")
        .runs("sed -i 's/amount = item/amount = amount + item/' src/cart.py")
        .runs("python -m pytest -q tests/test_cart.py > run.log; cat run.log", "1 failed, 3 passed in 0.10s", 1)
        .runs("python -m pytest -q tests/test_cart.py", "4 passed in 0.10s")
        .says("Next I will count in the same way.")
        .runs("sed -i 's/return 0/found = 0\\n    return found/' src/cart.py")
        .runs("python -m pytest -q tests/test_cart.py", "E   assert 0 == 5\n1 failed, 3 passed in 0.10s", 1)
        .runs("git diff --stat", "src/cart.py | 3 +-")
        .trajectory()
    )
    prefix = cut(trajectory, len(trajectory.steps) - 1)
    blobs = MemoryBlobs()
    delta = tuple(FileState(path=path, blob=blobs.put(data)) for path, data in sorted(LEFT.items()))
    base = "c" * 40
    snapshot = Snapshot(snapshot_id=snapshot_id(list(delta), []), base_commit=base, delta=delta, exact=True)
    views = {name: build_view(name, prefix) for name in ("repo", "trace", "summary", "structured")}
    assert hashlib.sha256(LEFT["run.log"]).hexdigest() in {state.blob for state in delta}
    return Work(prefix, snapshot, blobs, dict(BASE), dict(LEFT), dict(FIXED), dict(HIDDEN), views)
