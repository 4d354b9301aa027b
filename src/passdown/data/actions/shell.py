"""A shell text as atomic actions: pipelines put together, wrappers taken off, output filters left out."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from passdown.data.actions import changing, looking, running, swe_agent
from passdown.data.actions.draft import Draft, marked
from passdown.data.actions.lexer import CLOSE, OPEN, Simple, UnlexedError, lex
from passdown.data.actions.powershell import lex_powershell
from passdown.data.actions.programs import (
    ALIASES,
    ENVIRONMENT,
    FEEDS,
    FINDERS,
    FINDS,
    INSTALLERS,
    INTERPRETERS,
    LISTS,
    LOCATES,
    PREFIXES,
    RUN_FIRST,
    RUNS,
    SAYS,
    SHELLS,
    SHOWS,
    SILENT,
    SKIPS_ONE,
    WITH_SCRIPT,
    table,
)  # fmt: skip
from passdown.evidence.kinds import FILTERS
from passdown.model.pattern import lazy_pattern

MAX_TEXT = 200_000
MAX_CACHED = 4000
_DEEPEST = 4
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*=")
_OUTPUT = frozenset({">", ">>", "1>", "1>>", "&>", "&>>", ">|", ">&"})
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "NUL", "$null", "nul"})
_SUBMITS = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_OLD_SUBMITS = "MINI_SWE_AGENT_FINAL_OUTPUT"
_VCS = table("git gh hg svn jj glab hub")
_FILES = table("touch mkdir tee truncate install mkfifo")
_COPIES = frozenset(["cp", "mv", "ln", "rsync", "scp"])
_KNOWN = (
    SHOWS | WITH_SCRIPT | FINDS | LISTS | FINDERS | LOCATES | ENVIRONMENT | SILENT | FEEDS | SHELLS | _VCS | _FILES
    | _COPIES | PREFIXES.keys() | RUN_FIRST | INSTALLERS.keys() | INTERPRETERS.keys() | ALIASES.keys()
    | table(
    "sed rm rmdir chmod chown patch pytest eval submit jest vitest mocha tox nox ruff black mypy make"
)
)  # fmt: skip


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
        script = _nested(words)
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


def _nested(words: tuple[str, ...]) -> str | None:
    """Return the script that `bash -c` or `eval` runs."""
    if not words:
        return None
    name = words[0].rpartition("/")[2]
    if name == "eval":
        return " ".join(words[1:])
    if name in SHELLS:
        for at, word in enumerate(words[1:5], 1):
            if word[:1] == "-" and word[:2] != "--" and word.endswith("c") and at + 1 < len(words):
                return words[at + 1]
    return None


def unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command behind `sudo`, `timeout 60`, `uv run`, `python -m` and the like."""
    for _ in range(6):
        name = words[0].rpartition("/")[2] if words else ""
        rest = _behind(name, words) if name in PREFIXES or name in RUN_FIRST else None
        if rest is None and (running.program_name(name) == "python" or name == "-m"):
            rest = running.module(words if name == "-m" else words[1:])
        if not rest:
            return words
        words = rest
    return words


def _behind(name: str, words: tuple[str, ...]) -> tuple[str, ...] | None:
    if name in PREFIXES and not (name == "command" and words[1:2] in (("-v",), ("-V",))):
        return _past_flags(words[1:], PREFIXES[name], name in SKIPS_ONE, name == "env")
    for runner, valued in RUNS.items():
        if (name, *words[1 : len(runner)]) == runner:
            rest = _past_flags(words[len(runner) :], valued, False, False)
            if runner in (("npx",), ("bunx",), ("uvx",)) and rest and "@" in rest[0][1:]:
                rest = (rest[0][: rest[0].rindex("@")], *rest[1:])
            return ("python", *rest) if runner[0] == "coverage" and rest and rest[0].endswith(".py") else rest
    return None


