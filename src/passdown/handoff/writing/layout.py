"""The project as an agent must know it to leave evidence: where its rows, its plan and its packets lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from passdown.config import load_config
from passdown.handoff.place import find_root
from passdown.handoff.record import project_log
from passdown.io.files import join_inside
from passdown.model.workbench import Role
from passdown.redact.neutralise import one_line
from passdown.workbench.document import Notes
from passdown.workbench.locate import candidates, existing
from passdown.workbench.write import place_of

_PLANS: tuple[tuple[Role, str], ...] = (
    ("board", "the task board"),
    ("features", "the feature list"),
    ("state", "the agent's state"),
    ("contract", "the scope contract"),
    ("rules", "the rules"),
)


class Layout(Struct, frozen=True, kw_only=True):
    """Repository-relative paths: of the four logs, of what the project plans with (path and what it is), of packets.

    `recorded` says that `passdown run` writes to the feedback log of the project, not to git's own folder.
    """

    decisions: str
    questions: str
    clues: str
    feedback: str
    recorded: bool
    plans: tuple[tuple[str, str], ...]
    output: str
    mirror: str
    test_command: str

    @property
    def logs(self) -> dict[str, str]:
        """Role → path of the four logs."""
        return {name: getattr(self, name) for name in ("decisions", "questions", "clues", "feedback")}


def read_layout_of(folder: Path) -> Layout:
    """Find where the artifacts of the project around `folder` lie.

    Raises `NoEvidenceError` outside of a repository, `UnsafeError` for a configured path that leads out of it.
    """
    root = find_root(folder)
    config = load_config(root)
    own = project_log(root, config)
    there = existing(root, "feedback", config, "", Notes(""))
    feedback = own or next(iter(there), "") or candidates("feedback", config)[0]
    plans = ((path, what) for role, what in _PLANS for path in existing(root, role, config, "", Notes(""))[:1])
    paths: dict[str, Any] = {
        "decisions": place_of(root, config, "decisions"), "questions": place_of(root, config, "questions"),
        "clues": place_of(root, config, "clues"), "feedback": feedback, "output": config.output,
        "mirror": config.mirror, "test_command": config.test_command,
    }  # fmt: skip
    for name in ("decisions", "questions", "clues", "feedback"):
        join_inside(root, paths[name])
    plain = {name: _plain(text) for name, text in paths.items()}
    return Layout(**plain, recorded=bool(own), plans=tuple((_plain(path), what) for path, what in plans))


def _plain(text: str) -> str:
    """Return a text of the configuration as it may stand between backticks in Markdown."""
    return one_line(text, 300).replace("`", "")
