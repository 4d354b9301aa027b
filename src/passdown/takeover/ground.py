"""The ground a packet is judged on: what git, the disk and this machine say here and now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from passdown.model.evidence import RepositoryFacts
from passdown.model.packet import Environment
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import FeedbackRow
from passdown.repository.locate import Layout, read_layout

_OBJECT = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Ground(Struct, frozen=True, kw_only=True):
    """What claims are compared with. `facts` has the packet's HEAD as its base, where that commit is here.

    `environment` is what this repository's own manifests and configuration ask about, never what a packet asks about.
    """

    layout: Layout
    facts: RepositoryFacts
    environment: Environment = Environment()
    variables: Mapping[str, str] = field(default_factory=dict)
    feedback: tuple[FeedbackRow, ...] = ()

    @property
    def root(self) -> Path:
        """The worktree's root."""
        return self.layout.root

    def is_object(self, text: str) -> bool:
        """Say whether a text is a full object id of this repository's kind."""
        return bool(_OBJECT.fullmatch(text)) and len(text) == len(self.layout.empty_tree)


def ground_of(
    facts: RepositoryFacts, environment: Environment | None = None, feedback: tuple[FeedbackRow, ...] = ()
) -> Ground:
    """Return the ground of a repository that was just read. Raises `GitError` when it is gone."""
    return Ground(
        layout=read_layout(Path(facts.root)),
        facts=facts,
        environment=environment or Environment(),
        variables=os.environ,
        feedback=feedback,
    )
