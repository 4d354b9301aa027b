"""Everything that jobs need, imported once: processes are forked from one that has it, so that each begins at once."""

from __future__ import annotations

import contextlib
from importlib import import_module

from passdown.data.arrow import arrow
from passdown.errors import UsageError

MODULES = (
    "passdown.data.engine.decide",
    "passdown.data.engine.ingest",
    "passdown.data.engine.outputs",
    "passdown.data.engine.perturbing",
    "passdown.data.engine.run",
    "passdown.data.engine.stages",
    "passdown.data.engine.succeeding",
    "passdown.data.engine.viewing",
    "passdown.data.filters.decontaminate",
    "passdown.data.filters.licence",
    "passdown.data.filters.quality",
    "passdown.data.filters.split",
    "passdown.data.points.detect",
    "passdown.data.points.select",
    "passdown.data.replay.base",
    "passdown.data.replay.rerun",
    "passdown.data.replay.virtual",
    "passdown.data.samples.build",
    "passdown.data.sources.table",
    "passdown.data.subtasks.graph",
    "passdown.data.views.endpoint",
    "passdown.data.views.gates",
    "passdown.data.views.table",
    "passdown.data.worlds.run",
)
"""What the makers of stages import when they are called."""

with contextlib.suppress(UsageError):  # without the extra the first job says so
    arrow()
    for name in MODULES:
        import_module(name)
