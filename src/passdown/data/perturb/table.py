"""The table of operators, and how they are applied: in order, seeded, or not at all with a reason."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Literal, NamedTuple, Protocol, cast

from passdown.data.perturb.identity import packet_named_in, with_own_identity
from passdown.data.perturb.scene import Applied, Blobs, InapplicableError, Scene
from passdown.data.records import Perturbed, Prefix, Reject, Snapshot, Truth, View, ViewName
from passdown.errors import UsageError

STAGE = "perturb"
STRENGTH = 0.5
"""The strength of an operator that is named without one."""

Family = Literal["decay", "inconsistency", "ambiguity"]


class Operator(NamedTuple):
    """One row: the operator's name, its family, what it needs to work on, what its strength means, its module.

    `views` are those on which it can have something to do.
    """

    name: str
    family: Family
    needs: Literal["view", "snapshot", "both"]
    strength: str
    module: str
    views: tuple[ViewName, ...]


class Applies(Protocol):
    """What an operator's module offers."""

    def apply(self, scene: Scene, dice: random.Random, strength: float) -> Applied:
        """Return the scene after it and the answer key. Raises `InapplicableError` where it has nothing to do."""


_VIEWS: tuple[ViewName, ...] = ("repo", "trace", "summary", "structured", "oracle_structured")
_NOTES, _MADE_AGAIN = _VIEWS[1:], _VIEWS[1:4]
_ELSEWHERE: dict[str, tuple[ViewName, ...]] = {
    "drop_section": _VIEWS[2:], "blur": _VIEWS[2:], "truncate_trace": ("trace",), "stale_note": _MADE_AGAIN,
    "underspecified_symbol": _VIEWS,
}  # fmt: skip


def _row(name: str, family: Family, needs: Literal["view", "snapshot", "both"], strength: str) -> Operator:
    views = _ELSEWHERE.get(name, _VIEWS if needs == "snapshot" else _NOTES)
    return Operator(name, family, needs, strength, f"passdown.data.perturb.{family}.{name}", views)


OPERATORS: tuple[Operator, ...] = (
    _row("drop_fact", "decay", "view", "share of the stated facts that are dropped"),
    _row("drop_section", "decay", "view", "share of the sections that are dropped; one stays"),
    _row("truncate_trace", "decay", "view", "share of the last events that are missing; one stays"),
    _row("blur", "decay", "view", "share of the named paths of which only the folder is left"),
    _row("stale_note", "decay", "view", "how far back the notes were written, as a share of the steps"),
    _row("delete_log", "decay", "snapshot", "share of the logs that are deleted"),
    _row("clear_scratch", "decay", "snapshot", "share of the by-products that are deleted"),
    _row("overwrite_file_section", "decay", "snapshot", "share of a file's changes that are lost"),
    _row("parallel_edit", "inconsistency", "snapshot", "share of the changed Python files that are edited"),
    _row("conflict_hunk", "inconsistency", "snapshot", "share of a file's changes that somebody wrote otherwise"),
    _row("moved_file", "inconsistency", "snapshot", "share of the changed files that are moved"),
    _row("dep_downgrade", "inconsistency", "snapshot", "share of the manifest's versions that are lowered"),
    _row("revert_one_hunk", "inconsistency", "both", "which change is undone: 0 the smallest, 1 the largest"),
    _row("planted_error", "inconsistency", "view", "below .5 the notes warn that one statement may be wrong"),
    _row("flipped_test_status", "inconsistency", "view", "share of the stated test results that are turned round"),
    _row("dirty_index", "inconsistency", "snapshot", "share of the changed files whose index holds something else"),
    _row("half_merge", "inconsistency", "snapshot", "share of a file's changes that stand between conflict markers"),
    _row("drop_deciding_decision", "ambiguity", "view", "share of the stated decisions that are dropped"),
    _row("two_alternatives", "ambiguity", "snapshot", "how much of the second way is written"),
    _row("conflicting_todos", "ambiguity", "view", "share of the open items that are contradicted"),
    _row("underspecified_symbol", "ambiguity", "view", "share of the task's names that become vague words"),
)  # fmt: skip
"""Every operator. Strength is in 0..1; at 0 the smallest change that is one."""

NAMES: tuple[str, ...] = tuple(row.name for row in OPERATORS)


class Use(NamedTuple):
    """An operator to apply, and how strongly."""

    name: str
    strength: float = STRENGTH


def operator(name: str) -> Operator:
    """Return an operator's row. Raises `UsageError` for a name that is none."""
    row = next((row for row in OPERATORS if row.name == name), None)
    if row is None:
        raise UsageError(f"{name[:40]!r} is no operator", next_step=f"One of: {', '.join(NAMES)}.")
    return row


def use(text: str | Use) -> Use:
    """Read `name` or `name@strength`. Raises `UsageError` for a name that is none, a strength outside 0..1."""
    if isinstance(text, Use):
        found = text
    else:
        name, at, strength = text.partition("@")
        try:
            found = Use(name, float(strength) if at else STRENGTH)
        except ValueError:
            raise UsageError(f"{strength[:20]!r} is no strength", next_step="Write a number from 0 to 1.") from None
    operator(found.name)
    if not 0 <= found.strength <= 1:
        raise UsageError(f"a strength lies in 0..1, not at {found.strength}", next_step="Write a number from 0 to 1.")
    return found


def dice_of(seed: int, number: int, name: str, view: View) -> random.Random:
    """Return the random numbers of one application: the same for the same seed, place, operator and view."""
    words = f"{seed}|{number}|{name}|{view.trajectory_id}|{view.k}|{view.name}"
    return random.Random(int.from_bytes(hashlib.sha256(words.encode()).digest(), "big"))  # noqa: S311 - no secret


def perturb(
    ops: Iterable[str | Use],
    snapshot: Snapshot | None,
    view: View,
    seed: int,
    *,
    blobs: Blobs | None = None,
    prefix: Prefix | None = None,
    base: Mapping[str, bytes] | None = None,
    level: str = "",
) -> Perturbed | Reject:
    """Apply operators in order. One that has nothing to work on here makes a `Reject` that says why.

    `ops` are names, `name@strength`, or `Use`. New contents of files are put into `blobs`; `base` are the files of the
    base commit, without which operators that compare with it do not apply. The same arguments give the same result.
    Raises `UsageError` for an operator that does not exist.
    """
    uses = tuple(use(text) for text in ops)
    scene = Scene(view=view, snapshot=snapshot, blobs=blobs, base=base, prefix=prefix)
    truths: list[Truth] = []
    origin = view
    for number, (name, strength) in enumerate(uses):
        row = operator(name)
        try:
            applied = _module(row).apply(scene, dice_of(seed, number, name, view), strength)
        except InapplicableError as why:
            return Reject(
                stage=STAGE, reason=f"{name}: {why.reason}", trajectory_id=view.trajectory_id, detail=why.detail[:300],
                provenance=prefix.provenance if prefix is not None else None,
            )  # fmt: skip
        scene = applied.scene
        truths.append(applied.truth)
        if packet_named_in(scene.view) not in ("", packet_named_in(origin)):  # a real packet, of an earlier step
            origin = scene.view
    shown, packet_id, derived_from = with_own_identity(scene.view, origin)
    return Perturbed(
        ops=tuple(name for name, _ in uses), view=shown, snapshot=scene.snapshot, truths=tuple(truths), level=level,
        seed=seed, packet_id=packet_id, derived_from=derived_from,
    )  # fmt: skip


def _module(row: Operator) -> Applies:
    return cast("Applies", import_module(row.module))
