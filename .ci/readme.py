"""Take the commands out of the README: print the set-up ones, run all the others in a demonstration repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def blocks() -> list[str]:
    """Return the contents of the README's `sh` blocks, in order."""
    return re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def run_all(commands: list[str]) -> None:
    """Run commands one by one in a demonstration repository whose sessions lie in an empty home."""
    from passdown.handoff.demo import build_demo

    with tempfile.TemporaryDirectory() as place:
        root, home = build_demo(Path(place))
        env = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": place, "CLAUDE_CONFIG_DIR": str(home), "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        for command in commands:
            print(f"$ {command}", flush=True)
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=root, env=env, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
            if done.returncode != 0:
                sys.exit(f"exit {done.returncode}\n{done.stdout.decode(errors='replace')}")


def main() -> None:
    """`demo` and `tests` print a set-up command, `run` runs every other line."""
    setup = [block for block in blocks() if "pip install" in block]
    if len(setup) != 2:
        sys.exit(f"the README must have exactly two set-up commands, it has {len(setup)}")
    if sys.argv[1] == "run":
        rest = [line for block in blocks() if block not in setup for line in block.splitlines()]
        run_all([line for line in rest if line.strip() and not line.startswith("#")])
    else:
        print(setup[{"demo": 0, "tests": 1}[sys.argv[1]]])


if __name__ == "__main__":
    main()
