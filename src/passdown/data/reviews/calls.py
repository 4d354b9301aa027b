"""Words that call what stands behind them the comments of a review."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern

_BOT = (
    r"(?:(?:git ?hub )?copilot|code ?rabbit(?:ai)?s?|rabbit|bug ?bot|greptile|qodo|sourcery|ellipsis|graphite"
    r"|cubic|devin|korbit|sonar(?:qube|cloud)?)"
)
MODEL = (
    rf"(?:(?:{_BOT}|cursor|codex|gemini|claude|opus|sonnet|haiku|chat ?gpt(?:-?[\w.]+)?|gpt(?:-?[\w.]+)?|o[134]|grok"
    r"|deepseek|kimi|perplexity|mistral|qwen|glm|cc)(?:\[bot\]| (?:ai|bot|code|code assist|cli|agent|pro|thinking"
    r"|k2))?)"
)
_MACHINE = (
    r"(?:(?:(?:an)?other|a different|a second|a|my|our|the|some|one|two|three) (?:of (?:my|our|the) )?(?:[\w-]+ )?"
    r"(?:ai|llm|model|agent|assistant|bot|critic|session|chat|instance|reviewer)s?(?: agents?)?)"
)
_JUDGE = (
    rf"(?:{MODEL}|{_MACHINE}|sub-?agents?|maintainers?|(?:[\w-]+ )?reviewers?(?: ?#?\d+)?|referees?(?: ?#?\d+)?"
    r"|code ?owners?)"
)
"""Who says something of a work mostly because they looked at it."""
_PERSON = (
    r"(?:(?:(?:(?:an)?other|an?|my|our|the|some|one|two|three|their|his|her) (?:of (?:my|our|the) )?(?:[\w'/-]+ ){0,3}?"
    r"(?:colleague|co-?worker|(?:team-?)?mate|lead|boss|manager|maintainer|senior|engineer|developer|dev|expert|mentor"
    r"|architect|team|friend|teacher|prof(?:essor)?|guy|person|designer|auditor|advis[eo]r|supervisor|tutor|consultant"
    r"|ta|cto|pm|dba|co-?founder|co-?author|editor|committee|jury|judge|artist|intern)s?)"
    r"|team-?mates?|(?:boss|prof(?:essor)?|tech lead|lead|mentor|ta|advisor|supervisor|principal engineer)(?= ))"
)
_SOMEBODY = rf"(?:{_JUDGE}|{_PERSON})"

_REVIEW = (
    r"(?:(?:code|pr|mr|cr|peer|design|security|plan|architecture|team|self|ai|external|independent|adversarial|second"
    r"|third|final|latest|last) ){0,3}(?:re-?)?(?:review|reveiw|reviw|critique|audit)"
)
_PULL = r"(?:prs?|pull requests?|mrs?|merge requests?|crs?)"
_SURE = r"(?:comments?|fee?d[ -]?e?backs?|findings|remarks|critiques?|nits|nitpicks)"
"""Words that mean what is said of work, also where nobody says whose."""
_COMMENTS = (
    rf"(?:{_SURE}|finding|remark|notes?|concerns?|suggestions?|objections?|points?|issues?|problems|recommendations?"
    r"|observations?|blockers?|opinions?|assessment|corrections?|review|take|thoughts|verdict|inputs?)"
)
_WORK = (
    r"(?:(?:the|this|that|your|my|our|its|these|those) )?(?:[\w./@-]+ ){0,2}?(?:diff|plan|changes?|prs?|code|branch|fix"
    r"|implementation|design|commits?|patch|approach|proposal|spec|work|solution|draft|pull request|refactor\w*"
    r"|version|result|pages?|ui|document|@?[\w./-]+\.\w{1,4})(?!\w)"
)
_SAID = (
    r"(?:said|says|thinks?|found|finds|noticed|flagged|flags|reports?|reported|raised|raises|complain(?:s|ed)"
    r"|(?:suggest|recommend|reject|request|comment|respond|point|mention|list|review|audit|critique)(?:s|ed|d)"
    r"|proposed|provided|offered|came back|identified|replied|wrote|wants)\b"
)
_GAVE = (
    r"(?:has|have|had|made|left|gave|gives|provided|offered|shared|sent|posted|wrote|raised|returned|came back with)"
)
_HERE = (
    r"(?:here(?:'s|\u2019s| is| are| comes?)|there(?:'s| is| are)|these are|this is|below (?:is|are)|(?:i|we)(?:'ve)?"
    r" ?(?:just )?(?:got|have|received|getting)|got|getting|received|another|second|third|next|new|latest|recent"
    r"|following|more|some|the above)"
)


def _named() -> str:
    """Return the words that name comments: as a review's, as somebody's, or on the work."""
    by = rf"(?:(?:the|a|an|this|that|my|our|your|his|her|their|\w+'s) )?(?:[\w-]+ )?(?:{_REVIEW}(?:er)?|{_PULL})"
    return (
        # review feedback; the reviewer's comments; PR comments
        rf"\b{_REVIEW}(?:er)?s?(?:'s?|\u2019s?)? (?:{_COMMENTS}|results?|reports?)\b"
        rf"|\b{_PULL} {_SURE}\b"
        # feedback from codex; findings of the review; issues found in the review; comments on your diff
        rf"|\b{_COMMENTS} (?:(?:that|which|were|was|they|he|she|i|we|you) ){{0,2}}"
        r"(?:(?:raised|found|left|made|done|given|posted|reported|flagged|got|identified|provided|mentioned) )?"
        rf"(?:from|by|of|in|during|under) (?:{_SOMEBODY}|{by})\b"
        rf"|\b(?:{_SURE}|review|notes) (?:on|for|about|of|around|regarding) {_WORK}"
        rf"|\b(?:{_SURE}|review) (?:from|by) [^\n:]{{1,40}}(?=:|\n|,| follows)"
        # Claude's take; Joe's review
        rf"|\b{_SOMEBODY}(?:'s?|\u2019s?|s'?)? (?:\w+ ){{0,2}}?{_COMMENTS}\b"
        rf"|\b(?-i:[A-Z])\w+(?:'s|\u2019s) (?:\w+ )?(?:review|{_SURE})\b"
        # on top of a text, or at the end of a line
        rf"|(?m:^)\W{{0,12}}(?:{_BOT}|reviewer ?#?\d*)(?=:)|(?m:^)\W{{0,4}}{MODEL}(?= ?[\"\u201c])"
        rf"|(?m:^)\W{{0,12}}(?:[\w'-]+ ){{0,4}}?(?P<head>{_SURE})\b(?=\W{{0,6}}(?:\n|[:\uff1a]|\Z))"
        r"|(?m:^)\W{0,12}(?:[\w'-]+ ){0,2}?(?P<lead>fee?d[ -]?e?backs?|findings|remarks|nits)\b(?! (?:&|and|or) )"
        r"(?=[^\n:.]{1,60}(?::|\n))"
        rf"|(?m:^)\W{{0,12}}(?:\w+ ){{0,3}}?(?P<title>{_REVIEW})(?:ed)?(?: \(?#?\d+\)?| round \d+)?"
        r"(?=\W{0,6}(?:\n|[:\uff1a]|\Z))"
    )


def _told() -> str:
    """Return the words that tell that somebody looked at the work, or that comments are there."""
    return (
        # codex says; my boss left some remarks; here is the feedback; another round of review
        rf"\b{_JUDGE} (?:(?:has|have|also|just|now|still|again|then|[\w.-]+) ){{0,2}}?{_SAID}"
        rf"|\b{_SOMEBODY} (?:[\w.-]+ )?{_GAVE} (?:[\w']+ ){{0,4}}?{_COMMENTS}\b"
        rf"|\b{_HERE} (?:[\w-]+ ){{0,4}}?(?:{_SURE}|review)\b"
        r"|\b(?:this|these|the following) (?:\w+ )?(?:feedback|reviews?|findings|remarks|critique|assessment)\b"
        # found in the review; this came up in review; asked codex to review it; the review came back
        r"|\b(?:found|flagged|raised|noticed|reported|came up|mentioned) (?:during|in|by) "
        rf"(?:(?:the|a|an|my|our) )?(?:\w+ )?{_REVIEW}\b|\b(?:from|in|during) (?:(?:the|a|my|our|this) )?{_REVIEW}(?=:)"
        r"|\b(?:asked|had|got|let|made|ran) [\w. -]{1,30}? (?:to )?(?:review|audit|look)\b"
        rf"|\b{_REVIEW}s? (?:(?:is|are|has|have|just|came|got|now|finally|come|been) )+(?:back|here|in|below|done)\b"
        rf"|\b{_REVIEW}(?:er|ers|s)? (?:(?:also|then|agent|bot|round|\d+) ){{0,2}}{_SAID}"
        # reviewed by X; I reviewed the plan
        rf"|\breviewed (?:by|it|this|that|the|your|my|{_WORK})"
        r"|\b(?:i|we)(?:'ve| have)? (?:just |also |now )?reviewed\b"
        r"|\b(?:after|upon|on) (?:(?:further|careful|closer|a|the|code|my|our|second) ){0,3}review(?:ing)?\b"
    )


CALLS = lazy_pattern(lambda: f"(?i){_named()}|{_told()}")
"""Words that call what stands behind them a review's; a named group is where they begin, if not at the match."""
ABROAD = lazy_pattern(
    r"レビュー(?:結果|指摘|コメント|内容|意見|フィードバック|来|が[来届返]|で(?:以下|指摘|次|もら|頂|いただ|言わ"
    r"|見つか)|の(?:指摘|結果|コメント|内容)|を(?:もら|受け|頂|いただ)|させた|し(?:てもらった|た結果))"
    r"|指摘(?:事項|内容|として|され|です|が[来届あ]|をもら|いただ|もら)|コメント(?:を|が)?(?:もら|いただ|頂|来|届"
    r"|つき|ありました)|査読|からのコメント|コメント(?:です|[:：])"
    r"|フィードバック(?:が|です|は|として|を(?:もら|受け|頂|いただ)|[:\uff1a])"
    r"|(?:评审|审查|审核|审阅|审稿|(?i:code )?(?i:review(?:er)?)) ?(?:人|者)?的?(?:意见|结果|结论|反馈|评论|建议|发现"
    r"|报告|问题)"
    r"|(?:评审|审查|审核|审阅)(?:过|完)?了(?!吗)|[看读]了[^\n]{0,12}(?:代码|方案|计划|文档|论文)|(?:反馈|意见)(?:如下"
    r"|是|[:\uff1a])|(?:评论|反馈|指出)(?:说|道)?[,，]?[:：“]"
    r"|(?:的|新|这些|这个|条) ?(?i:comments?|feedback|review) ?[:\uff1a]"
    r"|(?i:codex|claude|gemini|grok|gpt|chatgpt|deepseek|kimi|opus)[^\n]{0,20}(?:意见|结论|(?i:review)|反馈"
    r"|(?<!你)评价(?!下|一下)|看法|建议|指摘|意見|レビュー|評価|의견|검토)"
    r"[^\n]{0,16}[:\uff1a]|(?i:codex|claude|gemini|grok|gpt)回复[:\uff1a]\s*(?=结论)"
    r"|(?i:codex|claude|gemini|grok|gpt|chatgpt)[^\n]{0,4}(?:发现|指出|提出|提到)了?[^\n]{0,20}[:\uff1a]"
    r"|(?im:^\W{0,4}(?:codex|claude|gemini|grok|gpt|chatgpt)[ \t]*(?:意見|意见|評語|评语)\s*$)"
    r"|리뷰(?:어)?[가이는를]? ?(?:결과|코멘트|의견|피드백|내용|받은|한 (?:결과|내용)|했는데|해 ?줬)|피드백(?:이|입|은"
    r"|는|을 (?:받|주)|[:\uff1a]|\s*$)|코멘트|남겼"
    r"|(?i:замечани\w+|ревью|правки|комментари\w+|фидб[еэ]к\w*|(?:посмотрел|прочитал|проверил|глянул)а? \w+ (?:mr|pr"
    r"|код|план|пр|мр)\b)"
    r"|(?im:^\W{0,6}(?:\w+ ){0,3}?(?:revisão|revisión|revisione|relecture)\b)"
    r"|(?i:\b(?:comentarios|observaciones|comentários|observações|commentaires|remarques|retours|kommentare|anmerkungen"
    r"|hallazgos|achados|retroalimentación|befunde|opmerkingen|synpunkter|kommentarer|uwagi|komentarze|commenti"
    r"|osservazioni"
    r"|revisou|revisó|relu|critiques|gutachten|rückmeldung(?:en)?|apontou|avaliou|correcciones|drübergeschaut"
    r"|draufgeschaut|drüberschauen|anotações"
    r"|review-(?:kommentare?|ergebnis\w*|anmerkungen|feedback|agenten|punkte|befunde|notizen|rückmeldung\w*)|masukan"
    r"|tanggapan|yorumlar|připomínky|зауваження|nhận xét|góp ý)\b)"
)
"""The same in Japanese, Chinese, Korean, Russian, Spanish, Portuguese, French and German."""
