"""Who says what of the work, in what a person writes: somebody who reviewed it and their words, or where these lie."""

from __future__ import annotations

import re
from collections.abc import Iterator

from passdown.model.pattern import lazy_pattern

_MODEL = (
    r"(?:(?:git ?hub )?copilot|code ?rabbit(?:ai)?|rabbit|bug ?bot|cursor|greptile|qodo|codex|gemini|claude|opus|sonnet"
    r"|chat ?gpt|gpt(?:-?[\w.]+)?|grok|deepseek|sourcery|ellipsis|graphite|sonar(?:qube|cloud)?)"
    r"(?: (?:ai|bot|code|code assist|cli|agent))?"
)
_ROLE = (
    r"(?:ai|llm|model|agent|assistant|bot|colleague|co-?worker|team-?mate|lead|boss|manager|maintainer|senior"
    r"|engineer|developer|dev|expert|reviewer|mentor|architect|team|guy|person)s?"
)
_OTHER = (
    rf"(?:(?:an)?other|a different|a second|a|my|our|the|some|one|two|three) (?:of (?:my|our|the) )?(?:\w+ )?{_ROLE}"
)
_SOMEBODY = rf"(?:{_MODEL}|{_OTHER}|maintainers?|reviewers?|code owners?)"
"""Who may have looked at the work, apart from the person who writes."""
_PULL = r"(?:prs?|pull requests?|mrs?|merge requests?|crs?)"
_ON = rf"(?:(?:the|this|that|my|our|your|its|each) )?(?:\w+ )?(?:{_PULL}\b|https?://[^\s)]+/(?:pull|merge_requests)/\d)"
_REVIEW = r"(?:(?:code|pr|mr|cr|peer|design|security|plan|team|self|ai) )?(?:review|critique)"
_OPINION = r"(?:feedbacks?|comments?|notes?|concerns?|critique|findings?|remarks?|nits?|points?|objections?|reviews?)"
_THE = r"(?:(?:the|this|that|these|those|my|your|our|their|his|her|its|all|any|some|every|each|of|\w+'s) )"
_NEW = r"(?:(?:a|an|some|more|new|open|unresolved|outstanding|remaining|few|several|couple of|two|three|\d+) )"
_DEAL = (
    r"(?:address|resolve|tackle|incorporate|respond to|answer|reply to|deal with|take care of|act on|work through"
    r"|work on)"
)
_LOOK = (
    r"(?:check|see|read|view|study|(?:take|have) a(?: quick)? look at|look (?:at|into|through|over)|go (?:through"
    r"|over))"
)
_TOLD = (
    r"(?:said|says|say|told|thinks?|wants?|wanted|asks?|asked|found|finds|noticed|flagged|reports?|reported|raised"
    r"|(?:is|are|was|were) not|isn't|complain\w*|suggest\w*|recommend\w*|reject\w*|request\w*|points? out"
    r"|pointed out|has|have|had|got|gave|came back|returned|identified|mention\w*|listed|left)"
)
_STATED = (
    r"(?:said|says|told|thinks?|wants?|wanted|found|noticed|flagged|reports|reported|raised|complain\w*"
    r"|(?:suggest|recommend|reject|request)(?:s|ed)|points? out|pointed out|gave|came back|returned|identified"
    r"|mentioned|listed|left|(?:did|does|do)(?:n't|nt| not) (?:like|agree|accept|approve))"
)
"""What somebody did who told something, and not only may do."""
_TROUBLE = r"(?:issue|problem|bug|concern|gap|finding|smell|mistake|point|blocker|thing|regression|race|leak|P[0-3])"
_CODE = (
    r"(?:(?:the|this|that|your|my|our) (?:[\w-]+ )?(?:diff|plan|changes?|prs?|code|branch|fix|implementation"
    r"|design|commits?|patch|approach|proposal|spec|tests?))"
)


