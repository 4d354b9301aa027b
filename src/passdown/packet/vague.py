"""Whether a sentence says what to do: the lint behind `next_action`."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from passdown.model.pattern import lazy_pattern

MAX_LENGTH = 300
"""Longest next action in characters."""

_FILLER_WORDS = """
a an the this that these those it its they them my our your we i you us he she his her all any some more most other
rest remaining everything anything something nothing none thing things stuff etc and or but of in for on at to from
up off out with by as is was are be been do does did done doing make makes making get getting go goes going gone
pick picks picked picking
keep keeps kept continue continues continuing continued carry carrying proceed proceeding resume resuming work works
working worked finish finishing finished finalize finalise complete completing completed wrap polish clean cleanup
improve improving fix fixing fixes fixed issue issues bug bugs problem problems task tasks todo todos tbd tba tbc na
n next step steps item items action actions follow following see above below before previous previously earlier
later soon now again then when where what which how here there left off planned plan discussed described mentioned
usual implementation implement implementing feature features code coding project changes change update updates
progress further forward please will would should could can let lets need needs needed required try start begin check
test tests testing review reviewing ready good ok okay yes no yep sure thanks hi hello wait waiting pending unknown
human user lgtm looks right cool undecided not yet job whatever same also just still ahead ongoing wip placeholder
continuar continua seguir sigue terminar siguiente paso pendiente weiter weitermachen machen fertig nächster schritt
continuer suite terminer prochaine étape rien nada nichts offen le la les el los das der die den und et y de
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_HALTS = frozenset({"stop", "cancel", "abort", "halt", "quit", "exit", "pause"})
"""What ends something rather than asks for it."""
_CJK_FILLER_WORDS = """
继续 接着 接下来 下一步 下一个 完成 剩余 剩下 其余 余下 的 工作 任务 事情 部分 内容 待定 待办 无
没有 同上 见上 如上 上文 上面 按 计划 进行 推进 处理 一下 开发 做 搞定 修复 解决 问题 优化 改进 改善 完善 代码 测试
检查 吧 了 所有 全部 东西 等等 以后 稍后 再说 看看 需要 人工 请 把 和 并 等 未 后续 收尾 弄 完 未知 这个 那个 它 好 好的
功能 实现 项目 步骤 事项 繼續 接著 剩餘 任務 問題 待辦 無 處理 優化 項目
続ける 続き 続行 作業 残り 次 ステップ 対応 する して ください を の に は が
진행 계속 작업 나머지 다음 단계 하기 완료 없음 해 주세요 을 를 의
"""
_CJK_FILLERS = lazy_pattern("|".join(sorted(_CJK_FILLER_WORDS.split(), key=len, reverse=True)))
_CJK_BLOCKS = (("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uac00", "\ud7af"))
_MASKED = lazy_pattern(r"\[redacted:[a-z0-9_]+\]")
_WORD = lazy_pattern(r"[^\W_]+(?:['’-][^\W_]+)*")
_ANCHOR = lazy_pattern(
    r"`[^`\s][^`]*`|\b(?!and/or\b)\w[\w.-]+/\w[\w.-]+|\b\w+\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|c|h|cc|cpp|cs|swift|md|toml|json|ya?ml|"
    r"sh|sql|html|css|txt|cfg|ini)\b|\b\w+::\w+|\b\w+\(\)|\b[A-Z]+-\w*\d\w*|#\d+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+|\B--?\w[\w-]+"
)


_NO_PATH = lazy_pattern(r"^\W*(?:n/a|and/or)\W*$", re.IGNORECASE)
_RULE = lazy_pattern(
    r"\b(?:don['’]?t|do not|never|must|only|always|without|avoid|instead|keep|prefer|no (?:new|more)|not)\b|"
    r"不要|不能|别|必须|只能|只用|禁止|务必|避免|保持|不许|しない|必ず|禁止|하지|반드시",
    re.IGNORECASE,
)


