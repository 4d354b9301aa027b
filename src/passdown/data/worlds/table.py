"""The table of worlds. A kernel's module is imported when one of its worlds is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import cast

from passdown.data.records import Trajectory
from passdown.data.worlds.build import made
from passdown.data.worlds.model import Kernel, World
from passdown.data.worlds.past import commit_id
from passdown.errors import UsageError

SOURCE = "worlds"
KERNELS: dict[str, tuple[str, ...]] = {
    "durations": ("a", "b", "c", "d"),
    "caches": ("a", "b", "c", "d"),
    "ledger": ("a", "b", "c", "d"),
    "wrapping": ("a", "b", "c", "d"),
    "graphs": ("a", "b", "c", "d"),
    "routes": ("a", "b", "c", "d"),
    "configs": ("a", "b", "c", "d"),
    "eventlog": ("a", "b", "c", "d"),
    "units": ("a", "b", "c", "d"),
    "jobs": ("a", "b", "c", "d"),
    "templates": ("a", "b", "c", "d"),
    "imports": ("a", "b", "c", "d"),
    "limits": ("a", "b", "c", "d"),
}
"""Every kernel, in the module of its name, with the ids of its variants."""

WORLDS: tuple[str, ...] = tuple(f"{kernel}-{variant}" for kernel, variants in KERNELS.items() for variant in variants)


def kernel_called(name: str) -> Kernel:
    """Return a kernel by its id, which is a key of `KERNELS`."""
    return cast("Kernel", import_module(f"passdown.data.worlds.kernels.{name}").KERNEL)


@lru_cache(maxsize=128)
def build_world(world_id: str) -> World:
    """Return a world by its id. Raises `UsageError` for one that is not known."""
    if world_id not in WORLDS:
        raise UsageError(f"no world called {world_id[:60]!r}", next_step=f"Known: {', '.join(WORLDS)}.")
    name, _, variant = world_id.partition("-")
    kernel = kernel_called(name)
    return made(kernel, next(row for row in kernel.variants if row.id == variant))


@lru_cache(maxsize=128)
def _commit(world_id: str) -> str:
    return commit_id(build_world(world_id).history)


def world_of(trajectory: Trajectory) -> World | None:
    """Return the world that a run was made in; None where it is of none, or of one that has changed since."""
    if trajectory.provenance.source != SOURCE or trajectory.instance_id not in WORLDS:
        return None
    same = trajectory.base_commit == _commit(trajectory.instance_id)
    return build_world(trajectory.instance_id) if same else None


def all_worlds() -> Iterator[World]:
    """Yield every world in the order of the table."""
    return (build_world(world_id) for world_id in WORLDS)
