"""Layouts that only forges, programs that review, and reports of reviews have."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern

_FORGE = lazy_pattern(
    r"(?im)^[-* ]*in [`@]{0,2}[\w./-]+\.\w{1,5}`? (?:around|at|on) lines? \d"
    r"|^[-* ]*in [`@]{1,2}[^\s`]+`? ?(?:around lines? \d|:?\s*\n\W{0,4}(?:around )?lines? \d)"
    r"|^[^\n]{0,160}\bcomment on lines? [+-]?\d|^path: \S+\n+lines?: \d"
    r"|^[ \t]*(?:resolve conversation|suggested change|commit suggestion|prompt to fix with ai)[ \t]*$|^```suggestion\b"
    r"|\b(?:left a comment|requested changes|started a (?:conversation|thread))\b[^\n]{0,40}$|codereviewagent"
    r"|\bPR (?:Reviewer Guide|Code Suggestions)\b|\bCopilot uses AI\."
    r"|(?-i:\bP[0-3] Badge [A-Z])"
    r"|^\W{0,8}comment \d+\s*\n+\W{0,4}<location path="
    r"|\breviewed (?:on [\w ]{1,12}|(?:\d+|an?|last) (?:minute|hour|day|week|month)s?(?: ago)?)$"
    r"|\bview reviewed changes\b"
    r"|\bleft review comments\b|\bcommented on (?:this pull request|[`'\w./-]+ lines? \d)"
    r"|\breply to this email directly\b"
    r"|\breply [\u00b7\u2022] |[\u00b7\u2022] reply\b|\bunresolved conversations\b|^(?:contributor|collaborator"
    r"|member|owner)$"
    r"|^patch set \d+:|\bhas posted comments on this change\b|<violation number=|\bgreptile (?:summary|overview)\b"
    r"|\bconfidence score: \d/5|: draft comment: |\breviewed everything up to\b|^PS\d+, Line \d"
    r"|^association:\s|^\W{0,8}(?:verdict|decision|recommendation|overall)\W{1,6}(?:reject|request[- ]changes"
    r"|needs (?:work|changes)"
    r"|block(?:ed)?\b|not (?:ready|mergeable|approved)|(?:major|minor) revisions?|approve with)"
    r"|\bverify (?:this issue exists|these issues exist) and fix\b|<teammate-comment>|^<comment>\S"
    r"|\bPrompt for AI Agents\b|\bActionable comments posted: \d|\bNitpick comments \(\d|\bCommittable suggestion\b"
    r"|\bVerify each finding against\b"
    r"|^[^\w\n]{0,12}(?:[\w-]{1,20}: )?[\W_]{0,12}(?:Potential issue|Refactor suggestion|Nitpick)_(?=[ \n|]|\Z)"
)
"""What a forge's page or a program that reviews shows around a comment."""
_GRADE = r"(?:P[0-3]|blocker|blocking|critical|high|medium|low|major|minor|nits?|nitpick|imo|suggestion)"
_TAG = lazy_pattern(
    rf"(?im)^[ \t]*(?:[-*\u2022] |\d+[.)] |#+ )?\**\[{_GRADE}(?:[/|,: -][^\]\n]{{0,40}})?\]\**:? \S"
    rf"|\s[-:\u2013\u2014] \[{_GRADE}\] \S"
    r"|^[ \t]*(?:nit|nitpick|blocking|issue \((?:non-)?blocking\))s?(?: \(.{0,40}\))?: ?\S"
    r"|^[ \t*#]*(?:suggestion|issue|nitpick|question|todo|chore|thought) \([\w, -]{3,40}\):"
)
"""A comment with its grade in front: `[P1] …`, `nit: …`."""
_LEVEL = r"(?:critical|high|medium|low|major|minor)"
_GRADED = lazy_pattern(
    rf"(?im)^\W{{0,12}}(?:(?:finding|issue) )?(?:[A-Z]{{0,2}}\d+[.):]? *)?[\[(]?{_LEVEL}(?: (?:severity|priority))?"
    rf"[\])]? *(?:[:|\u00b7\u2014\u2013-]|$)|[^\n]\s\d+[.)] {_LEVEL}: "
    rf"|^\W{{0,4}}\d+[.)] [^\n]{{10,160}} [\[(]{_LEVEL}[\])]$"
    r"|^\W{0,8}(?:critical|important|major|minor|must-fix|high-priority) (?:bugs|issues|problems|findings|fixes)\b"
)
"""A comment under its severity."""
_PLACE = lazy_pattern(
    rf"(?im:^\W{{0,8}}{_LEVEL} [|\u00b7\u2014\u2013-] [`@]{{0,2}}[\w./-]{{1,80}}\.\w{{1,5}}\b)|"
    r"[\w/-]{1,80}\.\w{1,5}(?::\d|[ (]+(?:L|lines? )\d)|\blines? \d"
)
_PLACED = lazy_pattern(
    r"(?m)^[ \t]*[-*\u2022] [@`]?[\w./-]{1,80}\.\w{1,5}:\d+(?:-\d+)?`?:?(?: ?[\u2014\u2013-]+)?"
    r" (?!(?i:error|warning|failed)\b)\w+(?: \S+){2}"
)
"""An item of a list that says a place and what is to be said of it."""
_SAYS = lazy_pattern(
    r"(?m)^[^\w\n]{0,10}(?:\d+[.)] |[A-Z]{1,2}\d+:?\s+"
    r"|[A-Z]{4,12}:? )?[^\w\n]{0,4}[\w./-]{1,80}\.\w{1,5}(?::\d+(?:-\d+)?| L\d+"
    r"| \(?lines? \d+)[^\w\n]{0,8}(?:(?i:critical|high|medium|low|major|minor)[^\w\n]{0,4})?"
    r"(?:[\u2014\u2013] ?|\u2014|: (?=[A-Z`]))[^\n]{0,40}\w \w+"
)
"""A line that says a place and, behind a dash, what is to be said of it."""
_TABLE = lazy_pattern(
    r"(?im)^\|(?=[^\n]*\bseverity\b)(?=[^\n]*\b(?:findings?|issues?|problems?)\b)(?=[^\n]*\b(?:file|location|where"
    r"|lines?)\b)"
)
"""The head of a table of findings."""
_PATCH = lazy_pattern(r"(?m)^> ?[+-][^\n]*\n(?:>[^\n]*\n)*\n?(?![>\n])")
"""A part of a patch, quoted, with an answer below it."""
_KEY = lazy_pattern(
    r"(?im)^\W{0,6}(severity|priority|type|category|scope|summary|file|location|lines?|recommendation|suggestion"
    r"|suggested fix|fix|description|issue|finding|problem|impact|confidence|rule|review id)\W{0,4}:"
)
_TICKET = lazy_pattern(
    r"(?i)\b(?:steps to reproduce|expected(?: behaviou?r| result)?:|actual(?: behaviou?r| result)?:)"
)
_HEAD = r"(?im)^\W{0,8}(?:\d+[.)] *)?"
_SIGNS = (
    lazy_pattern(
        r"(?i)\boverall\b[^\n.]{0,60}\b(?:solid|good|strong|clean|structure|design|excellent|well|sound|reasonable)\b"
    ),
    lazy_pattern(_HEAD + r"(?:strengths|what(?:'s| is) (?:good|strong|working|right)|what works|positives|pros)\b"),
    lazy_pattern(
        _HEAD + r"(?:weaknesses|concerns|gaps|issues|problems|risks|what(?:'s| is) (?:missing|wrong|weak)|cons"
        r"|areas? (?:for|to) improve\w*)\b"
    ),
    lazy_pattern(
        _HEAD
        + r"(?:verdict|bottom line|final (?:verdict|assessment|thoughts)|overall (?:assessment|verdict|impression)"
        r"|recommendations?|summary of (?:findings|review))\b"
    ),
    lazy_pattern(
        r"(?i)\b(?:biggest|main|critical|major|minor|remaining|blocking|serious|key) (?:issues?|problems?|gaps?"
        r"|concerns?|corrections?|fixes|flaws?|blockers?|risks?|weakness(?:es)?|errors?)\b"
    ),
    lazy_pattern(
        r"(?im)^\W{0,8}(?:critical|major|minor|high|medium|low|P[0-3]|(?:must|should)[- ]fix|nice[- ]to[- ]have"
        r"|blockers?)\b"
    ),
    lazy_pattern(
        r"(?i)\b(?:i(?:'d| would) (?:suggest|recommend|change|fix|add|tighten|avoid|rename|keep|drop)"
        r"|consider (?:\w+ly )?\w+ing|you should|my recommendation|i recommend)\b"
    ),
    lazy_pattern(
        r"(?i)\b(?:your|the) (?:plan|design|implementation|approach|code|spec|draft|proposal|paper|document|diff"
        r"|analysis|structure|architecture)\b[^\n.]{0,40}\b(?:is|looks|are|has|lacks|misses|does|doesn't)\b"
    ),
    lazy_pattern(r"(?im)^\W{0,8}(?:bug|issue|problem|finding|weakness|concern|gap|blocker) #?\d{1,2}\b"),
    lazy_pattern(
        r"(?i)\b(?:excellent|very (?:strong|thorough|solid)|well[- ](?:structured|thought|written|designed)|solid"
        r"|impressive|great (?:work|job|start))\b"
    ),
)
"""What reports of reviews have, each of which other texts may have as well: praise, headings, grades, advice."""
_OTHER = lazy_pattern(
    r"(?i)\b(?:deep research|research (?:results?|report)|roadmap|comparison|compared|cost analysis"
    r"|architecture overview"
    r"|codebase exploration|implement the plan|technical debt|state of (?:play|practice)|evaluation of|study|strategy"
    r"|proposal:|backlog|release notes|change ?log|retrospective|minutes)\b"
)
"""What other reports are called at their top."""
_TOP = 300
_ENOUGH = 3
_LONG = 300
"""Characters of the least report."""


def is_laid_out(text: str) -> bool:
    """Say whether the text has the layout of a review's comments."""
    if _FORGE.search(text) or _TAG.search(text) or _is_finding(text):
        return True
    if _TABLE.search(text) or _PLACED.match(text.lstrip()):
        return True
    if any(len(lines.findall(text)) > least for lines, least in ((_PLACED, 1), (_SAYS, 1), (_PATCH, 1))):
        return True
    if _OTHER.search(text[:_TOP]):
        return False
    if _GRADED.search(text) and _PLACE.search(text):
        return True
    return len(text) >= _LONG and sum(sign.search(text) is not None for sign in _SIGNS) >= _ENOUGH


def _is_finding(text: str) -> bool:
    """Say whether the text has the fields of a finding, and not those of a bug that somebody met."""
    keys = {found.group(1).lower() for found in _KEY.finditer(text)}
    graded = "severity" in keys or ("priority" in keys and "finding" in keys)
    return graded and len(keys) > 2 and _TICKET.search(text) is None
