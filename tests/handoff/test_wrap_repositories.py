"""`wrap` tells the truth in ten kinds of repository; git itself is asked independently what the truth is."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Wrap = Callable[..., dict[str, Any]]


@pytest.fixture
def wrap(passdown: Any) -> Wrap:
    """Wrap a folder with the real command and return handoff.json; the Markdown must be its rendering."""

    def run(folder: Path, *arguments: str) -> dict[str, Any]:
        done = passdown("-C", str(folder), "wrap", "--interim", "--json", *arguments)
        assert done.returncode == 0, done.stderr.decode()
        report = json.loads(done.stdout)
        top = Path(subprocess.run(["git", "rev-parse", "--show-toplevel"], cwd=folder, capture_output=True, check=True,
                                  text=True).stdout.strip())  # fmt: skip
        packet: dict[str, Any] = json.loads((top / report["paths"][1]).read_text("utf-8"))
        markdown = (top / report["paths"][0]).read_text("utf-8")
        assert (top / ".ai/HANDOFF.md").read_text("utf-8") == markdown
        assert passdown("-C", str(folder), "show").stdout.decode() == markdown
        assert packet["kind"] == "interim"
        return packet

    return run


def true_paths(root: Path, base: str) -> set[str]:
    """What differs from `base` in the working tree, asked of git in another way than passdown does."""
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}

    def ask(*words: str) -> set[bytes]:
        output = subprocess.run(["git", *words], cwd=root, env=environment, capture_output=True, check=True).stdout
        return set(filter(None, output.split(b"\0")))

    tracked = ask("diff", "-z", "--name-only", "--no-renames", base) if base else ask("ls-files", "-z")
    paths = tracked | ask("ls-files", "-z", "--others", "--exclude-standard")
    texts = (path.decode("utf-8", "surrogateescape") for path in paths)
    own = ("outputs/handoff/", ".ai/")
    return {
        "".join(f"\\x{ord(c) - 0xDC00:02X}" if 0xDC80 <= ord(c) <= 0xDCFF else "\\\\" if c == "\\" else c for c in text)
        for text in texts
        if not text.startswith(own)
    }


def paths(packet: dict[str, Any]) -> set[str]:
    return {change["path"] for change in packet["changed_files"] if change["status"] != "="}


def work_in(session: Any, *files: str) -> None:
    """A short session: a request, an edit of each file, a red test."""
    session.human("Make the limiter refuse the eleventh call.")
    for name in files:
        session.edits(name)
    session.runs("pytest -q", "FAILED tests/test_x.py::test_y - AssertionError: 1 != 0\n1 failed in 0.1s", 1)
    session.says("Next: mend test_y in src/x.py.")


def test_plain(repository: Any, claude_session: Any, wrap: Wrap) -> None:
    work_in(claude_session(repository.root))
    packet = wrap(repository.root)
    assert packet["git"]["head"] == repository.git("rev-parse", "HEAD")
    assert packet["git"]["branch"] == "main"
    assert packet["changed_files"] == []
    assert packet["directives"][0]["text"] == "Make the limiter refuse the eleventh call."
    assert [(item["what"], item["exit"]) for item in packet["failed_attempts"]] == [("pytest -q", 1)]


def test_a_session_file_that_is_named_counts_whole_when_its_work_was_committed(
    repository: Any, claude_session: Any, wrap: Wrap
) -> None:
    base = repository.git("rev-parse", "HEAD")
    session = claude_session(repository.root)
    work_in(session, "src/x.py")
    file = session.path.rename(repository.root.parent / "session.jsonl")
    repository.clock = session.clock + 600
    repository.write("src/x.py", "x = 1\n")
    repository.commit("Add x")
    packet = wrap(repository.root, "--session", str(file))
    assert (packet["git"]["base"], packet["goal"]) == (base, "Make the limiter refuse the eleventh call.")
    assert paths(packet) == {"src/x.py"}
    assert [line["id"] for line in packet["sessions"]] == [session.session_id]


def test_dirty_on_a_branch(repository: Any, claude_session: Any, wrap: Wrap) -> None:
    start = repository.git("rev-parse", "HEAD")
    repository.git("switch", "-q", "-c", "feat/limit")
    repository.write("src/x.py", "x = 1\n")
    repository.commit("Add x")
    repository.write("src/x.py", "x = 2\ny = 3\n")
    repository.write("notes.txt", "untracked\n")
    session = claude_session(repository.root)
    session.branch = "feat/limit"
    work_in(session, "src/x.py", "docs/claimed.md")
    packet = wrap(repository.root)
    assert packet["git"]["base"] == start
    assert paths(packet) == true_paths(repository.root, start) == {"src/x.py", "notes.txt"}
    by_path = {change["path"]: change for change in packet["changed_files"]}
    assert (by_path["src/x.py"]["added"], by_path["src/x.py"]["claimed"]) == (2, True)
    assert by_path["src/x.py"]["check"]["expect"] == repository.git("hash-object", "src/x.py")
    assert by_path["docs/claimed.md"]["status"] == "="
    assert by_path["docs/claimed.md"]["basis"] == "declared"


def test_detached(repository: Any, claude_session: Any, wrap: Wrap) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.write("a.py", "a = 1\n")
    repository.commit("Add a")
    repository.git("checkout", "-q", "--detach", first)
    work_in(claude_session(repository.root))
    packet = wrap(repository.root)
    assert packet["git"]["branch"] is None
    assert packet["git"]["detached"] is True
    assert packet["git"]["head"] == first


def test_unborn(make_repository: Any, claude_session: Any, wrap: Wrap) -> None:
    repository = make_repository(empty=True)
    repository.write("src/x.py", "x = 1\n")
    work_in(claude_session(repository.root), "src/x.py")
    packet = wrap(repository.root)
    assert packet["git"]["head"] is None
    assert packet["git"]["branch"] == "main"
    assert paths(packet) == {"src/x.py"}
    assert "branch `main`, no commit yet" in (repository.root / ".ai/HANDOFF.md").read_text("utf-8")


def test_linked_worktree(repository: Any, claude_session: Any, wrap: Wrap, tmp_path: Path) -> None:
    other = tmp_path / "second"
    repository.git("worktree", "add", "-q", "-b", "feat/second", str(other))
    (other / "only_here.py").write_text("x = 1\n")
    session = claude_session(other)
    session.branch = "feat/second"
    work_in(session, "only_here.py")
    packet = wrap(other)
    assert packet["git"]["branch"] == "feat/second"
    assert paths(packet) == {"only_here.py"}
    assert [tree["branch"] for tree in packet["local_only"]["worktrees"]] == ["main"]
    assert str(tmp_path) not in json.dumps(packet)


def test_submodule(make_repository: Any, claude_session: Any, wrap: Wrap) -> None:
    library, repository = make_repository("library"), make_repository("main")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "lib")
    start = repository.commit("Add the library")
    library_copy = repository.root / "lib"
    (library_copy / "new.txt").write_text("x\n")
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    for words in (["add", "-A"], ["-c", "user.name=d", "-c", "user.email=d@example.com", "commit", "-qm", "move"]):
        subprocess.run(["git", *words], cwd=library_copy, env=environment, check=True)
    repository.git("switch", "-q", "-c", "feat/x", start)
    work_in(claude_session(repository.root))
    packet = wrap(repository.root)
    assert paths(packet) == {"lib"}


def test_many_renames(repository: Any, claude_session: Any, wrap: Wrap) -> None:
    for number in range(60):
        repository.write(f"old/{number:02}.py", f"value = {number}\n" * 5)
    repository.commit("Add sixty files")
    start = repository.git("rev-parse", "HEAD")
    repository.git("switch", "-q", "-c", "feat/move")
    repository.git("mv", "old", "new")
    repository.commit("Move them")
    work_in(claude_session(repository.root))
    packet = wrap(repository.root)
    truth = true_paths(repository.root, start)
    assert len(truth) == 120
    assert paths(packet) <= truth
    assert len(paths(packet)) + packet["omitted"]["changed_files"] == 120


def test_cjk_paths(repository: Any, claude_session: Any, wrap: Wrap) -> None:
    for name in ("文档/说明.md", "src/テスト.py", "données/été.txt", "emoji 🙂.txt"):
        repository.write(name, "x\n")
    work_in(claude_session(repository.root), "文档/说明.md")
    packet = wrap(repository.root)
    assert paths(packet) == true_paths(repository.root, packet["git"]["base"])
    assert {change["path"] for change in packet["changed_files"] if change.get("claimed")} == {"文档/说明.md"}


def test_paths_that_are_not_utf8(repository: Any, claude_session: Any, wrap: Wrap) -> None:
    folder = os.fsencode(repository.root)
    for name in (b"latin-\xe9.txt", b"back\\slash.txt", b"both-\xff-\xc3\xa9.txt"):
        with open(os.path.join(folder, name), "wb") as stream:
            stream.write(b"x\n")
    work_in(claude_session(repository.root))
    packet = wrap(repository.root)
    assert {path.lower() for path in paths(packet)} == {path.lower() for path in true_paths(repository.root, "HEAD")}
    assert len(paths(packet)) == 3


def test_five_thousand_files(repository: Any, claude_session: Any, wrap: Wrap) -> None:
    for number in range(5000):
        repository.write(f"pkg{number % 50}/m{number}.py", f"v = {number}\n")
    start = repository.commit("Add five thousand files")
    repository.git("switch", "-q", "-c", "feat/x")
    for number in range(0, 5000, 100):
        repository.write(f"pkg{number % 50}/m{number}.py", "v = -1\n")
    work_in(claude_session(repository.root), "pkg0/m0.py")
    packet = wrap(repository.root)
    truth = true_paths(repository.root, start)
    assert len(truth) == 50
    assert paths(packet) <= truth
    assert len(paths(packet)) + packet["omitted"].get("changed_files", 0) == 50


def test_outside_a_repository(passdown: Any, tmp_path: Path) -> None:
    done = passdown("-C", str(tmp_path), "wrap", "--interim")
    assert done.returncode == 4
    assert b"git init" in done.stderr
    assert done.stdout == b""
    assert list(tmp_path.rglob("handoff*")) == []
