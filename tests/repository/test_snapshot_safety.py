"""A hostile repository: its configuration names programs, and none of them may run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.repository.commits import commits_since
from passdown.repository.environment import probe_environment
from passdown.repository.locate import locate
from passdown.repository.snapshot import snapshot
from passdown.repository.tracked import tracked_paths


@pytest.fixture
def trap(tmp_path: Path) -> Callable[[], list[str]]:
    """Make `<tmp>/evil <name>`, which leaves a mark; return a function that lists the marks."""
    script = tmp_path / "evil"
    script.write_text(f'#!/bin/sh\ntouch "{tmp_path}/mark-$1"\ncat\n')
    script.chmod(0o755)
    return lambda: sorted(path.name for path in tmp_path.glob("mark-*"))


def set_traps(repository: Any, evil: Path) -> None:
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy",
        "diff.external",
        "gpg.program", "pager.status", "pager.log", "pager.diff", "diff.trap.command", "diff.trap.textconv",
        "credential.helper", "core.alternateRefsCommand", "interactive.diffFilter", "sequence.editor",
        "uploadpack.packObjectsHook",
    ):  # fmt: skip
        repository.git("config", key, f"{evil} {key}")
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "core.hooksPath", "hooks")
    repository.git("config", "core.untrackedCache", "true")
    repository.git("config", "alias.status", f"!{evil} alias")
    for hook in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction"):
        for folder in ("hooks", ".git/hooks"):
            repository.write(f"{folder}/{hook}", f"#!/bin/sh\n{evil} hook-{hook}\n").chmod(0o755)


def test_no_program_of_the_repository_runs(
    repository: Any, make_repository: Any, trap: Callable[[], list[str]], tmp_path: Path
) -> None:
    library = make_repository("library")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "lib")
    repository.write(".gitattributes", "* diff=trap\n")
    base = repository.git("rev-parse", "HEAD")
    repository.commit("work", **{"a.py": "1\n"})
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repository.write("README.md", "stash me\n")
    repository.git("stash", "push", "-q")
    repository.write("a.py", "2\n")
    repository.write("new.py", "x\n")
    repository.write("lib/README.md", "changed\n")
    set_traps(repository, tmp_path / "evil")
    inner = type(repository)(repository.root / "lib")
    inner.git("config", "core.fsmonitor", f"{tmp_path}/evil submodule")
    for mark in tmp_path.glob("mark-*"):
        mark.unlink()
    index = hashlib.sha256((repository.root / ".git" / "index").read_bytes()).hexdigest()
    assert locate(repository.root) == repository.root
    facts = snapshot(repository.root, base=base)
    assert {"a.py", "new.py", "lib"} <= {change.path for change in facts.changes}
    commits_since(repository.root, base)
    tracked_paths(repository.root)
    probe_environment(repository.root, tools=("node",))
    assert trap() == []
    assert hashlib.sha256((repository.root / ".git" / "index").read_bytes()).hexdigest() == index
    assert not (repository.root / ".git" / "index.lock").exists()
    # The traps are armed: plain git falls into them.
    repository.git("status", check=False)
    assert trap() != []


def test_a_partial_clone_does_not_fetch(repository: Any, trap: Callable[[], list[str]], tmp_path: Path) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    base = repository.git("rev-parse", "HEAD")
    repository.commit("work", **{"README.md": "changed\nin two lines\n"})
    repository.git("clone", "-q", "--filter=blob:none", f"file://{repository.root}", str(tmp_path / "partial"))
    partial = type(repository)(tmp_path / "partial")
    partial.git("config", "protocol.ext.allow", "always")
    partial.git("config", "remote.origin.url", f"ext::{tmp_path}/evil fetch")
    facts = snapshot(partial.root, base=base)
    assert trap() == []
    assert [(change.path, change.added, change.deleted) for change in facts.changes] == [("README.md", -1, -1)]
    assert "git.objects_missing" in [finding.code for finding in facts.findings]


def test_content_filters_are_told(repository: Any) -> None:
    repository.git("config", "filter.scrub.clean", "cat")
    assert [finding.code for finding in snapshot(repository.root).findings] == ["git.filters"]


def test_inherited_git_settings_are_ignored(repository: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = snapshot(repository.root)
    for name, value in {
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true",
        "GIT_CONFIG_PARAMETERS": "'core.bare=true'", "GIT_OBJECT_DIRECTORY": str(tmp_path), "GIT_NAMESPACE": "x",
        "GIT_EXTERNAL_DIFF": "false", "GIT_LITERAL_PATHSPECS": "0", "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_CEILING_DIRECTORIES": "/nowhere", "GIT_COMMON_DIR": "/nowhere",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert snapshot(repository.root) == before
    assert not (tmp_path / "trace").exists()


def test_a_git_in_the_repository_is_not_the_git_that_runs(
    repository: Any, trap: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("git", f"#!/bin/sh\n{tmp_path}/evil relative-git\n").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    monkeypatch.chdir(repository.root)
    snapshot(repository.root)
    assert trap() == []


def test_a_symlinked_gitmodules_and_gitattributes_are_not_followed(repository: Any, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("* filter=lfs\n")
    (repository.root / ".gitattributes").symlink_to(tmp_path / "outside")
    (repository.root / ".gitmodules").symlink_to(tmp_path / "outside")
    facts = snapshot(repository.root)
    assert not facts.has_lfs
    assert facts.submodules == ()
