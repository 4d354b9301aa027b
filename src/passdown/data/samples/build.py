"""Choose the samples of a trajectory: by reference, capped, and mixed so that no kind drowns the others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from math import floor
from typing import NamedTuple

import msgspec

from passdown.data.perturb.curriculum import LEVELS
from passdown.data.records import Continuation, Cut, Cuts, Perturbed, Sample, SampleKind, Trajectory, Truth, View
from passdown.data.samples.continuations import continuations, differs
from passdown.data.samples.reconstruction import contradicts, shows_changes, tells_more

SELF_TAILS = 0.3
"""The share of supervised samples whose continuation is a self tail without inspection, at most."""
_ECHOED = ("repo", "structured")
COPIES = 1
"""Reconstruction samples of a cut whose answer is the changed files alone, which the question shows, at most."""
_POINT = {"milestone": 0.1, "review": 0.15, "delegation": 0.15, "turn": 0.15, "mid": 0.2, "error": 0.3}
_VIEW = {"trace": 0.0, "structured": 0.05, "oracle_structured": 0.0, "summary": 0.1, "repo": 0.25}


def build_samples(
    cuts: Cuts,
    *,
    kinds: Sequence[SampleKind] = ("sft", "rl", "reconstruction", "echo", "plain"),
    per_trajectory: int = 48,
    self_tails: float = SELF_TAILS,
    seed: int = 0,
    successors: Iterable[Trajectory] = (),
) -> tuple[Sample, ...]:
    """Return the samples of one trajectory, at most `per_trajectory`, chosen evenly over kinds by hash of `seed`.

    Of its supervised samples at most `self_tails` are self tails without inspection, so that the share holds for any
    set of trajectories put together. `successors` are runs that say in `extras` from which cut they go on, beside those
    that the cuts hold.
    """
    found = [*cuts.successors, *successors]
    every = [
        sample for number, cut in enumerate(cuts.cuts) for sample in _of_cut(cuts, cut, kinds, found, seed + number)
    ]
    if "plain" in kinds and cuts.trajectory.outcome.resolved and cuts.trajectory.predecessor == "agent":
        every.append(_plain(cuts.trajectory))
    chosen = _spread(every, per_trajectory, seed)
    return tuple(_few_self_tails(chosen, self_tails))


def _of_cut(
    cuts: Cuts, cut: Cut, kinds: Sequence[SampleKind], successors: list[Trajectory], seed: int
) -> Iterator[Sample]:
    trajectory = cuts.trajectory
    given: list[tuple[int | None, Perturbed]] = [
        (None, Perturbed(ops=(), view=view, level=_plain_level(cut, view))) for view in cut.views
    ]
    given += enumerate(cut.perturbed)
    copies: list[Sample] = []
    for variant, one in given:
        if one.view.name == "oracle_structured" and trajectory.split == "train":
            continue
        state = _State(trajectory, cut, variant, one, seed)
        if "sft" in kinds:
            for tail in continuations(trajectory, cut, successors, one.snapshot):
                yield state.sample("sft", tail)
        if "rl" in kinds and trajectory.outcome.fail_to_pass and all(truth.still_solvable for truth in one.truths):
            yield state.sample("rl")
        asked = "reconstruction" in kinds and cut.snapshot is not None and one.view.name != "oracle_structured"
        if asked and not contradicts(one.view, cut, cuts.graph, one.truths):
            made = state.sample("reconstruction")
            if tells_more(one.view):
                yield made
            elif shows_changes(one.snapshot or cut.snapshot):  # else there is nothing to tell at all
                copies.append(made)
        if "echo" in kinds and _observes(trajectory, cut, one):
            yield state.sample("echo")
    yield from sorted(copies, key=lambda made: _digest(made.sample_id))[:COPIES]


def _plain_level(cut: Cut, view: View) -> str:
    """Return the preset that a view is of which nothing was done to: the first, L1, has no operators."""
    return next(
        (one.name for one in LEVELS for cell in one.cells
         if not cell.ops and (cell.point, cell.view) == (cut.point.kind, view.name)), "",
    )  # fmt: skip


def _observes(trajectory: Trajectory, cut: Cut, given: Perturbed) -> bool:
    """Say whether the environment answered anything after a cut, and in this very state."""
    if given.view.name not in _ECHOED or differs(cut, given.snapshot):
        return False
    return any(step.role == "agent" and step.actions for step in trajectory.steps[cut.point.k :])


class _State(NamedTuple):
    """One state a successor can be put in: a cut, seen through one view, with what was done to it."""

    trajectory: Trajectory
    cut: Cut
    variant: int | None
    given: Perturbed
    seed: int

    def sample(self, kind: SampleKind, continuation: Continuation | None = None) -> Sample:
        """Return a sample of this state."""
        given, point = self.given, self.cut.point
        group = _digest(self.trajectory.trajectory_id, point.k, given.view.name, self.variant, given.ops, self.seed)
        tail = continuation and (continuation.kind, continuation.trajectory_id)
        return Sample(
            sample_id=f"{kind}-{_digest(group, tail, kind)}", kind=kind, trajectory_id=self.trajectory.trajectory_id,
            k=point.k, point=point.kind, view=given.view.name, variant=self.variant, ops=given.ops, level=given.level,
            continuation=continuation, group_key=group, difficulty=difficulty(self.cut, given.view, given.truths),
            failure_modes=failure_modes(given.view, given.truths), tokens=given.view.tokens,
            admitted=True if given.truths and all(truth.still_solvable for truth in given.truths) else None,
        )  # fmt: skip


def difficulty(cut: Cut, view: View, truths: tuple[Truth, ...]) -> float:
    """Return 0..1: what kind of point (up to .3), what the view leaves out (up to .25), what the operators do (.45)."""
    disturbed = min(0.45, sum(0.3 * truth.strength for truth in truths))
    return round(_POINT[cut.point.kind] + _VIEW[view.name] + disturbed, 4)


def failure_modes(view: View, truths: tuple[Truth, ...]) -> tuple[str, ...]:
    """Return what a sample trains against: CRF (context), SIF (state), PCF (plan), over_steering (false notes)."""
    found = {"CRF"} if view.name in ("repo", "summary") else set()
    for truth in truths:
        found.add({"decay": "CRF", "inconsistency": "SIF", "ambiguity": "PCF"}[truth.family])
        if truth.facts_now_false:
            found.add("over_steering")
    return tuple(sorted(found))


def _plain(trajectory: Trajectory) -> Sample:
    """Return the uninterrupted run: it has one text, so it is one sample."""
    name = _digest(trajectory.trajectory_id, "plain")
    whole = Continuation(kind="self_tail", trajectory_id=trajectory.trajectory_id, start=0, stop=len(trajectory.steps))
    return Sample(
        sample_id=f"plain-{name}", kind="plain", trajectory_id=trajectory.trajectory_id, k=0, point="milestone",
        view="repo", continuation=whole, group_key=name, difficulty=0.0,
    )  # fmt: skip


def _spread(samples: list[Sample], most: int, seed: int) -> list[Sample]:
    """Choose at most `most`: kinds take turns, inside a kind the hash decides. The order of cuts is kept."""
    if len(samples) <= most:
        return samples
    waiting: dict[str, list[Sample]] = {}
    for sample in sorted(samples, key=lambda one: _digest(seed, one.sample_id)):
        waiting.setdefault(sample.kind, []).append(sample)
    chosen: set[str] = set()
    while len(chosen) < most:
        for queue in waiting.values():
            if queue and len(chosen) < most:
                chosen.add(queue.pop(0).sample_id)
    return [sample for sample in samples if sample.sample_id in chosen]


def _few_self_tails(samples: list[Sample], share: float) -> Iterator[Sample]:
    """Drop self tails without inspection until they are no more than `share` of the supervised samples."""
    tails = [one for one in samples if one.kind == "sft" and one.continuation and one.continuation.kind == "self_tail"]
    others = sum(one.kind == "sft" for one in samples) - len(tails)
    allowed = floor(share * others / (1 - share)) if share < 1 else len(tails)
    kept = {one.sample_id for one in sorted(tails, key=lambda one: _digest(one.sample_id))[:allowed]}
    left = {one.sample_id for one in tails} - kept
    return (one for one in samples if one.sample_id not in left)


def _digest(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]
