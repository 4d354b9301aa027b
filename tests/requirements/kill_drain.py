"""Kill a drain just before each of its changes on disk, and see that the next one makes it good.

Reads `{"root": …, "home": …}` on standard input; everything is copied for each step, so that each begins alike. Prints
one `{"step", "status", "problems"}` a step; the last step lets the drain end by itself. `PASSDOWN_STRIDE=1` has it killed
at every step instead of every fourth.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}
"""What changes names on disk; a file is staged before it gets its own, so that each kill leaves what came before."""

MOST = 200


def in_child(root: Path, step: int) -> int:
    """Fork, drain there, kill the child at a step (0: at none), and return its wait status."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    seen = 0

    def watch(event: str, values: tuple[Any, ...]) -> None:
        nonlocal seen
        del values
        if event in STEPS:
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    from passdown.hooks.drain import drain, run_logged

    os._exit(run_logged("drain", lambda: drain(root), 60))


def problems(root: Path, spool: Path, *, done: bool) -> list[str]:
    """Say what is wrong: half a file, work that is lost, or work that is not done after the drain that ended well."""
    found = []
    packets = []
    for path in (root / ".git/passdown").rglob("*.json"):
        if path.name.startswith("."):
            continue
        with contextlib.suppress(ValueError):
            packets.append(json.loads(path.read_bytes()))
            continue
        found.append(f"half: {path.name}")
    mine = [packet for packet in packets if "test_1" in json.dumps(packet.get("failed_attempts", ""))]
    left = list(spool.glob("*.json"))
    if not mine and not left:
        found.append("the work is lost")
    if done and (left or len(mine) != 1 or len([p for p in packets if p.get("status") == "active"]) != 1):
        found.append(f"not made good: {len(left)} spooled, {len(mine)} packets")
    return found


def main() -> None:
    """Kill at every step."""
    given = json.load(sys.stdin)
    root, home = Path(given["root"]), Path(given["home"])
    import passdown.hooks.drain  # noqa: F401  the children inherit what is imported

    spool = home / ".local/state/passdown/spool"
    kept = {place: place.with_name(place.name + ".kept") for place in (root / ".git/passdown", spool)}
    for place, copy in kept.items():
        shutil.copytree(place, copy)
    results = []
    for step in range(1, MOST, int(os.environ.get("PASSDOWN_STRIDE", "4"))):
        for place, copy in kept.items():
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(copy, place)
        status = in_child(root, step)
        wrong = problems(root, spool, done=False)
        in_child(root, 0)
        results.append({"step": step, "status": status, "problems": wrong + problems(root, spool, done=True)})
        if not os.WIFSIGNALED(status):
            break
    print(json.dumps(results))


if __name__ == "__main__":
    main()
