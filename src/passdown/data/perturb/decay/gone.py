"""Files that were deleted under the notes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from passdown.data.perturb.scene import Scene
from passdown.data.records import Fact


def deleted(scene: Scene, paths: Sequence[str]) -> tuple[Scene, list[Fact]]:
    """Return the scene without these files, and the facts that say they were added or modified."""
    now = scene.with_files(dict.fromkeys(paths))
    assert now.snapshot is not None
    kept = tuple(
        state for state in now.snapshot.volatile if not (state.kind == "tmp_file" and state.key in set(paths))
    )  # fmt: skip
    now = structs.replace(now, snapshot=structs.replace(now.snapshot, volatile=kept))
    gone = set(paths)
    false = [
        fact for fact in scene.view.facts
        if fact.type == "file_changed" and fact.key in gone and not fact.value.startswith("deleted")
    ]  # fmt: skip
    return now, false
