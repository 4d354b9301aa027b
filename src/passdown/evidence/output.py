"""What a command printed: the agents' own wrapping taken off, and the one line that names a failure."""

from __future__ import annotations

import re
from functools import cache

from passdown.model.pattern import compile_pattern, lazy_pattern

MAX_READ = 96 << 10
"""Characters of an output that are looked at: its beginning and its end."""
MAX_TAIL = 2000
MAX_LINE = 240

_GAP = "\n…\n"
_ANSI = lazy_pattern(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][AB012]|[=>78])")
_WRAPPING = lazy_pattern(
    r"\A(?:Error: )?(?:Exit code:? -?\d+\s*\n|Chunk ID: .*\n|Wall time: .*\n|Process (?:exited|running) with .*\n"
    r"|Original token count: .*\n|Total output lines: .*\n|Output:[ \t]*\n?|Warning: truncated output .*\n"
    r"|<untrusted_context>[ \t]*\n|Command: .*\n(?:.*\n){0,40}?Directory: .*\n(?=Output:))+"
)
_TRAILER = lazy_pattern(
    r"\n*(?:Command exited with code \d+|<(?:shellId: [\w.-]{1,80} completed|exited) with exit code -?\d+>)\s*\Z"
)
_FOOTER = lazy_pattern(
    r"(?:\n(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): .*)+\s*(?:</untrusted_context>\s*)?\Z"
)
"""What Gemini CLI and Qwen Code write below a command's output."""
_HOOKED = lazy_pattern(r"(?s)\s*<hook_context>(?:(?!</?hook_context>).)*+</hook_context>\s*\Z")


def clipped(text: str) -> str:
    """Return an output whose middle is left out when it is long."""
    return text if len(text) <= MAX_READ else f"{text[: MAX_READ // 3]}{_GAP}{text[len(_GAP) - 2 * MAX_READ // 3 :]}"


def without_colours(text: str) -> str:
    """Return a text without the codes that a terminal takes for colours."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def bare_output(text: str) -> str:
    """Return an output without colour codes and without the lines the agent's program put around it."""
    text = without_colours(clipped(text)).replace("\r\n", "\n")
    if wrapping := _WRAPPING.match(text):
        text = text[wrapping.end() :]
    return _without_footer(text)


def _without_footer(text: str) -> str:
    """Return an output without what the agent's program wrote below it, a hook's words included."""
    while text.rstrip().endswith("</hook_context>") and (hooked := _HOOKED.search(text)):
        text = text[: hooked.start()]
    end = text[-400:]
    if ("exited with code " in end or "with exit code " in end) and (
        trailer := _TRAILER.search(text, max(0, len(text) - 160))
    ):
        return text[: trailer.start()]
    if "\nProcess Group PGID: " in end or "\nExit Code: " in end:
        footer = _FOOTER.search(text, max(0, len(text) - 800))
        return text[: footer.start()] if footer else text
    return text


_NOISE = (
    r"^(?:npm warn\b|npm (?:error|ERR!)(?:$| (?:A complete log|path|location|(?:in )?workspace|command|code|errno))"
    r"|npm (?:error|ERR!) Lifecycle"
    r"|\$ \S|Debugger |Waiting for the debugger|\s*ELIFECYCLE|hint:|\s*at \S|FAIL$|[\s=─━_*-]*$|\s*\^+\s*$"
    r"|exit status \d+$|error: (?:script|Recipe|Process completed)|make(?:\[\d+\])?: |Node\.js v|\s*\d+ \|)"
)
_PLACED: tuple[str, ...] = ()
"""Stands for the lines that name a place by line and column: a text alone would find too many."""
_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("error",), r"\berror TS\d+:"),
    (("error",), r"^error(?:\[E\d+\])?: "),
    (("fail", "error"), r"^(?:FAILED|ERROR) \S+(?:::| - )"),
    (("fail",), r"^\s*[1-9]\d* tests? failed"),
    (("e  ",), r"^E {2,}\S"),
    (("fail",), r"^\s*--- FAIL: "),
    (("fail",), r"^\(fail\) "),
    (("error", "exception", "fail", "interrupt"),
     r"^(?:\[|Uncaught )?(?:\w+\.)*\w*(?:Error|Exception|Failure|Interrupt)\b(?:\s*\[[A-Z_]+\])?(?::|$)"),
    (("** (",), r"^\*\* \(\w*Error\)|^\s+\*\* \(\w+\)"),
    (("panic",), r"^thread '.*' panicked|^panic: "),
    (("fatal", "conflict ", " ! ["), r"^(?:fatal|FATAL)\b|^CONFLICT |^ ! \["),
    (("error", "undefined", "cannot"), r"\S:\d+(?::\d+)?:? (?:fatal )?(?:error|undefined|cannot)\b"),
    (_PLACED, r"^\S+\.\w+:\d+:\d+: \S"),
    (("not found", "no such file", "denied", "not permitted", "connection refused"),
     r"(?:command not found|No such file or directory|[Pp]ermission denied|not permitted|Connection refused)"),
    (("✗", "✖", "×", "❌", "not ok", "fail"), r"^\s*(?:[✗✖×❌]|not ok\b|FAIL\b)\s*\S"),
    (("error",), r"(?i)^\W*error\b.*\S"),
    (("fail", "cannot", "can't", "could not", "unable to", "refus", "denied"),
     r"(?i)\b(?:failed|failure|cannot|can't|could not|unable to|refus(?:ed|ing)|denied)\b"),
    (("not found", "invalid", "unknown", "missing"), r"(?i)\b(?:not found|invalid|unknown|missing)\b"),
    (("error", "exception", "timed out", "timeout"), r"(?i)\b(?:error|exception|timed out|timeout)\b"),
)  # fmt: skip
"""What names a failure, the surest first: texts (in lower case) of which every match holds one, and the pattern.

The fewer different texts there are, the less often an output is gone through.
"""
_PLACE = r":\d+:\d+: "


