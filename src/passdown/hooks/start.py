"""The slow road of a session's start: catch up on this repository and prepare the brief that the entry prints.

python -m passdown.hooks.start FOLDER [SESSION]
"""

from __future__ import annotations

import sys
from pathlib import Path

from passdown.hooks.drain import BOUND, catch_up_on, run_logged


def main() -> int:
    """Catch up on the folder named, leaving out the session that has just begun."""
    folder, own = [*sys.argv[1:3], "", ""][:2]
    return run_logged("catch-up", lambda: catch_up_on(Path(folder or "."), own=own), BOUND)


if __name__ == "__main__":
    sys.exit(main())
