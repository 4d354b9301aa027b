"""Finding: the one way to say that something is off."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Severity = Literal["block", "warn", "info"]

SEVERITY_ORDER: dict[str, int] = {"block": 0, "warn": 1, "info": 2}


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something a reader should know: a dotted `code`, how bad it is, one line of detail, and where.

    `where` is a repository-relative path or a session id; `offset` is in bytes and -1 when there is none, `line` is
    1-based and 0 when there is none. `fix` is the command or action that mends it.
    """

    code: str
    severity: Severity
    detail: str
    where: str = ""
    offset: int = -1
    line: int = 0
    fix: str = ""
