"""The errors passdown raises and the exit code each one means.

Every error says what is wrong, where (path, and byte offset when there is one) and what to do next.
Only the command line turns them into exit codes; the library raises and never prints.
"""

from __future__ import annotations

from typing import ClassVar


class PassdownError(Exception):
    """Base of every error a user can meet. `next_step` is one sentence that says how to go on."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}\n  {self.next_step}" if self.next_step else text


class UsageError(PassdownError):
    """The call itself is wrong: an option's value, an unknown session, a bad configuration."""

    exit_code: ClassVar[int] = 2


class NoEvidenceError(PassdownError):
    """There is nothing to build a packet from, or a required artifact is missing."""

    exit_code: ClassVar[int] = 4


class NextActionError(PassdownError):
    """No usable next action: the given one is vague, or none can be derived."""

    exit_code: ClassVar[int] = 5


class StaleError(PassdownError):
    """The packet does not hold here: it is archived, superseded, or of another place."""

    exit_code: ClassVar[int] = 6


class ConflictError(PassdownError):
    """Somebody else holds the lock, or two sessions are live and one must be chosen."""

    exit_code: ClassVar[int] = 7


class UnsafeError(PassdownError):
    """Refused for safety: a path that leaves its folder, a symlink, an identifier that is none."""

    exit_code: ClassVar[int] = 8


class FormatError(PassdownError):
    """A file is not what its reader understands. Says the byte offset when known."""

    exit_code: ClassVar[int] = 4


class GitError(PassdownError):
    """The git binary is missing, timed out or refused; carries its last line of stderr."""

    exit_code: ClassVar[int] = 1