def _reviewed() -> str:
    """Somebody reviewed it, or has an opinion of it, and says so."""
    return (
        # codex reviewed it and says …; asked X to review it: …; ran X on this and it found …
        rf"(?i)\b{_SOMEBODY} (?:has |have |just |also )*(?:reviewed|looked (?:at|over|through)|went (?:over"
        rf"|through))\b[^.\n]{{0,60}}\b{_TOLD}\b"
        rf"|\b(?:asked|had|got|let|made) [\w. -]{{1,30}}? (?:to )?review\b[^.\n]{{0,60}}\b{_TOLD}\b"
        rf"|\bran (?:an? |the |another )?(?:{_MODEL}|{_REVIEW}(?:ers?|s)?)\b[^.\n]{{0,40}}\b{_TOLD}\b"
        # X offered some notes on the plan; the other AI gave this feedback; feedback of another agent
        rf"|\b{_SOMEBODY} (?:(?:has|have|also|just|now) ){{0,2}}(?:(?:gave|offered|provided|left|sent|shared|raised"
        rf"|returned|came back with) (?:me |us |you )?(?:[\w']+ ){{0,4}}?{_OPINION}"
        r"|(?:has|have|had|made|wrote) (?:[\w']+ ){0,3}?(?:feedback|comments?|concerns?|critique|findings|nits"
        r"|objections?|remarks|(?:\w+/)?suggestions))\b"
        rf"|\b{_OPINION} (?:(?:from|of|by) )?(?:an)?other (?:\w+ )?{_ROLE}\b"
        r"|\b(?:second opinion|verdict|objections?|rejection|response|reply) (?:from|of|by) (?:the |my "
        r"|our )?(?:\w+ )?reviewer\b"
        rf"|\b(?:second opinion|verdict|objections?) (?:from|of|by) {_MODEL}\b"
        rf"|\b{_REVIEW}(?:er|ers|s)?(?: ?#?\d+)?(?: (?:agents?|bots?|round(?: \d+)?|pass))? {_STATED}\b"
        rf"|\breviewer ?#?\d+ asks?\b|\b{_MODEL} (?:has |have |also |still |now |again )*(?:flagged|pointed out"
        rf"|points out|complain\w*|(?:found|reports|reported|identified|raised) [^.\n]{{0,30}}\b{_TROUBLE}s?)\b"
        r"|(?<!would the )(?<!would )\b(?:maintainers?|code ?owners?) (?:has |have |also )*(?:wants?|wanted|asked"
        r"|says|said|requested"
        r"|suggested|rejected|left)\b"
        rf"|\b(?:{_MODEL}|reviewers?) (?:(?:is|are|was|were) )?(?:(?:still|again"
        r"|also) )*(?:not (?:yet )?(?:happy|satisfied|convinced)|unhappy|complaining|blocking)\b"
    )


def _came() -> str:
    """The review came, or what is asked for is as it says."""
    return (
        # the review came back; this is the new round of feedback
        rf"(?i)\b{_REVIEW}s? (?:(?:is|are|has|have|just|came|got|now|finally|come|been) )+(?:back|here|there"
        r"|posted|published|available|landed|in(?! (?:an?|the|your|this|progress)\b))\b"
        r"|\b(?:this|below|above|attached|here) (?:is|are) (?!(?:\w+ ){0,3}?(?:user|customer|client|player"
        r"|student|guest)s? )(?:(?:the|some|an?|their|his|her|all"
        r"|more) )?(?:[\w-]+ ){0,3}?(?:feedbacks?|review comments|findings|critique|code review)\b"
        r"|\b(?:another|one more|second|third|next|new|latest|last) round of (?:comments|feedback|review comments)\b"
        # per the review; as requested by the reviewer
        r"|\b(?:(?:as )?per|according to|based on|as (?:\w+ )?(?:suggested|requested|noted|mentioned"
        rf"|pointed out|flagged|asked(?: for)?|recommended) (?:by|in|on)) {_THE}*(?:\w+ )?{_REVIEW}(?:ers?)?\b"
        rf"|\b{_MODEL} (?:said|says|thinks|wrote|finds) [^.\n]{{0,30}}\b{_CODE}\b"
        rf"|\b(?:{_MODEL}|{_ROLE})(?:'s|s'|\u2019s) (?:take|review|opinion|critique|assessment|view|verdict"
        rf"|analysis|feedback|thoughts) (?:on|of|about) (?:it\b|{_CODE})"
        rf"|\breviewed (?:(?:it|this|that|{_CODE}) )?and (?:found|says|said|wants|thinks"
        r"|flagged|noticed)\b|(?m:^)\W{0,12}(?:(?:the|code|pr|my|his|her) )*review (?:is )?below\b"
        rf"|\b(?:recommendations|corrections|requests) (?:from|of|in|by) {_THE}*(?:\w+ )?{_REVIEW}(?:ers?)?\b"
        rf"|\bas (?:\w+ )?(?:suggested|requested|noted|pointed out|flagged) by {_MODEL}"
        r"|\bin (?:the|his|her|their|my|our|last|code|pr|peer)(?: \w+)? review,? (?:that|(?:he|she|they|it"
        rf"|\w+) {_TOLD})\b|\bfeedback review from\b"
    )


