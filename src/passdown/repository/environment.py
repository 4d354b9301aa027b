"""The environment: what another device may have differently. Names of variables, never their values."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import read_bounded
from passdown.io.git import git_version
from passdown.io.program import program_version
from passdown.model.packet import Environment
from passdown.model.pattern import lazy_pattern
from passdown.repository.head import resolve_commit
from passdown.repository.settings import read_attributes, read_settings

_TOOLS = 20
_NAMES = 50
_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "Pipfile", ".python-version")
_MANIFESTS = {"package.json": "node", "Cargo.toml": "cargo", "go.mod": "go", "Gemfile": "ruby", "composer.json": "php"}
_VARIABLE = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_ENDINGS = lazy_pattern(rb"(?m)^[^#\n]*\s(?:-?text|eol=|-?crlf|binary)")
_VERSION = lazy_pattern(rb"(?m)^version(?:_info)?\s*=\s*(\d+(?:\.\d+){1,2})")


def probe_environment(
    root: Path, tools: Sequence[str] = (), env_names: Sequence[str] = (), *, head: str | None = None
) -> Environment:
    """Describe this machine as the work sees it; runs nothing that lies in the repository.

    `tools` are looked up besides git and what the repository's manifests ask for: a version for well-known ones,
    `present` for others, empty when missing. Of `env_names` those that are set are listed. `eol` joins what decides
    about line endings. `head` spares asking git for HEAD when the caller knows it.
    """
    names = os.uname()
    found = {"git": git_version(root)}
    if any((root / name).is_file() for name in _PYTHON):
        found["python"] = _python_version(root)
    for tool in [*(tool for name, tool in _MANIFESTS.items() if (root / name).is_file()), *tools[:_TOOLS]]:
        if tool not in found:
            found[tool[:64]] = program_version(tool, outside=root)
    return Environment(
        os=names.sysname.lower(),
        arch=names.machine,
        tools=dict(sorted(found.items())),
        env_names=sorted({name for name in env_names[:_NAMES] if _VARIABLE.fullmatch(name) and name in os.environ}),
        fs_case=_fs_case(root),
        eol=_eol(root),
        head_actual=resolve_commit(root, "HEAD") if head is None else head,
    )


def _python_version(root: Path) -> str:
    # The project's own virtual environment says its version in a file; its interpreter is not to be run.
    for folder in (".venv", "venv"):
        try:
            match = _VERSION.search(read_bounded(root / folder / "pyvenv.cfg", 1 << 16))
        except (OSError, UnsafeError, FormatError):
            continue
        if match:
            return match[1].decode()
    return program_version("python3", outside=root) or ".".join(map(str, sys.version_info[:3]))


def _fs_case(root: Path) -> str:
    try:
        return "insensitive" if (root / ".GIT").samefile(root / ".git") else "sensitive"
    except OSError:
        return "sensitive"


def _eol(root: Path) -> str:
    settings = read_settings(root)
    parts = [f"autocrlf={settings.autocrlf or 'false'}"]
    if settings.eol:
        parts.append(f"eol={settings.eol}")
    if _ENDINGS.search(read_attributes(root)):
        parts.append("gitattributes")
    return ",".join(parts)
