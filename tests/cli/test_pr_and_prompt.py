"""`passdown pr` and `passdown prompt`, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def wrapped(repository: Any, claude_session: Any, passdown: Any) -> Any:
    """A branch with work and its packet."""
    repository.git("switch", "-q", "-c", "feat/limit")
    session = claude_session(repository.root)
    session.branch = "feat/limit"
    session.human("Refuse the eleventh call of an export.")
    session.edits("src/limits.py")
    repository.write("src/limits.py", "LIMIT = 10\n")
    repository.commit("Limit the exports")
    session.runs("pytest -q", "1 passed in 0.1s")
    assert passdown("wrap", folder=repository.root).returncode == 0
    return repository


def test_pr_prints_what_a_reviewer_reads(wrapped: Any, passdown: Any, tmp_path: Path) -> None:
    body = passdown("pr", folder=wrapped.root).stdout.decode()
    assert body.startswith("## Goal\nRefuse the eleventh call of an export.")
    assert "- A `src/limits.py` +1 −0" in body
    assert "## Tests\n**green**" in body
    assert passdown("pr", "--title", folder=wrapped.root).stdout == b"Refuse the eleventh call of an export\n"
    value = json.loads(passdown("pr", "--json", folder=wrapped.root).stdout)
    assert value == {
        "schema_version": 1, "packet_id": value["packet_id"], "title": "Refuse the eleventh call of an export",
        "body": body,
    }  # fmt: skip
    target = tmp_path / "body.md"
    assert passdown("pr", "-o", str(target), folder=wrapped.root).returncode == 0
    assert target.read_text("utf-8") == body
    assert passdown("pr", value["packet_id"][:8], folder=wrapped.root).stdout.decode() == body


def test_pr_says_nothing_of_what_is_not_pushed(wrapped: Any, passdown: Any) -> None:
    wrapped.git("init", "-q", "--bare", "../remote.git")
    wrapped.git("remote", "add", "origin", "../remote.git")
    assert passdown("wrap", folder=wrapped.root).returncode == 0
    assert "branch.unpushed" in passdown("show", folder=wrapped.root).stdout.decode()
    assert "on no remote" not in passdown("pr", folder=wrapped.root).stdout.decode()


def test_pr_without_a_packet_says_how_to_get_one(repository: Any, passdown: Any) -> None:
    done = passdown("pr", folder=repository.root)
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"passdown wrap" in done.stderr


@pytest.mark.parametrize("task", ["wrap", "take"])
@pytest.mark.parametrize("more", [(), ("--without-passdown",)])
def test_prompt_is_one_line_that_names_commands_that_exist(
    task: str, more: tuple[str, ...], repository: Any, passdown: Any
) -> None:
    done = passdown("prompt", task, *more, folder=repository.root)
    line = done.stdout.decode()
    assert done.returncode == 0
    assert line.count("\n") == 1
    assert json.loads(passdown("prompt", task, *more, "--json", folder=repository.root).stdout)["prompt"] == line[:-1]
    named = [part.split("`")[0] for part in line.split("`passdown ")[1:]]
    assert bool(named) != bool(more)
    for words in named:
        assert passdown(*words.split(), "--help").returncode == 0, words


def test_prompt_names_the_mirror_of_the_configuration(repository: Any, passdown: Any) -> None:
    told = passdown("prompt", "take", "--without-passdown", folder=repository.root).stdout.decode()
    assert "read .ai/HANDOFF.md:" in told
    repository.write("passdown.toml", 'mirror = "docs/HANDOFF.md"\n')
    told = passdown("prompt", "take", "--without-passdown", folder=repository.root).stdout.decode()
    assert "read docs/HANDOFF.md:" in told
