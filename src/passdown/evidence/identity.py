"""When two runs are runs of the same command: the same directory and the same words, whatever hides the output."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from passdown.evidence.kinds import FILTERS, Kind, Look, look_at, program_of
from passdown.evidence.masking import is_masking
from passdown.evidence.places import Places
from passdown.evidence.shell import Part, split_shell, split_words, unwrap_argv, without_redirections, words_in
from passdown.model.command import MAX_TOKENISED, command_text, normalize_command
from passdown.model.identifier import content_id
from passdown.model.pattern import lazy_pattern

MAX_COMMAND = 1000
"""Characters of a command that are kept; identity looks at all of it."""
MAX_TOKENS = 64
MAX_CACHED = 2000
MAX_REPEATED = 400
"""Characters of a command that is worth remembering for long: longer ones are seldom run again."""
MAX_REMEMBERED = 2048

_SETUP = lazy_pattern(r"^(?:export\s|set\s+[-+]|source\s|\.\s|unset\s|[A-Za-z_]\w*=\S*$|nvm use\b|pushd\s|shopt\s)")
_CD = lazy_pattern(r"^(?:cd|pushd)\s+(?:--\s+)?(.+)$", re.DOTALL)
_TOOL = lazy_pattern(r"(?:mcp__?)?passdown(?:__|[._-])(?:take|status|note|check|wrap)")
_HERE = lazy_pattern(r"(?:cat|tee)\b[^\n]{0,300}<<")
_TRIVIAL = lazy_pattern(r"^(?:true|:|exit\b.*|echo\b.*|printf\b.*)$", re.DOTALL)


class Identity(Struct, frozen=True, gc=False):
    """What a run counts as. `key` is the chain's, `text` the command without `cd X &&` and output filters.

    `masking` says that the exit code may not be the command's own, `moves` that it may change the files of the tree.
    """

    key: str
    text: str
    cwd: str
    tokens: tuple[str, ...]
    kind: Kind
    own: bool
    parts: tuple[Part, ...]
    masking: bool
    moves: bool


class _Parsed(Struct, frozen=True, gc=False):
    """A shell text without the place it runs in.

    `folders` are the directories it changes to first, `name` is what makes it the same command as another.
    """

    parts: tuple[Part, ...]
    folders: tuple[str, ...]
    bare: str
    name: str
    tokens: tuple[str, ...]
    kind: Kind
    own: bool
    masking: bool
    moves: bool


def identify(command: str, cwd: str, places: Places, argv: tuple[str, ...] = ()) -> Identity:
    """Return the identity of a command run in `cwd` (absolute, or relative to the repository)."""
    if argv:
        script = unwrap_argv(argv)
        command = command_text(list(argv)).strip() if script is None else script
    elif len(command) <= MAX_REPEATED:
        remembered = places.identities
        identity: Identity | None = remembered.get((command, cwd))
        if identity is None:
            identity = _identify(command.strip(), cwd, places)
            if len(remembered) >= MAX_REMEMBERED:
                remembered.clear()
            remembered[command, cwd] = identity
        return identity
    return _identify(command.strip(), cwd, places)


def _identify(text: str, cwd: str, places: Places) -> Identity:
    parsed = (
        _repeated(text) if len(text) <= MAX_REPEATED else _recent(text) if len(text) <= MAX_CACHED else _parsed(text)
    )
    for target in parsed.folders:
        cwd = places.absolute(target, cwd)
    where = places.folder(cwd)
    return Identity(
        content_id("c-", f"{where}\x00{parsed.name}"), parsed.bare, where, parsed.tokens, parsed.kind, parsed.own,
        parsed.parts, parsed.masking, parsed.moves,
    )  # fmt: skip


def _parsed(text: str) -> _Parsed:
    parts = split_shell(text)
    if len(parts) == 1 and len(text) <= MAX_CACHED:
        return _parsed_one(text, parts[0])
    looks = [look_at(part.text) for part in parts]
    start, folders = _past_setup(parts)
    end = _before_filters(parts, looks, start)
    main, seen = parts[start:end], looks[start:end]
    if seen and not looks[start].reader:
        bare = without_redirections(main[-1].text)
        if bare != main[-1].text:
            main[-1], seen[-1] = Part(bare, main[-1].before), look_at(bare)
    bare = _joined(main) or text
    tokens = _tokens(main, bare)
    own = "passdown" in text and bool(main) and _is_own(seen[0].words)
    kind: Kind = min((look.kind for look in seen[:16]), key=_ORDER.__getitem__, default="other")
    changes = (len(parts) > 1 or kind not in _STILL) and any(look.moves for look in looks[:16])
    return _Parsed(
        tuple(parts[:64]), folders, shorten(bare), "\x00".join(tokens), _bounded(tokens, bare), kind, own,
        is_masking(parts[:64]), changes,
    )  # fmt: skip


def _parsed_one(text: str, part: Part) -> _Parsed:
    """The same for one simple command, as most are."""
    look = look_at(part.text)
    bare = (part.text if look.reader else without_redirections(part.text)) or text
    words = words_in(bare)
    tokens = normalize_command([bare] if words is None else words)
    own = "passdown" in text and _is_own(look.words)
    changes = look.moves and look.kind not in _STILL
    name = "\x00".join(tokens)
    return _Parsed((part,), (), shorten(bare), name, _bounded(tokens, bare), look.kind, own, False, changes)


_recent = lru_cache(maxsize=256)(_parsed)
_repeated = lru_cache(maxsize=MAX_REMEMBERED)(_parsed)


def _tokens(main: list[Part], bare: str) -> tuple[str, ...]:
    words = _words(main, bare) if len(bare) <= MAX_TOKENISED else None
    return normalize_command([bare] if words is None else words)


def _bounded(tokens: tuple[str, ...], bare: str) -> tuple[str, ...]:
    return tokens if len(bare) <= MAX_COMMAND and len(tokens) <= MAX_TOKENS else shorten_tokens(tokens)


def _words(main: list[Part], bare: str) -> list[str] | None:
    """Return the words of the joined parts: those of each part, which were split before, and what joins them."""
    if not ("'" in bare or '"' in bare or "\\" in bare):
        return bare.split()
    words: list[str] = []
    for part in main:
        own = words_in(part.text)
        if own is None:
            return split_words(bare)
        if words and part.before == ";":
            words[-1] += ";"
        elif words:
            words.append(part.before)
        words += own
    return words or split_words(bare)


def is_own(command: str, places: Places) -> bool:
    """Say whether a command runs passdown itself: its records are never evidence."""
    return "passdown" in command and identify(command, "", places).own


def is_own_tool(name: str) -> bool:
    """Say whether a tool is one of passdown's MCP server, under any of the names that agents give such tools."""
    return "passdown" in name and _TOOL.fullmatch(name) is not None


