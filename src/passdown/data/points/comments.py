"""Comments of a review in what a person writes: brought along, or pointed at."""

from __future__ import annotations

import re
from itertools import chain

from passdown.data.points.remarks import remarks, states
from passdown.model.pattern import lazy_pattern

_MOST = 8000
"""Characters of a message that are looked at."""

_NEAR = 300
"""Characters of a sentence before the words on comments that may say what is to be done with these."""

_BOT = (
    r"(?:copilot|code ?rabbit(?:ai)?|rabbit|bugbot|cursor|greptile|qodo|codex|gemini|claude|sourcery|ellipsis|graphite"
    r"|sonar(?:qube|cloud)|bots?)"
)
"""Programs that review, as people call them."""
_PULL = r"(?:prs?|pull requests?|mrs?|merge requests?)"
_REVIEW = r"(?:(?:(?:code|peer|pr) )?review(?:er)?s?)"
_WHO = rf"(?:{_REVIEW}|{_PULL}|{_BOT}|team-?mates?|maintainers?)(?:'?s)?"
_SAID = r"(?:comments|feedback|findings|remarks)"
_WHAT = rf"(?:{_SAID}|suggestions|concerns|notes)"
_POINTS = rf"(?:{_WHAT}|comment|concern|issues?|points?|items?|blockers?|problems?|results)"
_WORK = rf"(?:{_PULL}|branch|changes?|diff|patch|commits?|fix(?:es)?)"
_LINK = r"https?://[^\s)]+/(?:pull|merge_requests)/\d+"
_THE = r"(?:(?:the|this|that|these|those|my|your|our|their|his|her|all|any|some|every) )"
_USERS = r"(?:our |the |my |some )?(?:users?|customers?|clients?|players?)\b"
_DEALS = (
    r"(?:address|answer|handle|resolve|apply|fix|do(?! (?:we|you|i|they|not)\b)|follow|incorporate|respond to"
    r"|reply to|work through|go through|look at|check|review)"
)
_ANSWERS = r"(?:address|answer|handle|resolve|respond to|reply to|work through|go through)"
_LOOKS = r"(?:check|see|read|look at|get|fetch|pull|access|address|answer)"
_GOT = (
    r"\b(?:(?:got|getting|received) (?:this|these|some|the following)|here(?:'s| is| are)|there(?:'s| is| are)|incoming"
    r"|unresolved|outstanding|latest)"
)
_FOUND = (
    r"(?:(?:still|also|both|now|again|has|have|just) ){0,2}(?:says|said|found|flagged|raised|identified"
    r"|complain(?:s|ed)|reported|pointed out|suggest(?:s|ed)|object(?:s|ed)"
    r"|comment(?:s|ed)|mention(?:s|ed)|show(?:s|ed)|reveal(?:s|ed)|asked|wrote|thinks(?! for\b)|disagree[sd]?"
    r"|request(?:s|ed)|want(?:s|ed)|noted|left(?! the\b)|rejected|declined|came back)\b"
)
_MAKES = (
    r"(?:(?:giv|writ|post|leav|add|mak|draft|produc|generat|creat|export|stor|submit)(?:e|es|s|ing|ed|t|ten)?"
    r"|(?:list|show|display|collect|render|parse|fetch|read|count|map|cover)(?:s|es)"
    r"|provide|offer|share|gather|parse|render|display|count|persist|import)"
)
"""What somebody does who makes comments, and what a program does that shows them."""
_EACH = r"(?<!rate )(?<!grade )(?<!list )(?<!report )(?<!describe )\b(?:each|every)"
_ENDS = rf"(?: now| again| on {_THE}*{_PULL})*\W{{0,12}}(?m:$)"


