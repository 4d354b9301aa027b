"""What `passdown usage` says of what it read: as one JSON document, redacted and harmless to print."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from passdown.handoff.costs.compacted import Comparison
from passdown.handoff.costs.nested import NestedCost
from passdown.handoff.costs.question import rows_of, sums
from passdown.handoff.costs.reading import OneSession, Usage
from passdown.redact.neutralise import one_line
from passdown.redact.scan import Redactor
from passdown.usage.calls import Step, next_prompt
from passdown.usage.growth import CACHED_PRICE, PACKET, WRITE_PRICE, thinned
from passdown.usage.totals import CONVENTION

_POINTS = 400
"""Most points of a series: enough for a chart."""


def report(usage: Usage) -> dict[str, Any]:
    """Return the document. Nothing that was not measured is in it as zero: it is None, or left out."""
    found: dict[str, Any] = {
        "schema_version": 1, "scope": usage.scope, "sessions": usage.sessions, "turns": usage.totals.calls,
        "tool_calls": usage.tool_calls, "totals": sums(usage.totals), "convention": CONVENTION,
        "subagents": sums(usage.subagents), "copied_calls": usage.copied, "unmeasured_calls": usage.unmeasured,
        "compactions": usage.compactions, "findings": msgspec.to_builtins(usage.findings),
    }  # fmt: skip
    if usage.rows:
        found["rows"] = [{"key": key, **values} for key, values in rows_of(usage)]
    if usage.cost is not None:
        found["cost"] = {
            "usd": f"{usage.cost.dollars:.4f}", "calls": usage.cost.priced, "prices": usage.cost.table,
            "calls_without_price": {one_line(name, 60): times for name, times in usage.cost.unpriced.items()},
        }  # fmt: skip
    if usage.nested.found:
        found["nested"] = _nested(usage.nested)
    if usage.one is not None:
        found |= _session(usage.one)
    if usage.compared:
        redactor = Redactor(os.environ)
        found["summaries"] = [_compared(one, redactor) for one in usage.compared]
    return found


def _nested(nested: NestedCost) -> dict[str, Any]:
    redactor = Redactor(os.environ)
    return {
        "share": None if nested.share is None else round(nested.share, 4),
        "totals": sums(nested.totals) if nested.sessions else None,
        "sessions": [one_line(name, 80) for name in nested.sessions],
        "started": [
            {"kind": one.kind, "agent": one.agent, "session_id": one.session_id, "at": one.at,
             "command": _shown(one.command, redactor)}
            for one in nested.found
        ],
    }  # fmt: skip


def _compared(one: Comparison, redactor: Redactor) -> dict[str, Any]:
    return {
        "number": one.number, "at": one.at, "line": one.line, "readable": one.readable, "facts": one.facts,
        "lost": one.lost,
        "sections": [
            {"section": part.section, "facts": part.facts, "lost": part.lost,
             "examples": [_shown(text, redactor) for text in part.examples]}
            for part in one.sections
        ],
    }  # fmt: skip


def _session(one: OneSession) -> dict[str, Any]:
    redactor = Redactor(os.environ)
    account, growth = one.account, one.growth
    jumps = [
        {"call": jump.call, "before": jump.before, "after": jump.after, "at": jump.at,
         "step": _step(jump.step, redactor) if jump.step is not None else None}
        for jump in growth.jumps
    ]  # fmt: skip
    even = growth.break_even
    assumed = {"packet": PACKET, "cached_price": CACHED_PRICE, "write_price": WRITE_PRICE}
    plain: dict[str, Any] = msgspec.to_builtins(account.filled)
    plain["tools"] = {one_line(name, 60): size for name, size in list(account.filled.tools.items())[:40]}
    plain["repeats"] = [
        {"path": _shown(repeat.path, redactor), "times": repeat.times, "size": repeat.size}
        for repeat in account.filled.repeats
    ]
    return {
        "session_id": one_line(account.session_id, 80),
        "agent": account.agent,
        "growth": {
            "first": growth.first or None, "largest": growth.largest or None, "last": growth.last or None,
            "jumps": jumps, "series": thinned([call.context for call in account.main], _POINTS),
            "break_even": None if even is None else {**msgspec.to_builtins(even), "saved": even.saved, **assumed},
        },
        "filled": plain,
        "shortened": [
            {**msgspec.to_builtins(one), "next_prompt": next_prompt(account, one)} for one in account.compactions
        ],
        "switches": [
            {**msgspec.to_builtins(switch), "before": one_line(switch.before, 60), "after": one_line(switch.after, 60)}
            for switch in one.switches
        ],
    }  # fmt: skip


def _step(step: Step, redactor: Redactor) -> dict[str, Any]:
    return {
        "tool": one_line(step.tool, 60), "action": step.action, "size": step.size, "words": _shown(step.words, redactor)
    }  # fmt: skip


def _shown(text: str, redactor: Redactor) -> str:
    return one_line(redactor.text(text), 120)
