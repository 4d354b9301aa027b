"""What every section of a packet is built from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, TypeVar

from msgspec import Struct

from passdown.model.evidence import CommandChain, Evidence
from passdown.model.identifier import content_id
from passdown.model.packet import Packet
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import Contract, Task
from passdown.packet.paths import PathLookup
from passdown.packet.runs import Greens, Ranks, acceptance_chains, green_runs, log_ranks, work_chains

_NAME = lazy_pattern(r"\w[\w.:/-]{0,63}")

_T = TypeVar("_T")
Outcome = Literal["passed", "failed", "unknown"]


class Context(Struct, frozen=True, kw_only=True, dict=True):
    """The evidence, what is known of paths, the packet before this one, and the options of the build.

    `mask` redacts a text before it is cut or an identifier is computed from it: half a secret is not recognised any
    more, and no identifier may be a secret's fingerprint. `blocked` says that the clean-state check found what blocks,
    `sessions_gone` that the sessions of the packet before are not here any more.
    """

    evidence: Evidence
    look: PathLookup
    mask: Callable[[str], str]
    previous: Packet | None = None
    blocked: bool = False
    sessions_gone: bool = False
    strict_assumptions: bool = False

    def id(self, prefix: str, text: str) -> str:
        """Return the identifier of a text: the same text has the same one everywhere."""
        return content_id(prefix, self.mask(text))

    def name(self, prefix: str, given: str, text: str) -> str:
        """Return an identifier that a file gave, when it is fit to be one, else the one of its text."""
        return given if _NAME.fullmatch(given) and self.mask(given) == given else self.id(prefix, text)

    def artifact(self, role: str) -> str:
        """Return the path of the first artifact with this role, or an empty string."""
        return next((a.path for a in self.evidence.workbench.artifacts if a.role == role), "")

    @property
    def contract(self) -> Contract | None:
        """The scope contract, if there is one."""
        return self.evidence.workbench.contract

    @property
    def governed(self) -> bool:
        """Whether the project tracks its work: it has a contract, a board or a feature list."""
        workbench = self.evidence.workbench
        return workbench.contract is not None or bool(workbench.tasks) or bool(workbench.features)

    @property
    def active_task(self) -> Task | None:
        """The board's or feature list's item that is being worked on: the named one, else the only one in progress."""
        workbench = self.evidence.workbench
        items = [*workbench.tasks, *workbench.features]
        names = [
            workbench.state.active_task_id if workbench.state else "",
            workbench.contract.task_id if workbench.contract else "",
            workbench.active_feature,
        ]
        for name in names:
            for item in items:
                if name and item.id == name:
                    return item
        running = [item for item in items if item.status == "in_progress"]
        return running[0] if len(running) == 1 else None

    @property
    def task_id(self) -> str | None:
        """The id of the task this work belongs to, or None."""
        workbench = self.evidence.workbench
        if workbench.contract and workbench.contract.task_id:
            return workbench.contract.task_id
        if workbench.state and workbench.state.active_task_id:
            return workbench.state.active_task_id
        task = self.active_task
        return task.id if task else workbench.active_feature or None

    @property
    def acceptance(self) -> tuple[str, ...]:
        """The commands (or sentences) that say when the goal is reached: the contract's, else the active task's."""
        if self.contract and self.contract.acceptance_criteria:
            return self.contract.acceptance_criteria
        return self.active_task.acceptance if self.active_task else ()

    @cached_property
    def _made(self) -> dict[Callable[[Context], Any], Any]:
        return {}

    def once(self, make: Callable[[Context], _T]) -> _T:
        """Return what is made of this context, made when it is first asked for."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _T = self._made[make]
        return made

    @cached_property
    def ranks(self) -> Ranks:
        """The order of the logs."""
        return log_ranks(self.evidence)

    @cached_property
    def chains(self) -> list[CommandChain]:
        """The command chains of the work itself, in log order."""
        return work_chains(self.evidence, self.ranks)

    @cached_property
    def accepted(self) -> list[CommandChain]:
        """The chains of acceptance commands, in the order of the criteria."""
        return acceptance_chains(self.chains, self.acceptance)

    @cached_property
    def greens(self) -> Greens:
        """The last green run of every chain."""
        return green_runs(self.chains, self.ranks)
