"""Render samples: from references to texts, without secrets, and with nothing that a gate would stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from passdown.data.prefix import cut as cut_off
from passdown.data.records import Cut, Cuts, Reject, Sample, Snapshot, Trajectory, View
from passdown.data.samples.looking import look_at_commits
from passdown.data.samples.messages import Message, Role, continued, opening, step_messages
from passdown.data.samples.reconstruction import question, target
from passdown.data.views.shared import Shared
from passdown.data.views.trace import text_of
from passdown.redact.scan import Redactor


class Rendered(NamedTuple):
    """A sample with its texts: what the model is given, and what follows."""

    sample: Sample
    trajectory: Trajectory
    view: View
    prompt: list[Message]
    completion: list[Message]
    cut: Cut | None = None

    @property
    def snapshot(self) -> Snapshot | None:
        """Return the tree that the successor finds, None where it is not known."""
        return _found(self.cut, self.sample) if self.cut is not None else None

    @property
    def exact(self) -> bool:
        """Say whether all of that tree is known."""
        snapshot = self.snapshot
        return snapshot is not None and snapshot.exact and not snapshot.dirty


def _found(cut: Cut, sample: Sample) -> Snapshot | None:
    """Return the tree at a cut, as the sample's operators left it."""
    variant = cut.perturbed[sample.variant].snapshot if sample.variant is not None else None
    return variant or cut.snapshot


def render(cuts: Cuts, runs: Mapping[str, Trajectory] | None = None) -> Iterator[Rendered | Reject]:
    """Yield every sample of a trajectory as messages. `runs` are further successors that continuations name.

    A sample whose continuation is not at hand, or has nothing to learn, becomes a reject.
    """
    by_k = {cut.point.k: cut for cut in cuts.cuts}
    traces = _Traces(cuts.trajectory)
    known = {**(runs or {}), **{run.trajectory_id: run for run in cuts.successors}}
    redactor = Shared(cuts.trajectory.root).trace  # the samples of a trajectory have most of their texts in common
    for sample in cuts.samples:
        cut = by_k.get(sample.k)
        view = _view(cuts.trajectory, sample, cut, traces)
        found = _completion(cuts, sample, cut, known, view)
        if isinstance(found, str):
            yield Reject(
                stage="export", reason=found, trajectory_id=sample.trajectory_id, detail=sample.sample_id,
                provenance=cuts.trajectory.provenance,
            )  # fmt: skip
            continue
        asked = "" if sample.kind != "reconstruction" else f"\n\n{found.pop(0).content}"
        prompt = [_clean(message, redactor) for message in opening(view.text + asked)]
        follows = [_clean(message, redactor) for message in found]
        yield Rendered(sample, cuts.trajectory, view, prompt, follows, cut)


def _view(trajectory: Trajectory, sample: Sample, cut: Cut | None, traces: _Traces) -> View:
    if cut is None:
        return View(name="repo", trajectory_id=sample.trajectory_id, k=0, text=trajectory.task_text)
    if sample.variant is not None:
        view = cut.perturbed[sample.variant].view
    else:
        view = next(view for view in cut.views if view.name == sample.view)
    if view.text or view.name != "trace":
        return view
    return msgspec.structs.replace(view, text=traces[sample.k])


class _Traces(dict[int, str]):
    """The texts of the traces at each cut, of which the views were kept without; made when one is needed."""

    def __init__(self, trajectory: Trajectory) -> None:
        super().__init__()
        self._trajectory = trajectory
        self._shared = Shared(trajectory.root)

    def __missing__(self, k: int) -> str:
        text = self[k] = text_of(cut_off(self._trajectory, k), self._shared)
        return text


def _completion(
    cuts: Cuts, sample: Sample, cut: Cut | None, runs: Mapping[str, Trajectory], view: View
) -> list[Message] | str:
    """Return the messages behind the prompt, or the reason why there are none."""
    if sample.kind == "rl":
        return []
    if sample.kind == "reconstruction":
        if cut is None:
            return "no state at this cut"
        found = _found(cut, sample)
        asked = Message(role="user", content=question(found))
        told = target(cut, cuts.graph, found, view)
        return [asked, Message(role="assistant", content=told, part=Role.RECONSTRUCTION)]
    tail = sample.continuation
    if tail is None:  # ECHO: what the environment answered after the cut, whoever acted
        steps = cuts.trajectory.steps[sample.k :]
        return [message for step in steps for message in step_messages(step, Role.ACTION)]
    run = cuts.trajectory if tail.trajectory_id == sample.trajectory_id else runs.get(tail.trajectory_id)
    if run is None:
        return "the successor's run is not at hand"
    messages = list(continued(run, tail))
    if tail.kind == "human_tail":
        messages = [*look_at_commits(run, tail.start), *messages]
    if tail.start == 0 and tail.trajectory_id == sample.trajectory_id:
        messages = [message for message in messages if message.step or message.role != "user"]
    return messages if any(message.part == Role.ACTION for message in messages) else "every step is masked"


def _clean(message: Message, redactor: Redactor) -> Message:
    calls = tuple(msgspec.structs.replace(one, arguments=redactor.text(one.arguments)) for one in message.calls)
    return msgspec.structs.replace(
        message, content=redactor.text(message.content), reasoning=redactor.text(message.reasoning), calls=calls
    )