def _raised() -> str:
    """Somebody raised something, in a pull request or of what was shown to them."""
    return (
        # the reviewer is asking …; Joe says in the PR; a reviewer on the list asked; the PR comment says
        r"(?i)\breviewers? (?:is|are|was|were) (?:\w+ )?(?:asking|saying|suggesting|requesting|proposing|right|wrong"
        r"|correct|mistaken)\b"
        rf"|(?<!\bi )\b(?:says|said|asks|asked|suggests|suggested|wrote|argues|replied) (?:in|on|under) {_ON}"
        rf"|\breviewers? (?:on|in|from|of|at) (?:\w+ ){{1,3}}(?:asked|{_STATED})\b"
        r"|\b(?:pr|mr|review|github) comments? (?:says?|said|asks?|asked|wants?|suggests?|mentions?|is right"
        r"|is wrong)\b"
        rf"|\b{_PULL} (?:was|is|got|were|has been) (?:\w+ )?(?:rejected|sent back|declined|turned down)\b"
        r"|\bchanges (?:were|are|have been|got) requested\b"
        # copilot reviewed it; copilot review done; the issues raised by the reviewer; points raised by Dan in the PR
        rf"|\b(?:{_MODEL}|(?:an)?other (?:\w+ )?\w+) (?:(?:has|have|just|already) )*reviewed (?:it|this|that|the"
        rf"|your|my"
        rf"|our)\b|\b{_MODEL} review (?:is )?(?:done|finished|complete|completed|ready)\b"
        r"|\b(?:issues?|points?|concerns?|questions?|problems?|things?|items?|nits|nitpicks) (?:that were )?(?:raised"
        r"|found|flagged"
        r"|mentioned|noted|listed|reported|identified|pointed out|brought up)\s(?:by|in|during|from)"
        rf" (?:{_THE}*(?:\w+ )?(?:review|reviewers?|maintainers?|{_MODEL})\b|\w+ (?:in|on|under) {_ON})"
        r"|\b(?:got|received) (?:an?|another|the|some) (?:\w+ )?reviews? (?:on|for|in|from)\b"
        rf"|\b(?:apply|follow) (?:the|this|that|his|her|their|my) (?:\w+ )?review\b|\b(?:do|apply|make|start|finish"
        rf"|continue) {_THE}*(?:\w+ )?review fixes\b|(?m:^)\W{{0,12}}review fixes\b"
        r"|\b\d+ (?:in|of|from) (?:the|this|that) (?:\w+ )?review\b|\b(?:nits|nitpicks) (?:from|in|of|by|on)\b"
        # I showed the plan to X and it said; feedback from another session
        rf"|\b(?:showed|gave|sent|passed|fed|shared|submitted) (?:[\w']+ ){{1,4}}(?:to|by|past|through"
        rf"|with) (?:{_MODEL}|o\d"
        rf"|{_OTHER})\b[^.\n]{{0,40}}\b(?:{_STATED}|response|reply|answer|feedback|opinion|critique)\b"
        rf"|\b{_OPINION} from (?:an)?other (?:\w+ )?(?:session|chat|instance|conversation|terminal|window)\b"
        r"|\b(?:unresolved|open|outstanding) (?:pr|mr|review|github) (?:threads?|conversations?|comments?)\b"
    )


