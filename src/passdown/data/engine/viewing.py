"""The stage that writes views: of every cut each view that was asked for, through every gate."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from passdown.data.engine.pipeline import ViewsTable
from passdown.data.engine.shards import Row
from passdown.data.engine.stage import Batch, Stage, Work
from passdown.data.engine.stages import again, cuts_in
from passdown.data.filters.result import dropped
from passdown.data.records import Cut, Cuts, Reject, Trajectory, View
from passdown.data.views.options import Options


def views_stage(settings: ViewsTable) -> Stage:
    """Return the stage that writes the views of every cut; those that a gate stops become rejects."""
    return Stage(
        name="views", maker="passdown.data.engine.viewing:writing_views", parameters=msgspec.to_builtins(settings)
    )


def writing_views(names: list[str], budget: int | None, git_status: bool, model: str) -> Work:
    """Make the work of `views`. The text of a trace is left out, to be made again at export.

    With a `model` that never answered the work raises `WriterError`; one that fails later costs that cut its summary.
    """
    from passdown.data.views.endpoint import model_writer

    writer = model_writer(model) if model else None
    viewer = _Viewer(names, Options(budget=budget, git_status=git_status, writer=writer))

    def work(batch: Batch) -> Iterator[Row | Reject]:
        for row in batch:
            cuts = cuts_in(row)
            made: list[Cut] = []
            waiting = iter(cuts.cuts)
            for found in viewer.views_of(cuts):
                if isinstance(found, Reject):
                    yield found
                    continue
                cut = next(waiting)
                passed, stopped = _through_gates(cuts.trajectory, cut, found, budget)
                yield from stopped
                if passed:
                    made.append(msgspec.structs.replace(cut, views=passed))
            if made:
                yield again(row, msgspec.structs.replace(cuts, cuts=tuple(made)), "views")

    return work


class _Viewer:
    """Builds the views of cuts, and goes on without a summary where a model that did answer before fails."""

    def __init__(self, names: list[str], options: Options) -> None:
        self.names, self.options = names, options
        self.answered = False

    def views_of(self, cuts: Cuts) -> Iterator[tuple[View, ...] | Reject]:
        """Yield the views of each cut in their order, before some of them why one is missing."""
        from passdown.data.views.table import views_at

        ks = [cut.point.k for cut in cuts.cuts]
        if self.options.writer is None:
            yield from views_at(cuts.trajectory, ks, self.names, self.options)
            return
        for k in ks:
            yield from self._with_model(cuts.trajectory, k)

    def _with_model(self, trajectory: Trajectory, k: int) -> Iterator[tuple[View, ...] | Reject]:
        from passdown.data.views.table import views_at
        from passdown.data.views.writers import WriterError

        try:
            yield from views_at(trajectory, [k], self.names, self.options)
            self.answered = True
        except WriterError as error:
            if not self.answered:
                raise
            yield dropped("views", trajectory, "the model wrote no summary", f"at {k}: {error}"[:300])
            yield from views_at(trajectory, [k], [name for name in self.names if name != "summary"], self.options)


def _through_gates(
    trajectory: Trajectory, cut: Cut, views: tuple[View, ...], budget: int | None
) -> tuple[tuple[View, ...], list[Reject]]:
    from passdown.data.prefix import cut as cut_off
    from passdown.data.views.gates import Known, gate

    prefix = cut_off(trajectory, cut.point.k)
    known = Known(prefix=prefix)
    passed: list[View] = []
    stopped: list[Reject] = []
    for view in views:
        findings = gate(view, prefix, trajectory, snapshot=cut.snapshot, budget=budget, known=known)
        if findings:
            codes = ", ".join(sorted({finding.code for finding in findings}))
            detail = f"{view.name} at {cut.point.k}: {findings[0].detail}"
            stopped.append(dropped("views", trajectory, f"gate {codes}", detail[:300]))
        else:
            passed.append(msgspec.structs.replace(view, text="") if view.name == "trace" else view)
    return tuple(passed), stopped
