"""Blockers: what is in the way."""

from __future__ import annotations

import re

from passdown.model.identifier import normalize_text
from passdown.model.packet import Blocker
from passdown.model.pattern import lazy_pattern
from passdown.packet.caps import first
from passdown.packet.context import Context

_WAITING = lazy_pattern(
    r"(?:\bawait(?:s|ing)?|\bwait(?:s|ing)? (?:for|on)|\bpending (?=approval|decision|review|sign-?off)|"
    r"\bneeds? (?:a )?(?=decision|approval|sign-?off|permission|access|credentials?)|等待|等候|待确认|"
    r"需要(?=确认|批准|授权|决定)|待(?=批准|审批|授权|决定))[\s::]*(.{0,120})",
    re.IGNORECASE,
)


def waits_for(text: str) -> str | None:
    """Return what a blocker waits for (possibly nothing named), or None when it does not wait for a person."""
    match = _WAITING.search(" ".join(text.split()))
    return match[1].strip(" .。") if match else None


def list_blockers(context: Context) -> tuple[list[Blocker], int]:
    """Return the open blockers in the state's order, each once, and how many are left out."""
    state = context.evidence.workbench.state
    found: dict[str, Blocker] = {}
    for text in state.blockers if state else ():
        key = normalize_text(text)
        if key and key not in found:
            found[key] = Blocker(id=context.id("B-", text), text=text, waiting_on=waits_for(context.mask(text)) or "")
    return first(list(found.values()), "blockers")
