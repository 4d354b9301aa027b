"""What was said last, read for what is to come: an agent's announcement, or a question that has its answer."""

from __future__ import annotations

import re

from passdown.model.evidence import Directive, Evidence, Statement
from passdown.model.pattern import lazy_pattern
from passdown.packet.vague import is_vague

_LOOKING = lazy_pattern(
    r"(?:(?:ok(?:ay)?|good|great|perfect|now|first|next|so|and)[,.!]? )*(?:i(?:'ll| will|'m going to)|let me|let's)"
    r"(?: now| first| also| quickly)* (?:explore|look|check|see|read|search|find|examine|understand|investigate|"
    r"scan|list|inspect|view|open|start by|take a look|go through)\b",
    re.IGNORECASE,
)
"""An agent that is only about to look around has not said what is to be done."""
_LISTING = lazy_pattern(
    r"(?:(?:ok(?:ay)?|good|great|perfect|now|first|next|so|and)[,.!]? )*(?:(?:i(?:'ll| will|'m going to)|let me|let's) "
    r"(?:now |first |also )?)?(?:keep(?:ing)?|track(?:ing)?|updat(?:e|ing)|creat(?:e|ing)|mak(?:e|ing)|writ(?:e|ing)) "
    r"(?:(?:a|the|my|our) )?(?:(?:to-?do|task|check|work) ?)?(?:lists?|todos?|parts of this|progress)\b"
    r"(?: (?:of|for|with) (?:what|this|these|it|the (?:tasks|steps|parts|work))[^:;,/.]{0,30})?[.!…:]*$",
    re.IGNORECASE,
)
"""An agent that is only about to write down its plan has not said either."""
_AHEAD = lazy_pattern(
    r"^\W*next\b|\bnext(?:,|:| is\b| steps?(?: is| are|:)| up\b| i\b)|\bneeds? to\b|"
    r"\bshould\b(?! (?:now |also |all )*(?:work|have|fix|pass|suffice|do (?:it|the trick)|"
    r"be (?:fine|enough|fixed|good|able|ok(?:ay)?|gone))\b)|"
    r"\bmust\b(?! have\b)|"
    r"\bto-?dos?\s*[:：]|\b(?:is|are|left|what) to do\b|"
    r"\bi(?:'ll| will)\b|\bgoing to\b|\blet me\b|\blet's\b|\bi'm (?:now )?\w+ing\b|\bremain|\bnot yet\b|"
    r"\b(?:is|are) still\b(?! (?:available|there|in place|the same|valid|usable|supported|possible|working)\b)|"
    r"\bstill (?:have|has|needs?|fails?|missing|open)\b|\bleft to\b|"
    r"\bnow (?:i|we)\b(?! (?:have (?:an?|the)|understand|see|know|can see)\b)|"
    r"^\W*ready (?:for|to)\b|\b(?:is|are) ready (?:for|to)\b|接下来|下一步|还需|需要|应该|次に|다음",
    re.IGNORECASE,
)
"""A statement about what is to come; a report of what was done is no next step."""
_AT_ONCE = lazy_pattern(
    r"(?:^|[.!?:,]\s+|\n)(?:(?:ok(?:ay)?|good|great|perfect|now|first|next|so|and|then)[,.!]? )*"
    r"(?:i(?:'ll| will|'m (?:now |just )?\w+ing)|let me|let's)\b[^.!?\n]*(?:[.!?][\w/][^.!?\n]*)*[.!:…]*\s*$",
    re.IGNORECASE,
)
"""An announcement of the very next call, as it stands at the end of the words beside that call."""
_IN_ORDER = lazy_pattern(r"\bthen\b|\bafter (?:that|this)\b|;|\b[2-9][.)] ", re.IGNORECASE)
"""Several steps one after the other: one call does not do them all."""
_REQUESTED = lazy_pattern(
    r"\b(?:can|could|would|will) (?:you|we|i)\b|\bplease\b|\blet'?s\b|\bhow about\b", re.IGNORECASE
)
"""A question in form, a request in truth."""


def says_what_next(text: str) -> bool:
    """Say whether a statement announces what is to be done."""
    plain = text.replace("’", "'").strip()
    if plain.endswith(("?", "？")) or is_vague(plain):
        return False
    return _AHEAD.search(plain) is not None and not _LOOKING.match(plain) and not _LISTING.match(plain)


def is_carried_out(step: Statement) -> bool:
    """Say whether an agent did at once what it announced: the call beside its words came to an end."""
    plain = step.text.replace("’", "'").strip()
    if not step.done or _IN_ORDER.search(plain):
        return False
    return plain.endswith(":") or _AT_ONCE.search(plain) is not None


def is_answered_question(evidence: Evidence, request: Directive) -> bool:
    """Say whether a request only asked something, and the agent closed its answer."""
    if len(request.text) > 160 or not request.text.rstrip().endswith(("?", "？")) or _REQUESTED.search(request.text):
        return False
    return is_closed(evidence, request)


def is_closed(evidence: Evidence, request: Directive) -> bool:
    """Say whether the agent ended its turn after a request."""
    return evidence.turn_closed or any(said.at and request.at and said.at > request.at for said in evidence.statements)
