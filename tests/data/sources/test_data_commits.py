"""Commit series of real repositories: edits that replay, whose work it is, and what is never kept."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.data.records import Reject, Trajectory
from passdown.data.sources.commit_edits import edits_between
from passdown.data.sources.commit_log import Change, Commit
from passdown.data.sources.commits import read_commits, read_series
from passdown.data.sources.licence_text import licence_in
from passdown.data.sources.origin import Origin
from passdown.data.sources.people import author_of, title_of, words_of
from passdown.data.sources.series import topics, windows
from passdown.data.sources.table import read_source
from passdown.errors import GitError
from passdown.model.session import AssistantMessage, ToolCall, ToolResult

ORIGIN = Origin(source="commits", file="made")
MIT = 'MIT License\n\nPermission is hereby granted, free of charge, …\nTHE SOFTWARE IS PROVIDED "AS IS"\n'


class Made:
    """A repository with a history of its own."""

    def __init__(self, root: Path) -> None:
        self.root, self.clock = root, 1_760_000_000
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, name: str = "Ada Byron", mail: str = "ada@byron.example.net") -> str:
        self.clock += 60
        who = {"NAME": name, "EMAIL": mail, "DATE": f"{self.clock} +0000"}
        env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
        env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": "/usr/bin:/bin"}
        done = subprocess.run(["git", *words], cwd=self.root, env=env, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, message: str, files: dict[str, str | bytes | None], **who: str) -> str:
        for path, content in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                target.unlink()
            else:
                target.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, **who)
        return self.git("rev-parse", "HEAD")


def numbered(*changed: int, count: int = 30, tag: str = "x") -> str:
    return "".join(f"line {number}{tag if number in changed else ''}\n" for number in range(count))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    repository = Made(tmp_path_factory.mktemp("commits") / "inkwell")
    repository.commit(
        "Begin", {"LICENSE": MIT, "src/a.py": numbered(), "AUTHORS": "Ada Byron <ada@byron.example.net>\n"}
    )
    repository.commit(
        "Change two places\n\nAsk ada@byron.example.net.\n\nSigned-off-by: Ada Byron <ada@byron.example.net>",
        {"src/a.py": numbered(3, 20), "tests/test_a.py": "def test_a():\n    assert 'ada@byron.example.net'\n"},
    )
    repository.commit("Bump deps", {"src/a.py": numbered(3, 20, 29)}, name="dependabot[bot]")
    repository.commit("Change one more", {"src/a.py": numbered(3, 8, 20, 29), "logo.png": b"\x89PNG\0\0"})
    repository.commit("Rename", {"src/a.py": None, "src/b.py": numbered(3, 8, 20, 29)})
    repository.commit("Change after the rename", {"src/b.py": numbered(3, 8, 20, 25, 29)})
    repository.git("checkout", "-q", "-b", "bob/shorter-lines")
    for number in range(3):
        repository.commit(f"Shorten {number}", {"src/c.py": numbered(number, count=5, tag="!")})
    repository.git("checkout", "-q", "main")
    repository.commit("Say more", {"README.md": "# Inkwell\n"})
    repository.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7 from bob/shorter-lines\n\nShorter lines",
                   "bob/shorter-lines")  # fmt: skip
    repository.commit("Made by a machine\n\nCo-Authored-By: Claude <noreply@anthropic.com>", {"src/b.py": numbered(1)})
    repository.commit("Remove it", {"src/b.py": None})
    return repository


def applied(run: Trajectory) -> dict[str, str]:
    """Apply a series as a replay would: reads tell a content, every edit's text stands there once."""
    files: dict[str, str] = {}
    for step in run.steps:
        results = {event.call_id: event.text for event in step.events if isinstance(event, ToolResult)}
        for event in step.events:
            if isinstance(event, ToolCall):
                _apply(files, event, results[event.call_id], run.root)
    return files


def _apply(files: dict[str, str], call: ToolCall, told: str, root: str) -> None:
    arguments: dict[str, Any] = call.arguments
    words = arguments.get("command", "").split()
    if call.tool == "bash" and words[:2] == ["git", "mv"]:
        files[f"{root}/{words[3]}"] = files.pop(f"{root}/{words[2]}")
    elif call.tool == "bash" and words[:2] == ["git", "rm"]:
        files.pop(f"{root}/{words[-1]}")
    elif call.tool == "write_file":
        files[arguments["path"]] = arguments["content"]
    elif words[:1] == ["create"]:
        files[arguments["path"]] = arguments["file_text"]
    elif words[:1] == ["view"]:
        lines = [line.partition("\t")[2] for line in told.split("\n")[1:-1]]
        files[arguments["path"]] = "\n".join(lines)
    elif words[:1] == ["str_replace"]:
        text = files[arguments["path"]]
        assert text.count(arguments["old_str"]) == 1
        files[arguments["path"]] = text.replace(arguments["old_str"], arguments["new_str"])