def _says() -> str:
    return "(?i)" + "|".join(
        (
            # copilot has some new comments; the review comment of X; code review issues
            rf"\b{_WHO} (?:(?!(?:{_MAKES}|took|takes|addressed|fixed)\b)[\w'-]+[ /]){{0,3}}?{_WHAT}\b",
            rf"\b{_REVIEW}(?:'s?)? {_POINTS}\b",
            # feedback from my reviewer; suggestions in https://…/pull/7; feedback on your fix
            rf"\b{_WHAT} (?:from|of|by|in|at) (?:\w+ ){{0,4}}?{_WHO}\b",
            rf"\b{_WHAT} (?:(?!as\b)\w+ ){{0,2}}?(?:on|for|in|at|to) (?:{_THE}*(?:\w+ ){{0,2}}?{_WORK}\b|{_LINK})",
            rf"{_LINK} {_WHAT}\b|\bbased on {_THE}*{_WHAT}\b",
            # Feedback from X: …; I see this comment: …
            rf"(?m:^)\W{{0,12}}(?:some |more )?{_WHAT} from (?!{_USERS})[^\n:]{{1,40}}[:,]",
            r"\b(?:this|these|following) comments?\b[^\n.:]{0,40}:[ \t]*(?:\n|\Z)",
            # I got this feedback; the latest round of comments; 4 new unresolved comments
            _GOT + rf" (?:(?:some|the|this|these|following|round of|new|more|\d+|several) ){{0,3}}{_SAID}\b",
            # respond to the comments; the fixes mentioned in this review; address the above comment
            rf"\b{_ANSWERS} (?:{_THE}+(?:\w+ )?|(?:all )?(?:of )?\w+'s ){_WHAT}\b",
            rf"\b(?:respond|reply) to {_THE}*{_REVIEW}\b|\baddress\b[^.\n]{{0,50}}{_LINK}",
            rf"\b(?:address|fix|resolve) {_THE}(?:above |last |latest )?comments?\b",
            rf"\b{_DEALS} {_THE}*(?:\w+ ){{0,4}}?(?:in|from|of|by) {_THE}(?:\w+ )?{_REVIEW}\b",
            r"\baddress(?:ing)? (?:\w+ )?(?:review|comments|feedback|findings)\b|\bfix the review\b",
            r"\b(?:changes requested|requested changes)\b",
            # CodeRabbit still found issues; a code review found the following; the review is in
            rf"\b(?:{_BOT}(?: and {_BOT})?|{_REVIEW}(?: agent| bot| \w+ and \w+)?) {_FOUND}|\breview is in\b",
            rf"\breviewed by\b[^\n.]{{1,60}}\bleft\b[^\n.]{{0,30}}\b{_WHAT}\b",
            # check copilot's latest review
            rf"\b{_LOOKS}\b[^.\n]{{0,40}}\b(?:latest|last|new|recent|their|his|her)\b[^.\n]{{0,20}}\breview\b",
            # copilot has done its review; outstanding PR reviews
            rf"\b{_BOT} (?:has |is )?(?:done|finished|completed|posted)(?: with)? (?:its|the|a) (?:\w+ )?review\b",
            r"\b(?:outstanding|unanswered|incoming) (?:(?:pr|code) )?reviews?\b",
            # fix these 3 issues in the login PR; check qodo now; is this addressed? …
            rf"\b(?:address|fix|resolve) (?:these|the following) (?:\d+ )?{_POINTS} in [^\n:]{{0,40}}\b{_PULL}\b",
            rf"(?m:^)\W{{0,12}}(?:re)?check (?:for )?(?:(?:any|all|the|new|updated?|latest) )*{_BOT}" + _ENDS,
            r"\b(?:is|was) (?:this|that) addressed\?\s+\S",
            rf"{_EACH} findings?\b|\b(?:these|the following) findings?\b",
            r"\bfindings (?:are )?(?:\w+ )?(?:below|above|attached)\b",
        )
    )