def _is_own(words: tuple[str, ...]) -> bool:
    """Say whether this is passdown itself, whose records are never evidence."""
    if words[:1] in {("uvx",), ("pipx",)} or words[:3] == ("uv", "tool", "run"):
        return "passdown" in words[1:4]
    return program_of(words) in {"passdown", "passdown-hook"}


def _past_setup(parts: list[Part]) -> tuple[int, tuple[str, ...]]:
    """Return where the command begins behind `cd X`, `export`, `set`, `source` and files written on the spot.

    The directories of `cd` are returned as well.
    """
    index = 0
    moves: list[str] = []
    while index < len(parts) - 1 and parts[index + 1].before in {"&&", ";"}:
        text = parts[index].text
        moved = _CD.match(text)
        if moved:
            target = without_redirections(moved[1]).strip().strip("\"'")
            if "$" not in target and target != "-":
                moves.append(target)
        elif not _SETUP.match(text) and not _writes_here(text):
            break
        index += 1
    return index, tuple(moves)


def _writes_here(text: str) -> bool:
    """Say whether a part writes its here-document to a file: what is run next is the command, as a script's name is."""
    return "<<" in text and "\n" in text and _HERE.match(text) is not None


def _before_filters(parts: list[Part], looks: list[Look], start: int) -> int:
    """Return where the command ends before `| tail`, `|| true` and `; echo done`.

    Those belong to a command that is about showing text anyway.
    """
    end = len(parts)
    if end == start or looks[start].reader:
        return end
    while end > start + 1:
        last = parts[end - 1]
        if (last.before == "|" and looks[end - 1].program in FILTERS) or (
            last.before in {"||", ";"} and _TRIVIAL.match(last.text)
        ):
            end -= 1
        else:
            break
    return end


def _joined(parts: list[Part]) -> str:
    pieces: list[str] = []
    for index, part in enumerate(parts):
        if index:
            pieces.append("; " if part.before == ";" else f" {part.before} ")
        pieces.append(part.text)
    return "".join(pieces)


_STILL: frozenset[Kind] = frozenset({"search", "test", "build", "other"})
"""Kinds of a single command that leave the files of the tree as they are."""
_ORDER: dict[Kind, int] = {"test": 0, "build": 1, "lint": 2, "edit": 3, "vcs": 4, "other": 5, "search": 6}


def shorten(text: str, limit: int = MAX_COMMAND) -> str:
    """Return a text cut to its beginning, with an ellipsis where something is missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shorten_tokens(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return tokens bounded in number and length."""
    if len(tokens) <= MAX_TOKENS and all(len(token) <= MAX_COMMAND for token in tokens):
        return tokens
    return tuple(shorten(token, 200) for token in tokens[:MAX_TOKENS])
