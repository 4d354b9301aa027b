"""The one place that imports pyarrow, which comes with the extra `data`."""

from __future__ import annotations

import os
import sys
from typing import Any

from passdown.errors import UsageError

_POOL = "ARROW_DEFAULT_MEMORY_POOL"


def arrow() -> Any:
    """Import pyarrow with its Parquet part. Raises `UsageError` that names the extra when it is not installed."""
    try:
        if "pyarrow" not in sys.modules:
            _import()
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as missing:
        raise UsageError(
            "this command needs the extra `data` (pyarrow, numpy)", next_step='Run `pip install "passdown[data]"`.'
        ) from missing
    return pyarrow


def _import() -> None:
    """Import pyarrow with the C library's allocator, unless the environment names another.

    Its own keeps pages of every buffer size there ever was, and only the environment tells the code beneath Python.
    """
    chosen = os.environ.get(_POOL)
    os.environ.setdefault(_POOL, "system")
    try:
        import pyarrow

        pyarrow.default_memory_pool()
    finally:
        if chosen is None:
            del os.environ[_POOL]
