"""Run the command in children that kill themselves at a given step of writing.

Called with JSON on standard input, `[[arguments, step], …]`; step 0 lets the run end. A step is an audit event by which
something under a repository is about to change: a file opened for writing, created, renamed, removed, given its mode, or
a folder made. The child kills itself with SIGKILL just before. Prints, for each run, the wait status and the steps seen.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR
STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}


def is_step(event: str, values: tuple[Any, ...]) -> bool:
    """Say whether an audit event announces a change on disk."""
    if event == "open":
        name, _, flags = values
        return isinstance(name, str) and bool(flags & WRITING) and name != os.devnull
    return event in STEPS


def run_in_child(arguments: list[str], step: int) -> tuple[int, int]:
    """Fork, run the command there, and return its wait status and how many steps it took."""
    counted, tell = os.pipe()
    child = os.fork()
    if child:
        os.close(tell)
        with os.fdopen(counted, "rb") as stream:
            seen = stream.read()
        return os.waitpid(child, 0)[1], len(seen)
    os.close(counted)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)

    def watch(event: str, values: tuple[Any, ...]) -> None:
        if is_step(event, values):
            watch.steps += 1  # type: ignore[attr-defined]
            if watch.steps == step:  # type: ignore[attr-defined]
                os.kill(os.getpid(), signal.SIGKILL)
            os.write(tell, b".")

    watch.steps = 0  # type: ignore[attr-defined]
    sys.addaudithook(watch)
    from passdown.cli.main import run

    code = 0
    try:
        run(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    os._exit(code)


def main() -> None:
    """Run them all."""
    import passdown.handoff.wrap  # noqa: F401  the children inherit what is imported

    runs = json.load(sys.stdin)
    results = []
    for arguments, step in runs:
        results.append(run_in_child(arguments, step))
    print(json.dumps(results))


if __name__ == "__main__":
    main()
