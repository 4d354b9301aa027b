"""The test command that manifests point to: every runner, and what only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from passdown.clean.commands import propose_command, prose_of, recorded
from passdown.evidence.kinds import kind_of, words_of
from passdown.evidence.tests import looks_like_command
from passdown.model.workbench import Contract, Task, Workbench

SCRIPT = '{"scripts": {"test": "vitest run"}%s}'
MANIFESTS: dict[str, tuple[str, dict[str, str]]] = {
    "make": ("make test", {"Makefile": "all: build\n\ntest: all\n\tpytest\n"}),
    "make, several targets": ("make test", {"GNUmakefile": "check test:\n\tpytest\n"}),
    "just": ("just test", {"justfile": "build:\n  x\n\ntest *ARGS:\n  pytest\n"}),
    "task": ("task test", {"Taskfile.yml": "version: '3'\ntasks:\n  test:\n    cmds: [go test ./...]\n"}),
    "npm": ("npm test", {"package.json": SCRIPT % ""}),
    "npm lock": ("npm test", {"package.json": SCRIPT % "", "package-lock.json": "{}"}),
    "pnpm": ("pnpm test", {"package.json": SCRIPT % "", "pnpm-lock.yaml": ""}),
    "yarn": ("yarn test", {"package.json": SCRIPT % "", "yarn.lock": ""}),
    "bun": ("bun run test", {"package.json": SCRIPT % "", "bun.lock": ""}),
    "named manager": ("pnpm test", {"package.json": SCRIPT % ', "packageManager": "pnpm@9.1.0"', "yarn.lock": ""}),
    "tox": ("tox", {"tox.ini": "[tox]\n", "pytest.ini": ""}),
    "tox in pyproject": ("tox", {"pyproject.toml": "[tool.tox]\nenv_list = []\n"}),
    "nox": ("nox", {"noxfile.py": "", "pytest.ini": ""}),
    "pytest": ("pytest", {"pyproject.toml": "[tool.pytest.ini_options]\n"}),
    "pytest in setup.cfg": ("pytest", {"setup.cfg": "[tool:pytest]\n"}),
    "pytest by its tests": ("pytest", {"tests/unit/test_a.py": "def test_a(): pass\n"}),
    "unittest": ("python3 -m unittest", {"tests/__init__.py": "", "tests/test_a.py": "import unittest\n"}),
    "unittest without a package": (
        "python3 -m unittest discover test",
        {"test/test_a.py": "from unittest import TestCase\n"},
    ),
    "unittest beside pytest": (
        "pytest",
        {"tests/test_a.py": "import unittest\n", "tests/test_b.py": "def test_b(): pass\n"},
    ),
    "uv": ("uv run pytest", {"tests/test_a.py": "", "uv.lock": ""}),
    "poetry": ("poetry run pytest", {"tests/test_a.py": "", "poetry.lock": ""}),
    "cargo": ("cargo test", {"Cargo.toml": "[package]\n"}),
    "go": ("go test ./...", {"go.mod": "module x\n"}),
    "maven wrapper": ("./mvnw test", {"mvnw": "", "pom.xml": ""}),
    "maven": ("mvn test", {"pom.xml": ""}),
    "gradle wrapper": ("./gradlew test", {"gradlew": "", "build.gradle": ""}),
    "gradle": ("gradle test", {"build.gradle.kts": ""}),
    "dotnet": ("dotnet test", {"App.sln": ""}),
    "dotnet project": ("dotnet test", {"App.csproj": ""}),
    "mix": ("mix test", {"mix.exs": ""}),
    "rspec": ("bundle exec rspec", {".rspec": ""}),
    "rspec by its specs": ("bundle exec rspec", {"spec/a_spec.rb": ""}),
    "rake": ("rake test", {"Rakefile": "require 'rake/testtask'\nRake::TestTask.new\n"}),
    "ctest": ("ctest --test-dir build", {"build/CTestTestfile.cmake": ""}),
    "first hit": ("make test", {"Makefile": "test:\n\tx\n", "package.json": SCRIPT % "", "Cargo.toml": ""}),
    "make without such a target": ("cargo test", {"Makefile": "testing:\n\tx\ntest := 1\n", "Cargo.toml": ""}),
    "npm's own default": (
        "",
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
    ),
    "rake without tests": ("", {"Rakefile": "task :build\n"}),
    "nothing": ("", {"README.md": "run the tests"}),
    "no JSON": ("", {"package.json": "{"}),
    "no object": ("", {"package.json": '{"scripts": ["test"], "packageManager": 3}'}),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifest(name: str, tmp_path: Path) -> None:
    command, files = MANIFESTS[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert propose_command(tmp_path) == command
    if command:  # a run of it is known as a run of tests
        assert kind_of(words_of(command)) == "test"


def test_links_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/Makefile").write_text("test:\n\tx\n")
    (tmp_path / "outside/test_a.py").write_text("")
    root = tmp_path / "root"
    root.mkdir()
    (root / "Makefile").symlink_to(tmp_path / "outside/Makefile")
    (root / "tests").symlink_to(tmp_path / "outside")
    assert propose_command(root) == ""


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("pytest -q", "passdown run -- pytest -q"), ("", "passdown check --run-tests"),
        ("pytest && ruff check", "passdown run --shell -- 'pytest && ruff check'"),
        ("A=1 pytest", "passdown run --shell -- 'A=1 pytest'"),
    ],
)  # fmt: skip
def test_the_line_that_records(command: str, line: str) -> None:
    assert recorded(command) == line


@pytest.mark.parametrize(
    ("text", "is_command"),
    [
        ("pytest -x tests", True), ("/opt/tools/verify --all", True), ("python3 -m mytool check", True),
        ("./verify.sh", True), ("the export feels fast", False), ("docs mention Retry-After", False),
        ("Make sure that the tests pass", False), ("test the login by hand please now", False),
    ],
)  # fmt: skip
def test_prose_is_no_command(text: str, is_command: bool) -> None:
    assert looks_like_command(text) is is_command


def test_prose_of_contract_and_of_active_items() -> None:
    tasks = (
        Task(id="T-1", status="in_progress", acceptance=("pytest", "it feels fast to a person")),
        Task(id="T-2", status="todo", acceptance=("somebody reads it once more",)),
    )
    assert prose_of(Workbench(tasks=tasks)) == ("it feels fast to a person",)
    contract = Contract(task_id="T-1", acceptance_criteria=("pytest -q", "a person has looked at the page"))
    assert prose_of(Workbench(tasks=tasks, contract=contract)) == ("a person has looked at the page",)
