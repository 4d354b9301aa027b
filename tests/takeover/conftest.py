"""Repositories with a packet in them, built once and copied for each test; and an oracle that knows nothing of passdown."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.draft import draft
from passdown.handoff.gather import Options
from passdown.handoff.publish import publish
from passdown.handoff.take import Taken, Terms, take
from passdown.model.brief import Verdict


class Place:
    """A repository: git with a clock of its own, files, and taking over in it."""

    def __init__(self, root: Path, clock: int = 1_760_000_000) -> None:
        self.root, self.clock = root, clock

    def git(self, *arguments: str, check: bool = True, folder: Path | None = None) -> str:
        """Run git and return its output."""
        self.clock += 60
        stamp = f"{self.clock} +0000"
        env = os.environ | {
            "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.com", "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_NAME": "Dev", "GIT_COMMITTER_EMAIL": "dev@example.com", "GIT_COMMITTER_DATE": stamp,
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_EDITOR": "true",
        }  # fmt: skip
        argv = ["git", "-c", "protocol.file.allow=always", "-c", "core.editor=true", *arguments]
        done = subprocess.run(argv, cwd=folder or self.root, env=env, capture_output=True, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"git {arguments}: {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file, making its folders."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def commit(self, message: str, *paths: str) -> str:
        """Commit the named paths, or everything; return the id."""
        self.git("add", "-A", *(("--", *paths) if paths else ()))
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def wrap(self) -> dict[str, Any]:
        """Write the packet; return it."""
        wrapped = publish(draft(self.root, Options(now=0)))
        found: dict[str, Any] = json.loads((self.root / wrapped.paths[1]).read_text("utf-8"))
        return found

    @property
    def packet_file(self) -> Path:
        """The one packet's file."""
        return next(self.root.glob("outputs/handoff/*/handoff.json"))

    def packet(self) -> dict[str, Any]:
        """The one packet."""
        found: dict[str, Any] = json.loads(self.packet_file.read_text("utf-8"))
        return found

    def take(self, name: str = "", **terms: Any) -> Taken:
        """Take over, as the library does it."""
        return take(self.root, name, terms=Terms(**terms))

    def verdict(self, taken: Taken, subject: str, place: str = "") -> Verdict:
        """The one verdict about a subject (its end is enough) in a field of the packet."""
        assert taken.brief is not None
        found = [
            verdict
            for verdict in taken.brief.verdicts
            if verdict.claim.check is not None
            and verdict.claim.check.subject.endswith(subject)
            and verdict.claim.place.startswith(place)
        ]
        assert len(found) == 1, (subject, [v.claim for v in taken.brief.verdicts])
        return found[0]

    def false_holds(self, taken: Taken) -> list[Verdict]:
        """The claims said to hold that plain git and hashlib deny."""
        verdicts = taken.brief.verdicts if taken.brief else ()
        return [verdict for verdict in verdicts if verdict.state == "holds" and not self._true(verdict)]

    def _true(self, verdict: Verdict) -> bool:
        check = verdict.claim.check
        assert check is not None
        path = self.root / check.subject
        head = self.git("rev-parse", "HEAD", check=False)
        if check.kind == "is_ancestor":
            return self._succeeds("merge-base", "--is-ancestor", check.subject, "HEAD")
        if check.kind == "ref_at":
            assert check.subject == self.git("symbolic-ref", "HEAD")
            above = self.git(
                "log", "--format=%H", f"{check.expect}..{head}", "--", ".", ":(exclude)outputs", ":(exclude).ai"
            )
            return self._succeeds("merge-base", "--is-ancestor", check.expect, head) and above == ""
        if check.kind == "blob_at_path":
            if path.is_dir():
                return self.git("rev-parse", "HEAD", folder=path) == check.expect
            if path.is_symlink():
                return self.git("ls-files", "-s", "--", check.subject).startswith(f"120000 {check.expect}")
            return os.path.lexists(path) and self.git("hash-object", "--", check.subject) == check.expect
        if check.kind == "path_exists":
            return os.path.lexists(path)
        if check.kind == "path_absent":
            return not os.path.lexists(path)
        if check.kind == "artifact_hash":
            return hashlib.sha256(path.read_bytes()).hexdigest() == check.expect
        if check.kind == "stash_exists":
            return check.subject in self.git("stash", "list", "--format=%H").split()
        if check.kind == "env_name_set":
            return check.subject in os.environ
        if check.kind == "tool_version":
            asked = subprocess.run([check.subject, "--version"], capture_output=True, check=True, text=True)
            return check.expect in asked.stdout
        return check.kind == "test_outcome_recorded" and self._recorded(check.subject, check.expect)

    def _recorded(self, command: str, expect: str) -> bool:
        rows = [json.loads(line) for line in (self.root / "feedback_record.jsonl").read_text().splitlines()]
        last = [row for row in rows if row["command"] == command][-1]
        return (last["exit_code"] == 0) == (expect in ("green", "ok"))

    def _succeeds(self, *arguments: str) -> bool:
        env = os.environ | {"GIT_NO_REPLACE_OBJECTS": "1"}
        done = subprocess.run(["git", *arguments], cwd=self.root, env=env, capture_output=True, check=False)
        return done.returncode == 0


