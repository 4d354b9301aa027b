"""Calls that look like debugging, per language: breakpoints, focused and skipped tests, prints."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from passdown.model.pattern import compile_pattern, lazy_pattern

Tier = Literal["always", "maybe", "focused", "skipped"]


class Hit(NamedTuple):
    """One call that looks like debugging. `tell` says that something about it gives it away as a leftover."""

    line: int
    tier: Tier
    what: str
    tell: bool = False


class Rules(NamedTuple):
    """The expressions of one language, matched against its code without strings and comments."""

    always: str = ""
    maybe: str = ""
    focused: str = ""
    skipped: str = ""
    entry: str = ""


_FREE = r"(?<![\w.$>:])"

RULES: dict[str, Rules] = {
    "javascript": Rules(
        always=r"(?<![\w.$'\"-])debugger[ \t]*(?:;|$)",
        maybe=r"(?<![\w.$])console\.(?:log|debug|dir|table|trace)[ \t]*\(",
        focused=r"(?<![\w.$])(?:it|test|describe|context|suite|bench)(?:\.(?:concurrent|describe|serial))*"
        r"\.only(?:\.each)?[ \t]*[(`]|"
        r"(?<!function )(?<![\w.$])(?:fit|fdescribe|fcontext)[ \t]*\(",
        skipped=r"(?<![\w.$])(?:(?:it|test|describe|context|suite)(?:\.describe)?\.(?:skip|fixme)|xit|xtest|xdescribe)"
        r"[ \t]*\(",
    ),
    "go": Rules(
        always=r"(?<![\w.])spew\.(?:Dump|Fdump|Sdump|Printf|Println)[ \t]*\(",
        maybe=r"(?<![\w.])fmt\.Print(?:f|ln)?[ \t]*\(|(?<![\w.])println[ \t]*\(",
        focused=r"(?<![\w.])(?:FIt|FDescribe|FContext|FEntry|FSpecify)[ \t]*\(",
        skipped=r"(?<![\w.])t\.Skip(?:f|Now)?[ \t]*\(",
        entry=r"^func (?:main|Example\w*)\(",
    ),
    "rust": Rules(
        always=r"(?<!\w)dbg![ \t]*[(\[{]",
        maybe=r"(?<!\w)e?println![ \t]*[(\[{]",
        skipped=r"#\[ignore\b",
        entry=r"^(?:pub )?(?:async )?fn main\(",
    ),
    "java": Rules(
        always=r"\.printStackTrace[ \t]*\([ \t]*\)",
        maybe=r"(?<![\w.])System\.out\.print(?:ln|f)?[ \t]*\(",
        skipped=r"@(?:Disabled|Ignore)\b",
        entry=r"static\s+(?:final\s+)?void\s+main\s*\(",
    ),
    "kotlin": Rules(
        always=r"\.printStackTrace[ \t]*\([ \t]*\)",
        maybe=rf"{_FREE}(?<!fun )print(?:ln)?[ \t]*\(",
        skipped=r"@(?:Disabled|Ignore)\b",
        entry=r"^\s*(?:suspend )?fun main\(",
    ),
    "swift": Rules(
        maybe=rf"{_FREE}(?<!func )(?:print|debugPrint|dump)[ \t]*\(",
        focused=r"(?<!func )(?<![\w.$])(?:fit|fdescribe|fcontext)[ \t]*\(",
        skipped=r"\bXCTSkip\b",
        entry=r"^@main\b",
    ),
    "c": Rules(
        always=r"(?<!\w)__builtin_trap[ \t]*\(|(?<!\w)__debugbreak[ \t]*\(",
        maybe=r"(?<![\w.>])(?:printf[ \t]*\(|fprintf[ \t]*\([ \t]*stderr\b)|(?<![\w.>])(?:std::)?c(?:out|err)[ \t]*<<",
        entry=r"^\s*(?:int|void)\s+main\s*\(",
    ),
    "csharp": Rules(
        always=r"(?<![\w.])(?:System\.Diagnostics\.)?Debugger\.(?:Break|Launch)[ \t]*\(",
        maybe=r"(?<![\w.])Console\.Write(?:Line)?[ \t]*\(",
        skipped=r"\[Ignore\b|\[(?:Fact|Theory)\([ \t]*Skip\b",
        entry=r"static\s+(?:async\s+)?(?:void|int|Task(?:<int>)?)\s+Main\s*\(",
    ),
    "php": Rules(
        always=rf"{_FREE}(?<!function )(?:var_dump|dd|dump|xdebug_break)[ \t]*\(",
        maybe=rf"{_FREE}print_r[ \t]*\((?![^;\n]*,[ \t]*true\b)",
        skipped=r"->markTest(?:Skipped|Incomplete)[ \t]*\(",
    ),
    "ruby": Rules(
        always=r"(?<![\w.])binding\.(?:pry|irb|break)\b|^[ \t]*(?:byebug|debugger)[ \t]*$",
        maybe=r"^[ \t]*(?:puts|pp|p)(?:[ \t]*\(|[ \t](?![ \t]*[=.+*/|&?<>-]))",
        focused=r"^[ \t]*(?:fit|fdescribe|fcontext)[ \t(]|"
        r"^[ \t]*(?:it|describe|context|specify|RSpec\.describe)\b[^\n]*,[ \t]*(?::focus\b|focus:[ \t]*true\b)",
        skipped=r"^[ \t]*(?:xit|xdescribe|xcontext|skip|pending)(?:[ \t(]|$)",
        entry=r"^if __FILE__ == \$(?:0|PROGRAM_NAME)",
    ),
    "python": Rules(
        always=r"(?<![\w.])breakpoint[ \t]*\(|(?<!\w)set_trace[ \t]*\("
        r"|^[ \t]*(?:import|from)[ \t]+(?:i?pdb|pudb|wdb)\b",
        maybe=r"^[ \t]*(?:print|pprint|pp|ic)[ \t]*\((?![^\n]*\bfile=)",
        focused=r"@pytest\.mark\.only\b",
        skipped=r"@pytest\.mark\.(?:skip|skipif|xfail)\b|@unittest\.skip",
        entry=r"^if __name__ ==",
    ),
    "shell": Rules(always=r"^[ \t]*set[ \t]+(?:-x|-o[ \t]+xtrace)[ \t]*(?:;|$)"),
}  # fmt: skip
"""What counts as debugging. Python's rule is for text that does not parse; else its syntax tree is looked at."""

