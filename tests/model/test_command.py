"""The normal form of commands."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.model.command import MAX_TOKENISED, command_text, normalize_command


@pytest.mark.parametrize(
    ("command", "tokens"),
    [
        ("pytest -x", ("pytest", "-x")),
        ("  pytest   -x\n", ("pytest", "-x")),
        (["pytest", "-k", "a or b"], ("pytest", "-k", "a or b")),
        ("pytest -k 'a or b'", ("pytest", "-k", "a or b")),
        ("uv run pytest", ("pytest",)),
        ("uv run --frozen --with hypothesis pytest -x", ("pytest", "-x")),
        ("uv run --with=hypothesis -- pytest", ("pytest",)),
        ("uv run -m pytest", ("uv", "run", "-m", "pytest")),
        ("uv pip list", ("uv", "pip", "list")),
        ("poetry run pytest", ("pytest",)),
        ("pipenv run pytest", ("pytest",)),
        ("npx -y jest", ("jest",)),
        ("time -p make", ("make",)),
        ("command make", ("make",)),
        ("command -v make", ("command", "-v", "make")),
        ("env A=1 B= make", ("make",)),
        ("env -u HOME make", ("make",)),
        ("env -i make", ("env", "-i", "make")),
        ("CI=1 PYTHONPATH='a b' uv run pytest", ("pytest",)),
        (["CI=1", "pytest"], ("pytest",)),
        ("python -m pytest", ("python", "-m", "pytest")),
        ("python3 -m pytest -x", ("python3", "-m", "pytest", "-x")),
        ("make A=1", ("make", "A=1")),
        ("echo 'open", ("echo 'open",)),
        ("env", ("env",)),
        ("A=1", ("A=1",)),
        ("uv run", ("uv", "run")),
        ("uv run --with", ("uv", "run", "--with")),
        ("", ()),
        ([], ()),
        ("echo #no comment", ("echo", "#no", "comment")),
    ],
)
def test_normal_form(command: str | list[str], tokens: tuple[str, ...]) -> None:
    assert normalize_command(command) == tokens


def test_a_list_and_its_text_are_the_same_command() -> None:
    argv = ["uv", "run", "pytest", "-k", "it's"]
    assert normalize_command(argv) == normalize_command(command_text(argv)) == ("pytest", "-k", "it's")
    assert command_text("as  it is") == "as  it is"


def test_an_overlong_command_is_its_own_token() -> None:
    text = "echo " + "x" * MAX_TOKENISED
    assert normalize_command(text) == (text,)


@given(st.lists(st.text(max_size=8), max_size=6))
@settings(deadline=None)
def test_argv_and_its_quoted_text_agree(argv: list[str]) -> None:
    assert normalize_command(argv) == normalize_command(command_text(argv))


@given(st.text(max_size=60))
@settings(deadline=None)
def test_any_text_tokenises_as_shlex_does_or_is_one_token(text: str) -> None:
    tokens = normalize_command("prefix " + text)
    try:
        expected = tuple(shlex.split("prefix " + text))
    except ValueError:
        expected = ("prefix " + text,)
    assert tokens == expected
