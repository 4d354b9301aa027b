"""What a clean-state check may be told, and the facts that it reads from git once for all checks."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field

from passdown.clean.content import Sources
from passdown.clean.edits import Edits
from passdown.config import Config
from passdown.model.evidence import Change, Evidence
from passdown.model.packet import Packet
from passdown.redact.scan import Redactor
from passdown.repository.branches import Branch, read_branches
from passdown.repository.commits import commit_messages
from passdown.repository.locate import Layout, read_layout
from passdown.repository.own import OwnPaths
from passdown.repository.reflog import branch_born
from passdown.store.packets import own_paths


class CleanOptions(Struct, frozen=True, kw_only=True):
    """How to judge. `strict`: what could not be looked at blocks; `portable`: what another device would lack blocks.

    `base` and `session` are as they were given, for commands that have to say them again. `allow` maps codes that a
    person lets pass to the reason; `name_failures` counts failing tests as named. `environ`
    tells a CI system by its variables, and which values are secret; `now` (milliseconds) is used for the age of a lock
    alone.
    """

    strict: bool = False
    portable: bool = False
    allow: Mapping[str, str] = field(default_factory=dict)
    name_failures: bool = False
    base: str = ""
    session: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    now: int | None = None


class Situation:
    """Evidence, draft, configuration and options, and what the checks read from git beyond the evidence."""

    def __init__(self, evidence: Evidence, draft: Packet, config: Config, options: CleanOptions) -> None:
        self.evidence = evidence
        self.repository = evidence.repository
        self.workbench = evidence.workbench
        self.draft = draft
        self.config = config
        self.options = options
        self.root = Path(evidence.repository.root)
        self.own = OwnPaths.of(own_paths(config))
        self.redactor = Redactor(options.environ)

    @cached_property
    def layout(self) -> Layout:
        """The repository's folders."""
        return read_layout(self.root)

    @cached_property
    def sources(self) -> Sources:
        """The diff's added lines."""
        skip = self.submodules
        found = Sources(self.root, self.repository.base, [c for c in self.repository.changes if c.path not in skip])
        given = (("--base", self.options.base), ("--session", self.options.session))
        found.edits.options = "".join(f" {name} {shlex.quote(value)}" for name, value in given if value)
        return found

    @property
    def edits(self) -> Edits:
        """What the checks offer to mend what they find."""
        return self.sources.edits

    @cached_property
    def submodules(self) -> frozenset[str]:
        """The paths of submodules."""
        return frozenset(submodule.path for submodule in self.repository.submodules)

    @cached_property
    def messages(self) -> dict[str, str]:
        """The whole messages of the session's commits, by id."""
        return commit_messages(self.root, self.repository.commits)

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The local branches."""
        return read_branches(self.root, self.config.integration_branch)

    @cached_property
    def dirt(self) -> tuple[Change, ...]:
        """The changes that are not committed, submodules left out."""
        return tuple(
            c for c in self.repository.changes if (c.uncommitted or c.untracked) and c.path not in self.submodules
        )

    @cached_property
    def began(self) -> int | None:
        """When this session began (milliseconds): its first event, else the moment from which evidence counts."""
        starts = [session.started_at for session in self.evidence.sessions if session.started_at is not None]
        return min(starts) if starts else self.evidence.since

    def is_recent(self, at: int | None) -> bool | None:
        """Say whether something came to be in this session; None when nobody knows. No known beginning: it did."""
        if self.began is None:
            return True
        return None if at is None else at >= self.began // 1000 * 1000

    def born_here(self, branch: str) -> bool | None:
        """Say whether a branch was created in this session, by its reflog; None without a reflog."""
        return self.is_recent(branch_born(Path(self.repository.common_dir), branch))

    @property
    def severe(self) -> bool:
        """Whether what another device lacks blocks."""
        return self.options.portable

    def message(self, what: str) -> str:
        """Return a commit message that says what is kept and for which work."""
        return f"{what} ({self.draft.topic})" if self.draft.topic else what