def _spaced(text: str) -> str:
    """The text with a space for each Chinese, Japanese or Korean character (most texts have none)."""
    return "".join(" " if _is_cjk(c) else c for c in text) if _may_hold_cjk(text) else text


def _may_hold_cjk(text: str) -> bool:
    return not text.isascii() and max(text) >= _CJK_BLOCKS[0][0]


def _is_cjk(character: str) -> bool:
    return any(first <= character <= last for first, last in _CJK_BLOCKS)


def _cjk_left(text: str, *fillers: re.Pattern[str]) -> list[str]:
    """The Chinese, Japanese and Korean characters that are left when fillers are taken out."""
    if not _may_hold_cjk(text):
        return []
    for filler in fillers:
        text = filler.sub("", text)
    return [character for character in text if _is_cjk(character)]


def sets_a_rule(text: str) -> bool:
    """Say whether a message forbids or demands something that lasts."""
    return _RULE.search(text[:4000]) is not None


def refusal(text: str) -> str:
    """Return why a text is no usable next action, or an empty string when it is one.

    A usable one is a single line of at most 300 characters that says what to do: a path, a command or an identifier,
    or enough words beyond those that fit any task ("continue", "finish the rest", "继续").
    """
    stripped = text.strip()
    if not stripped:
        return "it is empty"
    if len(stripped.splitlines()) > 1:
        return "it has more than one line"
    if len(stripped) > MAX_LENGTH:
        return f"it is longer than {MAX_LENGTH} characters"
    if not any(map(str.isalnum, stripped)):
        return "it holds no word"
    return "" if _is_concrete(stripped) else "it is vague: it would fit any task"


def is_vague(text: str) -> bool:
    """Say whether a text, whatever its length, says nothing in particular."""
    flat = " ".join(text.split())
    return not flat or (len(flat) <= MAX_LENGTH and not _is_concrete(flat))


def is_filler(text: str) -> bool:
    """Say whether a message asks for nothing of its own: "ok", "go on", "stop", "继续"."""
    flat = " ".join(text.split())
    if len(flat) > 60 or _is_concrete(flat):
        return not flat
    words = [word.casefold().replace("’", "'").replace("'", "") for word in _WORD.findall(_spaced(flat))]
    return not _cjk_left(flat, _CJK_FILLERS) and all(word in _FILLERS or word in _HALTS for word in words)


_ROUNDING_WORDS = """
commit commits push merge pr pull request open create land ship nice great thanks perfect after that let lets to main
master branch origin upstream all them these 提交 推送 合并
"""
_ROUNDING = frozenset(_ROUNDING_WORDS.split()) | _FILLERS
_ROUNDING_CJK = lazy_pattern("提交|推送|合并|创建|コミット|プッシュ|커밋|푸시")


def is_rounding_off(text: str) -> bool:
    """Say whether a message only asks to commit, push or merge what there is."""
    flat = " ".join(text.split())
    if len(flat) > 80 or _ANCHOR.search(flat):
        return False
    words = [word.casefold().replace("’", "'").replace("'", "") for word in _WORD.findall(_spaced(flat))]
    return not _cjk_left(flat, _ROUNDING_CJK, _CJK_FILLERS) and all(word in _ROUNDING for word in words)


def _fills(word: str) -> bool:
    return word.casefold().replace("’", "'").replace("'", "") in _FILLERS


@lru_cache(maxsize=256)
def _is_concrete(text: str) -> bool:  # several sections of a packet ask for the same messages
    text = _MASKED.sub("", unicodedata.normalize("NFKC", text))
    if _ANCHOR.search(_NO_PATH.sub("", text)):
        return True
    cjk = len(_cjk_left(text, _CJK_FILLERS))
    words = _WORD.findall(_spaced(text))
    content = [word for joined in words for word in joined.split("-") if not _fills(word)]
    if cjk >= 4 or (cjk >= 2 and content):
        return True
    return (len(content) >= 2) or (len(content) == 1 and len(words) >= 3)
