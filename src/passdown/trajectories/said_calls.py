"""Tool calls that a model wrote into its text, as models without a tool interface do."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.model.pattern import lazy_pattern

_FUNCTION = lazy_pattern(r"<function=([\w.-]{1,100})>")
_PARAMETER = lazy_pattern(r"<parameter=([\w.-]{1,100})>")
_BLOCK = lazy_pattern(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n")
_TAGS = (("<execute_bash>", "</execute_bash>", "bash"), ("<execute_ipython>", "</execute_ipython>", "ipython"))
_MOST = 50


class SaidCall(NamedTuple):
    """A call in a text: its tool and arguments."""

    tool: str
    arguments: dict[str, Any]


class Said(NamedTuple):
    """A text without the calls in it, and the calls."""

    text: str
    calls: tuple[SaidCall, ...] = ()


def said_calls(text: str, *, blocks: bool = False) -> Said:
    """Take the calls out of a text. With `blocks`, a block of shell code is one, when there is exactly one."""
    if "<function=" in text:
        return _functions(text)
    for begin, end, tool in _TAGS:
        start = text.find(begin)
        if start >= 0:
            inside, _, after = text[start + len(begin) :].partition(end)
            spoken = (text[:start].rstrip() + after).strip()
            return Said(spoken, (SaidCall(tool, {"command": inside.strip()}),))
    return _block(text) if blocks else Said(text)


def _functions(text: str) -> Said:
    starts = list(_FUNCTION.finditer(text))[:_MOST]
    if not starts:
        return Said(text)
    calls = []
    for match, after in zip(starts, [*starts[1:], None], strict=False):
        body = text[match.end() : after.start() if after else len(text)]
        calls.append(SaidCall(match[1], _parameters(body.partition("</function>")[0])))
    last = text[starts[-1].end() :].partition("</function>")[2].strip()
    spoken = text[: starts[0].start()].rstrip()
    return Said(f"{spoken}\n\n{last}" if spoken and last else spoken or last, tuple(calls))


def _parameters(body: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    starts = list(_PARAMETER.finditer(body))[:_MOST]
    for match, after in zip(starts, [*starts[1:], None], strict=False):
        value = body[match.end() : after.start() if after else len(body)]
        inside, closed, _ = value.rpartition("</parameter>")
        value = inside if closed else value
        found.setdefault(match[1], value.removeprefix("\n").removesuffix("\n"))
    return found


def _block(text: str) -> Said:
    starts = list(_BLOCK.finditer(text))
    if len(starts) != 1:
        return Said(text)
    inside, closed, after = text[starts[0].end() :].partition("\n```")
    if not closed:
        return Said(text)
    spoken = (text[: starts[0].start()].rstrip() + after).strip()
    return Said(spoken, (SaidCall("bash", {"command": inside.strip("\n")}),))