_TRACEBACK = "Traceback (most recent call last)"


def error_line(text: str) -> str:
    """Return the line of an output that best names the failure, at most 240 characters; empty for no output at all."""
    last, only_noise = _last_line(text)
    if not last:
        return ""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.replace("İ", "i").lower()  # the one letter that grows: positions have to stay
    backwards = _TRACEBACK in text and (text.startswith(_TRACEBACK) or f"\n{_TRACEBACK}" in text)
    noise = compiled(_NOISE).match
    found: dict[tuple[str, ...], list[int]] = {}
    lines: dict[int, str] = {}
    for words, pattern in _PATTERNS:
        for start in _lines_with(words, lowered, found, backwards=backwards):
            line = lines.get(start)
            if line is None:
                end = text.find("\n", start)
                line = lines[start] = (text[start:end] if end >= 0 else text[start:]).rstrip()
            if compiled(pattern).search(line, 0, 2000) and (only_noise or not noise(line)):
                return one_line(line)
    return one_line(last)


def _last_line(text: str) -> tuple[str, bool]:
    """Return the last line that says anything, and whether that is noise because every line is."""
    noise = compiled(_NOISE).match
    fallback, end = "", len(text)
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        if line := text[start:end].rstrip():
            if not noise(line):
                return line, False
            fallback = fallback or line
        end = start - 1
    return fallback, True


def _lines_with(
    words: tuple[str, ...], text: str, found: dict[tuple[str, ...], list[int]], *, backwards: bool
) -> list[int]:
    """Return where the lines begin that hold any of the words; `found` keeps what was found before."""
    lines = found.get(words)
    if lines is None:
        if len(words) > 1:
            starts = {start for word in words for start in _lines_with((word,), text, found, backwards=backwards)}
            lines = sorted(starts, reverse=backwards)
        else:
            lines = _placed(text) if words is _PLACED else _holding(words[0], text)
            if backwards:
                lines.reverse()
        found[words] = lines
    return lines


def _holding(word: str, text: str) -> list[int]:
    """Return where the lines begin that hold a word."""
    lines = []
    at = text.find(word)
    while at >= 0:
        lines.append(text.rfind("\n", 0, at) + 1)
        end = text.find("\n", at)
        at = text.find(word, end) if end >= 0 else -1
    return lines


def _placed(text: str) -> list[int]:
    """Return where the lines begin that name a place by line and column."""
    return list(dict.fromkeys(text.rfind("\n", 0, match.start()) + 1 for match in compiled(_PLACE).finditer(text)))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed: most sessions need few of them."""
    return compile_pattern(pattern)


def any_line(pattern: re.Pattern[str], words: tuple[str, ...], text: str) -> bool:
    """Say whether the pattern, which never spans lines and needs one of the words, is found in the text."""
    looked: set[int] = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            end = end if end >= 0 else len(text)
            if start not in looked:
                if pattern.search(text, start, end):
                    return True
                looked.add(start)
            at = text.find(word, end)
    return False


def one_line(text: str, limit: int = MAX_LINE) -> str:
    """Return a text as one line without control characters, cut to `limit` characters."""
    if len(text) <= limit and text.isprintable() and "  " not in text:
        return text.strip()
    clean = " ".join(text[: limit * 4].split())
    if not clean.isprintable():
        clean = " ".join("".join(c if c.isprintable() else " " for c in clean).split())
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def tail_of(text: str, limit: int = MAX_TAIL) -> str:
    """Return the end of a text, at most `limit` characters, from the beginning of a line where there is one."""
    text = text.rstrip()
    if len(text) <= limit:
        return text
    kept = text[-limit:]
    newline = kept.find("\n")
    return kept[newline + 1 :] if 0 <= newline < limit // 2 else kept
