"""What a command printed: the agents' own wrapping taken off, and the one line that names a failure."""

from __future__ import annotations

import re

MAX_READ = 96 << 10
"""Characters of an output that are looked at: its beginning and its end."""
MAX_TAIL = 2000
MAX_LINE = 240

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][AB012]|[=>78])")
_WRAPPING = re.compile(
    r"\A(?:Error: )?(?:Exit code:? -?\d+\s*\n|Chunk ID: .*\n|Wall time: .*\n|Process (?:exited|running) with .*\n"
    r"|Original token count: .*\n|Total output lines: .*\n|Output:[ \t]*\n?|Warning: truncated output .*\n)+"
)
_TRAILER = re.compile(r"\n*Command exited with code \d+\s*\Z")


def bare_output(text: str) -> str:
    """Return an output without colour codes and without the lines the agent's program put around it."""
    if len(text) > MAX_READ:
        text = f"{text[: MAX_READ // 3]}\n…\n{text[-2 * MAX_READ // 3 :]}"
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = text.replace("\r\n", "\n")
    if wrapping := _WRAPPING.match(text):
        text = text[wrapping.end() :]
    if trailer := _TRAILER.search(text, max(0, len(text) - 80)):
        text = text[: trailer.start()]
    return text


_NOISE = re.compile(
    r"^(?:npm warn\b|npm (?:error|ERR!)(?:$| (?:A complete log|path|location|(?:in )?workspace|command|code|errno))"
    r"|npm (?:error|ERR!) Lifecycle"
    r"|Debugger |Waiting for the debugger|\s*ELIFECYCLE|hint:|\s*at \S|FAIL$|[\s=─━_*-]*$|\s*\^+\s*$"
    r"|exit status \d+$|error: (?:script|Recipe|Process completed)|make(?:\[\d+\])?: |Node\.js v|\s*\d+ \|)"
)
_PATTERNS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        r"\berror TS\d+:",
        r"^error(?:\[E\d+\])?: ",
        r"^(?:FAILED|ERROR) \S+(?:::| - )",
        r"^\s*[1-9]\d* tests? failed",
        r"^E {2,}\S",
        r"^\s*--- FAIL: ",
        r"^\(fail\) ",
        r"^(?:\w+\.)*\w*(?:Error|Exception|Failure|Interrupt)\b(?:\s*\[[A-Z_]+\])?(?::|$)",
        r"^\*\* \(\w*Error\)|^\s+\*\* \(\w+\)",
        r"^thread '.*' panicked|^panic: ",
        r"^(?:fatal|FATAL)\b|^CONFLICT |^ ! \[",
        r"\S+:\d+(?::\d+)?:? (?:fatal )?(?:error|undefined|cannot)\b",
        r"^\S+\.\w+:\d+:\d+: \S",
        r"(?:command not found|No such file or directory|[Pp]ermission denied|not permitted|Connection refused)",
        r"^\s*(?:[✗✖×❌]|not ok\b|FAIL\b)\s*\S",
        r"(?i)^\W*error\b.*\S",
        r"(?i)\b(?:failed|failure|cannot|can't|could not|unable to|refus(?:ed|ing)|denied)\b",
        r"(?i)\b(?:not found|invalid|unknown|missing)\b",
        r"(?i)\b(?:error|exception|timed out|timeout)\b",
    )
)  # fmt: skip


def error_line(text: str) -> str:
    """Return the line of an output that best names the failure, at most 240 characters; empty for no output at all."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    useful = [line for line in lines if not _NOISE.search(line)] or lines
    if not useful:
        return ""
    trace = any(line.startswith("Traceback (most recent call last)") for line in useful)
    for pattern in _PATTERNS:
        for line in reversed(useful) if trace else useful:
            if pattern.search(line[:2000]):
                return one_line(line)
    return one_line(useful[-1])


def one_line(text: str, limit: int = MAX_LINE) -> str:
    """Return a text as one line without control characters, cut to `limit` characters."""
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