_TOLD = lazy_pattern(
    r"(?i)^\W*debug(?:ging)?\b|\bxxx+\b|\basdf|={3,}|>{3,}|[\U0001F534\U0001F41B]"
    r"|^\W*(?:(?:i am|i'm|got|reached|in|made it) )?here\W*\d*\W*$"
)
_STRING = lazy_pattern(r"\"((?:\\.|[^\"\\\n])*)\"|'((?:\\.|[^'\\\n])*)'|`((?:\\.|[^`\\])*)`")
_FORMAT = lazy_pattern(r"(?:\{\w*:#?\?\}|%[+#]?v|[\s:,=]|\\n)+")
_LINE_END = lazy_pattern(r"\\[nrt]")
_BARE = lazy_pattern(r"\s*&?(?:this\.|self\.|@)?[A-Za-z_$][\w$]*\s*;?\s*")
_STREAM_END = lazy_pattern(r"\s*<<\s*(?:(?:std::)?endl|[\"'](?:\\n)?[\"'])")


@cache
def expression(source: str) -> re.Pattern[str]:
    """Return the compiled expression; `^` and `$` mean a line."""
    return compile_pattern(source, re.MULTILINE)


def is_told(text: str) -> bool:
    """Say whether a printed text reads as a note to oneself: debug, here, xxx, asdf, ===, >>>."""
    return bool(_TOLD.search(text[:1000]))


def gives_away(arguments: str) -> bool:
    """Say whether a call's arguments are a bare variable, a dump of one, or a text that reads as a note to oneself."""
    arguments = _STREAM_END.sub("", arguments)
    if _BARE.fullmatch(arguments) and arguments.strip().rstrip(";") not in ("", "true", "false", "null", "nil"):
        return True
    texts = [next(filter(None, found.groups()), "") for found in _STRING.finditer(arguments[:2000])]
    if texts and _FORMAT.fullmatch(texts[0]) and any(mark in texts[0] for mark in ("?}", "v")):
        return True
    return any(is_told(_LINE_END.sub(" ", text)) for text in texts)


def arguments_at(code: str, text: str, position: int) -> str:
    """Return what stands between the bracket before `position` and the one that closes it, at most 2,000 characters."""
    depth = 1
    for offset in range(position, min(len(code), position + 2000)):
        if code[offset] in "([{":
            depth += 1
        elif code[offset] in ")]}":
            depth -= 1
            if depth == 0:
                return text[position:offset]
    end = text.find("\n", position)
    return text[position : min(position + 2000, end if end >= 0 else len(text))]
