"""The console script. Before the command line is loaded, it answers `--version`, and git gets a head start."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        from passdown import __version__

        sys.stdout.write(f"passdown {__version__}\n")
        return
    # A command lives for a second and leaves hardly a cycle: looking for them costs a tenth of its time.
    gc.set_threshold(100_000, 50, 1000)
    from passdown.io.own_modules import find_own_modules

    find_own_modules()
    from passdown.cli.ahead import head_start

    with head_start(sys.argv[1:]):
        _run()


def _run() -> None:
    from passdown.cli.main import run
    from passdown.io.pattern_cache import use_pattern_cache

    save_patterns = use_pattern_cache()
    try:
        run()
    finally:
        save_patterns()
        gc.freeze()  # the end of the process frees all of it at once; the interpreter need not search it first


if __name__ == "__main__":
    main()
