"""Take the commands out of the README: print the set-up ones, run all the others in a demonstration repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES = 24


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


def show_demo() -> None:
    """Put the beginning of what the demonstration prints now between the README's marks."""
    with tempfile.TemporaryDirectory() as place:
        argv = [sys.executable, "-m", "passdown", "demo", "--folder", f"{place}/demo"]
        printed = subprocess.run(argv, capture_output=True, check=True, text=True).stdout.splitlines(keepends=True)
    excerpt = "".join(printed[:LINES]).rstrip("\n")
    path = ROOT / "README.md"
    marked = re.compile(r"(?<=<!-- demo:begin -->\n).*(?=<!-- demo:end -->)", re.DOTALL)
    path.write_text(marked.sub(lambda _: f"```markdown\n{excerpt}\n```\n", path.read_text("utf-8")), "utf-8")


def main() -> None:
    """`demo` and `tests` print a set-up command, `run` runs every other line, `update` renews the excerpt."""
    if sys.argv[1] == "update":
        show_demo()
        return
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