FEATURES = {
    "project": "exporter", "active": "limit",
    "features": [
        {"id": "limit", "status": "in_progress", "goal": "Refuse the eleventh call.", "done_when": "pytest -q tests/test_a.py"},
        {"id": "docs", "status": "todo", "goal": "Document the header."},
    ],
}  # fmt: skip


def build(root: Path, *, dirty: bool) -> Place:
    """A branch with two commits, a board, a red test run on record, a stash, a remote; uncommitted work when `dirty`."""
    place = Place(root)
    root.mkdir(parents=True)
    place.git("init", "-q", "-b", "main")
    place.write("AGENTS.md", "# Rules\n\nBe kind.\n")
    for name in "abc":
        place.write(f"src/{name}.py", f"def {name}():\n    return 1\n")
    place.write("tests/test_a.py", "def test_a():\n    assert True\n")
    place.write(".gitignore", "feedback_record.jsonl\n")
    place.write("feature_list.json", json.dumps(FEATURES))
    place.commit("Start")
    place.git("switch", "-q", "-c", "feat/limit")
    place.write("src/a.py", "def a():\n    return 2\n")
    place.write("src/new.py", "LIMIT = 10\n")
    place.commit("Add the limit")
    place.git("rm", "-q", "src/c.py")
    place.write("tests/test_a.py", "def test_a():\n    assert False\n")
    place.commit("Remove c, test a")
    place.git("init", "-q", "--bare", str(root.parent / "origin.git"))
    place.git("remote", "add", "origin", str(root.parent / "origin.git"))
    place.git("push", "-q", "-u", "origin", "main", "feat/limit")
    place.write("src/a.py", "import redis\n")
    place.git("stash", "push", "-q", "-m", "redis spike, keep until it is decided")
    if dirty:
        place.write("src/b.py", "def b():\n    return 3\n")
        place.write("src/draft.py", "DRAFT = True\n")
    row = {"command": "pytest -q tests/test_a.py", "exit_code": 1, "stdout_tail": "FAILED tests/test_a.py::test_a - assert False\n1 failed",
           "started_at": "2026-11-20T10:00:00Z", "duration_ms": 900}  # fmt: skip
    place.write("feedback_record.jsonl", json.dumps(row) + "\n")
    place.wrap()
    return place


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Place]]:
    """The wrapped repositories: `dirty` with uncommitted work, `clean` with the packet committed and pushed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("template-home")))
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME"):
            patch.delenv(name, raising=False)
        dirty = build(tmp_path_factory.mktemp("dirty") / "project", dirty=True)
        clean = build(tmp_path_factory.mktemp("clean") / "project", dirty=False)
        clean.git("add", "-f", "outputs")
        clean.git("commit", "-q", "-m", "Hand over")
        clean.git("push", "-q")
    yield {"dirty": dirty, "clean": clean}


@pytest.fixture
def copy_of(templates: dict[str, Place], tmp_path: Path) -> Callable[[str], Place]:
    """Return a function that copies a template with its remote; the packet in it stays as it was written."""

    def copy(name: str) -> Place:
        template = templates[name]
        shutil.copytree(template.root.parent, tmp_path / name, symlinks=True)
        place = Place(tmp_path / name / "project", template.clock + 1000)
        place.git("remote", "set-url", "origin", str(tmp_path / name / "origin.git"))
        return place

    return copy


@pytest.fixture
def drift(copy_of: Callable[[str], Place]) -> Callable[..., None]:
    """Return a function that changes a copy of a template and judges what taking over says of it.

    `do` is what is done, `expected` the verdict, `classes` the state and change of the claims by the end of their
    subject. No claim may be said to hold that does not.
    """

    def judge(
        do: Callable[[Place], object], expected: str, classes: Mapping[str, tuple[str, str]], template: str = "dirty"
    ) -> None:
        place = copy_of(template)
        do(place)
        taken = place.take(receipt=False)
        assert taken.brief is not None
        lines = [f"{v.state} {v.change} {v.claim.place} {v.claim.check} {v.reason}" for v in taken.brief.verdicts]
        assert place.false_holds(taken) == []
        fields = {"refs/heads/feat/limit": "git", "AGENTS.md": "next_session", "feature_list.json": "next_session"}
        for subject, found in classes.items():
            verdict = place.verdict(taken, subject, fields.get(subject, "changed"))
            assert (verdict.state, verdict.change) == found, "\n".join(lines)
        assert taken.brief.verdict == expected, "\n".join([*taken.brief.reasons, *lines])
        assert taken.exit_code == (0 if expected.startswith("ready") else 6)
        if expected == "ready_with_drift":
            assert taken.brief.since

    return judge


@pytest.fixture(autouse=True)
def no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are a human's, wherever they run."""
    from passdown.agents.nested import MARKERS

    for name, _ in MARKERS:
        monkeypatch.delenv(name, raising=False)
