"""The state that a successor begins with, whole: files of the base commit, what was left, the tests, a solution."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from passdown.data.perturb.admission import tree_of
from passdown.data.perturb.scene import Blobs
from passdown.data.records import Snapshot, Trajectory
from passdown.data.replay.blobs import BlobStore
from passdown.data.samples.render import Rendered

NO_STATE = "the state at its cut is not known"
DIRTY = "the contents of some files at its cut are not known"
NO_BASE = "the base commit's files and the hidden tests are not at hand"
IN_GIT = "an unfinished merge cannot be laid out as files"
_INDEX = "index:"
DONE = "nothing is left to do at its cut"


class State(Struct, frozen=True, kw_only=True):
    """Everything that a task is made of. `left` and `solution` hold changed files whole, None for a deleted one.

    `left` is what the predecessor changed of `base`, `solution` what a reference solution changes of the state then.
    `staged` is what git's index holds that the tree does not; `executable` names files of the tree that are programs.
    """

    base: dict[str, bytes]
    tree: dict[str, bytes]
    left: dict[str, bytes | None]
    solution: dict[str, bytes | None]
    hidden: dict[str, bytes]
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    staged: dict[str, bytes]
    executable: frozenset[str] = frozenset()


class Known(Struct, frozen=True):
    """What is known of a task apart from its runs: the files at the base commit, those of a solution, hidden tests."""

    base: dict[str, bytes]
    solved: dict[str, bytes]
    hidden: dict[str, bytes]


def state_of(rendered: Rendered, blobs: BlobStore) -> State | str:
    """Return the state a sample begins with, or why it cannot be made.

    Raises `FormatError` when the store lacks a content that a snapshot names.
    """
    snapshot, run = rendered.snapshot, rendered.trajectory
    if snapshot is None:
        return NO_STATE
    if not rendered.exact:
        return DIRTY
    staged = staged_in(snapshot, blobs)
    if staged is None:
        return IN_GIT
    known = known_of(run)
    if known is None:
        return NO_BASE
    tree = tree_of(snapshot, known.base, blobs)
    solution = _changes(tree, {**tree, **known.solved})
    if not solution:
        return DONE
    return State(
        base=known.base, tree=tree, left=_changes(known.base, tree), solution=solution, hidden=known.hidden,
        fail_to_pass=run.outcome.fail_to_pass, pass_to_pass=run.outcome.pass_to_pass,
        staged=staged,
        executable=frozenset(file.path for file in snapshot.delta if file.mode == "100755" and file.blob),
    )  # fmt: skip


def staged_in(snapshot: Snapshot, blobs: Blobs) -> dict[str, bytes] | None:
    """Return what git's index holds that the tree does not, None where git is in another state that cannot be made."""
    in_git = [one for one in snapshot.volatile if one.kind == "git"]
    if not all(one.key.startswith(_INDEX) for one in in_git):
        return None
    return {one.key.removeprefix(_INDEX): blobs.get(one.value) for one in in_git}


def known_of(run: Trajectory) -> Known | None:
    """Return what is known of a run's task: of worlds of our own (as they are now) everything, else nothing."""
    from passdown.data.worlds.desk import as_bytes
    from passdown.data.worlds.table import world_of

    world = world_of(run)
    if world is None:
        return None
    base = as_bytes(world.files)
    return Known(base, {**base, **as_bytes(world.reference)}, as_bytes(world.hidden))


def _changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes | None]:
    changed: dict[str, bytes | None] = {path: data for path, data in after.items() if before.get(path) != data}
    return changed | {path: None for path in before if path not in after}
