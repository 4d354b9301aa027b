"""The fixtures of the data tests give trajectories in order."""

from passdown.data.actions.keys import key
from passdown.data.records import Trajectory


def test_small_trajectory_reads_as_it_was_written(small_trajectory: Trajectory) -> None:
    assert [key(action) for step in small_trajectory.steps for action in step.actions] == [
        "SEARCH .", "READ src/slug.py", "TEST pytest", "EDIT src/slug.py", "TEST pytest", "EDIT src/slug.py",
        "TEST pytest", "EDIT tests/test_slug.py", "TEST tests/test_slug.py", "SUBMIT",
    ]  # fmt: skip
    oks = [action.ok for step in small_trajectory.steps for action in step.actions if action.kind == "TEST"]
    assert oks == [False, False, True, True]
