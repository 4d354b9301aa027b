"""Where an artifact lies: the configured path, the canonical one, the generic name, a name with the task's id.

The first hit wins. The demos of the lessons keep the same names under `workdir/`.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import get_args

from msgspec import Struct

from passdown.config import Config
from passdown.errors import FormatError, UnsafeError
from passdown.io.files import is_inside, join_inside, read_bounded
from passdown.model.digest import sha256
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import Role
from passdown.workbench.document import MAX_BYTES, MalformedError, Notes

CLOSED = "outputs/scope/closed/"
"""Where closed contracts lie, and reports on them."""

MAX_LISTED = 200
"""Most files of one folder that are looked at."""

_TASK_ID = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Names(Struct, frozen=True):
    """Where a role's file may lie; `{task}` stands for the active task's id."""

    canonical: tuple[str, ...]
    root: tuple[str, ...]
    suffixed: tuple[str, ...] = ()


NAMES: dict[Role, Names] = {
    "state": Names((), ("agent_state.json",)),
    "board": Names((), ("task_board.json", "task_board.jsonl")),
    "features": Names((), ("feature_list.json",)),
    "rule_report": Names(("outputs/rule_report.json",), ("rule_report.json",)),
    "init_report": Names(("outputs/init_report.json",), ("init_report.json",)),
    "prereqs_lock": Names((), ("prereqs.lock",)),
    "last_known_good": Names((), ("last_known_good.json",)),
    "contract": Names((), ("scope_contract.json",), ("scope_contract_{task}.json", "outputs/scope/closed/{task}.json")),
    "scope_report": Names(
        ("outputs/scope/closed/{task}.report.json", "outputs/scope/closed/{task}.json", "closed/{task}.json"),
        ("scope_report.json",),
        ("scope_report_{task}.json",),
    ),
    "coverage": Names(("outputs/coverage_report.json",), ("coverage_report.json",)),
    "verification": Names(
        ("outputs/verification/{task}.json",), ("verification_report.json",), ("verification_report_{task}.json",)
    ),
    "overrides": Names(("outputs/verification/overrides.jsonl",), ("overrides.jsonl",)),
    "review": Names(("outputs/review/{task}.json",), ("review_report.json",), ("review_report_{task}.json",)),
    "diff_summary": Names(("outputs/diff_summary.json",), ("diff_summary.json",)),
    "feedback": Names(("outputs/feedback_record.jsonl",), ("feedback_record.jsonl",)),
    "decisions": Names(("outputs/decisions.jsonl",), ("decisions.jsonl",)),
    "questions": Names(("outputs/questions.jsonl",), ("questions.jsonl",)),
    "clues": Names(("outputs/clues.jsonl",), ("clues.jsonl",)),
    "audit": Names(("workbench-audit/workbench_audit.json",), ()),
    "rules": Names((), ("docs/agent-rules.md",)),
    "router": Names((), ("AGENTS.md", "CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md", "GEMINI.md")),
}
"""Roles whose file is looked for, with its places."""


class File(Struct, frozen=True):
    """A file that was read whole: repository-relative path, bytes, and their SHA-256."""

    path: str
    data: bytes
    sha256: str


def own_output(path: str, config: Config) -> bool:
    """Say whether a path belongs to passdown's own packets, which are never artifacts."""
    return any(PurePosixPath(path).is_relative_to(folder) for folder in (config.output, ".ai") if folder)


def candidates(role: Role, config: Config, task_id: str = "") -> list[str]:
    """Return every place of a role's file, in the order in which the first hit wins.

    `task_id` fills the names that carry it; without a usable one those are left out.
    """
    names = NAMES[role]
    usable = task_id if _TASK_ID.fullmatch(task_id) and ".." not in task_id else ""
    patterns = [*names.canonical, *names.root, *names.suffixed]
    patterns += [f"workdir/{name}" for name in (*names.root, *names.suffixed) if not name.startswith("outputs/")]
    filled = [pattern.replace("{task}", usable) for pattern in patterns if usable or "{task}" not in pattern]
    configured = config.artifacts.get(role)
    return list(dict.fromkeys([configured, *filled] if configured else filled))


