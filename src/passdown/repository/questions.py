"""The first questions to git, as several parts put them: whoever asks in the same words gets the same answer.

Nothing is imported here, so that a command can put them before anything else is loaded.
"""

LAYOUT = (
    "rev-parse", "--is-bare-repository", "--is-shallow-repository", "--show-object-format", "--absolute-git-dir",
    "--git-common-dir", "--show-toplevel",
)  # fmt: skip
"""Where the repository's folders are, asked in any folder of it."""

GLANCE = ("status", "--porcelain=v2", "-z", "--branch", "--no-renames", "--untracked-files=normal")
"""What `passdown status` asks of the working tree, at its root; a whole folder that is new counts as one."""

STATUS = (
    "status", "--porcelain=v2", "-z", "--branch", "--no-renames", "--untracked-files=all", "--ignored=matching",
    "--ignore-submodules=none",
)  # fmt: skip
"""The working tree against HEAD, file by file, at its root."""