def _judged() -> str:
    """What somebody said of the work is to be judged, or is shown."""
    return (
        rf"(?i)\bhere(?:'s|\u2019s| is) what (?:the |my |our )?(?:{_MODEL}|(?:\w+ )?{_ROLE}) (?:had to say"
        rf"|wrote|{_STATED})"
        r"|\b(?:fixes|changes|points|issues|things|what|everything|all) (?:that )?(?:the |my "
        rf"|our )?(?:{_MODEL}|reviewers?|review|maintainers?) (?:has |have )?(?:proposed|asked(?: for)?|{_STATED})\b"
        r"|\b(?:ones?|items?|issues?|points?|fixes|things|everything|P[0-3]s?) (?:from|in"
        rf"|of) {_THE}+(?:\w+ )?{_REVIEW}s?\b"
        r"|\b(?:dis)?agree with (?:the|this|that|these|his|her|their|my) (?:\w+ )?(?:review|reviewers?|feedback"
        r"|critique)\b"
        r"|\b(?:is|are|was) (?:the |this )(?:\w+ )?(?:reviewers?|review|feedback|critique) (?:right|correct"
        r"|wrong|valid|fair)\b"
        r"|\bthink (?:of|about) (?:the|this|that|these|his|her|their) (?:\w+ )?(?:review|feedback|critique"
        r"|review comments?)\b"
        r"|\b(?:evaluate|assess|consider|validate|verify|judge|triage|weigh) (?:this|these|that|the|his|her"
        r"|their) (?:\w+ )?(?:review|feedback|critique|findings)\b"
        rf"|\b(?:respond|reply|answer) to (?:the |our |my )?(?:{_MODEL}|reviewers?|maintainers?)\b"
        r"|/(?:pull|merge_requests)/\d+ (?:has|got|received) (?:\w+ ){0,3}(?:comments?|feedback|reviews?|remarks)\b"
        r"|(?m:^)\W{0,12}(?:one |a |another )?(?:nit|comment|suggestion|concern|note|remark"
        r"|finding)s? (?:from|by) [^\n:]{1,40}:"
        r"|(?m:^)\W{0,12}(?:[^\W_]+(?:'s|\u2019s) nits?|from (?:(?:the|code|pr|my|last) )*review):"
        r"|\bcr (?:comments?|feedback|remarks|notes|findings)\b"
    )


def _dealt() -> str:
    """What reviewers said is to be dealt with, or lies where it is to be looked at."""
    return (
        # address the review; handle the PR review; fix the nits; resolve the open threads of the PR
        rf"(?i)\b{_DEAL} {_THE}*(?:\w+ )?{_REVIEW}s?\b|\b(?:handle|process|do|implement|apply"
        rf"|fix) {_THE}*(?:latest |last )?(?:code|pr|mr|cr|peer) reviews?\b(?! of\b)"
        rf"|\b(?:address|fix|resolve|handle|do|clean up|take care of) {_THE}*{_NEW}*(?:\w+ )?nits\b"
        rf"|\b(?:{_DEAL}|handle|close|fix) {_THE}*{_NEW}*(?:review|pr|mr|github|cr) (?:threads?"
        r"|conversations?)\b"
        r"|\b(?:unresolved|open|outstanding) (?:review )?(?:threads?|conversations?|discussions?) (?:on|in|of"
        rf"|under) {_ON}"
        # fix the issues in docs/my-review.md
        r"|\b(?:address|fix|resolve|apply|implement|incorporate|work through|go through"
        r"|tackle)\b[^\n]{0,80}?(?:\b(?:in|from|of|at|listed|per)|:) [@`'\"]?(?![^\s]*(?:commands|skills"
        r"|agents|templates?|prompts)/)[\w./-]{0,80}(?:review|feedback|findings"
        r"|critique)[\w-]{0,40}\.(?:md|txt|json|html)\b"
        r"|\b(?:read|see|look at|check|open) [@`'\"]?(?![^\s]*(?:commands|skills|agents|templates?"
        r"|prompts)/)[\w./-]{0,80}(?:review|feedback|findings|critique)[\w-]{0,40}\.(?:md|txt|json"
        r"|html)\b[^.\n]{0,40}\b(?:fix|address|resolve|apply|implement|tackle)\b"
        # look at the last comment on PR 5; see Maria's review; nathan commented on the PR
        rf"|(?<!n't )(?<!dont )(?<!not )\b{_LOOK}\b[^.\n]{{0,40}}?\b(?:comments?|review|feedback|remarks|threads?"
        rf"|conversations?)\b (?:\w+ ){{0,4}}?(?:on|in|under|at|from|of|for|to) {_ON}"
        rf"|\b{_LOOK} (?:(?!user|customer|client|today|it'|that'|let')\w+'s )(?:\w+ )?(?:comments?|review"
        r"|feedback|remarks|suggestions)\b"
        rf"|\b(?:there(?:'s| is| are)|(?:i|we) (?:have |'ve )?(?:got|have)|got) {_NEW}*(?:\w+ )?(?:comments?"
        rf"|threads?|conversations?|remarks) (?:on|in|under|for) {_ON}"
        rf"|\b(?:commented|remarked|left (?:\w+ ){{0,3}}?(?:comments?|remarks|feedback)) (?:on|in|under) {_ON}"
        rf"|\b(?:comments?|feedback|remarks) by (?!users?\b|customers?\b|clients?\b)\w+ (?:on|in|under) {_ON}"
    )


