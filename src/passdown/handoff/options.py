"""What a caller may choose when evidence is gathered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from passdown.sessions.discover import Discovery


class Options(Struct, frozen=True, kw_only=True):
    """What the caller may choose. Empty means: let passdown decide; an empty `next_action` is refused as vague.

    `session` is an id, an id's unique beginning, or a session file; `base` a commit; `homes` moves an agent's folder
    (agent id → path); `now` (milliseconds) is only used to tell which sessions are still live. `without` names the
    sessions that are left out, their subagents with them. `interim` asks for an interim
    packet even when nothing blocks. `found` are the repository's sessions where the caller looked for them already.
    """

    session: str = ""
    agent: str = ""
    topic: str = ""
    base: str = ""
    session_id: str = ""
    next_action: str | None = None
    homes: Mapping[str, Path] | None = None
    now: int | None = None
    without: tuple[str, ...] = ()
    interim: bool = False
    found: Discovery | None = None
