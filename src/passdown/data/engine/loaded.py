"""Everything that jobs may need, imported once: processes are forked from one that has it, so that each begins at once.

To import this module is to load it all, a third of a second long.
"""

from __future__ import annotations

import contextlib
import pkgutil
from importlib import import_module

from passdown.data.arrow import arrow
from passdown.errors import UsageError
from passdown.io.pattern_cache import use_pattern_cache

with contextlib.suppress(UsageError):  # without the extra, the first job says so
    arrow()
    use_pattern_cache()
    for package in ("passdown.data", "passdown.packet"):
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
