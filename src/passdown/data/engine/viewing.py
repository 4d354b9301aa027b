"""The stage that writes views: of every cut each view that was asked for, through every gate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from passdown.data.engine.pipeline import ViewsTable
from passdown.data.engine.shards import Row
from passdown.data.engine.stage import Batch, Stage, Work
from passdown.data.engine.stages import again, cuts_in
from passdown.data.filters.result import dropped
from passdown.data.records import Cut, Cuts, Reject, Trajectory, View
from passdown.data.views.options import Options
from passdown.data.views.shared import Shared

if TYPE_CHECKING:
    from passdown.data.views.endpoint import ModelWriter
    from passdown.data.views.gates import Known

NO_ANSWER, NO_NOTES = "summary.endpoint", "summary.contradicts"
"""Why a cut has no summary by a model: it could not be asked, or what it wrote does not hold."""


def views_stage(settings: ViewsTable) -> Stage:
    """Return the stage that writes the views of every cut; those that a gate stops become rejects."""
    return Stage(
        name="views", maker="passdown.data.engine.viewing:writing_views", version=5,
        parameters=msgspec.to_builtins(settings),
        check="passdown.data.engine.viewing:checking_model" if settings.model else "",
        transient=(NO_ANSWER, NO_NOTES),
    )  # fmt: skip


def checking_model(model: str, **_other: Any) -> None:
    """Ask the model once, before any process does. Raises `EndpointError` where it refuses, or nobody is there."""
    from passdown.data.views.endpoint import model_writer

    model_writer(model).check()


def writing_views(names: list[str], budget: int | None, git_status: bool, model: str) -> Work:
    """Make the work of `views`. The text of a whole trace is left out, to be made again at export.

    A `model` that gives no answer costs a cut its summary. `EndpointError` is raised only where it would refuse any
    question: a key that was withdrawn makes nobody wait for thousands of refusals.
    """
    from passdown.data.views.endpoint import model_writer
    from passdown.data.views.gates import known_at

    writer = model_writer(model) if model else None
    viewer = _Viewer(names, Options(budget=budget, git_status=git_status, writer=writer), writer)

    def work(batch: Batch) -> Iterator[Row | Reject]:
        for row in batch:
            cuts = cuts_in(row)
            made: list[Cut] = []
            shared = Shared(cuts.trajectory.root)
            waiting = zip(cuts.cuts, known_at(cuts.trajectory, _ks(cuts), shared), strict=True)
            for found in viewer.views_of(cuts, shared):
                if isinstance(found, Reject):
                    yield found
                    continue
                cut, known = next(waiting)
                passed, stopped = through_gates(cut, found, known, budget)
                yield from stopped
                if passed:
                    made.append(msgspec.structs.replace(cut, views=passed))
            if made:
                yield again(row, msgspec.structs.replace(cuts, cuts=tuple(made)), "views")

    return work


class _Viewer:
    """Builds the views of cuts, and goes on without a summary where the model gives none."""

    def __init__(self, names: list[str], options: Options, model: ModelWriter | None) -> None:
        self.names, self.options, self.model = names, options, model

    def views_of(self, cuts: Cuts, shared: Shared) -> Iterator[tuple[View, ...] | Reject]:
        """Yield the views of each cut in their order, before some of them why one is missing."""
        from passdown.data.views.table import views_at

        if self.model is None:
            yield from views_at(cuts.trajectory, _ks(cuts), self.names, self.options, shared)
            return
        for k in _ks(cuts):
            yield from self._with_model(cuts.trajectory, k, self.model)

    def _with_model(self, trajectory: Trajectory, k: int, model: ModelWriter) -> Iterator[tuple[View, ...] | Reject]:
        from passdown.data.views.endpoint import EndpointError
        from passdown.data.views.table import views_at
        from passdown.data.views.writers import WriterError

        try:
            yield from views_at(trajectory, [k], self.names, self.options)
            return
        except EndpointError as error:
            if error.refused:  # these words alone, as a filter of contents does, or whatever it is asked?
                _check_again(model)
            reason, detail = NO_ANSWER, str(error)
        except WriterError as error:
            reason, detail = NO_NOTES, str(error)
        yield dropped("views", trajectory, reason, f"at {k}: {detail}"[:300])
        yield from views_at(trajectory, [k], [name for name in self.names if name != "summary"], self.options)


def _check_again(model: ModelWriter) -> None:
    from passdown.data.views.endpoint import EndpointError

    try:
        model.check()
    except EndpointError as error:
        if error.refused:
            raise


def _ks(cuts: Cuts) -> list[int]:
    return [cut.point.k for cut in cuts.cuts]


def through_gates(
    cut: Cut, views: tuple[View, ...], known: Known, budget: int | None
) -> tuple[tuple[View, ...], list[Reject]]:
    """Return the views of a cut that may be used, and why each other may not. A trace that is whole keeps no text."""
    from passdown.data.views.gates import gate

    trajectory = known.trajectory
    passed: list[View] = []
    stopped: list[Reject] = []
    for view in views:
        findings = gate(view, known.prefix, trajectory, snapshot=cut.snapshot, budget=budget, known=known)
        if findings:
            codes = ", ".join(sorted({finding.code for finding in findings}))
            detail = f"{view.name} at {cut.point.k}: {findings[0].detail}"
            stopped.append(dropped("views", trajectory, f"gate {codes}", detail[:300]))
        else:
            whole = view.name == "trace" and not view.elided  # one that was shortened is not so easily made again
            passed.append(msgspec.structs.replace(view, text="") if whole else view)
    return tuple(passed), stopped
