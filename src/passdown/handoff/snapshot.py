"""The library's front door: take a snapshot of a workbench, generate its handoff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from passdown.handoff.draft import draft_from
from passdown.handoff.gather import Gathered, Options, gather


class WorkbenchSnapshot(Struct, frozen=True, kw_only=True):
    """Everything a handoff is generated from, at one moment: configuration, git, workbench, sessions.

    Build one with `WorkbenchSnapshot.take(folder)`; it can be kept and generated from again, with the same bytes.
    """

    gathered: Gathered
    options: Options = Options()

    @classmethod
    def take(cls, folder: str | Path = ".", options: Options | None = None) -> WorkbenchSnapshot:
        """Gather the repository around `folder`. Raises `NoEvidenceError` when there is none."""
        options = options or Options()
        return cls(gathered=gather(Path(folder), options), options=options)


def generate_handoff(snapshot: WorkbenchSnapshot) -> tuple[str, dict[str, Any]]:
    """Return the Markdown and the JSON payload that `passdown wrap` would write for this snapshot.

    Raises `NextActionError` when no usable next action can be found.
    """
    drafted = draft_from(snapshot.gathered, snapshot.options)
    payload: dict[str, Any] = msgspec.json.decode(drafted.json)
    return drafted.markdown, payload
