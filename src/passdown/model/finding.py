"""Finding: the one way to say that something is off."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Severity = Literal["block", "warn", "info"]
MendKind = Literal["", "command", "edit", "choice"]
"""How a finding is mended: by a command that is run as it stands, by changing a file by hand, or in one of several ways
between which only a person can choose; empty when nothing says how."""

SEVERITY_ORDER: dict[str, int] = {"block": 0, "warn": 1, "info": 2}


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something a reader should know: a dotted `code`, how bad it is, one line of detail, and where.

    `where` is a repository-relative path or a session id; `offset` is in bytes and -1 when there is none, `line` is
    1-based and 0 when there is none. `fix` is what mends it: `mend_kind` says whether it is a command to be run at the
    repository's root, words on what to change by hand, or words on what to choose from.
    """

    code: str
    severity: Severity
    detail: str
    where: str = ""
    offset: int = -1
    line: int = 0
    fix: str = ""
    mend_kind: MendKind = ""

    @property
    def located(self) -> str:
        """The detail, led by the file it is about where it does not name it."""
        return self.detail if not self.where or self.where in self.detail else f"{self.where}: {self.detail}"
