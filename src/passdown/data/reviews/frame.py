"""A person's own words around what they bring: a line that leads to it, or the one behind it, calls it a review's."""

from __future__ import annotations

from passdown.data.reviews.calls import MODEL
from passdown.model.pattern import lazy_pattern

_LINES = 4
"""Lines at the top that may lead to a review: a greeting, the request, and what it is about."""

_LONG = 240
"""Characters of the longest line that leads to a review, or that stands behind one."""

_PROSE = 600
"""Characters of the longest paragraph whose first sentence is looked at by itself."""

_SHORT = 160
"""Characters of the longest line that leads to one by a noun alone."""

_LEAST = 40
"""Characters of the least text that such a line can be about."""

_ROLE = (
    r"(?:colleagues?|co-?workers?|(?:team-?)?mates?|lead|leader|boss|manager|maintainers?|senior|engineers?"
    r"|developers?|devs?"
    r"|experts?|mentor|architects?|teams?|friends?|teacher|prof(?:essor)?|advis[eo]r|supervisor|tutor|ta|lecturer"
    r"|instructor"
    r"|grader|designer|auditors?|reviewers?|referees?|editors?|committee|jury|judges?|co-?founder|co-?authors?|cto"
    r"|ceo|pm|dba"
    r"|sre|consultant|agents?|sub-?agents?|bots?|session|model|ai|llm|assistant|critic|guild|owner|guy|person|someone"
    r"|somebody|people|partner|brother|sister|buddy|intern)"
)
_WHO = (
    r"(?<![\w-])(?!(?:you|please|to|can|could|and|i|we)\b)"
    rf"(?:{MODEL}|(?:(?:[\w'’-]+ ){{0,3}})?{_ROLE}(?: ?#?\d+| [abc]\b)?"
    r"|(?-i:[A-Z][a-z]{2,}(?: [A-Z][a-z]+)?)|s?he|they)"
)
_LOOKED = (
    r"(?:looked (?:it |this |that )?(?:at|over|through|into)"
    r"|(?:had|has|have|took|taken|having) an? (?:\w+ ){0,2}(?:look|go|read|pass|glance)\b"
    r"|(?:went|gone|going) (?:it |this )?(?:over|through)|skimm(?:ed|ing)|review(?:ed|ing)\b|re-?read\b|audit(?:ed"
    r"|ing)\b"
    r"|graded|critiqued|assessed|checked|read(?:ing)?\b(?! from| the docs)|inspected|evaluated|commented|roasted"
    r"|proofread)"
)
_SAID = (
    r"(?:said|says|saying|wrote|writes|found|finds|noticed|notices|thinks|pointed out|points out|flagged|flags|posted"
    r"|pinged|dm'?d|messaged|answered|replied|responded|came back|gave|told|wants|spit|spat|quote|left|raised"
    r"|complained|suggest(?:s|ed)|recommend(?:s|ed)|objected|comment(?:s|ed)|report(?:s|ed)|remarked|mentioned|listed"
    r"|sent|returned|has (?:some|a few|these)|had (?:some|a few|these))\b"
)
_WORK = (
    r"\b(?:prs?|mrs?|cls?|pull requests?|merge requests?|patch(?:es)?|diffs?|code|codebase|branch|commits?|plans?"
    r"|specs?"
    r"|specification|designs?|docs?|documents?|drafts?|papers?|thesis|chapters?|manuscript|proposals?|rfc|adr|prd"
    r"|readme"
    r"|schema|implementation|refactor\w*|migrations?|scripts?|module|repo(?:sitory)?|shaders?|dashboard|submission"
    r"|pipeline|dockerfile|architecture|changes|work|rewrite|notebook|essay|report|slides|api|library|component|prefab"
    r"|app|integration|driver|query|queries|model|config|review\w*|comments?|fee?d[ -]?e?back|findings|remarks|(?:on"
    r"|at|over|through) (?:this|it))\b"
)
_NOUN = (
    r"(?:(?:(?:code |pr |mr |peer |design |security |plan |spec |doc |meta-?|self-?|re-?|cross-?)?"
    r"(?:review(?:er|ers)?(?:'s|’s|s'?)? )?"
    r"(?:comments?|fee?d[ -]?e?backs?|remarks?|findings|critiques?|nits|nitpicks|review|audit))"
    r"|review(?:er)? (?:notes|points|results?|outcome|report|items|output)"
    r"|unresolved (?:conversations|comments|threads)|changes requested|requested changes)"
)
_HERE = (
    r"(?:here(?:'s|’s| is| are)|these are|this is|those are|below (?:is|are)|(?:i|we) (?:just )?(?:got|received|have)"
    r"|got|received|some|more|another|two|three|four|five|(?:all )?\d+|my|our|his|her|their|[\w.]+['’]s"
    r"|the (?:latest|remaining|open|new)|combined|written|inline|next|\w+ (?:sent|left|gave))"
)
_WORK_TOLD = (
    lazy_pattern(rf"(?i){_WHO},? (?:\([^)\n]{{1,30}}\) )?(?:[\w'’.()-]+ ){{0,4}}?{_LOOKED}"),
    lazy_pattern(rf"(?i){_WHO},? (?:\([^)\n]{{1,30}}\) )?(?:[\w'’.()-]+ ){{0,4}}?{_SAID}"),
)
"""Somebody looked at it, or said something, and the line names the work or a review."""
_WORKS = lazy_pattern(rf"(?i){_WORK}")
_OWN = lazy_pattern(
    rf"(?i)\b(?:i|we)(?:'ve|’ve| have)? (?:just |also |now )?(?:{_LOOKED}[^\n]{{0,60}}{_WORK}|reviewed\b)"
)
_GIVEN = lazy_pattern(
    rf"(?i)\b(?:asked|ran|run|gave|had|have|let|got|fed|pasted|put|showed|sent|threw)\b[^\n.:]{{0,40}}\b(?:{MODEL}"
    rf"|{_ROLE})\b"
)
_ASKED = lazy_pattern(
    r"(?i)\b(?:review\w*|look|check|think|opinion|harsh|critique|critici[sz]e|roast|feedback|audit|back|answer|thoughts"
    r"|vote|says?|said|find (?:bugs|issues|problems))\b"
)
"""Somebody was given the work, and what they were asked for."""
_NAMED = (
    lazy_pattern(
        r"(?i)^\W{0,4}(?:(?:ok(?:ay)?|so|hi|hey|hello|and|also|fix this one|claude|good|nice work)\b[,.! ]*)*"
        rf"(?:\w+ )?{_HERE} (?:(?!(?:to|and|then|or)\b)[\w'’.-]+ ){{0,4}}?{_NOUN}\b"
    ),
    lazy_pattern(
        rf"(?i)\b{_NOUN}(?: \(?#?\d+\)?)? (?:from|by|of|on|after|that (?:i|we)|i|we|inline|came|is in|are in|is back"
        rf"|are back"
        r"|below)\b"
    ),
    lazy_pattern(
        r"(?i)^\W{0,4}(?:(?:ok(?:ay)?|so)[, ]+)?(?:changes requested|request changes|(?:i )?(?:just )?reviewed\b"
        r"|reviewing (?:what|your|the)|looked it over|review outcome|unresolved conversations|weak (?:reject|accept)"
        r"|(?:i )?went through (?:everything|it)\b)"
        r"|\b(?:from|during|in|after) (?:[\w'’-]+ ){0,3}(?:review|walkthrough|viva)\b"
        r"|\bafter (?:reading|reviewing|going (?:over|through)|looking at)\b|\breviewer ?#?\d\b|\bmeta-?review"
    ),
)
"""A short line that names comments as somebody's, or as there."""
_ENDS = lazy_pattern(rf"(?i)(?<!\band )(?<!\bto )\b{_NOUN}\W{{0,4}}$")