_REVIEWED = lazy_pattern(_reviewed)
_CAME = lazy_pattern(_came)
_RAISED = lazy_pattern(_raised)
_JUDGED = lazy_pattern(_judged)
_DEALT = lazy_pattern(_dealt)
_HEAD = lazy_pattern(
    rf"(?im)^\W{{0,6}}(?:(?:{_MODEL}|here(?:'s| is| are)?|the|my|our|your|latest|new|second|third|final|external"
    rf"|independent"
    r"|[A-Z]\w+'s) ){0,3}"
    rf"(?P<who>{_REVIEW}(?:ed)?|reviewer(?: ?#?\d+)?|second opinion)(?P<what> ?#?\d+| (?:results?|notes?|comments?"
    r"|feedback|findings|summary|report|output|remarks|points|round \d+))?"
    r"(?: (?:from|by|of) [^\n:]{1,40}| (?:says?|said|asks?|asked|wrote|below"
    r"|attached)\b[^\n:]{0,20})?(?: \([^)\n]{1,40}\))?:(?P<rest>[^\n]*)"
)
"""A line that says that what follows is a review."""
_TASK = lazy_pattern(
    r"(?i)\W*(?:please |also |first )?(?:check|look|verify|focus|make|review|read|analy[sz]e|ensure|see|find|test"
    r"|consider|go|compare|run|use|do|list|give|tell|write|create|add|update|what|how|does|is|are)\b"
    r"|\W*[\w./@-]+(?:, [^\n]*)?\Z|\W*\Z"
)
"""What a reviewer is to do, or the bare name of what is to be reviewed."""
_FLAW = (
    r"(?:found|find|identified|noticed|spotted|realized|see|saw|needs?|needed|issues?|problems?|gaps?|concerns?"
    r"|changes?|comments?|feedback|missing|wrong|mistakes?|bugs?|improvements?|(?:does|do|is|are)(?:n't| not)"
    r"|should|must|never|cannot|can't)"
)
_MYSELF = lazy_pattern(
    r"(?i)\b(?:i|we)(?:'ve| have)? (?:(?:just|also|now|already|carefully|finally) )?(?:reviewed"
    r"|(?:did|done|made|finished|performed|completed) (?:an?|the|my"
    r"|another) (?:\w+ )?review\b)(?P<came>(?:(?![.!?]\s)[^\n]){0,200})"
    r"(?P<list>\n+(?:\W{0,4}\d+[.)]|\W{0,3}[-*\u2022])[^\n]*)?"
    r"|\b(?:after|upon|on) (?:(?:further|careful|closer|a|the|code|my|our|second) ){0,3}review(?:ing)?\b"
    r"(?P<after>(?:(?![.!?]\s)[^\n]){0,200})"
)
"""A person who reviewed it, and what came of it."""
_FLAWED = lazy_pattern(rf"(?i)\b{_FLAW}\b")
_PRAISE = lazy_pattern(
    r"(?i)\b(?:looks? (?:very |really |all |pretty )?(?:good|fine|great|ok|okay|clean|right)|lgtm|approved?"
    r"|accept(?:ed)?|all good|no (?:issues|problems|comments|changes|concerns|findings)|edited|merged?|nothing)\b"
)
_KEY = lazy_pattern(
    r"(?im)^\W{0,6}(severity|priority|type|category|scope|summary|file|location|lines?|recommendation|suggestion"
    r"|suggested fix|fix|description|issue|finding|problem|impact|confidence|rule|review id)\W{0,4}:"
)
_TICKET = lazy_pattern(
    r"(?i)\b(?:steps to reproduce|expected(?: behaviou?r| result)?:|actual(?: behaviou?r| result)?:)"
)
_TAG = lazy_pattern(
    r"(?im)^\W{0,6}\[(?=[^\]\n]{0,40}\b(?:critical|blocker|high|medium|low|major|minor|nit|info)\b)"
    r"(?=[^\]\n]{1,40}(?:[/|,:]| - ))[\w /|,:-]{3,60}\] [^\n]{50}"
)
"""A finding as a program writes it: `[high/security] …`."""
_SHOWN = lazy_pattern(
    r"(?im)^[^\w\n]{0,12}(?:[\w-]{1,20}: )?[\W_]{0,12}(?:Potential issue|Refactor suggestion|Nitpick)_(?=[ \n|]|\Z)"
    r"|\bPrompt for AI Agents\b|\bActionable comments posted: \d|\bNitpick comments \(\d|\bCommittable suggestion\b"
    r"|\bVerify each finding against\b"
)
"""What a program that reviews shows of its own around a comment."""
_ABROAD = lazy_pattern(
    r"(?i)(?:замечани\w+|комментари\w+)[^\n]{0,24}(?:ревью|\bpr\b|пулл?|мр\b)|(?:ревью"
    r"|ревьюер\w*)[^\n]{0,24}(?:замечани|комментари)"
    r"|\b(?:comentarios|observaciones|sugerencias|comentários|sugestões|commentaires|remarques|retours|kommentare"
    r"|anmerkungen)\b[^\n.]{0,30}\b(?:prs?|pull requests?|code review|review\w*|revisi[oó]n|revisão|revue)\b"
    r"|\breview-?(?:kommentare|anmerkungen|feedback)\b|리뷰[^\n]{0,8}(?:코멘트|의견|피드백|지적)|(?:코멘트|피드백)[^\n]{0,8}반영"
)
"""In Russian, Spanish, Portuguese, French, German, and Korean."""


