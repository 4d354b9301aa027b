"""Reviews that a person brings: a message holds comments, set off from the person's words, and calls them so."""

from __future__ import annotations

import re
from itertools import islice

from passdown.data.reviews.calls import ABROAD, CALLS
from passdown.data.reviews.frame import TASK, is_framed
from passdown.data.reviews.layouts import is_laid_out
from passdown.model.pattern import lazy_pattern

_MOST = 8000
"""Characters of a message that are looked at."""

_FEW = 40
"""Words that call something a review's that are looked at: who has more of them writes about reviews."""

_LINE = 240
"""Characters before words on comments that may say that these are yet to come."""

_LEAST = 14
"""Characters of the least comment."""

_MADE = lazy_pattern(
    r"(?i)\b(?:(?:giv|writ|post|leav|add|mak|draft|produc|generat|creat|export|stor|submit|implement|build|design"
    r"|develop|prepar|perform|conduct|start|need|request|want|report|return|output|summari[sz]|present|structur|format"
    r"|includ|document|gather|synthesi[sz]|analy[sz]|sav|record|track|log|captur|collect|display|render|pars"
    r"|show)(?:e|es|s|ing|ed|t|ten)?"
    r"|do(?! (?:you|we|i|they)\b)|doing|run|running|provide|offer|share|list|fetch|count|persist|import"
    r"|support|allow|like|ask(?: for)?)"
    r" (?:[\w-]+ ){0,3}\Z"
)
"""What comes before words on comments that are to be made, or that a program deals with."""
_GIVE = lazy_pattern(
    r"(?i)\b(?:give|provide|write|leave|add|make) (?:(?:me|us|your|some|any|a|honest|critical) ){0,3}\w+\Z"
)
_USERS = (
    r"(?:users?|npm|pnpm|yarn|cargo|pip|customers?|clients?|testers?|qa|play-?(?:ers?|test\w*)|students?|guests?"
    r"|lint\w*|ci|compiler|build|tests?"
    r"|type-?check\w*|haptic|visual|audio)"
)
_OF_USERS = lazy_pattern(rf"(?i)\b(?:{_USERS}(?:'s?|s')?|no|zero|without) \Z")
_BY_USERS = lazy_pattern(rf"(?i)[^\n:]{{0,20}}\b(?:from|by) (?:\w+ ){{0,2}}?{_USERS}\b")
_LATER = lazy_pattern(
    r"(?i)\b(?:until|when(?:ever)?|once|if|unless|monitor(?:ing)?|watch(?:ing)?|wait(?:ing)?|in case"
    r"|(?:moving|going) forward|from now on|in (?:the )?future|every time|before|each time)\b[^.!?\n]*\Z"
)
_DONE = lazy_pattern(
    r"(?i)\b(?:i|we)(?:'ve| have|'d| had)? (?:\w+ )?(?:addressed|fixed|resolved|answered|replied to|handled|applied)\b"
    r"[^.!?\n]*\Z"
)
_THING = lazy_pattern(
    r"(?i)(?: \w+)? (?:yet|tables?|endpoints?|fields?|features?|systems?|components?|pages?|tools?|skills?|commands?"
    r"|apis?|models?|events?|formats?|workflows?|histor(?:y|ies)|forms?|widgets?|buttons?|screens?|box(?:es)?"
    r"|guidelines?|criteria|process(?:es)?|polic(?:y|ies)|checklists?|templates?|loops?|modes?|stages?|phases?|scores?"
    r"|ratings?|queues?|boards?|dashboards?|apps?|sites?|services?|plugins?|hooks?|scripts?|schemas?|cards?|panels?"
    r"|steps?|tasks?|sections?)\b"
)
"""What comes after words on comments that are part of a product's name."""
_PRAISE = lazy_pattern(
    r"(?i)(?:[^\n.!?]|\.\w){0,80}\b(?:looks? (?:very |really |all |pretty )?(?:good|fine|great|ok|okay|clean|right)"
    r"|lgtm"
    r"|approved?|accept(?:ed)?|all good|no (?:issues|problems|comments|changes|concerns|findings))\b"
)
_PROCEDURE = lazy_pattern(
    r"(?i)\A\s*(?:base directory for this skill\b|you are (?:an?|the|reviewing)\b|implement the (?:following )?plan\b"
    r"|---\s*\nname:)"
    r"|\A\W{0,4}(?:please |can you |i(?:'d like| want) (?:you )?to )?(?:create|write|build|add|parse|implement|set up"
    r"|make|design|improve)"
    r" (?:an?|the|our|my|me|[`.])[^\n]{0,60}\b(?:commands?|agents?|skills?|bots?|prompts?|templates?|endpoints?"
    r"|tables?|flows?"
    r"|parsers?|tools?|dashboards?|sites?|hooks?|workflows?|(?:agents|claude|contributing)\.md)\b"
    r"|\A[^\n]{0,120}\b(?:add|put|goes|write)\b[^\n]{0,20}\b(?:in|into|to) (?:agents|claude|contributing)\.md\b"
    r"|\A\W{0,4}(?:parse|process for|from now on|contributing\.md)\b|\A[^\n]{0,60}\b(?:bot|app|page|site) (?:should"
    r"|posts|needs)\b"
    r"|(?m:^#{1,4} .{0,40}(?<![/.-])\b(?:workflow|instructions|when to use|usage|prerequisites)\b(?![/.-]\w))"
)
"""A text that tells how a kind of work is done, not what has come of this one."""
_COLON = lazy_pattern(r"(?:(?![.!?] )[^\n:\"`]){0,160}?(?:(?<!\d)[:\uff1a](?!//)|\b(?:follows|below)\b[ .:]*(?=\S))\s*")
_GAP = lazy_pattern(r"[^\n]{0,160}(?:\n[ \t]*)+")
_MARKS = lazy_pattern(
    r"[-*+>\u2022\u25cf\u25e6\u23fa\u00b7\u30fb#|\"'`\u201c\u300c\u00ab<\[(\u2600-\u27bf\U0001f300-\U0001faff]"
    r"|\d{1,2}(?:[.)/ ]|:\s)|[A-Za-z]{1,2}-?\d{0,2}[.):]|[A-Z][\w -]{2,40}:\s|[\w./-]{1,80}\.\w{1,5}\b[^\w\n]"
    r"|(?i:lines?|p\.|l\.) ?\d|[\w./-]{1,80}\.\w{1,5}[ \t]*\n(?!\s*@)"
)
"""How a text begins that was pasted, or a list."""
_ITEM = lazy_pattern(r"[ \t]*(?:[-*+\u2022]|\d{1,2}[.)])[ \t]")
_QUOTED = lazy_pattern(
    r"[^\w\n\"\u201c\u300c]{0,3}(?:(?:that|is|was|this|me|us"
    r"|it)\W{1,3})?[\"\u201c\u201e\u300c\u00ab](?=[^\"\u201d\u300d\u00bb]{24})"
    r"|[^\n]{0,160}\n+[ \t]*>"
)
_FENCED = lazy_pattern(r"(?:[^\n]{0,200}\n){1,4}[ \t]*(?:```|>)")
_POINTS = lazy_pattern(
    r"(?i)\b(?:check|read|see|view|look|review|fetch|get|pull|address|answer|handle|resolve|go|respond|reply)\b"
)
"""What somebody does who is sent to look at comments."""
_PLACE = lazy_pattern(
    r"\W*(?:https?://\S+|@?[\w-]*[/.][\w./@-]*)[ \t]*(?P<more>\n\s*\S)?(?(more)"
    r"|(?:[-\u2013\u2014] [^\n]{0,60})?\s*\Z)|\W*\Z"
)
"""The bare place of what is to be reviewed, perhaps with what to look at."""