_ASKS = lazy_pattern(
    r"(?i)^\W{0,4}(?:(?:please|pls|now|then|also|ok(?:ay)?|hey|hi|can you|could you|would you|will you|i want you to"
    r"|i need you to|i'd like you to|let's|lets|you should|next|claude|go ahead and)[,.]? )*"
    r"(?:do|run|perform|conduct|start|give|provide|write|create|build|add|implement|make|design|develop|generate"
    r"|(?:re-?)?review(?! (?:of|from|by|notes|comments?|results?|outcome|feedback|findings|report|round|summary)\b)"
    r"|audit(?! (?:of|from|by|report|findings|results?)\b)|critique(?! (?:of|from|by)\b)|check|assess|evaluate"
    r"|analy[sz]e|parse|fetch|extract|show|display|store|save|render|list"
    r"|find|read|look|inspect|compare|summari[sz]e|use|verify|investigate|explore|put|take|update the|you are|act as"
    r"|your (?:task|job|role)|process for|prompt|how (?:do|would|should|can)|what (?:is|are|does|should)|why|is there"
    r"|are there|should)\b"
)
_THESE = lazy_pattern(
    r"(?i)\b(?:these|this|the|those|following|below|my|his|her|their)\b (?:\w+ ){0,3}?"
    r"(?:review|comments?|feedback|findings?|remarks?|notes|critique|suggestions|concerns)\b"
)
"""What somebody is asked to do, unless it is about comments that are there."""
_OTHER = lazy_pattern(
    r"(?i)\b(?:users?|customers?|testers?|qa|uat|play-?test\w*|players?|students?|lint\w*|ci\b|compiler (?:error"
    r"|output|warning)s?|build (?:log|fail\w*)"
    r"|logs?|error|stack ?trace|format|template|checklist|guidelines?|process|workflow|feature|endpoint|button|widget"
    r"|when (?:you|review)|for each|once you|if (?:you|there|any)|make sure|wait for|until|before|whenever|every time"
    r"|survey|research"
    r"|no (?:comments|feedback|findings|issues)|without|my only|(?:excellent|great|good|nice|for the) (?:feedback"
    r"|review)|additional (?:notes|comments)|notes/comments|ticket|for review)\b"
    r"|\b(?:accept(?:ed)?(?! with)|(?<!not )approve[ds]?(?! with)|good enough|looks? good|is clear|proceed|move on"
    r"|lgtm)\b|https?://"
)
"""Others who say something, procedures, features, and reviews that found nothing."""
TASK = lazy_pattern(
    r"(?i)\W*(?:please |also |first |now |then )?(?:check|look|verify|focus|make|review|read|analy[sz]e|ensure|see|find"
    r"|test|consider whether|go|compare|run|use|do|list|give|tell|write|create|what|how|does|is|are|can|could|if)\b"
)
"""What a reviewer is to do."""
_BEHIND = lazy_pattern(
    r"(?i)^\W{0,4}(?:\^+|↑|⬆|these|those|this|that|that's|thats|above|the above|all (?:of )?(?:this|that|these)"
    r"|got (?:this|these|that)|\(?(?:from|via|per|source:)|[-—–]+ |\()"
    rf"|^\W{{0,4}}(?:(?:two|three|four|\d+|my|our|the|code|pr) )?{_NOUN}\b(?! it\b)|\^\^"
    r"|\b(?:above|these are|that was the|this was the|acima|arriba|this is|that's|thats|that is|those are|found this"
    r"|wrote this|said this|is what|are from|was from"
    r"|is from)\b"
)
"""How a line points back at what stands before it."""
_YOURS = lazy_pattern(
    r"(?i)\b(?:looked (?:at|over|through)|(?:had|took|taken) a (?:\w+ )?look (?:at|over|through)|went (?:over|through)"
    r"|reviewed|skimmed|(?:have|has|just|i) (?:read|checked)|going (?:over|through)) (?:your|ur|the)\b"
    rf"[^\n]{{0,30}}{_WORK}"
)
"""Somebody who tells you that they looked at your work."""
_QUOTED = lazy_pattern(
    r"(?i)(?:[:,(\u2013\u2014-]|\b(?:said|says|saying|wrote|writes|with|quote|comment\w*|that|dm'?d|pinged"
    r"|message))\W{0,3}"
    r"[\"\u201c\u300c\u00ab](?=[^\"\u201d\u300d\u00bb]{24})"
)
_SET_OFF = lazy_pattern(
    r"\s*(?:[-*+>•●◦⏺·・#|\"'`“「«<\[(\u2600-\u27bf\U0001f300-\U0001faff]|\d{1,2}(?:[.)/ ]|:\s)"
    r"|\(?[a-zA-Z]{1,2}-?\d{0,3}[.):-]"
    r"|[A-Z]{1,2}\d{1,2} |[A-Z][\w -]{1,40}:\s|[\w./-]+\.\w{1,5}\b|(?i:lines?|p\.|l\.) ?\d)"
)
_ITEM = lazy_pattern(r"\s*(?:[-*+\u2022|]|\d{1,2}[.)]) ?(?!\*)|\s*\[(?:INFO|WARN|ERROR|DEBUG)|\s*\d+[:.]\d\d")
"""An item of a list, a row of a table or of a log: these lead to nothing."""
_SENTENCE = lazy_pattern(r"(?<=[.!?])\s+")
_OPEN = (":", "\uff1a", "-", "...", "\u2026")