def remarks(text: str) -> Iterator[re.Match[str]]:
    """Yield the words that may say that there are remarks on the work: the caller says whether they are there yet."""
    yield from _REVIEWED.finditer(text)
    yield from _CAME.finditer(text)
    yield from _RAISED.finditer(text)
    yield from _JUDGED.finditer(text)
    yield from _DEALT.finditer(text)
    yield from _ABROAD.finditer(text)


def states(text: str) -> bool:
    """Say whether the text is a review, in a form of its own or under a line that says so."""
    if _SHOWN.search(text):
        return True
    return _TAG.search(text) is not None or _is_finding(text) or _headed(text) or _own(text)


def _is_finding(text: str) -> bool:
    """Say whether the text has the fields of a finding, and not those of a bug that somebody met."""
    keys = {found.group(1).lower() for found in _KEY.finditer(text)}
    graded = "severity" in keys or ("priority" in keys and "finding" in keys)
    return graded and len(keys) > 2 and _TICKET.search(text) is None


def _headed(text: str) -> bool:
    """Say whether a line announces a review and what follows is one, not what a reviewer is to do."""
    for found in _HEAD.finditer(text):
        rest = found.group("rest").strip()
        plain = not found.group("what") and found.group("who").lower() == "review"
        if rest and plain:
            continue
        content = rest or text[found.end() :].strip().split("\n", 1)[0]
        if not _TASK.match(content):
            return True
    return False


def _own(text: str) -> bool:
    """Say whether the person reviewed it and tells of flaws."""
    for found in _MYSELF.finditer(text):
        came = found.group("came") or found.group("after") or ""
        if _PRAISE.search(came):
            continue
        if _FLAWED.search(came) or (found.group("list") and came.rstrip().endswith(":")):
            return True
    return False
