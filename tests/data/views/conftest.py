"""Trajectories for the tests of views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from passdown.data.records import Outcome, Trajectory
from passdown.model.session import PlanItem, PlanStatus, PlanUpdate


@pytest.fixture
def rich(script: Callable[..., Any]) -> Trajectory:
    """A run with everything that a view tells: a plan, a decision, failed and passed tests, an install, by-products."""
    patch = (
        "--- a/src/bucket.py\n+++ b/src/bucket.py\n@@ -1 +1,2 @@\n"
        "+    refilled = min(self.limit, self.tokens + elapsed * self.rate)\n"
    )
    outcome = Outcome(resolved=True, patch=patch, fail_to_pass=("tests/test_bucket.py::test_refill_is_capped",))
    run = script().asks("The bucket in src/bucket.py never refills. Mend it; keep the public names.")
    run.says("Let me look at the bucket first.")
    items: dict[str, PlanStatus] = {"Reproduce the missing refill": "completed", "Refill in take()": "in_progress"}
    items["Cover it with a test"] = "pending"
    run.events.append(PlanUpdate(items=tuple(PlanItem(text=t, status=s) for t, s in items.items())))
    made: Trajectory = (
        run
        .runs("cat src/bucket.py", "class Bucket:\n    limit = 10\n")
        .runs("pip install freezegun", "Successfully installed freezegun-1.5.1")
        .runs("cat > reproduce.py <<'EOF'\nfrom src.bucket import Bucket\nprint(Bucket().take())\nEOF")
        .runs("python reproduce.py", "False")
        .runs("python -m pytest -q tests/test_bucket.py", "E   assert 0 == 10\n1 failed, 3 passed in 0.10s", 1)
        .says("I'll refill lazily in take() instead of starting a timer thread, so that nothing runs in the background.")
        .runs("sed -i 's/limit = 10/limit = 10\\n    tokens = 10/' src/bucket.py")
        .runs("python -m pytest -q tests/test_bucket.py", "E   assert 9 == 10\n1 failed, 3 passed in 0.10s", 1)
        .says("Next I will cap the refill at the limit.")
        .runs("sed -i 's/x/    refilled = min(self.limit, self.tokens + elapsed * self.rate)/' src/bucket.py")
        .runs("python -m pytest -q tests/test_bucket.py::test_refill_is_capped", "1 passed in 0.10s")
        .runs("rm reproduce.py")
        .trajectory(repo="some/bucket", outcome=outcome)
    )  # fmt: skip
    return made