def is_framed(text: str) -> bool:
    """Say whether a line at the top leads to comments of a review, or the last one points back at them."""
    lines = text.strip().split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    tops = [(lines[number], lines[number + 1 :]) for number in filled[:_LINES] if not _ITEM.match(lines[number])]
    if any(_leads(line, rest) for line, rest in tops) or (tops and _opens(*tops[0])):
        return True
    if len(filled) > 2 and any(_YOURS.search(line) and not _is_other(line) for line, _ in tops):
        return True
    return len(filled) > 1 and _points_back(lines[filled[-1]], lines[: filled[-1]])


def _leads(line: str, rest: list[str]) -> bool:
    """Say whether a line calls what is quoted in it, or stands below it, a review's."""
    quoted = _QUOTED.search(line)
    if quoted is not None and quoted.start() < _LONG and _calls(line[: quoted.start() + 1]):
        return True
    if len(line) > _LONG or not _is_set_off(line, rest) or _is_task(line, rest):
        return False
    return _calls(line) or _ends(line)


def _opens(line: str, rest: list[str]) -> bool:
    """Say whether the first sentence of a message calls what stands below its paragraph a review's."""
    if len(line) > _PROSE or not _is_set_off("", rest):
        return False
    first = _SENTENCE.split(line, maxsplit=1)[0]
    return first != line and not first.endswith("?") and (_calls(first) or _ends(first))


