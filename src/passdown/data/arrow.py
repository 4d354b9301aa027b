"""The one place that imports pyarrow, which comes with the extra `data`."""

from __future__ import annotations

from typing import Any

from passdown.errors import UsageError


def arrow() -> Any:
    """Import pyarrow with its Parquet part. Raises `UsageError` that names the extra when it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as missing:
        raise UsageError(
            "this command needs the extra `data` (pyarrow, numpy)", next_step='Run `pip install "passdown[data]"`.'
        ) from missing
    return pyarrow
