"""An operation that git is in the middle of."""

from __future__ import annotations

import os
from pathlib import Path

_MARKS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "sequence"),
    ("BISECT_LOG", "bisect"),
)


def operation_in(git_dir: Path) -> str:
    """Return merge, rebase, am, cherry-pick, revert, sequence or bisect; empty when none is under way."""
    return next((name for mark, name in _MARKS if os.path.lexists(git_dir / mark)), "")
