"""Fixtures shared by all tests: an isolated home, git repositories built on the spot, and the corpus when it is there."""

from __future__ import annotations

import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so starts a shell what runs in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def isolated_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, and none of the user's git or agent settings."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


class Repository:
    """A real git repository in a temporary folder, with fixed author and dates."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = 1_760_000_000

    def git(self, *arguments: str, check: bool = True) -> str:
        """Run git here and return its output."""
        self.clock += 60
        stamp = f"{self.clock} +0000"
        env = os.environ | {
            "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.com", "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_NAME": "Dev", "GIT_COMMITTER_EMAIL": "dev@example.com", "GIT_COMMITTER_DATE": stamp,
        }  # fmt: skip
        done = subprocess.run(["git", *arguments], cwd=self.root, env=env, capture_output=True, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"git {arguments}: {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file, making its folders."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def commit(self, message: str, **files: str) -> str:
        """Write the files (`path__py=...` is awkward: use `write` first), stage everything and commit; return the id."""
        for path, text in files.items():
            self.write(path, text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


class ClaudeSession:
    """A hand-made Claude Code session, written row by row into the isolated home, as if the agent had worked in `cwd`."""

    def __init__(self, home: Path, cwd: Path, session_id: str = "aaaaaaaa-0000-4000-8000-000000000001") -> None:
        self.cwd, self.session_id, self.clock = cwd, session_id, 1_760_000_600
        slug = re.sub(r"[^A-Za-z0-9-]", "-", str(cwd))
        self.path = home / ".claude" / "projects" / slug / f"{session_id}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.parent: str | None = None
        self.count = 0
        self.branch = "main"

    def row(self, kind: str, **fields: Any) -> None:
        """Append one row."""
        self.count += 1
        self.clock += 10
        stamp = datetime.datetime.fromtimestamp(self.clock, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        row = {
            "parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": str(self.cwd),
            "sessionId": self.session_id, "version": "2.1.218", "gitBranch": self.branch, "type": kind,
            "uuid": f"{self.session_id[:8]}-{self.count:04}", "timestamp": stamp, **fields,
        }  # fmt: skip
        self.parent = row["uuid"]
        with self.path.open("ab") as stream:
            stream.write(json.dumps(row, ensure_ascii=True).encode() + b"\n")

    def human(self, text: str) -> None:
        """A person types `text`."""
        self.row("user", message={"role": "user", "content": text}, permissionMode="default")

    def says(self, text: str) -> None:
        """The agent answers."""
        self._assistant({"type": "text", "text": text})

    def _assistant(self, block: dict[str, Any]) -> None:
        usage = {
            "input_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 100,
            "output_tokens": 5,
        }
        message = {"id": f"msg{self.count}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                   "content": [block], "usage": usage}  # fmt: skip
        self.row("assistant", message=message, requestId=f"req{self.count}")

    def calls(self, tool: str, arguments: dict[str, Any], result: str | None = "", *, error: bool = False) -> None:
        """The agent calls a tool; `result` None leaves the call without an answer."""
        call = f"toolu{self.count}"
        self._assistant({"type": "tool_use", "id": call, "name": tool, "input": arguments})
        if result is not None:
            block = {"type": "tool_result", "tool_use_id": call, "content": result} | (
                {"is_error": True} if error else {}
            )
            twin: Any = f"Error: {result}" if error else {"stdout": result, "stderr": "", "interrupted": False}
            self.row("user", message={"role": "user", "content": [block]}, toolUseResult=twin)

    def runs(self, command: str, output: str = "", code: int = 0) -> None:
        """The agent runs a shell command."""
        text = f"Exit code {code}\n{output}" if code else output
        self.calls("Bash", {"command": command, "description": "run"}, text, error=code != 0)

    def edits(self, path: str) -> None:
        """The agent says that it edited a file of the repository."""
        full = str(self.cwd / path)
        self.calls(
            "Edit", {"file_path": full, "old_string": "a", "new_string": "b"}, f"The file {full} has been updated."
        )


@pytest.fixture
def claude_session(isolated_home: Path) -> Callable[..., ClaudeSession]:
    """Return a function that begins a Claude Code session in a folder."""

    def begin(cwd: Path, session_id: str = "aaaaaaaa-0000-4000-8000-000000000001") -> ClaudeSession:
        return ClaudeSession(isolated_home, cwd, session_id)

    return begin


@pytest.fixture
def passdown(isolated_home: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Return a function that runs the real command in a process of its own, with the isolated home."""

    def run(*arguments: str, folder: Path | None = None, **env: str) -> subprocess.CompletedProcess[bytes]:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(isolated_home), "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull, **env,
        }  # fmt: skip
        return subprocess.run(
            [sys.executable, "-m", "passdown", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
        )

    return run


class HookedAgent:
    """An agent whose hooks run passdown's entry, each in a process of its own, in the isolated home."""

    entry = ROOT / "src/passdown/hooks/entry.py"

    def __init__(self, home: Path, root: Path) -> None:
        self.home, self.root, self.name = home, root, "claude_code"
        self.state = home / ".local/state/passdown"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }

    def hook(
        self, event: str, session: str, source: str = "", *, path: str = "", cwd: Path | None = None, **env: str
    ) -> str:
        """Fire a hook, require that it ends well and says nothing wrong, and return what the agent gets of it."""
        payload = {"session_id": session, "transcript_path": path, "cwd": str(cwd or self.root), "source": source}
        line = [sys.executable, "-I", "-S", str(self.entry), self.name, event]
        done = subprocess.run(
            line, input=json.dumps(payload).encode(), env=self.env | env, capture_output=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
        if not done.stdout or self.name in ("pi", "opencode"):
            return done.stdout.decode()
        given = json.loads(done.stdout)
        text = given.get("hookSpecificOutput", given)["additionalContext"]
        assert isinstance(text, str)
        return text

    def drain(self, *words: str, **env: str) -> int:
        """Do the work after a hook here and now, and return the exit code."""
        line = [sys.executable, "-P", "-E", "-m", "passdown.hooks.drain", str(self.root), *words]
        return subprocess.run(line, env=self.env | env, capture_output=True, timeout=60, check=False).returncode

    def settle(self, drains: int = 1) -> None:
        """Wait for detached drains to end."""
        for _ in range(600):
            if sum("\tdrain\t" in line for line in self.log()) >= drains:
                return
            time.sleep(0.1)
        raise AssertionError(f"the drain did not end: {self.log()}")

    def log(self) -> list[str]:
        """Return the lines of the hook log."""
        path = self.state / "hooks.log"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def spooled(self) -> list[Path]:
        """Return the records that no drain has handled."""
        return sorted((self.state / "spool").glob("*.json"))

    def packets(self) -> list[dict[str, Any]]:
        """Return the packets of the local shelf, in the order of what they tell."""
        paths = (self.root / ".git/passdown/packets").glob("*/handoff.json")
        return sorted((json.loads(path.read_bytes()) for path in paths), key=lambda packet: str(packet["as_of"]))


@pytest.fixture
def hooked(isolated_home: Path, repository: Repository) -> HookedAgent:
    """An agent with hooks at work in a repository."""
    return HookedAgent(isolated_home, repository.root)


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[..., Repository]:
    """Return a function that makes a repository with branch `main`; `empty=True` leaves it without a commit."""

    def make(name: str = "project", *, empty: bool = False) -> Repository:
        root = tmp_path / name
        root.mkdir(parents=True)
        repository = Repository(root)
        repository.git("init", "-q", "-b", "main")
        if not empty:
            repository.write("README.md", "# project\n")
            repository.commit("start")
        return repository

    return make


@pytest.fixture
def repository(make_repository: Callable[..., Repository]) -> Repository:
    """A repository with one commit."""
    return make_repository()


def shared_folder(name: str) -> Path | None:
    """Return a folder of shared test material (corpus, agent-lab) beside the checkout, or None when it is not there."""
    configured = os.environ.get("PASSDOWN_SHARED")
    for base in ([Path(configured)] if configured else []) + [ROOT.parent / "shared"]:
        if (base / name).is_dir():
            return base / name
    return None


@pytest.fixture
def corpus() -> Path:
    """The corpus of real sessions; tests that need it are left out where it is not there."""
    folder = shared_folder("corpus")
    if folder is None:
        pytest.skip("the corpus is not beside this checkout")
    return folder


class StandIns:
    """Programs with the names of agents on a search path of their own: each writes down how it was started."""

    SCRIPT = """#!/bin/sh
    here='{here}'
    for word in "$@"; do printf '%s\\0' "$word"; done >"$here/words"
    env -0 >"$here/variables"
    pwd >"$here/folder"
    if [ -t 0 ]; then echo >"$here/stdin"; else cat >"$here/stdin"; fi
    {then}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = f"{folder / 'bin'}:{os.environ['PATH']}"
        (folder / "bin").mkdir(parents=True)

    def add(self, program: str, then: str = "exit 0") -> Path:
        """Put a program there; `then` is what it does at last, as a shell's words."""
        place = self.folder / "bin" / program
        place.write_text(re.sub("(?m)^ +", "", self.SCRIPT.format(here=self.folder, then=then)), "utf-8")
        place.chmod(0o755)
        return place

    def words(self) -> list[str]:
        """Return the words it was started with last."""
        return (self.folder / "words").read_text("utf-8", "surrogateescape").split("\0")[:-1]

    def variables(self) -> dict[str, str]:
        """Return the environment it had."""
        rows = (self.folder / "variables").read_text("utf-8", "replace").split("\0")
        return dict(row.split("=", 1) for row in rows if "=" in row)

    def read(self, what: str) -> str:
        """Return its `folder`, or what it had on `stdin`."""
        return (self.folder / what).read_text("utf-8", "surrogateescape")

    def was_started(self) -> bool:
        """Say whether any of them was started."""
        return (self.folder / "words").exists()


@pytest.fixture
def stand_ins(tmp_path: Path) -> StandIns:
    """Stand-ins for agents' programs. The tests that start one are left out inside an agent, which would refuse."""
    from passdown.agents.nested import agent_around
    from passdown.io.ancestry import ancestor_programs

    if around := agent_around({}, ancestor_programs()):
        pytest.skip(f"{around.how}: nothing is launched in there")
    return StandIns(tmp_path / "stand ins")
