"""A repository with work on a branch, and the lifecycle of its packets driven through the library."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.draft import draft
from passdown.handoff.options import Options
from passdown.handoff.publish import Wrapped, publish
from passdown.handoff.shelves import place_of
from passdown.store.chain import heads
from passdown.store.shelves import Store, read_store


class Desk:
    """A worktree: write a file, wrap, and look at the store."""

    def __init__(self, repository: Any) -> None:
        self.repository = repository
        self.root: Path = repository.root

    def git(self, *words: str, check: bool = True) -> str:
        """Run git here."""
        done: str = self.repository.git(*words, check=check)
        return done

    def work(self, text: str) -> None:
        """Do something that makes another packet, and leave it uncommitted."""
        self.repository.write("src/x.py", text + "\n")

    def wrap(self, text: str = "", *, local: bool = False, topic: str = "") -> Wrapped:
        """Work, when a text is given, and wrap."""
        if text:
            self.work(text)
        return publish(draft(self.root, Options(interim=True, topic=topic)), local=local)

    def store(self) -> Store:
        """Return what lies on both shelves."""
        return read_store(place_of(self.root).shelves)

    def active(self, topic: str | None = None) -> list[str]:
        """Return the ids of the packets that are active on the branch."""
        return sorted(p.packet_id for p in heads(self.store().packets, place_of(self.root).branch, topic))

    def mirror(self) -> str:
        """Return the mirror's text."""
        return (self.root / ".ai/HANDOFF.md").read_text("utf-8")

    def files(self, folder: str = "outputs") -> dict[str, bytes]:
        """Return every file under a folder with its bytes."""
        found = sorted((self.root / folder).rglob("*"))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found if path.is_file()}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository on a branch with one commit of work, built once for a test file."""
    import subprocess

    root = tmp_path_factory.mktemp("template") / "project"
    root.mkdir()
    name = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]

    def git(*words: str) -> None:
        subprocess.run(["git", *name, *words], cwd=root, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (root / "README.md").write_text("# project\n")
    git("add", ".")
    git("commit", "-q", "-m", "start")
    git("switch", "-q", "-c", "feat/x")
    (root / "src").mkdir()
    (root / "src/x.py").write_text("x = 0\n")
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    git("config", "user.name", "Dev")
    git("config", "user.email", "dev@example.com")
    return root


@pytest.fixture
def make_desk(template: Path, tmp_path: Path, make_repository: Callable[..., Any]) -> Callable[..., Desk]:
    """Return a function that copies the template under a name."""

    def make(name: str = "desk") -> Desk:
        repository = make_repository(f"empty-{name}", empty=True)
        repository.root = shutil.copytree(template, tmp_path / name, symlinks=True)
        return Desk(repository)

    return make


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    """A repository with work on a branch."""
    return make_desk()
