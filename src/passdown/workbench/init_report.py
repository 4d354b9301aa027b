"""init_report.json and prereqs.lock (lesson 35)."""

from __future__ import annotations

from typing import Any

from passdown.model.workbench import Probe
from passdown.workbench.document import MalformedError, Notes, kind_of, quoted
from passdown.workbench.shapes import record_of, text_of


def read_init_report(value: Any, notes: Notes) -> tuple[Probe, ...]:
    """Return the probes in file order; a status that is unknown counts as a warning."""
    probes = record_of(value).get("probes")
    if not isinstance(probes, list):
        raise MalformedError("artifact.bad_shape", f"probes must be a list, but is {kind_of(probes)}")
    return tuple(probe for item in probes if (probe := _probe(item, notes)) is not None)


def _probe(item: Any, notes: Notes) -> Probe | None:
    name = text_of(item, "name", notes) if isinstance(item, dict) else ""
    if not name:
        notes.warn("artifact.bad_item", "a probe has no name and is left out")
        return None
    detail = text_of(item, "detail", notes)
    match item.get("status"):
        case "pass":
            return Probe(name=name, status="pass", detail=detail)
        case "fail":
            return Probe(name=name, status="fail", detail=detail)
        case "warn":
            return Probe(name=name, status="warn", detail=detail)
        case other:
            notes.warn("init_report.unknown_status", f"the status {quoted(other)} is unknown; taken as warn")
            return Probe(name=name, status="warn", detail=detail)


def read_fingerprint(value: Any, notes: Notes) -> str:
    """Return the fingerprint of prereqs.lock, empty when it has none."""
    fingerprint = text_of(record_of(value), "fingerprint", notes)
    if not fingerprint:
        notes.warn("artifact.bad_field", "has no fingerprint")
    return fingerprint
