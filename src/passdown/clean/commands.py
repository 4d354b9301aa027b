"""The test command a project's manifests point to: proposed to a person, never run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import read_bounded

_LIMIT = 1 << 20
_RUNNERS = (
    ("pnpm-lock.yaml", "pnpm test"),
    ("yarn.lock", "yarn test"),
    ("bun.lock", "bun test"),
    ("bun.lockb", "bun test"),
)
_PLAIN = (
    ("tox.ini", "tox"), ("noxfile.py", "nox"), ("Cargo.toml", "cargo test"), ("go.mod", "go test ./..."),
    ("mvnw", "./mvnw test"), ("pom.xml", "mvn test"), ("gradlew", "./gradlew test"), ("build.gradle", "gradle test"),
    ("build.gradle.kts", "gradle test"), ("mix.exs", "mix test"), (".rspec", "bundle exec rspec"),
    ("Rakefile", "rake test"), ("build/CTestTestfile.cmake", "ctest --test-dir build"),
)  # fmt: skip


def propose_command(root: Path) -> str:
    """Return the command that runs this project's tests as its manifests have it, or an empty string."""
    for name, pattern, command in (
        ("Makefile", r"(?m)^test\s*:", "make test"), ("justfile", r"(?m)^test\b.*:", "just test"),
        ("Justfile", r"(?m)^test\b.*:", "just test"), ("Taskfile.yml", r"(?m)^  test:", "task test"),
    ):  # fmt: skip
        if re.search(pattern, _text(root, name)):
            return command
    if command := _script(root):
        return command
    for name, command in _PLAIN[:2]:
        if _is_file(root, name):
            return command
    if _has_pytest(root):
        return "pytest"
    found = next((command for name, command in _PLAIN[2:] if _is_file(root, name)), "")
    return found or ("dotnet test" if any(root.glob("*.sln")) else "")


def _script(root: Path) -> str:
    try:
        manifest: Any = msgspec.json.decode(_text(root, "package.json") or "{}")
    except (msgspec.DecodeError, RecursionError):
        return ""
    scripts = manifest.get("scripts") if isinstance(manifest, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip() or "no test specified" in script:
        return ""
    return next((command for name, command in _RUNNERS if _is_file(root, name)), "npm test")


def _has_pytest(root: Path) -> bool:
    if _is_file(root, "pytest.ini") or "[tool.pytest" in _text(root, "pyproject.toml"):
        return True
    folder = root / "tests"
    return folder.is_dir() and not folder.is_symlink() and any(folder.glob("test_*.py"))


def _is_file(root: Path, name: str) -> bool:
    return (root / name).is_file()


def _text(root: Path, name: str) -> str:
    try:
        return read_bounded(root / name, _LIMIT).decode("utf-8", "replace")
    except (OSError, UnsafeError, FormatError):
        return ""
