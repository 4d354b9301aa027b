"""Fixtures shared by all tests: an isolated home, git repositories built on the spot, and the corpus when it is there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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
