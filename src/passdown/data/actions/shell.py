"""A shell text as atomic actions: pipelines put together, wrappers taken off, output filters left out."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from passdown.data.actions import looking, running, swe_agent
from passdown.data.actions.dispatch import destination, drafts_of_simple, said
from passdown.data.actions.draft import MARK, Draft
from passdown.data.actions.lexer import CLOSE, OPEN, Simple, lex
from passdown.data.actions.powershell import lex_powershell
from passdown.data.actions.programs import ALIASES, FEEDS
from passdown.data.actions.quoting import UnlexedError
from passdown.data.actions.wrappers import nested, unwrapped
from passdown.evidence.kinds import FILTERS

MAX_TEXT = 200_000
MAX_CACHED = 4000
_DEEPEST = 4


class Doing(NamedTuple):
    """One simple command that counts: what it does, the operator before its pipeline, whether its exit code is hidden.

    `move` is the directory that a `cd` goes to. `scope` is 1 where a subshell begins, -1 where one ends.
    """

    drafts: tuple[Draft, ...] = ()
    before: str = ""
    hidden: bool = False
    move: str | None = None
    scope: int = 0


class Line(NamedTuple):
    """What a whole shell text does. `lexed` is False when it is no shell text."""

    doings: tuple[Doing, ...]
    lexed: bool = True


def simples(command: str, powershell: bool = False) -> tuple[Simple, ...]:
    """Return the simple commands of a text, wrappers taken off and nested shells opened. Raises `UnlexedError`."""
    return (_simples if len(command) <= MAX_CACHED else _simples_of)(command[:MAX_TEXT], powershell)


def _simples_of(command: str, powershell: bool) -> tuple[Simple, ...]:
    if (said := swe_agent.simple(command)) is not None:
        return (said,)
    return tuple(_flat(lex_powershell(command) if powershell else lex(command), 0))


_simples = lru_cache(maxsize=1024)(_simples_of)


def _flat(found: list[Simple], depth: int) -> list[Simple]:
    flat: list[Simple] = []
    for simple in found:
        if simple.scope or not simple.words:
            flat.append(simple)
            continue
        words = unwrapped(simple.words)
        script = nested(words)
        if script is None or depth >= _DEEPEST:
            flat.append(simple if words is simple.words else simple._replace(words=words))
            continue
        try:
            inner = _flat(lex(script), depth + 1)
        except UnlexedError:
            flat.append(simple._replace(words=words))
            continue
        first = next((at for at, one in enumerate(inner) if not one.scope), None)
        if first is not None and not inner[first].before:
            inner[first] = inner[first]._replace(before=simple.before)
        flat += [OPEN, *inner, CLOSE]
    return flat


def line_of(command: str, powershell: bool = False) -> Line:
    """Return what a shell text does, in order."""
    return (_line if len(command) <= MAX_CACHED else _line_of)(command, powershell)


def _line_of(command: str, powershell: bool) -> Line:
    try:
        found = simples(command, powershell)
    except UnlexedError:
        return Line((), False)
    doings: list[Doing] = []
    at = 0
    while at < len(found):
        end = at + 1
        while not found[at].scope and end < len(found) and found[end].before == "|" and not found[end].scope:
            end += 1
        doings += _pipeline(found, at, end)
        at = end
    return Line(_without_asides(doings))


_line = lru_cache(maxsize=2048)(_line_of)


def _without_asides(doings: list[Doing]) -> tuple[Doing, ...]:
    """Leave out what is only said (`echo ---`) beside what is done."""
    done = [doing for doing in doings if doing.drafts]
    notes = [doing for doing in done if all(draft.kind == "NOTE" for draft in doing.drafts)]
    if len(notes) == len(done):
        notes = notes[1:]
    return tuple(doing._replace(drafts=()) if any(doing is note for note in notes) else doing for doing in doings)


def _pipeline(found: tuple[Simple, ...], begin: int, end: int) -> list[Doing]:
    first = found[begin]
    if first.scope:
        return [Doing(scope=1 if first.words == ("(",) else -1)]
    doings: list[Doing] = []
    stdin, expands, whole = None, False, True
    for at in range(begin, end):
        simple = found[at]
        if simple.stdin is None and stdin is not None:
            simple = simple._replace(stdin=stdin, expands=expands)
        name = running.program_name(simple.words[0]) if simple.words else ""
        stdin, expands = _fed(name, simple) if at + 1 < end else (None, False)
        if stdin is not None and destination(simple) is None:
            continue
        if at > begin and doings and _filters(name, simple):
            part = looking.range_of(ALIASES.get(name, name), simple.words[1:])
            if part and whole:
                doings[-1] = _narrowed(doings[-1], part)
            whole = whole and (bool(part) or name in ("cat", "nl", "tee"))
            continue
        drafts = drafts_of_simple(simple, at, at > begin)
        move = _move(name, simple)
        if drafts or move is not None or not doings:
            doings.append(Doing(drafts, first.before, at + 1 < end, move))
    return doings


def _fed(name: str, simple: Simple) -> tuple[str | None, bool]:
    """Return what a command only there to feed the next one says: `echo`, `printf`, `cat` of a here-document."""
    if name == "cat" and len(simple.words) == 1 and simple.stdin is not None:
        return simple.stdin, simple.expands
    if name not in FEEDS:
        return None, False
    return said(simple)


def _filters(name: str, simple: Simple) -> bool:
    """Say whether a command behind a pipe only shows less of what the one before it says."""
    if name in ("sort", "uniq", "sed", "awk", "tee") and destination(simple):
        return False
    known = name in FILTERS or name in ("bat", "xxd", "hexdump", "column", "strings", "perl", "rev", "paste", "less")
    if name == "tee":
        return not [word for word in simple.words[1:] if word[:1] != "-"]
    if name == "python":
        return simple.words[1:3] == ("-m", "json.tool")
    return (known or name == "json.tool") and destination(simple) is None


def _narrowed(doing: Doing, part: str) -> Doing:
    """Put the range of lines that a filter lets through into the reading of one whole file."""
    draft = doing.drafts[0] if len(doing.drafts) == 1 else None
    if draft is None or draft.kind != "READ" or not draft.target.endswith(MARK):
        return doing
    return doing._replace(drafts=(draft._replace(target=draft.target + part),))


def _move(name: str, simple: Simple) -> str | None:
    if name not in ("cd", "pushd", "chdir", "sl", "Set-Location") or not simple.words:
        return None
    return next((word for word in simple.words[1:] if word[:1] != "-" or word == "-"), "~")
