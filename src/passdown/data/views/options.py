"""What a caller may say about a view."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from passdown.data.views.writers import Writer

Policy = Literal["none", "tail", "head_tail", "elide"]


class Options(Struct, frozen=True, kw_only=True):
    """Options of all views. `budget` is in estimated tokens; `policy` says how a trace is brought under it.

    Without a policy a trace with a budget is elided. `writer` writes the summary; `git_status` adds the changed files
    to the repository view; `keep_text` off leaves a trace's text to be made again at export.
    """

    budget: int | None = None
    policy: Policy | None = None
    writer: Writer | None = None
    git_status: bool = False
    keep_text: bool = True
