"""How much of what agents did is understood: the share of actions that are not `OTHER`, per source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct, field

from passdown.data.records import Trajectory


class Coverage(Struct, frozen=True, kw_only=True):
    """The actions of one source, by kind. `named` are those of tools known by their name alone (`RUN tool:x`)."""

    source: str
    trajectories: int = 0
    actions: int = 0
    named: int = 0
    kinds: dict[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float | None:
        """The share of actions that are not `OTHER`; None where there are none."""
        return 1 - self.kinds.get("OTHER", 0) / self.actions if self.actions else None


def coverage(trajectories: Iterable[Trajectory]) -> dict[str, Coverage]:
    """Return, for every source in order of its name, how many of its actions are understood."""
    runs: Counter[str] = Counter()
    named: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = {}
    for trajectory in trajectories:
        source = trajectory.provenance.source
        runs[source] += 1
        counts = kinds.setdefault(source, Counter())
        for step in trajectory.steps:
            for action in step.actions:
                counts[action.kind] += 1
                named[source] += action.target.startswith("tool:")
    return {
        source: Coverage(
            source=source, trajectories=runs[source], actions=kinds[source].total(), named=named[source],
            kinds=dict(sorted(kinds[source].items())),
        )
        for source in sorted(runs)
    }  # fmt: skip