_SAYS = lazy_pattern(_says)
_WAS = lazy_pattern(
    r"(?i)\b(?:was|were|has been|have been) reviewed(?:\.|\b[^\n.]{0,40}\b(?:and|but|found|rejected|by)\b)"
    r"|\bfound (?:during|in) (?:the |a )?(?:code )?review\b|\byou(?:'ve| have) received code reviews\b"
)
"""That the work was reviewed: who says so tells what came of it."""
_LAYOUT = lazy_pattern(
    r"(?im)^[ \t]*(?:nit|nitpick|blocking|suggestion)s?\b\s*(?:\(.{0,40}\))?:"
    r"|(?:^[ \t]*(?:[-*] )?|\s[-:\u2013\u2014] )\[(?:P[0-3]|blocker|major|minor|nit)\]"
    r"|^[-* ]*in [`@]{1,2}[^\s`]+`? around lines? \d"
    r"|^comment on lines? [+-]?\d"
    r"|(?-i:\bP[0-3] Badge [A-Z])"
    r"|\b(?:address|fix|resolve|handle|apply|review|improve)\b[^\n]{0,80}/pull/\d+#issuecomment-\d"
    r"|/pull/\d+(?:/files)?#(?:discussion_r|pullrequestreview-)\d|/merge_requests/\d+#note_\d"
)
"""Marked lines, what a forge's page shows above a comment, or a link to a thread."""
_GRADED = lazy_pattern(
    r"(?im)^\W{0,12}(?:\d+[.)] *)?\[?(?:critical|high|medium|low|major|minor)(?: severity)?\]? *(?:[:\u2014\u2013-]|$)"
    r"|[^\n]\s\d+[.)] (?:critical|high|medium|low): "
)
_PLACE = lazy_pattern(r"[\w/-]{1,80}\.\w{1,5}:\d")
_ADVISES = lazy_pattern(r"(?:[.!?]\s+|\n)(?:Consider (?:\w+ly )?\w+ing|Please (?:either|consider))\b")
_CODE = lazy_pattern(r"\b\w{1,80}\(\)|\b[a-z]+[A-Z]\w|\b[A-Z][a-z]+[A-Z]\w|\b[^\W_]+_\w|`[^`\n]+`")
"""What a reviewer says of the code, and then advises: `f()` has no timeout. Consider using one."""
_EAST = lazy_pattern(
    r"(?i)(?:レビュー|(?<![a-z])[pm]r|プルリク)[^\n。、]{0,10}(?:指摘|コメント)(?:として|に対応|を(?:反映|修正|確認|見)"
    r"|[^\n。]{0,16}(?:言われ|もら|貰|受け|頂|いただ))"
    r"|レビュー(?:対応を?(?:お?願|して|でき)|[がも]?[来届](?!い?たら|れば)|の?(?:指摘|コメント)[にをへ](?:対応|修正|反映|解決))"
    r"|[查看读处理解决修改据按对][^\n]{0,12}(?:(?<![a-z])(?:pr|review)|评审|审查) ?的?(?:回复|评论|意见|反馈)"
    rf"|看[下看一]{{0,2}} ?(?:最新的?|{_BOT}) ?的? ?review"
)
"""In Japanese: a review came, or is to be answered; in Chinese: to read or deal with what reviewers said."""
_TITLE = lazy_pattern(r"(?im)^#{1,4} [^\n]{0,60}\breview\b")
_PART = lazy_pattern(
    r"(?im)^\W{0,12}(?:verdict|findings|overall assessment|issues found|critical issues|key findings)\b"
)
"""The title of a report, and one of its parts."""
_PROCEDURE = lazy_pattern(
    r"(?i)\A\s*(?:base directory for this skill\b|you are (?:an?|the)\b|implement the following plan\b|---\s*\nname:)"
    r"|(?m:^#{1,4} .{0,40}(?<![/.-])\b(?:workflow|instructions|overview|steps|when to use|usage"
    r"|prerequisites|pattern)\b(?![/.-]\w))"
)
"""A text that tells how a kind of work is done, not what has come of this one."""
_MADE = lazy_pattern(
    rf"(?i)\b(?:(?!making sure|make sure){_MAKES} (?:[\w'-]+ ){{0,4}}"
    r"|(?:summar\w+|part|days|weeks|months|number|kinds?|examples?|analysis|ui|ux|design|look|format|layout|style"
    r"|quality|structure|wording) of (?:[\w'-]+ ){0,2}"
    r"|(?:agent|workflow|skill|command|tool|bot|script)s? (?:to|that|which|who) (?:[\w'-]+ ){0,3}"
    r"|(?:no|zero|0) |(?:do|did|does|can|could)(?:n't|nt| not) (?:see|find|have|get) (?:[\w'-]+ ){0,2}"
    r"|(?:is|are) there any (?:[\w-]+ ){0,2}|(?:get|request|need|want|like|ask for) (?:an? |another |the )?(?:\w+ )?"
    r"|commit (?:-m|messages?|with|as|titled)\b.*|ask (?:the )?user\b.*"
    r"|(?:docs?|documentation|guides?|sections?|instructions?|rules?|notes?|skill|prompt)\b.{0,20} how (?:to|we|you)"
    r" (?:[\w-]+ ){0,2})\Z"
)
"""What comes before words on comments that are made, shown, counted, quoted, or not there."""
_LATER = lazy_pattern(
    r"(?i)\b(?:until|when(?:ever)?|once|(?<!check )(?<!see )(?<!verify )if|unless|monitor(?:ing)?|watch(?:ing)?"
    r"|wait(?:ing)?"
    r"|in case|(?:moving|going) forward|from now on|in (?:the )?future|every time)\b[^.!?\n]*\Z"
)
_DONE = lazy_pattern(
    r"(?i)\b(?:i|we)(?:'ve| have|'d| had)? (?:\w+ )?(?:addressed|fixed|resolved|answered|replied to|handled|applied)\b"
    r"[^.!?\n]*\Z"
)
_SUBJECT = lazy_pattern(
    r"(?i)\W*(?:[0-9a-f]{7,40} |(?:fix|feat|docs|chore|refactor|test|style|ci|perf|build|revert)(?:\([^)\n]*\))?!?: )"
)
_NUMBER = lazy_pattern(r"[^\n]{0,120} \(#\d+\)[ \t]*(?m:$)")
"""How the subject of a commit begins, and how it ends in a list of changes."""
_THING = lazy_pattern(
    r"(?i) (?:yet|tables?|endpoints?|fields?|features?|systems?|components?|pages?|tools?|agents?|bots?|skills?"
    r"|commands?|apis?|models?|events?|counts?|formats?|repl(?:y|ies)|workflows?|histor(?:y|ies)|forms?|widgets?"
    r"|buttons?|screens?|box(?:es)?|guidelines?|criteria|process(?:es)?|polic(?:y|ies)|checklists?|templates?|loops?"
    r"|modes?|stages?|scores?|ratings?|twice|once|queues?|sections?"
    r"|boards?|dashboards?|columns?|apps?|sites?"
    r"|services?|plugins?|hooks?|scripts?|schemas?|cards?|panels?|on (?:each|every)"
    r"|(?:in|on|to) (?:the|an?) (?:\w+ )?(?:sidebar|ui|page|panel|view|table|list|modal|tab|header|menu|database"
    r"|db)|(?:do|does)(?:n't| not) (?:show|appear|work|load))\b"
)
_SETTLED = lazy_pattern(
    r"(?i)(?! (?:until|till|so|before|unless)\b) (?:\w+ ){0,2}?(?:are|were|is|was|been) (?:(?:all|already|now) )*"
    r"(?:addressed|resolved|fixed|handled|answered|done|closed|dealt with)\b"
)
_ALREADY = lazy_pattern(
    r"(?i)(?:(?!\b(?:if|whether|unless)\b)[^.!?\n]){0,60}?\b(?:they|these|those) (?:were|are|have been|had been) (?:"
    r"already (?:addressed|resolved|fixed|handled|answered|done)|(?:addressed|resolved|fixed|handled|answered|done)"
    r" already)\b"
    r"|[^.!?\n]{0,40}\b(?:note|comment|message|reply|word) that (?:they|these|those|it) (?:were|was|are|is|have been)"
    r" (?:addressed|resolved|fixed|handled|answered|done)\b"
)
"""That the comments were dealt with already."""
_MARKED = lazy_pattern(r"(?i)\b(?:set|mark|flag)\b[^.!?\n]{1,60}?\b(?:resolved|done|closed|answered)\b")
_ORDERS = lazy_pattern(
    r"(?i)\b(?:fix|address|implement|apply|resolve|do|look|check|read|see|handle|go|work|incorporate|tackle|deal"
    r"|consider|evaluate|act)\b"
)
"""That threads are to be marked, and what else is asked for: who only answers and marks has dealt with them."""
_SENTENCE = lazy_pattern(r"[^.!?\n]{0,120}")
_ASKED = lazy_pattern(
    r"(?i)\b(?:did|have|has|had) (?:you|we|it) (?:(?:also|already|all|then|now|ever|really) )*(?:repl(?:y|ied)"
    r"|answer(?:ed)?|respond(?:ed)?|address(?:ed)?|resolved?|fix(?:ed)?|handled?|post(?:ed)?)\b[^.!?:\n]*\Z"
)
"""A question whether the agent did so."""
_YOURS = lazy_pattern(
    r"(?i)\b(?:took|taken|used|applied|incorporated|addressed|fixed|implemented|liked) (?:all )?(?:of )?your"
    rf" (?:\w+ ){{0,2}}?{_WHAT}\Z"
)
"""What the agent itself said of somebody's work."""
_COMES = lazy_pattern(
    r"(?i)(?: [\w-]+){0,3}? (?:as|when|once|whenever|if) (?:it|they|these|any|more|new ones)"
    r" (?:lands?|comes?|arrives?|appears?|shows? up)\b"
)
"""That comments are yet to come."""
_ASSURES = lazy_pattern(r"(?i)\b(?:make sure|ensure|verify|check|see|confirm)\b[^.\n]*\Z")
"""That somebody is to see to it, so they may not be."""


