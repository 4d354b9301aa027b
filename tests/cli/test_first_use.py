"""What a new user meets: tables that can be read, messages that say what to do next."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


def at_a_terminal(folder: Path, columns: int, *words: str) -> str:
    """Run passdown at a terminal of so many columns, and return what it shows there, without its colours."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "passdown", *words], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | {"COLUMNS": str(columns), "TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while block := os.read(ours, 65_536):
                shown += block
        except OSError:  # the terminal closes with the process
            pass
        process.wait()
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode().replace("\r\n", "\n"))


@pytest.fixture
def worked(repository: Any, passdown: Any) -> Any:
    """A repository with a note and a packet."""
    passdown("note", "decision", "Keep cents as whole numbers", "--why", "no rounding anywhere", folder=repository.root)
    passdown("wrap", "--interim", "--next", "Write tests/test_ship.py", folder=repository.root)
    return repository


def test_a_narrow_terminal_cuts_no_id(worked: Any, passdown: Any) -> None:
    entries = json.loads(passdown("log", "--json", folder=worked.root).stdout)["entries"]
    notes = json.loads(passdown("note", "list", "--json", folder=worked.root).stdout)["notes"]
    log = at_a_terminal(worked.root, 50, "log")
    assert entries[0]["packet_id"][:12] in log
    assert log.splitlines()[0].split()[:3] == ["age", "what", "packet"]
    listed = at_a_terminal(worked.root, 50, "note", "list").splitlines()
    assert notes[0]["id"] in listed[1]
    assert listed[1].endswith("…")
    assert len(listed[1]) <= 50


def test_an_empty_list_says_so_without_a_header(repository: Any, passdown: Any) -> None:
    for words, says in ((("note", "list"), "no notes here"), (("sessions",), "no sessions"), (("log",), "no packet")):
        assert at_a_terminal(repository.root, 80, *words).startswith(says)
        done = passdown(*words, folder=repository.root)
        assert (done.returncode, done.stdout) == (0, b"")
        assert done.stderr.decode().startswith(says)


def test_check_puts_the_command_on_a_line_of_its_own_where_it_would_not_fit(repository: Any, passdown: Any) -> None:
    repository.write("src/limits.py", "LIMIT = 1\n")
    narrow = at_a_terminal(repository.root, 80, "check").splitlines()
    at = next(index for index, line in enumerate(narrow) if "tree.untracked" in line)
    assert narrow[at + 1].startswith("           → git add -- src/limits.py && git commit")
    wide = at_a_terminal(repository.root, 300, "check")
    assert "→" not in wide
    assert wide.replace("\n", "") == passdown("check", folder=repository.root).stdout.decode().replace("\n", "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("help",), "Did you mean 'passdown --help'?"),
        (("help", "wrap"), "Did you mean 'passdown wrap --help'?"),
        (("version",), "Did you mean 'passdown --version'?"),
        (("take", "ab"), "4 digits"),
        (("sessions", "show", "ab"), "4 characters"),
        (("wrap", "--next", "Check src/a.py", "--interim"), "passdown wrap --commit"),
        (("init",), "git add -- passdown.toml"),
    ],
    ids=" ".join,
)
def test_messages_say_what_to_do(words: tuple[str, ...], says: str, worked: Any, passdown: Any) -> None:
    assert says in passdown(*words, folder=worked.root).stderr.decode()


def test_a_session_is_shown_by_four_characters(repository: Any, passdown: Any, claude_session: Any) -> None:
    claude_session(repository.root, "abcd1234-0000-4000-8000-000000000001").human("Do it.")
    done = passdown("sessions", "show", "abcd", "--json", folder=repository.root)
    assert json.loads(done.stdout)["session_id"].startswith("abcd1234")