def brings(text: str) -> bool:
    """Say whether a person's message holds comments of a review and calls them so, by its words or by its layout."""
    text = text[:_MOST]
    if _PROCEDURE.search(text):
        return False
    if is_laid_out(text):
        return True
    if is_framed(text) or any(_announces(text, found) for found in islice(CALLS.finditer(text), _FEW)):
        return True
    abroad = islice(ABROAD.finditer(text), _FEW)
    return any(_holds(text, found.end(), free=True) or _FENCED.match(text, found.end()) for found in abroad)


def _announces(text: str, found: re.Match[str]) -> bool:
    """Say whether the words call what follows them a review's, and something follows."""
    start = found.start(found.lastgroup) if found.lastgroup else found.start()
    before = text[text.rfind("\n", 0, start) + 1 : start]
    if (
        _MADE.search(before)
        or _GIVE.search(found.group())
        or _LATER.search(before[-_LINE:])
        or _DONE.search(before[-_LINE:] + found.group())
    ):
        return False
    if _OF_USERS.search(before) or _BY_USERS.match(text, found.end()):
        return False
    if _THING.match(text, found.end()) or _PRAISE.match(text, found.end()):
        return False
    bare = found.group().strip().lower() in ("review", "audit", "critique")
    sent = bare or found.group().lower().endswith("review") or _POINTS.search(before) is not None
    return _holds(text, found.end(), sent=sent, marked=bare, item=_ITEM.match(before) is not None)


def _holds(
    text: str, end: int, *, sent: bool = False, marked: bool = False, item: bool = False, free: bool = False
) -> bool:
    """Say whether what is set off after `end` may be a comment; `sent`: or else what somebody is sent to do."""
    if _QUOTED.match(text, end):
        return True
    colon = _COLON.match(text, end)
    gap = colon or (None if item else _GAP.match(text, end))
    if gap is None:
        return False
    block = text[gap.end() :]
    place = _PLACE.match(block)
    if len(block.strip()) < _LEAST or (place and (sent or not place.group("more"))) or (sent and TASK.match(block)):
        return False
    if _MARKS.match(block):
        return True
    return not marked and (colon is not None or len(block) > (60 if free else 400))
