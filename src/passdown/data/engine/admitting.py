"""Which perturbed states get in, where a task's hidden tests are at hand: those that its known fix still solves."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from passdown.data.export.state import Known, known_of
from passdown.data.perturb.admission import admit, tree_of
from passdown.data.perturb.scene import Blobs
from passdown.data.records import Cut, Perturbed, Reject, Trajectory

Verdicts = dict[tuple[str, bytes], bool]
"""What the hidden tests said of a task's trees, by digest: operators that change the notes alone leave the tree."""
MOST_VERDICTS = 50_000


class Judge:
    """Judges the states of one task. `base` are the files of its base commit."""

    def __init__(self, known: Known, instance: str, verdicts: Verdicts) -> None:
        self.base = known.base
        self._solved = known.solved
        self._instance = instance
        self._verdicts = verdicts

    def judged(self, perturbed: Perturbed, cut: Cut, blobs: Blobs) -> Perturbed | Reject:
        """Return the state with `still_solvable` filled in, or the reject of one that is not admitted.

        The fix is all that a solution changes, of the cut or of the base commit: operators undo what was done as well.
        A cut whose tree is not known whole cannot be judged: the state comes back as it was, for no rollouts.
        """
        snapshot = cut.snapshot
        if snapshot is None or snapshot.dirty or not snapshot.exact:
            return perturbed
        before = tree_of(snapshot, self.base, blobs)
        fix = {path: data for path, data in self._solved.items() if {before.get(path), self.base.get(path)} != {data}}
        touched = {path for truth in perturbed.truths for path in truth.touched}
        restored = {path: self._solved[path] for path in touched if path in self._solved}
        found = admit(
            perturbed, snapshot=snapshot, base=self.base, fix=fix, blobs=blobs, verify=self._passes, restored=restored
        )
        return found.perturbed if found.admitted else found.reject()

    def _passes(self, files: Mapping[str, bytes]) -> bool:
        from passdown.data.worlds.table import build_world
        from passdown.data.worlds.verify import verify

        key = self._instance, hashlib.sha256(msgspec.msgpack.encode(sorted(files.items()))).digest()
        if key not in self._verdicts:
            if len(self._verdicts) >= MOST_VERDICTS:
                self._verdicts.clear()
            self._verdicts[key] = verify(files, build_world(self._instance)).resolved
        return self._verdicts[key]


def judge_of(trajectory: Trajectory, verdicts: Verdicts) -> Judge | None:
    """Return who judges the states of a run's task, None where nobody has its hidden tests."""
    known = known_of(trajectory)
    return Judge(known, trajectory.instance_id, verdicts) if known is not None else None
