"""How a solution is judged: the tests, the command that runs them, and what a rollout earns."""

from __future__ import annotations

import shlex
from typing import Any

from passdown.data.records import Trajectory
from passdown.model.pattern import lazy_pattern

REWARD = {
    "solved": 1.0,
    "kept": 0.2,
    "cost_excess": -0.1,
    "conflict": -0.1,
    "least": -0.2,
    "most": 1.2,
}
"""The reward of a rollout: `solved`, then `kept` (the share of tests that passed before and still do) and `cost_excess`
only when it solved, so that giving up early never pays; `conflict` for acting on what is false; clipped."""
_NODE = lazy_pattern(r"[\w./+-]{1,300}\.py::[^\x00-\x1f]{1,300}")
_DOTTED = lazy_pattern(r"[A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){1,12}")


def verifier(run: Trajectory) -> dict[str, Any]:
    """Return the tests that have to pass, those that must not break, and their command, empty where it is not known.

    The files of these tests are to be laid outside the agent's reach.
    """
    return {
        "fail_to_pass": list(run.outcome.fail_to_pass), "pass_to_pass": list(run.outcome.pass_to_pass),
        "command": command(run.outcome.fail_to_pass + run.outcome.pass_to_pass),
    }  # fmt: skip


def command(tests: tuple[str, ...]) -> str:
    """Return the command that runs tests whose names say what runs them: pytest's node ids, or dotted names."""
    if tests and all(_NODE.fullmatch(test) for test in tests):
        return shlex.join(("python", "-m", "pytest", "-q", "--", *tests))
    if tests and all(_DOTTED.fullmatch(test) for test in tests):
        return shlex.join(("python", "-m", "unittest", *tests))
    return ""


def reward(*, solved: bool, kept: float, cost_excess: float, conflict: bool) -> float:
    """Return what a rollout earns; `kept` and `cost_excess` are shares in 0..1."""
    earned = REWARD["solved"] * solved + REWARD["conflict"] * conflict
    if solved:
        earned += REWARD["kept"] * kept + REWARD["cost_excess"] * cost_excess
    return min(REWARD["most"], max(REWARD["least"], earned))
