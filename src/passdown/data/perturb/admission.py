"""Admission: whether a task can still be solved with the operators applied, and is not solved by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, structs

from passdown.data.perturb.merge import merge3
from passdown.data.perturb.scene import Blobs, decoded
from passdown.data.perturb.table import STAGE
from passdown.data.records import Perturbed, Reject, Snapshot

Files = Mapping[str, bytes]
Verifier = Callable[[Files], bool]
"""Says whether a tree passes the hidden tests. The same files get the same answer."""

Fix = Mapping[str, bytes | None]
"""The files that a verified solution has other than the cut, whole; None for a file that it deletes."""


class Rebased(Struct, frozen=True):
    """The tree with the fix on it, and the places where the fix won over lines that were changed meanwhile."""

    files: dict[str, bytes]
    conflicts: int


class Admission(Struct, frozen=True, kw_only=True):
    """What was found. `reason` is empty when admitted; `rebased_from` says which state the fix was taken from.

    `perturbed` is the same with `still_solvable` filled in.
    """

    perturbed: Perturbed
    admitted: bool
    reason: str = ""
    rebased_from: str = ""
    conflicts: int = 0

    def reject(self) -> Reject:
        """Return the reject of one that is not admitted."""
        names = ", ".join(self.perturbed.ops)
        return Reject(
            stage=STAGE, reason=f"admission: {self.reason}", trajectory_id=self.perturbed.view.trajectory_id,
            detail=f"{names} (seed {self.perturbed.seed})",
        )  # fmt: skip


def tree_of(snapshot: Snapshot | None, base: Files, blobs: Blobs) -> dict[str, bytes]:
    """Return every file of a snapshot."""
    tree = dict(base)
    for state in snapshot.delta if snapshot is not None else ():
        tree.pop(state.path, None)
        if state.blob:
            tree[state.path] = blobs.get(state.blob)
    return tree


def admit(
    perturbed: Perturbed, *, snapshot: Snapshot, base: Files, fix: Fix, blobs: Blobs, verify: Verifier,
    restored: Fix | None = None,
) -> Admission:  # fmt: skip
    """Run the hidden tests three times: on the cut with the fix, on the perturbed state, and there with the fix.

    `snapshot` is the cut before the operators. The first and the last have to pass, the one between to fail. The fix is
    put on the perturbed state by a merge, as what it changes of the cut, else as what it changes of the base commit;
    else with the files `restored` whole, for what a solution has to put right though it never changed it.
    """
    before = tree_of(snapshot, base, blobs)
    after = tree_of(perturbed.snapshot or snapshot, base, blobs)
    if not verify(_fixed(before, fix)):
        return _refused(perturbed, "the fix does not pass on the cut itself", None)
    if verify(after):
        return _refused(perturbed, "the state passes without a fix", None)
    for name, origin in (("cut", before), ("base", base)):
        rebased = rebase(origin, after, fix)
        if verify(rebased.files):
            return Admission(
                perturbed=_with_answer(perturbed, solvable=True), admitted=True, rebased_from=name,
                conflicts=rebased.conflicts,
            )  # fmt: skip
    rebased = rebase(base, after, fix)
    if restored and verify(_fixed(rebased.files, restored)):
        return Admission(
            perturbed=_with_answer(perturbed, solvable=True), admitted=True, rebased_from="restored",
            conflicts=rebased.conflicts,
        )  # fmt: skip
    return _refused(perturbed, "the rebased fix does not pass", False)


def rebase(origin: Files, onto: Files, fix: Fix) -> Rebased:
    """Put a fix that was made of `origin` on another state. A file that is gone there comes back with the fix."""
    files = dict(onto)
    conflicts = 0
    for path, wanted in sorted(fix.items()):
        if wanted is None:
            files.pop(path, None)
            continue
        was, now, fixed = decoded(origin.get(path)), decoded(onto.get(path)), decoded(wanted)
        if was is None or now is None or fixed is None:
            conflicts += onto.get(path) != origin.get(path)
            files[path] = wanted
            continue
        merged = merge3(was, now, fixed)
        conflicts += merged.conflicts
        files[path] = merged.text.encode()
    return Rebased(files, conflicts)


def _fixed(files: Files, fix: Fix) -> dict[str, bytes]:
    whole = {path: wanted for path, wanted in fix.items() if wanted is not None}
    return {path: data for path, data in files.items() if path not in fix} | whole


def _with_answer(perturbed: Perturbed, *, solvable: bool | None) -> Perturbed:
    truths = tuple(structs.replace(truth, still_solvable=solvable) for truth in perturbed.truths)
    return structs.replace(perturbed, truths=truths)


def _refused(perturbed: Perturbed, reason: str, solvable: bool | None) -> Admission:
    return Admission(perturbed=_with_answer(perturbed, solvable=solvable), admitted=False, reason=reason)