def task_files(root: Path, role: Role) -> list[str]:
    """Return the existing files of a role whose name carries any task's id, for when no active task is known.

    A closed contract is no substitute for an active one and is not among them.
    """
    found: list[str] = []
    for pattern in (*NAMES[role].canonical, *NAMES[role].suffixed):
        if "{task}" not in pattern or (role == "contract" and pattern.startswith(CLOSED)):
            continue
        folder, _, name = pattern.rpartition("/")
        before, after = name.split("{task}")
        found += [
            f"{folder}/{entry}" if folder else entry
            for entry in listing(root, folder)
            if entry.startswith(before) and entry.endswith(after) and len(entry) > len(before) + len(after)
        ]
    return list(dict.fromkeys(found))


def listing(root: Path, folder: str) -> list[str]:
    """Return the printable names in a folder of the repository, sorted; none where it cannot be listed.

    At most `MAX_LISTED`, except at the root. A name that is no UTF-8 or holds control characters is no artifact's.
    """
    if folder and not exists(root, folder):
        return []
    try:
        names = [entry.name for entry in (join_inside(root, folder) if folder else root).iterdir()]
    except (OSError, UnsafeError):
        return []
    limit = MAX_LISTED if folder else None
    return sorted(name for name in names if name.isprintable() and not name.startswith("."))[:limit]


def exists(root: Path, path: str) -> bool:
    """Say whether something, be it a link to nothing, lies at a repository-relative path."""
    try:
        return os.path.lexists(root / path)
    except (OSError, ValueError):
        return False


def resolve(root: Path, path: str) -> Path:
    """Return the file behind a repository-relative path, following only links that stay inside.

    Raises `MalformedError` when it leaves the repository or is no regular file.
    """
    try:
        target = join_inside(root, path).resolve()
        if not is_inside(root, target):
            raise UnsafeError("a symlink leads outside the repository")
    except (UnsafeError, OSError, RuntimeError) as error:
        what = error.what if isinstance(error, UnsafeError) else "cannot be resolved"
        raise MalformedError("artifact.symlink_outside", what, fix="Remove the link.") from error
    if not target.is_file():
        raise MalformedError("artifact.not_a_file", "is not a regular file")
    return target


def read_file(root: Path, path: str, *, limit: int = MAX_BYTES) -> File:
    """Read a repository-relative file whole. Raises `MalformedError` when it is none, or larger than `limit` bytes."""
    target = resolve(root, path)
    try:
        data = read_bounded(target, limit)
    except FormatError as error:
        raise MalformedError(
            "artifact.too_large", f"is larger than {limit} bytes", fix="Move it away, or trim it."
        ) from error
    except UnsafeError as error:
        raise MalformedError("artifact.not_a_file", error.what) from error
    except OSError as error:
        raise MalformedError("artifact.unreadable", error.strerror or "cannot be read") from error
    return File(path, data, sha256(data).hexdigest())


def existing(root: Path, role: Role, config: Config, task_id: str, notes: Notes) -> list[str]:
    """Return the places of a role's file that exist, best first; a configured one that does not is reported."""
    hits: list[str] = []
    configured = config.artifacts.get(role)
    for path in candidates(role, config, task_id):
        if own_output(path, config):
            notes.warn("artifact.own_output", f"{path} belongs to passdown's own packets and is not read")
        elif exists(root, path):
            hits.append(path)
        elif path == configured:
            notes.warn("artifact.missing", f"{path} is configured as {role} but does not exist")
    return hits


def unknown_roles(config: Config) -> list[str]:
    """Return the roles the configuration names that do not exist or have no file of their own."""
    known = set(get_args(Role)) & set(NAMES)
    return sorted(set(config.artifacts) - known)
