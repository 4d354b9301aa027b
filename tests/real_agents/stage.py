"""A stage for real agents: one repository, one home with our hooks in it, and a scripted model on the loopback.

The scripts beside this one play on it. Each scene runs in a process, and where that is allowed in namespaces, of its own
(apart.py); an agent that is not in the cache is passed over and said so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import clients
from apart import apart
from clients import Steps
from model.start import requests, serving
from project import make_project

AGENTS = ("claude_code", "codex", "pi", "copilot")
"""Those that always run; the rest run where their install fits."""

HERE = Path(__file__).resolve().parent
CACHE = Path(
    os.environ.get("PASSDOWN_CI_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "passdown-ci"
)
DRAINED = 90.0
PATIENCE = 400.0
"""Seconds for what takes seconds: machines are busy."""

READ_ONLY: Steps = [{"text": "I have read the handoff and stop here."}]


class Stage:
    """One repository and one home, with the hooks of `agents` installed by `passdown hooks install`."""

    def __init__(self, place: Path, cache: Path, agents: tuple[str, ...], *, hooks: bool = True) -> None:
        self.place, self.cache, self.agents = place, cache, agents
        self.root, self.home = place / "project", place / "home"
        self.home.mkdir(parents=True)
        make_project(self.root)
        self.env = {agent: clients.configure(agent, self.home) for agent in agents}
        self.scenes = 0
        if not hooks:
            return
        install = [sys.executable, "-m", "passdown", "-C", str(self.root), "hooks", "install", *agents]
        done = subprocess.run(install, env=self.base(), capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"passdown hooks install exited {done.returncode}:\n{done.stderr.decode(errors='replace')}")

    def base(self) -> dict[str, str]:
        """Return the environment that every process on the stage has."""
        return clients.base_env(self.home)

    def command(self, agent: str) -> list[str]:
        """Return an agent's command line with the task as its prompt."""
        words = clients.command(agent, self.cache)
        return [*words[:2], "--dangerously-bypass-hook-trust", *words[2:]] if agent == "codex" else words

    def steps(self, agent: str) -> Steps:
        """Return the task's script: read, mend one of two bugs, run the tests (red), stop half way."""
        return clients.steps(agent, self.root)

    def play(self, agent: str, script: dict[str, Any], command: list[str] | None = None,
             end: Callable[[subprocess.Popen[bytes], Path], None] | None = None) -> list[dict[str, Any]]:  # fmt: skip
        """Let an agent work through a script and return the requests the model got.

        `end` ends the agent, and gets the folder of the requests; without it the agent ends by itself, and well. What the
        agent said is in `said(agent)` afterwards.
        """
        self.scenes += 1
        scene = self.place / f"scene-{self.scenes}-{agent}"
        scene.mkdir()
        whole = {"models": clients.MODELS, "side": "Fix slug helpers", **script}
        asked = scene / "requests"
        with serving(whole, scene, asked, clients.PORT):
            code = self._run(agent, command or self.command(agent), scene, end)
        if code != 0 and end is None:
            sys.exit(f"{agent} exited {code}:\n{self.said(agent)[-2000:]}")
        return requests(asked)

    def _run(self, agent: str, command: list[str], scene: Path,
             end: Callable[[subprocess.Popen[bytes], Path], None] | None) -> int:  # fmt: skip
        with (scene / "agent.log").open("wb") as out, subprocess.Popen(
            command, cwd=self.root, env=self.base() | self.env[agent], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        ) as client:  # fmt: skip
            try:
                if end is not None:
                    end(client, scene / "requests")
                code = client.wait(PATIENCE)
                if end is not None:
                    wait_for_group(client.pid)
            finally:
                if client.poll() is None:
                    os.killpg(client.pid, signal.SIGKILL)
        return code

    def said(self, agent: str) -> str:
        """Return what an agent printed in the last scene, which was its own."""
        return (self.place / f"scene-{self.scenes}-{agent}/agent.log").read_text(errors="replace")

    def packets(self) -> list[dict[str, Any]]:
        """Return the packets of the local shelf, without any command of ours run."""
        folder = self.root / ".git/passdown/packets"
        return [json.loads(path.read_bytes()) for path in sorted(folder.glob("*/handoff.json"))]

    def drained(self) -> bool:
        """Wait until every drain that a hook started has told of its end; say whether that came."""
        end, quiet = time.monotonic() + DRAINED, 0
        while quiet < 5 and time.monotonic() < end:
            started = sum("drain started" in line for line in self.log())
            ended = sum("\tdrain\t" in line for line in self.log())
            quiet = quiet + 1 if started == ended else 0
            time.sleep(0.1)
        return quiet == 5

    def log(self) -> list[str]:
        """Return the hook log."""
        path = self.home / ".local/state/passdown/hooks.log"
        return path.read_text().splitlines() if path.exists() else []

    def briefed(self, agent: str, wanted: dict[str, str]) -> list[str]:
        """Start an agent as a successor; return what is wrong with the brief in its first request.

        Where the machine is too busy to catch up within the bound of a session's start, the next start has to have it.
        """
        for _ in range(2):
            body = first_body(self.play(agent, {"steps": READ_ONLY}))
            told = [text for text in texts(body) if "[passdown] Handoff for" in text]
            starts = [line for line in self.log() if f"\t{agent}\tstart\t" in line]
            if told or not starts or "took longer than" not in starts[-1]:
                break
            print("too busy to catch up in 2 s, so another start:", flush=True)
            self.drained()
        if not told:
            return ["no brief in the first request"]
        wrong = [] if sum(text.count("[passdown] Handoff for") for text in told) == 1 else ["told twice"]
        inside = fenced(told[0])
        if inside is None:
            return [*wrong, "the brief is not fenced as data"]
        return wrong + [f"{what} is not in the brief" for what, text in wanted.items() if text not in inside]