def test_wrap_says_how_the_packet_travels(worked: Any, passdown: Any) -> None:
    worked.git("config", "user.name", "Dev")
    worked.git("config", "user.email", "dev@example.com")
    done = passdown("wrap", "--interim", "--next", "Write tests/test_ship.py", "--commit", folder=worked.root)
    head = worked.git("rev-parse", "HEAD")
    assert f"committed as {head[:12]}; push the branch" in done.stderr.decode()
    again = passdown("wrap", "--interim", "--next", "Write tests/test_ship.py", folder=worked.root).stderr.decode()
    assert "commit" not in again
    worked.git("switch", "-q", "-c", "side")
    worked.write("a.py", "A = 1\n")
    local = passdown("wrap", "--interim", "--local", "--next", "Check a.py", folder=worked.root).stderr.decode()
    assert "stays on this device" in local


def test_what_archive_and_restore_changed_is_committed_by_the_command_they_print(worked: Any, passdown: Any) -> None:
    for words in (("archive", "active"), ("archive", "--undo", "--all-superseded"), ("restore",)):
        if words == ("restore",):
            entries = json.loads(passdown("log", "--json", folder=worked.root).stdout)["entries"]
            passdown("wrap", "--interim", "--next", "Look at src/b.py", folder=worked.root)
            words = ("restore", entries[-1]["packet_id"][:12])
        said = passdown(*words, folder=worked.root).stderr.decode()
        for line in said.splitlines():
            if "git add" in line:
                command = line.partition(": ")[2]
                done = subprocess.run(["sh", "-c", command.replace("git commit", "git -c user.name=D -c user.email=d@e commit")],
                                      cwd=worked.root, capture_output=True, check=False)  # fmt: skip
                assert done.returncode == 0, done.stderr
        assert ("git add" in said) == (words[0] == "restore" or words == ("archive", "active"))
    changed = worked.git("diff", "--name-only", "HEAD", "--", "outputs")
    assert changed == ""


@pytest.mark.parametrize(("last", "step"), [("", "Go on with the last request"), ("Done.", "Review the diff against")])
def test_a_session_that_was_killed_is_gone_on_with(
    last: str, step: str, repository: Any, passdown: Any, claude_session: Any
) -> None:
    session = claude_session(repository.root)
    session.human("The tests fail. Fix src/slug.py.")
    session.edits("src/slug.py")
    repository.write("src/slug.py", "def slugify(text):\n    return text.lower()\n")
    if last:
        session.says(last)
    brief = passdown("take", folder=repository.root).stdout.decode()
    assert f'Next step proposed: "{step}' in brief


def test_the_brief_tells_what_was_noted_and_how_the_tests_are(repository: Any, passdown: Any) -> None:
    repository.write("src/ship.py", "COSTS = 490\n")
    repository.write("tests/test_ship.py", "import unittest\n")
    repository.write("pyproject.toml", "[project]\nname = 'ship'\nversion = '0'\n")
    repository.commit("Add shipping")
    for words in (
        ("risk", "no test of shipping yet"),
        ("clue", "costs are in cents", "--anchor", "src/ship.py:1"),
        ("assumption", "parcels weigh under 2 kg"),
        ("next", "Test src/ship.py above 5000"),
    ):
        assert passdown("note", *words, folder=repository.root).returncode == 0
    passdown("wrap", "--interim", folder=repository.root)
    brief = passdown("take", folder=repository.root).stdout.decode()
    line = next(line for line in brief.splitlines() if line.startswith("Noted for you: "))
    for told in (
        '"no test of shipping yet" (risk)', '"costs are in cents" (clue, src/ship.py:1)', '"parcels weigh under 2 kg"'
    ):  # fmt: skip
        assert told in line
    assert "Tests: no test run is recorded; the project's files point to python3 -m unittest discover tests" in brief
    passdown("run", "--", "python3", "-m", "unittest", "-q", "tests.test_ship", folder=repository.root)
    passdown("wrap", "--interim", folder=repository.root)
    brief = passdown("take", folder=repository.root).stdout.decode()
    assert "Tests: " in brief
    assert "tests.test_ship" in brief


