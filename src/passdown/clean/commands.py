"""The test command a project's manifests point to, proposed and run only when asked; and how to record a run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from passdown.errors import FormatError, UnsafeError
from passdown.evidence.tests import looks_like_command
from passdown.io.files import read_bounded
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import Workbench

_LIMIT = 1 << 20
_LOOKED_AT = 2000
"""Most names in a folder of tests that are looked at."""

_READ = 20
"""Most files of tests that are read to see what they are written for."""

_UNITTEST = lazy_pattern(r"(?m)^(?:import unittest|from unittest\b)")

SHELL_TEXT = lazy_pattern(r"[|&;<>()$`*?\[\]#~{}\n!=]")
"""What only a shell understands."""

_TARGETS = (
    (("GNUmakefile", "makefile", "Makefile"), r"(?m)^(?:[\w./-]+[ \t]+)*test(?:[ \t]+[\w./-]+)*[ \t]*::?(?!=)",
     "make test"),
    (("justfile", "Justfile", "JUSTFILE", ".justfile"), r"(?m)^@?test\b[^:=\n]*:(?!=)", "just test"),
    (("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"),
     r"""(?m)^ {1,4}["']?test["']?:""", "task test"),
)  # fmt: skip
_NODE_RUNNERS = (
    ("pnpm-lock.yaml", "pnpm test"), ("yarn.lock", "yarn test"), ("bun.lock", "bun run test"),
    ("bun.lockb", "bun run test"), ("package-lock.json", "npm test"), ("npm-shrinkwrap.json", "npm test"),
)  # fmt: skip
_PYTHON_RUNNERS = (
    ("uv.lock", "uv run pytest"), ("poetry.lock", "poetry run pytest"), ("pdm.lock", "pdm run pytest"),
    ("Pipfile.lock", "pipenv run pytest"),
)  # fmt: skip
_PLAIN = (
    ("Cargo.toml", "cargo test"), ("go.mod", "go test ./..."), ("go.work", "go test ./..."),
    ("mvnw", "./mvnw test"), ("gradlew", "./gradlew test"), ("pom.xml", "mvn test"),
    ("build.gradle", "gradle test"), ("build.gradle.kts", "gradle test"),
)  # fmt: skip


def propose_command(root: Path) -> str:
    """Return the command that runs this project's tests as its manifests have it, or an empty string."""
    for names, pattern, command in _TARGETS:
        if any(re.search(pattern, _text(root, name)) for name in names):
            return command
    return next((command for command in _found(root) if command), "")


def _found(root: Path) -> Iterator[str]:
    yield _script(root)
    yield "tox" if _is_file(root, "tox.ini") or "[tool.tox" in _text(root, "pyproject.toml") else ""
    yield "nox" if _is_file(root, "noxfile.py") else ""
    yield _python(root)
    yield _first(root, _PLAIN, "")
    yield "dotnet test" if any(_names(root, r".+\.(?:sln|slnx|csproj|fsproj)")) else ""
    yield "mix test" if _is_file(root, "mix.exs") else ""
    yield "bundle exec rspec" if _is_file(root, ".rspec") or any(_names(root / "spec", r".+_spec\.rb")) else ""
    yield "rake test" if re.search(r"Rake::TestTask|task\s*\(?\s*:?[\"']?test\b", _text(root, "Rakefile")) else ""
    yield "ctest --test-dir build" if _is_file(root, "build/CTestTestfile.cmake") else ""


def _script(root: Path) -> str:
    try:
        manifest: Any = msgspec.json.decode(_text(root, "package.json") or "{}")
    except (msgspec.DecodeError, RecursionError):
        return ""
    scripts = manifest.get("scripts") if isinstance(manifest, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip() or "no test specified" in script:
        return ""
    manager = str(manifest.get("packageManager", "")).partition("@")[0]
    return {"pnpm": "pnpm test", "yarn": "yarn test", "bun": "bun run test"}.get(manager) or _first(
        root, _NODE_RUNNERS, "npm test"
    )


def _first(root: Path, rows: tuple[tuple[str, str], ...], otherwise: str) -> str:
    return next((command for name, command in rows if _is_file(root, name)), otherwise)


def _python(root: Path) -> str:
    """Return how the Python tests are run: with pytest, unless nothing says so and they are all of unittest's."""
    if any(_is_file(root, name) for name in ("pytest.ini", ".pytest.ini", "conftest.py")) or (
        "[tool.pytest" in _text(root, "pyproject.toml") or "[tool:pytest]" in _text(root, "setup.cfg")
    ):
        return _first(root, _PYTHON_RUNNERS, "pytest")
    tests = list(islice(_python_tests(root), _READ))
    if not tests:
        return ""
    texts = [_text(root, path.relative_to(root).as_posix()) for path in tests]
    locked = _first(root, _PYTHON_RUNNERS, "")
    if locked or not all(_UNITTEST.search(text) for text in texts) or any("pytest" in text for text in texts):
        return locked or "pytest"
    folder = tests[0].relative_to(root).parts[0]
    return (
        "python3 -m unittest" if _is_file(root, f"{folder}/__init__.py") else f"python3 -m unittest discover {folder}"
    )


def _python_tests(root: Path) -> Iterator[Path]:
    for folder in (root / "tests", root / "test"):
        for place in (folder, *_folders(folder)):
            yield from (place / name for name in _names(place, r"test_.*\.py|.+_test\.py"))


def _names(folder: Path, pattern: str) -> Iterator[str]:
    try:
        if not folder.is_symlink():
            yield from (e.name for e in islice(folder.iterdir(), _LOOKED_AT) if re.fullmatch(pattern, e.name))
    except OSError:
        return


def _folders(folder: Path) -> list[Path]:
    try:
        entries = [] if folder.is_symlink() else list(islice(folder.iterdir(), _LOOKED_AT))
    except OSError:
        return []
    return [entry for entry in sorted(entries)[:50] if entry.is_dir() and not entry.is_symlink()]


def _is_file(root: Path, name: str) -> bool:
    return (root / name).is_file()


def _text(root: Path, name: str) -> str:
    try:
        return read_bounded(root / name, _LIMIT).decode("utf-8", "replace")
    except (OSError, UnsafeError, FormatError):
        return ""


# --- criteria, and how a run of one is recorded ------------------------------------------------------------------


def prose_of(workbench: Workbench, test_command: str = "") -> tuple[str, ...]:
    """Return the acceptance criteria that are no commands: those of the contract, else of the items being worked on."""
    active = {workbench.active_feature, workbench.state.active_task_id if workbench.state else ""} - {""}
    stated: list[str] = list(workbench.contract.acceptance_criteria) if workbench.contract else []
    if not stated:
        items = (*workbench.features, *workbench.tasks)
        stated = [line for t in items if t.id in active or t.status == "in_progress" for line in t.acceptance]
    prose = [line.strip() for line in stated if line.strip() and not looks_like_command(line.strip())]
    return tuple(dict.fromkeys(line for line in prose if line != test_command))


def recorded(command: str) -> str:
    """Return the command line that runs a command and keeps the record which the tests are judged by."""
    if not command:
        return "passdown check --run-tests"
    if SHELL_TEXT.search(command):
        return f"passdown run --shell -- {shlex.quote(command)}"
    return f"passdown run -- {command}"