def _is_set_off(line: str, rest: list[str]) -> bool:
    """Say whether what stands below a line is set off from it."""
    block = "\n".join(rest).strip("\n")
    if len(block.strip()) < _LEAST:
        return False
    apart = not rest[0].strip() and len(block) > 2 * _LEAST
    return apart or line.rstrip().endswith(_OPEN) or _SET_OFF.match(block) is not None


def _is_task(line: str, rest: list[str]) -> bool:
    """Say whether a bare title of a review stands over what a reviewer is to do."""
    return len(line) < _LEAST and TASK.match("\n".join(rest)) is not None


def _points_back(line: str, before: list[str]) -> bool:
    """Say whether the last line calls what stands before it a review's."""
    if _ITEM.match(line) or len(line) > _LONG or len("\n".join(before).strip()) < _LEAST:
        return False
    return _BEHIND.search(line) is not None and (_calls(line) or _ends(line))


def _is_other(line: str) -> bool:
    asks = _ASKS.match(line) is not None or line.rstrip().endswith("?")
    return _OTHER.search(line) is not None or (asks and _THESE.search(line) is None)


def _calls(line: str) -> bool:
    """Say whether the words of a line call something the comments of a review."""
    if _is_other(line):
        return False
    if _OWN.search(line) or (_GIVEN.search(line) and _ASKED.search(line)):
        return True
    if _WORKS.search(line) and any(told.search(line) for told in _WORK_TOLD):
        return True
    return len(line) <= _SHORT and any(named.search(line) for named in _NAMED)


def _ends(line: str) -> bool:
    return len(line) <= _SHORT and _ENDS.search(line) is not None and not _is_other(line)
