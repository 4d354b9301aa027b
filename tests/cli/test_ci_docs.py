"""Every command of docs/ci.md is run: by hand in a clone with a remote, and a job's steps in a clone as CI makes it.

`gh` is not here: a program of that name writes down what it was given.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOC = (Path(__file__).resolve().parents[2] / "docs/ci.md").read_text("utf-8")
GH = """#!{python}
import json, os, sys
bodies = [open(word).read() for word in sys.argv[1:] if os.path.isfile(word)]
with open({calls!r}, "a") as calls:
    calls.write(json.dumps([sys.argv[1:], bodies]) + "\\n")
"""


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", DOC, re.MULTILINE | re.DOTALL)


def steps(job: str) -> list[str]:
    """Return what the `run` steps of a job's YAML hold, but for the installation."""
    found = re.findall(r"^ *- run: (?:\|\n((?:          .*\n)+)|(.*)\n)", job, re.MULTILINE)
    return [text for text in ((many or one).strip() for many, one in found) if "pip install" not in text]


@pytest.fixture
def world(repository: Any, tmp_path: Path, passdown: Any) -> Any:
    """A topic branch with a commit and a note, its remote, and `gh`."""
    repository.git("config", "user.name", "Dev")
    repository.git("config", "user.email", "dev@example.com")
    repository.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "remote.git"))
    repository.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repository.git("push", "-q", "-u", "origin", "main")
    repository.git("switch", "-q", "-c", "topic")
    repository.write("src/f.py", "def f() -> int:\n    return 2\n")
    passdown("note", "decision", "Return two", "--why", "it was asked for", folder=repository.root)
    passdown("note", "next", "Write tests/test_f.py", folder=repository.root)
    repository.commit("Return two")
    repository.calls = tmp_path / "calls.jsonl"
    program = tmp_path / "bin/gh"
    program.parent.mkdir()
    program.write_text(GH.format(python=sys.executable, calls=str(repository.calls)))
    program.chmod(0o755)
    repository.env = os.environ | {
        "PATH": f"{program.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}", "NUMBER": "7",
        "RUNNER_TEMP": str(tmp_path),
    }  # fmt: skip
    return repository


def run(world: Any, text: str, folder: Path) -> str:
    """Run lines as CI does: the first that fails fails all."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=world.env, capture_output=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, f"{text}\n{done.stderr.decode()}"
    return done.stdout.decode()


def calls(world: Any) -> list[tuple[list[str], list[str]]]:
    return [json.loads(line) for line in world.calls.read_text().splitlines()] if world.calls.exists() else []


def test_the_commands_by_hand_and_the_jobs(world: Any, tmp_path: Path) -> None:
    by_hand = blocks("sh")
    assert len(by_hand) == 4
    run(world, by_hand[0], world.root)
    (words, _), *rest = calls(world)
    assert rest == []
    assert words[:2] == ["pr", "create"]
    assert words[words.index("--title") + 1].strip()
    assert "Return two" in words[words.index("--body") + 1]
    world.write("src/f.py", "def f() -> int:\n    return 3\n")
    world.commit("Return three")
    run(world, by_hand[1], world.root)
    words, bodies = calls(world)[-1]
    assert words[:2] == ["pr", "edit"]
    assert "Return three" in bodies[0]
    run(world, by_hand[2], world.root)
    told = json.loads((world.root / ".git/pull-request.json").read_text())
    assert {"title", "body", "packet_id"} <= set(told)
    assert world.git("status", "--porcelain") == ""

    clone = tmp_path / "clone"
    world.git("clone", "-q", "--branch", "topic", str(tmp_path / "remote.git"), str(clone))
    check, take, body = blocks("yaml")
    assert steps(check) == ["passdown check"]
    assert steps(take) == ["passdown take --json --no-receipt"]
    assert len(steps(body)) == 1
    for text in [*steps(check), *steps(take), *steps(body)]:
        run(world, text, clone)
    words, bodies = calls(world)[-1]
    assert words[:3] == ["pr", "edit", "7"]
    assert "Return three" in bodies[0]
    assert "Return two" in run(world, by_hand[3], clone)


def test_what_it_says_of_a_checkout_without_a_branch_and_of_what_blocks(world: Any, passdown: Any) -> None:
    world.git("push", "-q", "-u", "origin", "HEAD")
    assert passdown("pr", folder=world.root).returncode == 4
    world.git("checkout", "-q", "--detach")
    done = passdown("check", folder=world.root)
    assert done.returncode == 3
    assert b"branch.detached" in done.stdout
    world.git("switch", "-q", "topic")
    world.write("src/f.py", "def f() -> int:\n    breakpoint()\n    return 2\n")
    world.write("pyproject.toml", '[tool.passdown.allow]\n"temp.debug_print" = "a debugger is what this is"\n')
    world.commit("Forget a breakpoint, and allow it oneself")
    done = passdown("check", folder=world.root)
    assert done.returncode == 3
    assert b"override.unreviewed" in done.stdout
    world.git("switch", "-q", "main")
    world.git("checkout", "-q", "topic", "--", "pyproject.toml")
    world.commit("Allow it")
    world.git("push", "-q", "origin", "main")
    world.git("switch", "-q", "topic")
    world.git("merge", "-q", "main")
    assert passdown("check", folder=world.root).returncode == 0