def wait_for_group(group: int) -> None:
    """Wait until nothing of an agent runs any more: what npm installs is often a program that starts another one."""
    end = time.monotonic() + 30
    while alive := [name for name in os.listdir("/proc") if name.isdigit() and _runs_in(group, Path("/proc") / name)]:
        if time.monotonic() > end:
            os.killpg(group, signal.SIGKILL)
            sys.exit(f"the agent lived on: {', '.join(alive)}")
        time.sleep(0.1)


def _runs_in(group: int, process: Path) -> bool:
    try:
        state, _, its_group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
    except (OSError, ValueError):
        return False
    return state != "Z" and int(its_group) == group


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the requests kept so far in a folder."""
    return requests(path)


def first_body(requests: list[dict[str, Any]]) -> Any:
    """Return the first request that offers tools: those without are for titles and the like."""
    return next((line["body"] for line in requests if isinstance(line.get("step"), int)), None)


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a request, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def fenced(text: str) -> str | None:
    """Return what stands between the brief's fences, None when it is not closed by the same fence and the last line."""
    head, _, rest = text[text.index("[passdown] Handoff for") :].partition("\n")
    fence, _, body = rest.partition("text\n")
    inside, closed, _ = body.partition(f"\n{fence}\n[passdown] End of the data.")
    return inside if closed and set(fence) == {"`"} and len(fence) >= 3 and "data" in head else None


def run_scenes(
    script: str,
    scenes: Callable[[list[str]], list[str]],
    play: Callable[[str, Path, Path], list[str]],
    agents: tuple[str, ...] = AGENTS,
) -> None:
    """Play each scene in a process of its own; exit non-zero when something is wrong.

    `scenes` names those that the agents at hand allow; `play` plays one in a folder and returns what is wrong. The last
    line says how many are as they should be.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path, default=CACHE, help="where .ci/real-agents installs the agents")
    parser.add_argument("--agents", default=",".join(agents))
    parser.add_argument("--only", default="", help="scenes whose name holds this")
    parser.add_argument("--keep", type=Path, help="keep what is left on the stages here")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cache = arguments.cache.resolve()
    if arguments.inside:
        name, place = arguments.inside.split("=", 1)
        try:
            wrong = play(name, Path(place), cache)
        except subprocess.TimeoutExpired as error:
            wrong = [f"{Path(str(error.cmd[0])).name} took longer than {error.timeout:g} s"]
        print("; ".join(wrong) or "ok")
        sys.exit(1 if wrong else 0)
    inner = [*apart(), sys.executable, script, "--cache", str(cache), "--inside"]
    here = []
    for agent in arguments.agents.split(","):
        if clients.is_here(agent, cache):
            here.append(agent)
        else:
            print(f"{agent} {clients.VERSIONS[agent]}: not in the cache, not run", flush=True)
    names = [name for name in scenes(here) if arguments.only in name]
    with ThreadPoolExecutor(2 if apart() else 1) as pool:
        good = list(pool.map(lambda name: _scene(name, inner, arguments.keep), names))
    missing = [agent for agent in arguments.agents.split(",") if agent in AGENTS and agent not in here]
    lacking = f" (without {', '.join(missing)})" if missing else ""
    print(f"{Path(script).stem}: {sum(good)} of {len(good)} passed{lacking}", flush=True)
    sys.exit(0 if good and all(good) and not missing else 1)


def _scene(name: str, inner: list[str], keep: Path | None) -> bool:
    place, started = Path(tempfile.mkdtemp(prefix="passdown-stage-")), time.monotonic()
    try:
        done = subprocess.run([*inner, f"{name}={place}"], capture_output=True, check=False, timeout=900)
        told, good = (done.stdout + done.stderr).decode(errors="replace").strip(), done.returncode == 0
    except subprocess.TimeoutExpired:
        told, good = "took longer than a quarter of an hour", False
    print(f"{name}: {told} ({time.monotonic() - started:.0f} s)", flush=True)
    if keep:
        shutil.rmtree(keep / name, ignore_errors=True)
        shutil.copytree(place, keep / name, symlinks=True)
    for _ in range(50):  # without a namespace, a drain that nobody waited for still writes
        shutil.rmtree(place, ignore_errors=True)
        if not place.exists():
            break
        time.sleep(0.2)
    return good