def _past_flags(
    words: tuple[str, ...], valued: frozenset[str], skip: bool, assignments: bool
) -> tuple[str, ...] | None:
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if word[:1] == "-" and word != "-m":
            at += 2 if word in valued else 1
        elif assignments and _ASSIGNMENT.match(word):
            at += 1
        else:
            break
    return words[at + skip :] or None


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
    stdin, expands = None, False
    for at in range(begin, end):
        simple = found[at]
        if simple.stdin is None and stdin is not None:
            simple = simple._replace(stdin=stdin, expands=expands)
        name = running.program_name(simple.words[0]) if simple.words else ""
        stdin, expands = _fed(name, simple) if at + 1 < end else (None, False)
        if stdin is not None and destination(simple) is None:
            continue
        if at > begin and doings and _filters(name, simple):
            doings[-1] = _narrowed(doings[-1], name, simple)
            continue
        drafts = _drafts(simple, at, at > begin)
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


def said(simple: Simple) -> tuple[str, bool]:
    """Return what an `echo` or `printf` prints, and whether parts of it cannot be known."""
    name, words = simple.words[0], list(simple.words[1:])
    unknown = any("$" in word or "`" in word for word in words)
    if name == "printf":
        form = words[0] if words else ""
        text = form.replace("\\n", "\n").replace("\\t", "\t")
        if len(words) > 1:
            text, unknown = (text.replace("%s", words[1], 1), unknown) if form.count("%") == 1 else (text, True)
        return text, unknown or "\\" in text
    newline = True
    escapes = False
    while words and words[0] in ("-n", "-e", "-ne", "-en", "-E"):
        newline = newline and "n" not in words[0]
        escapes = escapes or "e" in words[0]
        words.pop(0)
    text = " ".join(words)
    if escapes:
        text = text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
        unknown = unknown or "\\" in text
    return text + "\n" * newline, unknown


def _filters(name: str, simple: Simple) -> bool:
    """Say whether a command behind a pipe only shows less of what the one before it says."""
    if name in ("sort", "uniq", "sed", "awk", "tee") and destination(simple):
        return False
    known = name in FILTERS or name in ("bat", "xxd", "hexdump", "column", "strings", "perl", "rev", "paste", "less")
    if name == "tee":
        return not [word for word in simple.words[1:] if word[:1] != "-"]
    if name == "python":
        return simple.words[1:3] == ("-m", "json.tool")
    return (known or name in ("json.tool",)) and destination(simple) is None


def _narrowed(doing: Doing, name: str, simple: Simple) -> Doing:
    """Put the range of lines that a filter lets through into the reading of one whole file."""
    if len(doing.drafts) != 1 or doing.drafts[0].kind != "READ" or not doing.drafts[0].target.endswith("\x00"):
        return doing
    part = looking.range_of(ALIASES.get(name, name), simple.words[1:])
    draft = doing.drafts[0]
    return doing._replace(drafts=(draft._replace(target=draft.target + part),)) if part else doing


def _move(name: str, simple: Simple) -> str | None:
    if name not in ("cd", "pushd", "chdir", "sl", "Set-Location") or not simple.words:
        return None
    return next((word for word in simple.words[1:] if word[:1] != "-" or word == "-"), "~")


def destination(simple: Simple) -> tuple[str, bool] | None:
    """Return the file that the output goes to, and whether it is appended."""
    for mark, target in reversed(simple.redirects):
        if mark in _OUTPUT and target not in _NOWHERE and not (mark == ">&" and target[:1] in "0123456789-"):
            return target, mark.endswith(">>")
    return None


def _drafts(simple: Simple, part: int, piped: bool) -> tuple[Draft, ...]:
    """Return what one simple command does."""
    written = destination(simple)
    words = simple.words
    raw = running.program_name(words[0]) if words else ""
    name = ALIASES.get(raw, raw)
    if written is not None and (name in SAYS or name in ("", "cat", "tee", ":") or (name in SHOWS and not piped)):
        drafts = _written(name, simple, written)
    elif not words or (piped and name == "cat" and len(words) == 1):
        return ()
    else:
        drafts = _of_program(name if raw in _KNOWN else words[0], words[1:], simple)
        if written is not None and drafts:
            drafts = (drafts[0]._replace(writes=(*drafts[0].writes, written[0])), *drafts[1:])
    return tuple(draft._replace(part=part) for draft in drafts) if part else drafts


def _written(name: str, simple: Simple, written: tuple[str, bool]) -> tuple[Draft, ...]:
    path, appends = written
    read = looking.show(name, simple.words[1:]) if name in SHOWS and len(simple.words) > 1 else ()
    reads = tuple(path for draft in read for path in draft.reads)
    content = simple.stdin if simple.stdin is not None else " ".join(simple.words[1:])
    detail = f"{'>>' if appends else '>'} {marked(path)}\n{content}"
    return (
        Draft("EDIT" if appends else "CREATE", marked(path), detail, (*reads, path) if appends else reads, (path,)),
    )