def test_the_demo_says_how_to_go_on_in_it_with_its_session(passdown: Any, tmp_path: Path) -> None:
    said = passdown("demo", "--folder", str(tmp_path / "demo")).stderr.decode()
    place, _, home = next(line for line in said.splitlines() if "CLAUDE_CONFIG_DIR" in line).strip().partition(" && ")
    root, folder = Path(place.removeprefix("cd ")), home.removeprefix("export CLAUDE_CONFIG_DIR=")
    here = {"folder": root, "CLAUDE_CONFIG_DIR": folder}
    assert "running" not in passdown("status", **here).stdout.decode()
    assert "tests.stale" in passdown("check", **here).stdout.decode()
    assert b"unchanged" in passdown("wrap", "--interim", **here).stderr
    brief = passdown("take", **here).stdout.decode()
    assert "Make `python3 -m unittest -v tests.test_burst` pass" in brief


def test_a_session_without_a_title_is_listed_by_its_first_words(
    repository: Any, passdown: Any, claude_session: Any
) -> None:
    claude_session(repository.root).human("Fix src/slug.py; the password=hunter2hunter9Zq is old.")
    title = passdown("sessions", folder=repository.root).stdout.decode().rstrip("\n").split("\t")[-1]
    assert title.startswith("Fix src/slug.py; the password=[redacted:")


def test_a_board_item_of_one_word_is_named_by_its_id(repository: Any, passdown: Any) -> None:
    board = [{"id": "T-2", "goal": "Document", "status": "todo", "owner": "builder"}]
    repository.write("task_board.json", json.dumps(board))
    repository.commit("Plan")
    made = passdown("wrap", "--interim", "--json", folder=repository.root)
    assert json.loads(made.stdout)["next_action"] == "T-2: Document"
    assert 'Still open: "T-2: Document" (todo)' in passdown("take", folder=repository.root).stdout.decode()


def test_a_cold_start_names_the_branch_where_a_packet_waits(worked: Any, passdown: Any, tmp_path: Path) -> None:
    worked.git("switch", "-q", "-c", "feat/ship")
    worked.git("add", "-f", "outputs")
    worked.clock = int(time.time())
    worked.commit("Hand over")
    worked.git("switch", "-q", "main")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(worked.root), str(clone)], check=True)
    done = passdown("take", folder=clone)
    assert done.returncode == 4
    assert 'Other packets: "origin/feat/ship" (git switch to it)' in done.stdout.decode()


def test_a_repository_without_a_commit_asks_what_is_wanted(tmp_path: Path, passdown: Any) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert "the repository is empty" in passdown("take", folder=tmp_path).stdout.decode()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_repository_that_cannot_be_written_is_taken_all_the_same(worked: Any, passdown: Any) -> None:
    shelf = worked.root / ".git/passdown"
    for path in (*shelf.rglob("*"), shelf):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        done = passdown("take", folder=worked.root)
        assert (done.returncode, b"not recorded" in done.stderr) == (0, True)
        assert b"Write tests/test_ship.py" in done.stdout
        refused = passdown("note", "risk", "nobody may write here", folder=worked.root)
        assert (refused.returncode, b"`take`" in refused.stderr) == (1, True)
    finally:
        shelf.chmod(0o700)


def test_a_question_without_an_end_is_given_one(repository: Any, passdown: Any) -> None:
    repository.write("a.py", "A = 1\n")
    passdown("wrap", "--interim", "--next", "Publish version 2 of a.py", folder=repository.root)
    shown = passdown("show", folder=repository.root).stdout.decode()
    assert "Publish version 2 of a.py. If unanswered: it is not done." in shown


def test_a_session_is_listed_and_shown_as_people_read_it(tmp_path: Path, passdown: Any) -> None:
    passdown("demo", "--folder", str(tmp_path / "demo"))
    root, logs = tmp_path / "demo/exporter", {"CLAUDE_CONFIG_DIR": str(tmp_path / "demo/claude")}
    listed = passdown("sessions", "list", "--json", folder=root, **logs)
    assert listed.stdout == passdown("sessions", "--json", folder=root, **logs).stdout
    session = json.loads(listed.stdout)["sessions"][0]
    shown = passdown("sessions", "show", session["session_id"], folder=root, **logs).stdout.decode()
    assert re.search(r"(?m)^started_at +2026-11-20T09:10:20Z$", shown)
    counts = json.loads(passdown("sessions", "show", session["session_id"], "--json", folder=root, **logs).stdout)
    assert counts["started_at"] == session["started_at"]
