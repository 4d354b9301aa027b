"""How a filter says that it dropped a trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from passdown.data.records import Provenance, Reject, Trajectory

Filtered = Iterator[Trajectory | Reject]
"""What every filter yields: trajectories it keeps, as they came, and a reject for each that it drops."""


def dropped(stage: str, trajectory: Trajectory, reason: str, detail: str = "") -> Reject:
    """Return the note that a filter dropped a trajectory."""
    return Reject(
        stage=stage, reason=reason, trajectory_id=trajectory.trajectory_id, detail=detail[:300],
        provenance=trajectory.provenance,
    )  # fmt: skip


class Named(Protocol):
    """A trajectory, or as much of it as says which it is."""

    @property
    def trajectory_id(self) -> str:
        """Its id."""

    @property
    def provenance(self) -> Provenance:
        """Where it comes from."""


def key_of(trajectory: Named) -> str:
    """Return what no other trajectory shares, not even a copy of it: its source, file and row."""
    place = trajectory.provenance
    return f"{place.source}\x1f{place.file}\x1f{place.row}\x1f{trajectory.trajectory_id}"


def rank_of(trajectory: Trajectory) -> tuple[bool, bool, bool, int, str]:
    """Return what copies are ordered by; the smallest is kept: resolved, licensed, with a patch, longer, by its key."""
    outcome = trajectory.outcome
    return (
        outcome.resolved is not True, not trajectory.provenance.licence, not outcome.patch, -len(trajectory.steps),
        key_of(trajectory),
    )  # fmt: skip
