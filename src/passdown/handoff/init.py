"""Init: a configuration file with every option at its default, and a block for AGENTS.md."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from passdown.config import MIRROR, OUTPUT_FOLDER
from passdown.errors import UnsafeError
from passdown.handoff.gather import find_root
from passdown.io.files import join_inside, read_bounded, write_files

BEGIN, END = "<!-- passdown:begin -->", "<!-- passdown:end -->"

_CONFIG = f"""# passdown: every option at its default. See `passdown --help`.

# Folder of the handoff packets, and the mirror of the active one (empty: no mirror).
# output = "{OUTPUT_FOLDER}"
# mirror = "{MIRROR}"

# The command that proves the whole; shown in the packet, never run by `wrap`.
# test-command = "pytest -q"

# Have every `passdown check` run it, and what contract or board name as a command, and record how it ends.
# run-tests = true

# The branch work is merged into, when it cannot be found from the remote.
# integration-branch = "main"

# Programs and names of environment variables the work needs (values are never read into a packet).
# tools = ["node"]
# env-names = ["DATABASE_URL"]

# Minutes for which an agent that took a packet keeps its topic without a sign of life (0: not at all).
# lease-minutes = 5

# What agents' hooks do: where their packets go (local, project, off), and after how many compactions of a session a
# fresh one is advised (0: never).
# hooks.publish = "local"
# hooks.advise-after-compactions = 2

# Where a workbench artifact lies, when it is not where its role expects it.
# [artifacts]
# contract = "planning/scope_contract.json"
"""

_BLOCK = f"""{BEGIN}
## Leaving good evidence

Another session will continue this work from a generated handoff packet (`{MIRROR}` when there is one: read it first).
It is built from what you leave behind, so:

- Keep your plan or todo list current; mark an item done only when its check has passed.
- Run the tests through the shell, so that the exit code is recorded, and run them again after the last edit.
- Write a decision that outlives this session as one line in `decisions.jsonl`:
  `{{"choice": "...", "why": "...", "rejected": ["..."], "by": "agent"}}`; a human's standing wish adds
  `"kind": "preference", "by": "human"`.
- Write a question only a human can answer as one line in `questions.jsonl`:
  `{{"question": "...", "why": "...", "default": "what happens unanswered", "blocks": []}}`.
- Write what was hard to find out as one line in `clues.jsonl`: `{{"text": "...", "anchors": ["src/x.py:41"]}}`.
- `passdown note` writes such lines, and risks, failed attempts and the next step: see `passdown note --help`.
- Commit what is finished. Say in your last message what comes next, with the file and the command.
- Never write secrets into any of these files.
{END}
"""


class PlannedFile(Struct, frozen=True, kw_only=True):
    """A file to be written: repository-relative path and its whole new content."""

    root: Path
    path: str
    data: bytes


def plan_init(folder: Path, *, agents_md: bool = False) -> list[PlannedFile]:
    """Return what `init` would write; nothing for what is there already.

    Raises `UnsafeError` when AGENTS.md holds a begun block without an end.
    """
    root = find_root(folder)
    planned = []
    configured = (root / "passdown.toml").exists() or _in_pyproject(root)
    if not configured:
        planned.append(PlannedFile(root=root, path="passdown.toml", data=_CONFIG.encode()))
    if agents_md:
        path = join_inside(root, "AGENTS.md").resolve()
        present = read_bounded(path, 1 << 20).decode("utf-8", "surrogateescape") if path.exists() else ""
        wanted = _with_block(present)
        if wanted != present:
            name = path.relative_to(root.resolve()).as_posix()
            planned.append(PlannedFile(root=root, path=name, data=wanted.encode("utf-8", "surrogateescape")))
    return planned


def write_init(planned: list[PlannedFile]) -> None:
    """Write the planned files."""
    write_files([(join_inside(item.root, item.path), item.data) for item in planned])


def _with_block(text: str) -> str:
    if BEGIN in text:
        if END not in text:
            raise UnsafeError(
                f"has {BEGIN} without {END}", where="AGENTS.md", next_step="Mend or remove the begun block."
            )
        return re.sub(
            re.escape(BEGIN) + r".*?" + re.escape(END) + r"\n?", lambda _: _BLOCK, text, count=1, flags=re.DOTALL
        )
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + _BLOCK


def _in_pyproject(root: Path) -> bool:
    path = root / "pyproject.toml"
    return path.is_file() and b"[tool.passdown]" in read_bounded(path, 1 << 20)