def _of_program(name: str, words: tuple[str, ...], simple: Simple) -> tuple[Draft, ...]:
    """Return what a program does with its words."""
    if name in swe_agent.COMMANDS and (said := swe_agent.drafts(name, words, simple.stdin)) is not None:
        return said
    if name in SILENT:
        return ()
    if name in SAYS:
        text = " ".join(words)
        if _SUBMITS in text or _OLD_SUBMITS in text:
            return (Draft("SUBMIT", "", text),)
        return (Draft("NOTE", "echo", text),)
    if looking.version((name, *words)) and name not in ("pip", "git"):
        return (Draft("READ", f"env:{name}", f"{name} --version"),)
    return _looking(name, words) or _changing(name, words, simple) or _running(name, words, simple)


def _looking(name: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    if name == "sed" and not changing.sed_in_place(words):
        _, files, _ = changing.sed_parts(words)
        part = looking.range_of("sed", words)
        detail = " ".join(("sed", *(marked(word) if word in files else word for word in words)))
        return tuple(Draft("READ", marked(path) + part, detail, (path,)) for path in files[:16]) or (
            Draft("READ", "env:sed", detail),
        )
    if name in LOCATES or name == "command":
        return looking.locate(name, words)
    if name in FINDS:
        return looking.grep(name, words)
    if name in SHOWS:
        return looking.show(name, words)
    if name in WITH_SCRIPT and not any(word.startswith(("-i", "--in-place")) for word in words[:2]):
        return looking.show_by_script(name, words)
    if name in LISTS:
        return looking.listing(name, words)
    if name in FINDERS:
        return _finding(name, words)
    return looking.environment(name, words) if name in ENVIRONMENT else ()


def _finding(name: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    drafts = looking.find(name, words)
    inner = unwrapped(looking.found_by(words))
    program = running.program_name(inner[0]) if inner else ""
    if (
        program == "rm"
        or (program in ("sed", "perl") and changing.sed_in_place(inner[1:]))
        or program in ("mv", "chmod")
    ):
        kind = drafts[0]._replace(kind="DELETE" if program == "rm" else "EDIT", writes=(".",))
        return (kind,)
    return drafts


def _changing(name: str, words: tuple[str, ...], simple: Simple) -> tuple[Draft, ...]:
    if name in ("sed", *WITH_SCRIPT):
        return changing.edits(name, words)
    if name in _FILES:
        return changing.made(name, words)
    if name in ("rm", "rmdir", "unlink", "shred"):
        return changing.removed(name, words)
    if name in _COPIES:
        return changing.copied(name, words)
    if name in ("chmod", "chown", "chgrp"):
        return changing.mode(name, words)
    if name in ("patch", "apply_patch", "applypatch"):
        return _patch(name, words, simple)
    return ()


def _patch(name: str, words: tuple[str, ...], simple: Simple) -> tuple[Draft, ...]:
    text = simple.stdin or next((word for word in words if "*** Begin Patch" in word), "")
    if "*** Begin Patch" in text:
        from passdown.data.actions.patches import codex_drafts

        return codex_drafts(text)
    return changing.patched(name, tuple(word for word in words if word[:1] != "<"), simple.stdin)


def _running(name: str, words: tuple[str, ...], simple: Simple) -> tuple[Draft, ...]:
    if name in _VCS:
        return running.git(name, words, simple.stdin)
    if name in INSTALLERS and (installed := running.install(name, words)) is not None:
        return installed
    if name == "pip" and words[:1] in (("list",), ("show",), ("freeze",), ("check",), ("--version",), ("index",)):
        return (Draft("READ", f"env:pip {words[1] if len(words) > 1 else ''}".rstrip(), " ".join(("pip", *words))),)
    if name == "pytest":
        return running.tests(name, words)
    if name in SHELLS:
        return running.script(name, words, simple.stdin)
    if name in INTERPRETERS and not (name in ("deno", "bun") and words[:1] in (("test",), ("run",), ("build",))):
        test = running.other(name, words)
        return test if test and test[0].kind == "TEST" else running.script(name, words, simple.stdin)
    return running.other(name, words)