def brings(text: str) -> bool:
    """Say whether a person's message brings the comments of a review, or says that there are some to deal with."""
    text = text[:_MOST]
    if any(not _LATER.search(text, 0, found.start()) for found in _WAS.finditer(text)):
        return True
    if _PROCEDURE.search(text):
        return False
    if _LAYOUT.search(text) or (_GRADED.search(text) and _PLACE.search(text)):
        return True
    if (_TITLE.search(text) and _PART.search(text)) or _EAST.search(text) or _advises(text):
        return True
    if states(text):
        return True
    return any(_has_come(text, found) for found in chain(_SAYS.finditer(text), remarks(text)))


def _advises(text: str) -> bool:
    """Say whether the text tells of the code and then advises what to do instead, as a reviewer writes."""
    found = _ADVISES.search(text)
    return found is not None and _CODE.search(text, 0, found.start()) is not None


def _has_come(text: str, found: re.Match[str]) -> bool:
    """Say whether the words speak of comments that are there: not of some to be made or to come, or dealt with."""
    before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    if _MADE.search(before) or _LATER.search(before + found.group()) or _DONE.search(before):
        return False
    if _SUBJECT.match(before) or _NUMBER.match(text, found.end()):
        return False
    if _SETTLED.match(text, found.end()) and not _ASSURES.search(before):
        return False
    if _is_told(text, before + found.group(), found.end()) or _COMES.match(text, found.end()):
        return False
    return _THING.match(text, found.end()) is None


def _is_told(text: str, said: str, end: int) -> bool:
    """Say whether the comments were dealt with, and it is only asked about, told to their authors, or marked."""
    rest = _SENTENCE.match(text, end)
    after = rest.group() if rest else ""
    said = said[max(said.rfind(mark) for mark in ".!?") + 1 :][-_NEAR:]
    if _YOURS.search(said) or _ALREADY.match(after) or (_ASKED.search(said) and not after.startswith(":")):
        return True
    return _MARKED.search(said + after) is not None and not _ORDERS.search(said + after)
