"""The shell taken apart, the identity of commands, and paths on every system."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passdown.evidence.identity import identify
from passdown.evidence.kinds import kind_of, words_of
from passdown.evidence.places import Places
from passdown.evidence.shell import split_shell, split_words


def parts(command: str) -> list[tuple[str, str]]:
    return [(part.before, part.text) for part in split_shell(command)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a && b || c; d", [("", "a"), ("&&", "b"), ("||", "c"), (";", "d")]),
        ("a 2>&1 | b", [("", "a 2>&1"), ("|", "b")]),
        ("a &> log & b", [("", "a &> log"), (";", "b")]),
        ("echo 'a && b' \"c | d\" e\\;f", [("", "echo 'a && b' \"c | d\" e\\;f")]),
        ("(a && b) | c", [("", "(a && b)"), ("|", "c")]),
        ("x=$(a | b) && c", [("", "x=$(a | b)"), ("&&", "c")]),
        ("cat > f <<'EOF'\na && b\nEOF\nc", [("", "cat > f <<'EOF'\na && b\nEOF"), (";", "c")]),
        ("# why\na # not b && c\nd", [("", "a # not b && c"), (";", "d")]),
        ("a &&\nb", [("", "a"), ("&&", "b")]),
        ("a <<< 'x' | b", [("", "a <<< 'x'"), ("|", "b")]),
        ("echo 'open", [("", "echo 'open")]),
        ("", []),
        (";;; && ", []),
    ],
)
def test_split_shell(command: str, expected: list[tuple[str, str]]) -> None:
    assert parts(command) == expected


@given(st.text(alphabet="ab '\"\\\n$-=/|&", max_size=30))
def test_split_words_is_shlex(text: str) -> None:
    try:
        expected: list[str] | None = shlex.split(text)
    except ValueError:
        expected = None
    assert split_words(text) == expected


@given(st.text(max_size=200))
def test_any_text_has_an_identity(text: str) -> None:
    places = Places("/srv/project")
    found = identify(text, "/srv/project", places)
    assert found == identify(text, "/srv/project", places)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("pytest -q", "test"), ("python -m pytest tests", "test"), ("python3 -m unittest", "test"), ("tox -e py", "test"),
        ("uv run pytest", "test"), ("npx vitest run", "test"), ("jest --ci", "test"), ("mocha", "test"),
        ("npm test", "test"), ("npm run test:unit", "test"), ("pnpm --filter web test", "test"), ("yarn t", "test"),
        ("bun test x.test.ts", "test"), ("go test ./...", "test"), ("cargo test", "test"), ("cargo nextest run", "test"),
        ("./mvnw -q test", "test"), ("./gradlew test", "test"), ("bundle exec rspec", "test"), ("vendor/bin/phpunit", "test"),
        ("ctest --test-dir build", "test"), ("dotnet test", "test"), ("mix test", "test"), ("make test", "test"),
        ("just test", "test"), ("mise run test:ci", "test"), ("node --test", "test"), ("deno test", "test"),
        ("./run_tests.sh", "test"), ("timeout 60 pytest", "test"), ("sudo make check", "test"), ("nox -s tests", "test"),
        ("npm run build", "build"), ("cargo build", "build"), ("go build ./...", "build"), ("make", "build"),
        ("pip install -e .", "build"), ("npm ci", "build"), ("docker build .", "build"),
        ("ruff check .", "lint"), ("npm run lint", "lint"), ("npx tsc --noEmit", "lint"), ("cargo clippy", "lint"),
        ("git status", "vcs"), ("gh pr view", "vcs"), ("sed -i s/a/b/ x", "edit"), ("rm -rf build", "edit"),
        ("rg needle", "search"), ("cat test.py", "search"), ("git grep x", "search"), ("ls tests", "search"),
        ("python script.py", "other"), ("./deploy.sh", "other"),
    ],
)  # fmt: skip
def test_kind(command: str, kind: str) -> None:
    assert kind_of(words_of(command)) == kind


@pytest.mark.parametrize(
    ("path", "cwd", "expected"),
    [
        ("/srv/project/src/a.py", "", "src/a.py"),
        ("src/a.py", "/srv/project", "src/a.py"),
        ("../b.py", "/srv/project/src", "b.py"),
        ("./a/../b.py", "/srv/project", "b.py"),
        ("/srv/wt/src/a.py", "", "src/a.py"),
        ("/srv/project/.worktrees/x/src/a.py", "", "src/a.py"),
        ("/home/dev/code/project/src/a.py", "/home/dev/code/project/sub", "src/a.py"),
        ("C:\\Users\\dev\\app\\src\\a.py", "", "src/a.py"),
        ("c:/users/DEV/app/src/A.py", "", "src/A.py"),
        ("\\\\?\\C:\\Users\\dev\\app\\src\\a.py", "", "src/a.py"),
        ("/c/Users/dev/app/src/a.py", "", "src/a.py"),
        ("/mnt/c/Users/dev/app/src/a.py", "", "src/a.py"),
        ("src\\a.py", "C:\\Users\\dev\\app", "src/a.py"),
        ("file:///srv/project/a.py", "", "a.py"),
        ("/etc/passwd", "/srv/project", None),
        ("../../etc/passwd", "/srv/project", None),
        ("/srv/project-two/a.py", "", None),
        ("~/notes.md", "/srv/project", None),
        ("a\x00b", "/srv/project", None),
        ("", "/srv/project", None),
        ("/srv/project", "", ""),
    ],
)
def test_relative_paths(path: str, cwd: str, expected: str | None) -> None:
    places = Places("/srv/project", ["/srv/wt", "/srv/project/.worktrees/x"])
    places.learn("/home/dev/code/project/sub")
    places.learn("C:\\Users\\dev\\app")
    assert places.relative(path, cwd) == expected


def test_a_directory_outside_shows_no_path() -> None:
    assert Places("/srv/project").folder("/tmp/secret/x") == "(outside)/x"


def test_long_commands_are_kept_short_and_told_apart() -> None:
    places = Places("/srv/project")
    long = "python - <<'EOF'\n" + "x = 1\n" * 5000
    first, second = identify(long + "a\nEOF", "", places), identify(long + "b\nEOF", "", places)
    assert first.key != second.key
    assert len(first.text) <= 1000
    assert sum(map(len, first.tokens)) <= 64_000
