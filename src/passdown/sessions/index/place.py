"""Where the index lies."""

from __future__ import annotations

import os
from pathlib import Path

from passdown.io.files import home_folder


def index_path() -> Path:
    """Return where the index of this user lies, whether it exists or not."""
    configured = os.environ.get("XDG_DATA_HOME", "")
    base = Path(configured) if Path(configured).is_absolute() else home_folder() / ".local/share"
    return base / "passdown" / "index.sqlite"
