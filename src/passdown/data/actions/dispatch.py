"""What one simple command does, by the program it runs."""

from __future__ import annotations

from passdown.data.actions import changing, looking, running, swe_agent
from passdown.data.actions.draft import Draft, marked
from passdown.data.actions.lexer import Simple
from passdown.data.actions.patches import codex_drafts
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
    SAYS,
    SHELLS,
    SHOWS,
    SILENT,
    WITH_SCRIPT,
    table,
)  # fmt: skip
from passdown.data.actions.wrappers import unwrapped
from passdown.trajectories.tools import SUBMITS

_OLD_SUBMITS = "MINI_SWE_AGENT_FINAL_OUTPUT"
_VCS = table("git gh hg svn jj glab hub")
_FILES = table("touch mkdir tee truncate install mkfifo")
_COPIES = frozenset(["cp", "mv", "ln", "rsync", "scp"])
_OUTPUT = frozenset({">", ">>", "1>", "1>>", "&>", "&>>", ">|", ">&"})
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "NUL", "$null", "nul"})
_READS_INPUT = SHOWS | FINDS | WITH_SCRIPT | {"sed"}
_KNOWN = (
    SHOWS | WITH_SCRIPT | FINDS | LISTS | FINDERS | LOCATES | ENVIRONMENT | SILENT | FEEDS | SHELLS | _VCS | _FILES
    | _COPIES | PREFIXES.keys() | RUN_FIRST | INSTALLERS.keys() | INTERPRETERS.keys() | ALIASES.keys()
    | table("sed rm rmdir chmod chown patch pytest eval submit jest vitest mocha tox nox ruff black mypy make")
)  # fmt: skip


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


def destination(simple: Simple) -> tuple[str, bool] | None:
    """Return the file that the output goes to, and whether it is appended."""
    for mark, target in reversed(simple.redirects):
        if mark in _OUTPUT and target not in _NOWHERE and not (mark == ">&" and target[:1] in "0123456789-"):
            return target, mark.endswith(">>")
    return None


def _with_input(simple: Simple) -> tuple[str, ...]:
    """Return the words; a reading program is given the file that stands behind `<` as well."""
    words = simple.words
    if simple.redirects and words and words[0] in _READS_INPUT:
        words += tuple(path for mark, path in simple.redirects if mark == "<" and path not in _NOWHERE)
    return words


def drafts_of_simple(simple: Simple, part: int, piped: bool) -> tuple[Draft, ...]:
    """Return what one simple command does."""
    written = destination(simple)
    words = _with_input(simple)
    raw = running.program_name(words[0]) if words else ""
    raw = words[0] if raw in SILENT and "/" in words[0] else raw
    name = ALIASES.get(raw, raw)
    if written is not None and (name in SAYS or name in ("", "cat", "tee", ":") or (name in SHOWS and not piped)):
        drafts = _written(name, simple, written)
    elif not words or (name == "cat" and len(words) == 1 and (piped or simple.stdin is not None)):
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
        if SUBMITS in text or _OLD_SUBMITS in text:
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
    if name in ("Set-Content", "Out-File", "Add-Content"):
        return changing.set_content(name, words)
    if name in ("patch", "apply_patch", "applypatch"):
        return _patch(name, words, simple)
    return ()


def _patch(name: str, words: tuple[str, ...], simple: Simple) -> tuple[Draft, ...]:
    text = simple.stdin or next((word for word in words if "*** Begin Patch" in word), "")
    if "*** Begin Patch" in text:
        return codex_drafts(text)
    return changing.patched(name, tuple(word for word in words if word[:1] != "<"), simple.stdin)


def _running(name: str, words: tuple[str, ...], simple: Simple) -> tuple[Draft, ...]:
    if name in _VCS:
        return running.git(name, words, simple.stdin)
    if name in INSTALLERS and (installed := running.install(name, words)) is not None:
        return installed
    if name == "pip" and words[:1] in (("list",), ("show",), ("freeze",), ("check",), ("--version",), ("index",)):
        return (Draft("READ", " ".join(("env:pip", *words[:2])), " ".join(("pip", *words))),)
    if name == "pytest":
        return running.tests(name, words)
    if name in ("curl", "wget"):
        return running.fetch(name, words)
    if name == "docker":
        return running.docker(words)
    if name in SHELLS:
        return running.script(name, words, simple.stdin)
    if name in INTERPRETERS and not (name in ("deno", "bun") and words[:1] in (("test",), ("run",), ("build",))):
        return running.test_script(name, words) or running.script(name, words, simple.stdin)
    return running.other(name, words)
