"""Overrides: a person lets a blocking code pass, with a reason. An agent does not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from passdown.agents.nested import MARKERS
from passdown.clean.options import Situation
from passdown.errors import UnsafeError, UsageError
from passdown.model.clean import CleanOverride
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.repository.base_files import base_files

AGENT_MARKERS = tuple(dict.fromkeys(name for name, _ in MARKERS))
"""Variables by which agents mark the processes that they start."""

_CODE = lazy_pattern(r"[a-z][a-z_]*\.[a-z][a-z_]*")
_LEAST = 3


def check_allowed(codes: Mapping[str, str], environ: Mapping[str, str], *, terminal: bool) -> None:
    """Refuse overrides that no person can have given, and such without a code or reason.

    Raises `UnsafeError` under an agent without a terminal, `UsageError` for a code that is none or an empty reason.
    """
    for code, reason in codes.items():
        if not _CODE.fullmatch(code):
            raise UsageError(f"{code[:60]!r} is no finding's code", next_step="Name one, such as tree.untracked.")
        if len(reason.strip()) < _LEAST:
            what = (
                f"the reason why {code} is allowed says nothing"
                if reason.strip()
                else f"{code} is allowed without a reason"
            )
            raise UsageError(what, next_step="Say why with --reason, in a few words.")
    marker = next((name for name in AGENT_MARKERS if environ.get(name)), "")
    if codes and marker and not terminal:
        raise UnsafeError(
            f"overrides are a person's: {marker} says that an agent is asking, and there is no terminal",
            next_step="Mend what blocks, or ask the person to run this.",
        )


def overrides_for(situation: Situation) -> tuple[list[CleanOverride], list[Finding]]:
    """Return the overrides that count: the given ones, and the configured ones that this session did not write itself.

    A configured one that is not in the configuration at the base is a finding.
    """
    found = [CleanOverride(code=c, reason=r, by="command line") for c, r in sorted(situation.options.allow.items())]
    findings: list[Finding] = []
    configured = {c: r for c, r in situation.config.allow.items() if c not in situation.options.allow}
    if configured:
        before = _allowed_before(situation)
        for code, reason in sorted(configured.items()):
            if before.get(code) == reason and len(reason.strip()) >= _LEAST:
                found.append(CleanOverride(code=code, reason=reason, by="configuration"))
            else:
                detail = (
                    f"the override of {code[:60]} is new in the configuration: it counts once its commit is the base"
                )
                findings.append(Finding(code="override.unreviewed", severity="warn", detail=detail))
    return found, findings


def _allowed_before(situation: Situation) -> dict[str, str]:
    files = base_files(situation.root, situation.repository.base, ("passdown.toml", "pyproject.toml"))
    for name, table in (("passdown.toml", ()), ("pyproject.toml", ("tool", "passdown"))):
        if name not in files or not os.path.lexists(situation.root / name):
            continue
        for allowed in _tables(files[name], table):
            return {code: reason for code, reason in allowed.items() if isinstance(reason, str)}
    return {}


def _tables(data: bytes, path: tuple[str, ...]) -> Iterator[dict[str, object]]:
    import tomllib

    try:
        value: object = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return
    for key in (*path, "allow"):
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, dict):
        yield value
