"""CleanState: what stands in the way of leaving the work, found by the clean-state check."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from passdown.model.finding import Finding

SCHEMA_VERSION = 1

CheckId = Literal["branch", "tree", "leftovers", "board", "tests"]
Status = Literal["pass", "warn", "block", "skipped", "unknown"]


class CleanCheck(Struct, frozen=True, kw_only=True):
    """One of the five checks. `skipped`: there is nothing to check; `unknown`: something could not be looked at."""

    id: CheckId
    status: Status
    findings: tuple[Finding, ...] = ()


class CleanOverride(Struct, frozen=True, kw_only=True):
    """A blocking code that a person let pass, and why. `by` is `command line` or the configuration file."""

    code: str
    reason: str
    by: str


class CleanState(Struct, frozen=True, kw_only=True):
    """The result of all five checks for the tree with this fingerprint. `clean` means that nothing blocks.

    `blocking` holds the codes of blocking findings without those that were overridden; `counts` says how many waivers,
    skipped files, ignored files and unjudged board items there are. A finding with a `fix` always has a `mend_kind`.
    """

    schema_version: int = SCHEMA_VERSION
    tree_fingerprint: str = ""
    checks: tuple[CleanCheck, ...] = ()
    blocking: tuple[str, ...] = ()
    clean: bool = True
    overrides: tuple[CleanOverride, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
