"""Configuration: `[tool.passdown]` in pyproject.toml, or `passdown.toml`, read once and typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from passdown.errors import UsageError
from passdown.io.files import read_bounded

OUTPUT_FOLDER = "outputs/handoff"
MIRROR = ".ai/HANDOFF.md"


class Hooks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """What the hooks of agents do by themselves, `[tool.passdown.hooks]`.

    `publish` is where their packets go: `local` (git's own folder), `project` (beside those of `wrap`), or `off`. After
    `advise_after_compactions` of a session it is told once that a fresh one would do better (0: never);
    `automatic_handoffs` is how many times a day it is told to hand over instead, successors counted (0: never).
    """

    publish: Literal["local", "project", "off"] = "local"
    advise_after_compactions: int = 2
    automatic_handoffs: int = 0


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """How full a session's context may get, `[tool.passdown.budget]`.

    From the part `prepare` of the model's window on, a packet is prepared before a new phase; above `wrap_up` nothing
    new is begun. `tokens` is the boundary where the window is not known. `windows` maps the beginning of a model's name
    to its window; `advise` has the hooks tell a session once that it is above `wrap_up`.
    """

    prepare: float = 0.5
    wrap_up: float = 0.7
    tokens: int = 100_000
    windows: dict[str, int] = field(default_factory=dict)
    advise: bool = True


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """What a project may set. Every field has a safe default.

    `output` is the repository-relative folder of packets, `mirror` the path of the active Markdown (empty: none),
    `artifacts` maps a workbench role to a path of its own, `test_command` is what proves the whole, `session_id` names
    the packet's folder, `branch` is the expected one, `ignore` holds globs of paths that never count.

    `lease_minutes` is how long an agent that took a packet keeps its topic without a sign of life (0: not at all).

    For the clean-state check: `branch_pattern` is a glob in which `{task}` stands for the task's id, `topic_branches`
    says what work on the integration branch is, `allow` maps blocking codes to the reason why they may stand,
    `allow_files` holds globs of files that are no leftovers, `debug_names` calls that are debug prints here.
    `run_tests` has every `passdown check` run `test_command` and what contract or board name as a command.
    `require_verdict` makes a final packet need a verification report even without a contract or board.
    """

    output: str = OUTPUT_FOLDER
    mirror: str = MIRROR
    artifacts: dict[str, str] = field(default_factory=dict)
    test_command: str = ""
    session_id: str = ""
    topic: str = ""
    base: str = ""
    integration_branch: str = ""
    ignore: tuple[str, ...] = ()
    branch: str = ""
    branch_pattern: str = ""
    topic_branches: Literal["", "warn", "block"] = ""
    allow: dict[str, str] = field(default_factory=dict)
    allow_files: tuple[str, ...] = ()
    debug_names: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    env_names: tuple[str, ...] = ()
    strict_assumptions: bool = False
    require_verdict: bool = False
    run_tests: bool = False
    heading_language: str = "en"
    lease_minutes: int = 5
    hooks: Hooks = Hooks()
    budget: Budget = Budget()


def load_config(root: Path) -> Config:
    """Read the project's configuration; `passdown.toml` wins over `pyproject.toml`.

    Raises `UsageError` with file and field when it does not parse or names an unknown option.
    """
    for name, table in (("passdown.toml", ()), ("pyproject.toml", ("tool", "passdown"))):
        path = root / name
        if path.is_symlink() or not path.is_file():
            continue
        import tomllib

        try:
            data: Any = tomllib.loads(read_bounded(path, 1 << 20).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            if table:
                continue
            raise UsageError(f"is not TOML: {error}", where=name, next_step="Mend the file.") from error
        for key in table:
            data = data.get(key) if isinstance(data, dict) else None
        if data is None:
            continue
        try:
            return msgspec.convert(data, Config)
        except msgspec.ValidationError as error:
            raise UsageError(f"has a wrong option: {error}", where=name, next_step=_next_step(str(error))) from error
    return Config()


def _next_step(error: str) -> str:
    """Return which options there are where an unknown one was given, so that a slip of the pen is seen."""
    if "unknown field" not in error:
        return "Mend the file."
    where = next((table for table in (Hooks, Budget) if f"`$.{table.__name__.lower()}`" in error), Config)
    return f"Known: {', '.join(where.__struct_encode_fields__)}."