def runs(found: Iterable[Trajectory | Reject]) -> list[Trajectory]:
    return [item for item in found if isinstance(item, Trajectory)]


def test_a_range_of_commits_is_a_persons_run(made: Made) -> None:
    run = read_commits(made.root, "", "main~4", origin=ORIGIN)
    assert isinstance(run, Trajectory)
    said = [event.text for step in run.steps for event in step.events if isinstance(event, AssistantMessage)]
    assert said == ["Begin", "Change two places\n\nAsk someone@example.com.", "Change one more", "Rename",
                    "Change after the rename"]  # fmt: skip
    assert (run.predecessor, run.repo, run.root, run.provenance.licence) == (
        "human",
        "inkwell",
        "/workspace/inkwell",
        "MIT",
    )
    assert [step.role for step in run.steps] == ["user"] + 5 * ["agent"]
    assert run.outcome.exit == "committed"
    assert run.outcome.patch.startswith("diff --git")
    extras = json.loads(run.extras)
    assert extras["left_out"] == {"bot": 1}
    assert [commit["tests"] for commit in extras["commits"]] == [[], ["tests/test_a.py"], [], [], []]


def test_its_edits_replay_to_what_the_commits_hold(made: Made) -> None:
    run = read_commits(made.root, "", "main~4", origin=ORIGIN)
    assert isinstance(run, Trajectory)
    files = applied(run)
    assert files["/workspace/inkwell/src/b.py"] == numbered(3, 8, 20, 25, 29)
    assert "/workspace/inkwell/src/a.py" not in files
    actions = [(a.kind, a.target) for step in run.steps for a in step.actions if a.kind != "VCS"]
    assert ("READ", "src/a.py") in actions  # the bot's change in between is read, and not told as the person's
    assert actions.count(("READ", "src/b.py")) == 0  # the rename took its content along


def test_nobody_is_named(made: Made) -> None:
    for run in runs(read_series(made.root, ORIGIN)):
        text = repr(run)
        for name in ("Ada", "Byron", "byron.example", "bob", "dependabot", "AUTHORS", "Claude"):
            assert name not in text, name


def test_a_merged_branch_is_a_series_with_the_requests_title(made: Made) -> None:
    branch = next(run for run in runs(read_series(made.root, ORIGIN)) if '"series":"branch"' in run.extras)
    assert branch.task_text == "Shorter lines"
    assert [event.text for step in branch.steps for event in step.events if isinstance(event, AssistantMessage)] == [
        "Shorten 0", "Shorten 1", "Shorten 2",
    ]  # fmt: skip
    assert branch.base_commit == made.git("rev-parse", "main~4")


def test_a_series_without_a_title_asks_for_all_that_its_commits_do(made: Made) -> None:
    run = read_commits(made.root, "main~7", "main~4", origin=ORIGIN)
    assert isinstance(run, Trajectory)
    said = [event.text for step in run.steps for event in step.events if isinstance(event, AssistantMessage)]
    assert len(said) > 1
    assert run.task_text.splitlines()[1:] == [f"- {subject}" for subject in dict.fromkeys(said)]


def test_an_agents_commits_are_no_persons_work(made: Made) -> None:
    said = " ".join(repr(run) for run in runs(read_series(made.root, ORIGIN)))
    assert "Made by a machine" not in said
    assert "Bump deps" not in said


def test_a_step_can_be_one_file(made: Made) -> None:
    run = read_commits(made.root, "main~7", "main~4", origin=ORIGIN, grain="file")
    assert isinstance(run, Trajectory)
    assert len(run.steps) > 1 + 3
    assert any(not any(a.kind == "VCS" for a in step.actions) for step in run.steps[1:])
    assert applied(run)["/workspace/inkwell/src/b.py"] == numbered(3, 8, 20, 25, 29)


def test_a_repository_is_read_like_any_source_and_twice_the_same(made: Made, tmp_path: Path) -> None:
    first, second = list(read_source(made.root)), list(read_source(made.root, "commits", name="inkwell"))
    assert first == second
    assert all(item.provenance is not None and item.provenance.source == "commits" for item in first)
    [nothing] = list(read_source(tmp_path))
    assert isinstance(nothing, Reject)
    with pytest.raises(GitError):
        read_commits(made.root, "", "no-such-branch")
    with pytest.raises(GitError):
        read_commits(made.root, "", "--output=x")


