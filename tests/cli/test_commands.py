"""Every command, run as a person runs it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from passdown.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[2]


def every_command(group: click.Group, words: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    """All commands of the tree with the words that call them."""
    found: list[tuple[tuple[str, ...], click.Command]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append(((*words, name), command))
        if isinstance(command, click.Group):
            found += every_command(command, (*words, name))
    return found


@pytest.mark.parametrize(
    ("words", "command"), every_command(cli), ids=lambda value: "-".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_and_option_has_help(words: tuple[str, ...], command: click.Command) -> None:
    assert command.help, words
    assert words[0] in COMMANDS
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, (words, parameter.name)


def test_every_command_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"passdown {name}" not in text] == []


def test_version_and_help(passdown: Any) -> None:
    assert re.fullmatch(rb"passdown \d+\.\d+\.\d+\n", passdown("--version").stdout)
    text = passdown("--help").stdout.decode()
    assert all(f"  {name}" in text for name in COMMANDS)
    assert passdown("wrap", "--help").stdout.decode().startswith("Usage: passdown wrap")


def test_a_wrong_command_names_the_nearest(passdown: Any) -> None:
    done = passdown("wrp")
    assert done.returncode == 2
    assert b"wrap" in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["-C", "/nowhere/at/all", "wrap"], 2, b"does not exist"),
        (["wrap", "--base", "no-such-commit"], 2, b"no-such-commit"),
        (["wrap", "--agent", "clippy"], 2, b"claude_code"),
        (["wrap", "--session", "no-such-session"], 2, b"no-such-session"),
        (["wrap", "--next", "continue"], 5, b"continue"),
        (["show"], 4, b"passdown wrap"),
        (["show", "deadbeef"], 2, b"deadbeef"),
        (["export"], 2, b"--lesson"),
        (["sessions", "show", "no-such-session"], 2, b"no-such-session"),
        (["sessions", "show", "README.md"], 4, b"README.md"),
        (["completion", "tcsh"], 2, b"tcsh"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_errors_say_what_and_what_next(
    words: list[str], code: int, says: bytes, passdown: Any, repository: Any
) -> None:
    done = passdown(*words, folder=repository.root)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
    assert repository.git("status", "--porcelain", "--ignored") == ""


def test_schema_is_the_committed_one(passdown: Any) -> None:
    committed = json.loads((ROOT / "schema/handoff-v1.schema.json").read_text("utf-8"))
    assert json.loads(passdown("schema").stdout) == committed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, passdown: Any) -> None:
    script = passdown("completion", shell).stdout.decode()
    assert "_PASSDOWN_COMPLETE" in script
    offered = passdown(_PASSDOWN_COMPLETE="bash_complete", COMP_WORDS="passdown wr", COMP_CWORD="1").stdout
    assert offered == b"plain,wrap\n"


def test_demo(passdown: Any, tmp_path: Path, isolated_home: Path) -> None:
    done = passdown("demo", "--folder", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "## Next step" in "\n".join(text.splitlines()[:10])
    assert "tests.test_burst" in text
    assert "no new dependency, as I said" in text
    assert str(tmp_path) not in text
    assert list(isolated_home.iterdir()) == []
    root = tmp_path / "demo/exporter"
    assert (root / ".ai/HANDOFF.md").read_text("utf-8") == text
    packet = json.loads(next(root.glob("outputs/handoff/*/handoff.json")).read_text("utf-8"))
    assert packet["redactions"] == {}
    assert {item["exit"] for item in packet["failed_attempts"]} == {1}


def test_readme_shows_what_the_demo_prints(passdown: Any, tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    shown = text.partition("<!-- demo:begin -->\n```markdown\n")[2].partition("```\n<!-- demo:end -->")[0]
    printed = passdown("demo", "--folder", str(tmp_path / "demo")).stdout.decode()
    assert len(shown.splitlines()) >= 20
    assert printed.startswith(shown)


def test_sessions_list_and_show(passdown: Any, repository: Any, claude_session: Any) -> None:
    session = claude_session(repository.root)
    session.human("Do it.")
    session.runs("pytest -q", "1 failed", 1)
    session.row("ai-title", aiTitle="Doing it")
    rows = json.loads(passdown("sessions", "--json", folder=repository.root).stdout)["sessions"]
    assert [(row["agent"], row["branch"], row["last_exit"], row["title"]) for row in rows] == [
        ("claude_code", "main", 1, "Doing it")
    ]
    assert rows[0]["tokens"] == 115
    line = passdown("sessions", folder=repository.root / ".").stdout.decode()
    assert line.startswith(session.session_id)
    for name in (session.session_id, session.session_id[:8], str(session.path)):
        counts = json.loads(passdown("sessions", "show", name, "--json").stdout)
        assert (counts["human_messages"], counts["tool_calls"], counts["failures"], counts["responses"]) == (1, 1, 1, 1)
    events = passdown("sessions", "show", str(session.path), "--events").stdout.splitlines()
    kinds = [json.loads(event)["kind"] for event in events]
    assert kinds[0] == "session_start"
    assert kinds[-1] == "session_end"
    plain = passdown("sessions", "show", session.session_id[:8]).stdout.decode()
    assert re.search(r"^failures\s+1$", plain, re.MULTILINE)


def test_sessions_of_other_repositories_stay_out(passdown: Any, make_repository: Any, claude_session: Any) -> None:
    mine, other = make_repository("mine"), make_repository("other")
    claude_session(mine.root, "aaaaaaaa-0000-4000-8000-000000000001").human("Mine.")
    claude_session(other.root, "bbbbbbbb-0000-4000-8000-000000000002").human("Other.")
    here = json.loads(passdown("sessions", "--json", folder=mine.root).stdout)["sessions"]
    assert [row["session_id"][:4] for row in here] == ["aaaa"]
    everywhere = json.loads(passdown("sessions", "--all", "--json", folder=mine.root).stdout)["sessions"]
    assert sorted(row["session_id"][:4] for row in everywhere) == ["aaaa", "bbbb"]


def test_two_live_sessions_must_be_chosen_from(passdown: Any, repository: Any, claude_session: Any) -> None:
    first = claude_session(repository.root, "aaaaaaaa-0000-4000-8000-000000000001")
    second = claude_session(repository.root, "bbbbbbbb-0000-4000-8000-000000000002")
    first.human("First task.")
    second.human("Second task.")
    done = passdown("wrap", "--interim", folder=repository.root)
    assert done.returncode == 7
    assert b"aaaaaaaa" in done.stderr
    assert b"bbbbbbbb" in done.stderr
    chosen = json.loads(passdown("wrap", "--session", "bbbbbbbb", "--dry-run", "--json", folder=repository.root).stdout)
    assert [line["text"] for line in chosen["directives"]] == ["Second task."]


def test_init(passdown: Any, repository: Any) -> None:
    repository.write("AGENTS.md", "# Rules\n\nBe kind.\n")
    assert b"passdown.toml" in passdown("init", "--agents-md", "--dry-run", folder=repository.root).stdout
    assert not (repository.root / "passdown.toml").exists()
    done = passdown("init", "--agents-md", folder=repository.root)
    assert done.stdout.decode().split() == ["passdown.toml", "AGENTS.md"]
    text = (repository.root / "AGENTS.md").read_text("utf-8")
    assert text.startswith("# Rules\n\nBe kind.\n\n<!-- passdown:begin -->")
    assert passdown("init", "--agents-md", folder=repository.root).stdout == b""
    assert (repository.root / "AGENTS.md").read_text("utf-8") == text
    assert passdown("wrap", "--dry-run", folder=repository.root).returncode == 0


def test_output_to_a_closed_pipe(passdown: Any, repository: Any) -> None:
    script = f"{__import__('sys').executable} -m passdown schema | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, check=False)
    assert done.stdout == b"{\n"
    assert b"Traceback" not in done.stderr
