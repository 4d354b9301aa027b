"""All five checks in one pass: branch, tree, leftovers, board, tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from passdown.clean.board import board_findings
from passdown.clean.branch import UNKNOWN, branch_findings
from passdown.clean.edits import Edits
from passdown.clean.leftovers import leftover_findings
from passdown.clean.options import CleanOptions, Situation
from passdown.clean.overrides import overrides_for
from passdown.clean.tests import tests_findings
from passdown.clean.tree import tree_findings
from passdown.config import Config
from passdown.model.clean import CheckId, CleanCheck, CleanState, Status
from passdown.model.evidence import Evidence
from passdown.model.finding import SEVERITY_ORDER, Finding
from passdown.model.packet import Packet
from passdown.redact.neutralise import one_line

DETAIL = 1000
"""Most characters of a finding's detail."""

_SKIPPED = frozenset({"board.absent"})


def check_clean(evidence: Evidence, draft: Packet, config: Config, options: CleanOptions | None = None) -> CleanState:
    """Judge whether the work can be left as it is. Runs nothing but git, changes nothing, and never stops half way.

    `draft` is the packet as it would be written: what it names counts as named. Findings are sorted by severity, code
    and place. Raises `GitError` when git refuses.
    """
    situation = Situation(evidence, draft, config, options or CleanOptions())
    counts: Counter[str] = Counter()
    overrides, notes = overrides_for(situation)
    allowed = frozenset(override.code for override in overrides)
    checks: list[CleanCheck] = []
    for name, find in _checks(situation, counts):
        found = list(find())
        checks.append(_checked(name, [*found, *(notes if name == "tree" else ())], situation, allowed))
    blocking = {f.code for check in checks for f in check.findings if f.severity == "block"} - allowed
    counts["waivers"] = situation.sources.waivers
    counts["ignored_files"] = evidence.repository.ignored_count
    counts.update({f"skipped_{reason}": count for reason, count in situation.sources.counts.items()})
    return CleanState(
        tree_fingerprint=evidence.repository.tree_fingerprint,
        checks=tuple(checks),
        blocking=tuple(sorted(blocking)),
        clean=not blocking,
        overrides=tuple(overrides),
        counts={name: count for name, count in sorted(counts.items()) if count},
    )


def offered_edits(situation: Situation) -> Edits:
    """Return the edits that would mend what is found now."""
    for name, find in _checks(situation, Counter()):
        if name in ("leftovers", "board"):
            list(find())
    return situation.edits


def _checks(situation: Situation, counts: Counter[str]) -> Iterator[tuple[CheckId, Callable[[], Iterator[Finding]]]]:
    config = situation.config
    began = situation.began if situation.evidence.sessions else None
    yield "branch", lambda: branch_findings(situation)
    yield "tree", lambda: tree_findings(situation)
    yield (
        "leftovers",
        lambda: leftover_findings(situation.evidence, situation.sources, config.allow_files, config.debug_names, began),
    )
    yield "board", lambda: board_findings(situation, counts)
    yield "tests", lambda: tests_findings(situation)


def _checked(name: CheckId, found: Sequence[Finding], situation: Situation, allowed: frozenset[str]) -> CleanCheck:
    findings = [_strict(finding) if situation.options.strict else finding for finding in dict.fromkeys(found)]
    mask = situation.redactor.text
    findings = [
        structs.replace(
            f, detail=one_line(mask(f.detail), DETAIL), where=mask(f.where), fix=mask(f.fix),
            mend_kind=f.mend_kind or ("command" if f.fix else ""),
        )
        for f in findings
    ]  # fmt: skip
    findings.sort(key=lambda f: (SEVERITY_ORDER[f.severity], f.code, f.where, f.line, f.detail))
    return CleanCheck(id=name, status=_status(findings, allowed), findings=tuple(findings))


def _strict(finding: Finding) -> Finding:
    if finding.code not in UNKNOWN or finding.severity == "block":
        return finding
    return structs.replace(finding, severity="block")


def _status(findings: Sequence[Finding], allowed: frozenset[str]) -> Status:
    if any(f.severity == "block" and f.code not in allowed for f in findings):
        return "block"
    if any(f.code in UNKNOWN for f in findings):
        return "unknown"
    if any(f.code in _SKIPPED for f in findings):
        return "skipped"
    return "warn" if any(f.severity != "info" for f in findings) else "pass"