def test_odd_files_and_messages_are_read_too(tmp_path: Path) -> None:
    odd = Made(tmp_path / "odd.git")
    (odd.root / "link").symlink_to("n.txt")
    name = "tests/test_\udcff.py"  # a byte that is no text
    odd.commit("Start \x01", {"crlf.txt": "a\r\nb\r\nc\r\n", "n.txt": "no newline", "new\nline.py": "1\n",
                              "same.txt": "a\n" * 6, name: "x\n"})  # fmt: skip
    (odd.root / "link").unlink()
    odd.commit("-m 'evil' $(rm -rf x)", {"crlf.txt": "a\r\nB\r\nc\r\n", "n.txt": "no newline!\nmore", name: "y\n",
                                         "same.txt": "a\na\nb\na\na\na\na\n", "link": "now a file"})  # fmt: skip
    odd.commit("é \U0001f600", {"crlf.txt": "a\r\nB\r\nc\r\nd", "n.txt": "", "same.txt": "a\na\nb\na\na\nb\na\na\n"})
    run = read_commits(odd.root, "", "HEAD", origin=ORIGIN)
    assert isinstance(run, Trajectory)
    assert msgspec.json.decode(msgspec.json.encode(run), type=Trajectory) == run
    files = applied(run)
    assert set(files) == {f"/workspace/odd/{path}" for path in ("crlf.txt", "n.txt", "same.txt")}
    for path, text in files.items():
        assert (odd.root / path.rpartition("/")[2]).read_bytes().decode() == text
    [nothing] = list(read_series(odd.root, ORIGIN, ("branch",)))
    assert isinstance(nothing, Reject)
    assert nothing.reason == "no_series"


def test_work_on_the_same_files_is_one_topic() -> None:
    def commit(number: int, *paths: str, message: str = "Work") -> Commit:
        changes = tuple(Change(path, "M", "100644", "100644", "a" * 40, "b" * 40) for path in paths)
        return Commit(id=f"{number:040x}", parents=("c" * 40,), at=0, message=message, author="person", changes=changes)

    history = [commit(n, f"{'left' if n % 2 else 'right'}/{n // 4}.py", "CHANGELOG.md",
                      f"{'left' if n % 2 else 'right'}/core.py") for n in range(12)]  # fmt: skip
    found = list(topics(history))
    assert [len(series.commits) for series in found] == [6, 6]
    assert all(len({path.path[:4] for c in series.commits for path in c.changes} - {"CHAN"}) == 1 for series in found)
    assert [len(series.commits) for series in windows(history, 5)] == [5, 5]  # the last two are too few
    assert not list(topics(history[:2]))


def test_many_series_come_from_a_few_repositories(tmp_path: Path) -> None:
    repository = Made(tmp_path / "many")
    for number in range(120):
        repository.commit(
            f"Step {number}", {f"p{number // 10}/m{number % 2}.py": numbered(number % 30, tag=str(number))}
        )
    found = list(read_series(repository.root, ORIGIN))
    assert not [item for item in found if isinstance(item, Reject)]
    assert len(found) >= 30
    assert len({item.content_hash for item in runs(found)}) == len(found)
    assert len(list(read_series(repository.root, ORIGIN, most=5))) == 5


lines = st.lists(st.sampled_from(["a", "b", "}", "", "    pass", "é"]), max_size=12)


@settings(deadline=None, max_examples=150)
@given(before=lines, after=lines, ends=st.booleans())
def test_edits_make_the_new_text_of_the_old_one(before: list[str], after: list[str], ends: bool) -> None:
    import difflib

    old, new = "\n".join(before) + "\n" * ends, "\n".join(after) + "\n"
    left, right = old.splitlines(keepends=True), new.splitlines(keepends=True)
    hunks = [
        (low + 1 if high > low else low, high - low, first + 1 if last > first else first, last - first)
        for tag, low, high, first, last in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    pairs = edits_between(old, new, hunks)
    if pairs is not None:
        for one, other in pairs:
            assert old.count(one) == 1 or old.find(one) == old.rfind(one)
            old = old.replace(one, other, 1)
        assert old == new


def test_words_are_kept_and_persons_are_not() -> None:
    assert words_of(
        "Fix it\n\nThanks to Ada Byron <a@b.example.org>\n\nReviewed-by: X Y <x@y.example.org>", "Ada Byron"
    ) == ("Fix it\n\nThanks to someone <someone@example.com>")
    assert words_of("Fix: keep `a: b`", "Al") == "Fix: keep `a: b`"
    assert author_of("renovate-bot", "x@y.example.org", "") == "bot"
    assert author_of("Talbot Abbot", "talbot@y.example.org", "Add a robot") == "person"
    assert author_of("Ada", "a@b.example.org", "x\n\nGenerated with [Claude Code](https://claude.ai)") == "agent"
    assert author_of("Ada", "a@b.example.org", "Read the logs of Claude Code") == "person"
    assert title_of("Merge pull request #3 from ada/fix\n\nKeep one dash") == "Keep one dash"
    assert title_of("Merge branch 'ada/one-dash' into main") == "one dash"
    assert licence_in(MIT) == "MIT"
    assert licence_in("Apache License\n   Version 2.0, January 2004") == "Apache-2.0"
    assert licence_in("All rights reserved.") == ""
