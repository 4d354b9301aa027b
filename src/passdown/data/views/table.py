"""The table of views: facts only. A view's module is imported when it is first built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from passdown.data.prefix import cut
from passdown.data.records import Prefix, Trajectory, View, ViewName
from passdown.data.views.changes import Ledger
from passdown.data.views.material import Material, material_of, numbered
from passdown.data.views.options import Options, Policy
from passdown.data.views.shared import Shared
from passdown.data.views.writers import Writer
from passdown.errors import UsageError
from passdown.model.session import AnyEvent


class ViewRow(NamedTuple):
    """One row: the view's name, what a successor gets, and the module that builds it."""

    name: ViewName
    title: str
    module: str


class Builder(Protocol):
    """What a view's module offers."""

    def build(self, material: Material, options: Options) -> View:
        """Return the view of what a prefix shows."""


VIEWS: tuple[ViewRow, ...] = (
    ViewRow("repo", "the task and the tree as it was left, without notes", "passdown.data.views.repo"),
    ViewRow("trace", "every event of the session before", "passdown.data.views.trace"),
    ViewRow("summary", "notes of a few hundred words", "passdown.data.views.summary"),
    ViewRow("structured", "the passdown packet and the state by rule", "passdown.data.views.structured"),
)
"""Every view that is made of a prefix. The oracle is not among them: it needs the future (`oracle.build_oracle`)."""

NAMES: tuple[ViewName, ...] = tuple(row.name for row in VIEWS)


def builder_of(name: str) -> Builder:
    """Return the module that builds a view. Raises `UsageError` for a name that is none."""
    row = next((row for row in VIEWS if row.name == name), None)
    if row is None:
        more = " The oracle is built by `build_oracle`, with the whole trajectory." if "oracle" in name else ""
        raise UsageError(f"{name[:40]!r} is no view", next_step=f"One of: {', '.join(NAMES)}.{more}")
    return cast("Builder", import_module(row.module))


def build_view(
    name: str,
    prefix: Prefix,
    *,
    budget: int | None = None,
    policy: Policy | None = None,
    writer: Writer | None = None,
    git_status: bool = False,
    keep_text: bool = True,
) -> View:
    """Build one view of a prefix. The same prefix and options give the same view.

    `budget` is in estimated tokens. See `Options`. Raises `UsageError` for a name that is none, `WriterError` when a
    writer gives nothing usable.
    """
    options = Options(budget=budget, policy=policy, writer=writer, git_status=git_status, keep_text=keep_text)
    return builder_of(name).build(material_of(prefix), options)


def build_views(prefix: Prefix, names: Iterable[str] = NAMES, options: Options | None = None) -> tuple[View, ...]:
    """Build several views of one prefix, with one pass over its evidence."""
    material = material_of(prefix)
    return tuple(builder_of(name).build(material, options or Options()) for name in names)


def views_at(
    trajectory: Trajectory,
    ks: Sequence[int],
    names: Sequence[str] = NAMES,
    options: Options | None = None,
    shared: Shared | None = None,
) -> Iterator[tuple[View, ...]]:
    """Yield the views of each cut, in the order of `ks`: the same as `build_views(cut(trajectory, k))`, only faster.

    What the cuts share is done once: numbering, redaction, the changes step by step; `shared` is for who goes on with
    it. Raises `ValueError` for a cut that is none.
    """
    shared = shared or Shared(trajectory.root)
    made = {material.prefix.k: material for material in _materials(trajectory, sorted(set(ks)), shared)}
    for k in ks:
        yield tuple(builder_of(name).build(made[k], options or Options()) for name in names)


def _materials(trajectory: Trajectory, ks: Sequence[int], shared: Shared) -> Iterator[Material]:
    ledger, done = Ledger(), 0
    events: list[AnyEvent] = []
    for k in ks:
        prefix = cut(trajectory, k)
        fresh = prefix.steps[done:]
        for step in fresh:
            ledger.take(step)
        events += numbered(fresh)
        done = k
        yield Material(prefix=prefix, events=tuple(events), shared=shared, ledger=ledger.copy())
