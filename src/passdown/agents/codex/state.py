"""What a reader knows while it goes through a rollout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from passdown.agents.codex.dialogue import Dialogue
from passdown.agents.codex.lineage import Lineage
from passdown.agents.codex.meter import Meter
from passdown.agents.codex.place import Place
from passdown.agents.codex.subagents import Subagents
from passdown.agents.codex.tools import Tools
from passdown.model.session import AnyEvent, WorkspaceChange

Events = Sequence[AnyEvent]


class State:
    """The session so far. `dropped` are byte ranges that it took back; `ranges` are those found in this pass.

    `sparing` says that the file was not looked through for what it takes back.
    """

    def __init__(self, session_id: str, path: Path | None, dropped: list[tuple[int, int]]) -> None:
        self.session_id = session_id
        self.place = Place()
        self.dropped = dropped
        self.sparing = False
        self.ranges: list[tuple[int, int]] = []
        self.ignored: Counter[str] = Counter()
        self.lineage = Lineage(path)
        self.dialogue = Dialogue()
        self.tools = Tools()
        self.meter = Meter()
        self.subagents = Subagents()
        self.started = False
        self.subagent = False
        self.paginated = False
        self.model = ""
        self.cwd = ""
        self.git = ("", "")
        self.window: int | None = None
        self.context = 0
        self.compacted = False
        self.stopped_tool = False

    def went_on(self) -> list[AnyEvent]:
        """The model went on: what waited is settled, and nothing later repeats what came before."""
        self.compacted = False
        dialogue = self.dialogue
        dialogue.echo = None
        return dialogue.settle() if dialogue.waiting else []

    def asker(self) -> Literal["human", "subagent"]:
        """Return who prompts this session: a person, or the agent that started it."""
        return "subagent" if self.subagent and not self.lineage.copying else "human"

    def moved(self, cwd: str, git: tuple[str, str] = ("", "")) -> list[AnyEvent]:
        """Return a change of place when there is one; empty means not said."""
        cwd = "" if cwd == self.cwd else cwd
        git = git if git != self.git and any(git) else ("", "")
        if not cwd and not any(git):
            return []
        self.cwd, self.git = cwd or self.cwd, git if any(git) else self.git
        return [WorkspaceChange(cwd=cwd, branch=git[0], commit=git[1], **self.place.stamp())]
