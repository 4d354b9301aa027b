"""A task that no longer names what it is about: `slug()` became "that function"."""

from __future__ import annotations

import random
import re

from msgspec import structs

from passdown.data.perturb.notes import mentions, with_task
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import ambiguity
from passdown.data.records import Fact
from passdown.data.views.preamble import parts
from passdown.model.pattern import lazy_pattern

LONGEST = 20_000
_SYMBOL = lazy_pattern(
    r"(?P<path>(?<![\w./-])(?:[\w-]+/)+[\w.-]*\w|(?<![\w./-])[\w-]+\.(?:py|js|ts|go|rs|rb|java|c|h|cpp|toml|json)\b)"
    r"|(?P<call>(?<![\w.])[A-Za-z_][\w.]*\w?\((?:[^()\n]{0,40})\))"
    r"|(?P<snake>(?<![\w./-])[a-z]\w*_\w+(?![\w./-]))"
    r"|(?P<camel>(?<![\w./-])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?![\w./-]))"
)
_CODE = lazy_pattern(
    r"\s*(?:\$ |>>> |\.\.\. |File \"|Traceback|import |from \S+ import|def |class |return |@|#include|\w+ = |\[)"
)
_SPAN = lazy_pattern(r"```[^\n]*?(?:```|$)|`[^`\n]*`")
_WORD = lazy_pattern(r"(?<![\w./])[A-Za-z]{2,}(?![\w(/])")
_PRODUCTS = frozenset({"GitHub", "GitLab", "JavaScript", "TypeScript", "MacOS", "OpenSSL", "YouTube", "LaTeX"})
_NEW = lazy_pattern(r"(?i)\b(?:add|creat\w*|writ\w*|implement\w*|introduc\w*|missing|new)\b")
_CLASS = r"\b(?:class|struct|interface|type|enum|trait|protocol|record)\s+{name}\b"
_MOST = 16 << 20
"""Bytes of known files that are searched for names."""
_LIBRARY = lazy_pattern(r"(?:[A-Z]\w*|node|next|vue|nuxt|three|express|d3)\.js")
"""`Next.js` in a sentence: a library that calls itself as a file would be called."""
_ARTICLE = lazy_pattern(r"\b(?:[Aa]n?|[Tt]he) (that (?:file|function|name|class)\b)")
_PHRASES = {"path": "that file", "call": "that function", "snake": "that name", "camel": "that class"}


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Put vague words for a share `strength` of the names in the task, wherever its words stand in the view.

    Each name is an acceptable reading. `still_named` says whether a name still stands in code of the task or
    elsewhere in the notes.
    """
    before = parts(scene.view.text)
    if not before.task.strip() or len(before.task) > LONGEST:
        raise InapplicableError("the view has no task" if not before.task.strip() else "the task is too long")
    prose = _prose(before.task)
    found = {
        match.group(): match.lastgroup or "snake"
        for at in prose for match in _SYMBOL.finditer(_told(before.task.split("\n")[at]))
        if not match.group().endswith(("Error", "Exception", "Warning")) and match.group() not in _PRODUCTS
    }  # fmt: skip
    found = _to_be_found(scene, found, [before.task.split("\n")[at] for at in prose])
    if not found:
        raise InapplicableError("the task names nothing in prose")
    chosen = dice.sample(sorted(found), amount(len(found), strength))
    vague = {name: _PHRASES[found[name]] for name in chosen}
    words = before.task.split("\n")
    lines = {" ".join(words[at].split()) for at in prose if _vaguely(words[at], vague) != words[at]}
    task = "\n".join(_vaguely(line, vague) if at in prose else line for at, line in enumerate(words))
    goals = [fact.key for fact in scene.view.facts if fact.type == "goal"]
    notes = "\n".join(
        _vaguely(line, vague) if _repeats(line, lines) or any(mentions(line, goal) for goal in goals) else line
        for line in before.notes.split("\n")
    )
    swapped: list[Fact] = []
    removed: list[Fact] = []
    for fact in scene.view.facts:
        key = _vaguely(fact.key, vague) if fact.type == "goal" else fact.key
        swapped.append(structs.replace(fact, key=key))
        removed += [fact] if key != fact.key else []
    now = scene.with_view(with_task(scene.view, task, notes), swapped)
    params = {f"name_{number}": f"{name} became {vague[name]}" for number, name in enumerate(chosen, 1)}
    params["still_named"] = "yes" if any(name in notes or name in task for name in chosen) else "no"
    return ambiguity(
        now, "underspecified_symbol", strength, params, acceptable=[f"about: {name}" for name in chosen],
        removed=removed,
    )  # fmt: skip


def _to_be_found(scene: Scene, names: dict[str, str], lines: list[str]) -> dict[str, str]:
    """Return the names that a successor can find out again: of what is to be made, nothing but the task tells them.

    Where all files are known the name has to stand in them. Else a line that speaks of something new keeps its names,
    and a word of two capitals is a class only where the task writes it as code.
    """
    texts = _texts(scene) if scene.base is not None and scene.snapshot is not None else None
    if texts is None:
        told = {name for line in lines if not _NEW.search(line) for name in names if name in line}
        return {name: kind for name, kind in names.items() if name in told and _is_code(name, kind, lines)}
    paths = scene.paths()
    return {
        name: kind for name, kind in names.items()
        if (any(f"/{path}".endswith(f"/{name}") for path in paths) if kind == "path" else _stands(name, kind, texts))
    }  # fmt: skip


def _texts(scene: Scene) -> list[str] | None:
    """Return the texts of all known files, None where they are too many to search."""
    made: list[str] = []
    size = 0
    for path in scene.paths():
        made.append(scene.text(path) or "")
        size += len(made[-1])
        if size > _MOST:
            return None
    return made


def _stands(name: str, kind: str, texts: list[str]) -> bool:
    word = re.escape(name.partition("(")[0].rpartition(".")[2])
    shape = {"camel": _CLASS.format(name=word), "call": rf"\b{word}\s*\("}.get(kind, rf"\b{word}\b")
    pattern = re.compile(shape)
    return any(pattern.search(text) for text in texts)


def _is_code(name: str, kind: str, lines: list[str]) -> bool:
    """Say whether a word is a name in code, and not that of a program or a company."""
    if kind != "camel":
        return not _LIBRARY.fullmatch(name)
    near = re.compile(rf"`{re.escape(name)}`|\bclass {re.escape(name)}\b|\b{re.escape(name)} (?:class|object|instance)")
    return any(near.search(line) for line in lines)


def _prose(task: str) -> tuple[int, ...]:
    """Return the lines of a task that are sentences, by their number: code and what programs print stay exact."""
    found: list[int] = []
    fence = False
    for at, line in enumerate(task.split("\n")):
        fence ^= line.lstrip().startswith(("```", "~~~"))
        code_like = line.startswith(("    ", "\t")) or _CODE.match(line) or line.rstrip().endswith(("{", ";", ":)"))
        if not fence and not code_like and len(_WORD.findall(line)) >= 4:
            found.append(at)
    return tuple(found)


def _told(line: str) -> str:
    """Return a line without the pieces of code in it: a name that stands alone between ticks is none."""
    return _SPAN.sub(lambda span: span.group() if _SYMBOL.fullmatch(span.group().strip("` ")) else " ", line)


def _vaguely(text: str, vague: dict[str, str]) -> str:
    """Put vague words for the names; code stays exact."""
    pieces = _SPAN.split(text)
    spans = _SPAN.findall(text)
    made = [_swapped(pieces[0], vague)]
    for span, piece in zip(spans, pieces[1:], strict=True):
        made += [vague.get(span.strip("` "), span), _swapped(piece, vague)]
    told = "".join(made)
    return _ARTICLE.sub(r"\1", told) if told != text else text


def _swapped(text: str, vague: dict[str, str]) -> str:
    for name in sorted(vague, key=len, reverse=True):
        pattern = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/])")
        text = pattern.sub(vague[name], text)
    return text


def _repeats(line: str, said: set[str]) -> bool:
    """Say whether a line of the notes holds a line of the task."""
    flat = " ".join(line.replace("\\", "").split())
    return any(words in flat or words.replace("`", "") in flat.replace("`", "") for words in said if len(words) > 12)
