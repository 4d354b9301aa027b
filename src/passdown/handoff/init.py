"""Init: a configuration file with every option at its default, and a block for AGENTS.md (`writing.words`)."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from passdown.config import MIRROR, OUTPUT_FOLDER, load_config
from passdown.errors import UnsafeError
from passdown.handoff.gather import find_root
from passdown.handoff.writing.layout import read_layout_of
from passdown.handoff.writing.words import BEGIN, END, agents_block
from passdown.io.files import join_inside, read_bounded, write_files

_CONFIG = f"""# passdown: every option, at its default. Take the # away to change one.

# Folder of the handoff packets, and the mirror of the active one (empty: no mirror).
# output = "{OUTPUT_FOLDER}"
# mirror = "{MIRROR}"

# The command that proves the whole, say "pytest -q"; shown in the packet, never run by `wrap`.
# test-command = ""

# Have every `passdown check` run it, and what contract or board name as a command, and record how it ends.
# run-tests = false

# Have a final packet need a verification report even without a contract or a board.
# require-verdict = false

# Let no score of a review as a whole stand for each assumption: every one needs its own.
# strict-assumptions = false

# The branch work is merged into, where the work began (a commit, branch or tag), what the work is about, and the name
# of the packet's folder, each when it cannot be found or is to be another.
# integration-branch = ""
# base = ""
# topic = ""
# session-id = ""

# The branch that work is expected on, or a pattern for it such as "feat/{{task}}*"; and what work on the integration
# branch itself is: "warn", "block", or as the project's history shows.
# branch = ""
# branch-pattern = ""
# topic-branches = ""

# Paths that never count, and files that are no leftovers (globs, such as "logs/*"); calls that are debug prints here.
# ignore = []
# allow-files = []
# debug-names = []

# Blocking codes of `check` that may stand, with the reason: {{ "tree.untracked" = "generated on every build" }}
# allow = {{}}

# Programs and names of environment variables the work needs (values are never read into a packet).
# tools = []
# env-names = []

# Where a workbench artifact lies, when it is not where its role expects it: {{ contract = "planning/contract.json" }}
# artifacts = {{}}

# The language of the packet's headings.
# heading-language = "en"

# Minutes for which an agent that took a packet keeps its topic without a sign of life (0: not at all).
# lease-minutes = 5

# What agents' hooks do: where their packets go (local, project, off); after how many compactions of a session a fresh
# one is advised (0: never), and how many times a day it is told to hand over instead (0: never).
# hooks.publish = "local"
# hooks.advise-after-compactions = 2
# hooks.automatic-handoffs = 0

# How full a context may get: from `prepare` on, prepare a packet; above `wrap-up`, hand over; where the model's window
# is not known, `tokens` decides. `windows` says which window a model has, by the beginning of its name.
# budget.prepare = 0.5
# budget.wrap-up = 0.7
# budget.tokens = 100000
# budget.windows = {{}}
# budget.advise = true
"""


class PlannedFile(Struct, frozen=True, kw_only=True):
    """A file to be written: repository-relative path and its whole new content."""

    root: Path
    path: str
    data: bytes


def plan_init(folder: Path, *, agents_md: bool = False) -> list[PlannedFile]:
    """Return what `init` would write; nothing for what is there already.

    Raises `UnsafeError` when AGENTS.md holds a begun block without an end, `UsageError` when the configuration that is
    there cannot be used.
    """
    root = find_root(folder)
    planned = []
    load_config(root)
    configured = (root / "passdown.toml").exists() or _in_pyproject(root)
    if not configured:
        planned.append(PlannedFile(root=root, path="passdown.toml", data=_CONFIG.encode()))
    if agents_md:
        path = join_inside(root, "AGENTS.md").resolve()
        present = read_bounded(path, 1 << 20).decode("utf-8", "surrogateescape") if path.exists() else ""
        wanted = _with_block(present, agents_block(read_layout_of(root)))
        if wanted != present:
            name = path.relative_to(root.resolve()).as_posix()
            planned.append(PlannedFile(root=root, path=name, data=wanted.encode("utf-8", "surrogateescape")))
    return planned


def write_init(planned: list[PlannedFile]) -> None:
    """Write the planned files."""
    write_files([(join_inside(item.root, item.path), item.data) for item in planned])


def _with_block(text: str, block: str) -> str:
    if BEGIN in text:
        if END not in text:
            raise UnsafeError(
                f"has {BEGIN} without {END}", where="AGENTS.md", next_step="Mend or remove the begun block."
            )
        return re.sub(
            re.escape(BEGIN) + r".*?" + re.escape(END) + r"\n?", lambda _: block, text, count=1, flags=re.DOTALL
        )
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + block


def _in_pyproject(root: Path) -> bool:
    path = root / "pyproject.toml"
    return path.is_file() and b"[tool.passdown]" in read_bounded(path, 1 << 20)
