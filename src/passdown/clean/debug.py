"""Debug prints, breakpoints, focused and newly skipped tests, in the added lines of the diff."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from passdown.clean.content import Source
from passdown.clean.edits import Edits, FileEdit, LineEdit
from passdown.clean.languages import language_of
from passdown.clean.lexer import lex
from passdown.clean.paths import is_test
from passdown.clean.prints import RULES, Hit, Tier, arguments_at, expression, gives_away
from passdown.clean.python_source import WORDS, is_script, parse, python_hits
from passdown.clean.removal import removal, without_focus
from passdown.model.finding import Finding, MendKind
from passdown.model.pattern import lazy_pattern

HOUSE_STYLE = 3
"""A file that held so many prints at the base prints by habit."""

OFFERED = 50
"""Most findings of one file that a command is looked for to mend."""

_ENTRY = lazy_pattern(
    r"(?i)(?:^|/)(?:bin|scripts?|cmd|cli|commands?|console|tools?|examples?|docs?|demos?|bench(?:mark)?s?|notebooks|playground)/"
    r"|(?:^|/)(?:(?:\w+[-_])?(?:main|cli|demo|example|benchmark)|__main__|manage|setup|conftest|build|program|gulpfile)\.\w+$|\.(?:ipynb|rake)$"
)
_WAIVE = 'end the line with a comment "handoff:allow-debug <reason>"'
BaseTexts = Callable[[list[str]], Mapping[str, str]]


def debug_findings(
    sources: Iterable[Source], root: Path, base_texts: BaseTexts, names: tuple[str, ...], edits: Edits
) -> Iterator[Finding]:
    """Find debugging that was left in. `base_texts` answers with the files' texts at the base, `names` are more calls.

    `edits` learns what would take it out. A print in a program's entry point, or in a file that printed by habit
    before, is none.
    """
    hits = {source.path: (source, list(_fresh_hits(source, root, names))) for source in sources if source.language}
    prints = [
        path for path, (source, found) in hits.items() if not source.new and any(h.tier == "maybe" for h in found)
    ]
    before = base_texts(prints) if prints else {}
    for path, (source, found) in hits.items():
        quiet = path in before and len(_prints(path, before[path])) >= HOUSE_STYLE
        maybe = [hit for hit in found if hit.tier == "maybe" and not quiet]
        told = [hit for hit in found if hit.tier != "maybe"] + [hit for hit in maybe if hit.tell]
        yield from (_blocking(source, hit, names, edits, many=number > OFFERED) for number, hit in enumerate(told, 1))
        if plain := [hit for hit in maybe if not hit.tell]:
            yield _plain(source, plain, names, edits)


def _plain(source: Source, hits: list[Hit], names: tuple[str, ...], edits: Edits) -> Finding:
    what = hits[0].what if len(hits) == 1 else f"{len(hits)} prints, the first one {hits[0].what}"
    out = [removal(source, hit, names) for hit in hits] if len(hits) <= OFFERED else [()]
    command = "take it out" if len(hits) == 1 else "take them out"
    if all(out):
        command += f": {edits.offer('temp.debug_print', FileEdit(source.path, _once(out)))}"
    return Finding(
        code="temp.debug_print", severity="warn", detail=f"{what}: output, or a leftover?", where=source.path,
        line=hits[0].line, fix=f"{command}; if it is meant, {_WAIVE}", mend_kind="choice",
    )  # fmt: skip


def _blocking(source: Source, hit: Hit, names: tuple[str, ...], edits: Edits, *, many: bool) -> Finding:
    code = {"focused": "temp.focused_test", "skipped": "test.skipped_added"}.get(hit.tier, "temp.debug_print")
    kind: MendKind = "edit"
    lines: tuple[LineEdit, ...] = ()
    if hit.tier == "skipped":
        fix, kind = f"mend the test and take the skip out, or {_WAIVE}", "choice"
    else:
        if not many:
            lines = without_focus(source, hit) if hit.tier == "focused" else removal(source, hit, names)
        words = "take the focus off: run all tests again" if hit.tier == "focused" else f"take it out, or {_WAIVE}"
        fix, kind = (edits.offer(code, FileEdit(source.path, lines)), "command") if lines else (words, "edit")
    return Finding(
        code=code, severity="warn" if hit.tier == "skipped" else "block", detail=hit.what, where=source.path,
        line=hit.line, fix=fix, mend_kind=kind,
    )  # fmt: skip


def _once(edits: Iterable[tuple[LineEdit, ...]]) -> tuple[LineEdit, ...]:
    return tuple(dict.fromkeys(edit for lines in edits for edit in lines))


def _fresh_hits(source: Source, root: Path, names: tuple[str, ...]) -> Iterator[Hit]:
    """Return the hits on added lines that no comment waives, without those that are fine where they stand."""
    wanted = source.added - source.waived
    if not wanted:
        return
    found = sorted(set(_all_hits(source, root, names)))
    entry = any(hit.tier == "maybe" for hit in found) and _is_entry(source)
    for hit in found:
        if hit.line not in wanted or (hit.tier == "maybe" and entry):
            continue
        if hit.tier == "focused" and not is_test(source.path):
            continue
        if hit.tier == "skipped" and source.new:
            continue
        yield hit


def _all_hits(source: Source, root: Path, names: tuple[str, ...]) -> Iterator[Hit]:
    assert source.language is not None
    if names:
        alternatives = "|".join(re.escape(name) for name in names if name)
        yield from _matches(source.lexed.code, source.text, rf"(?<![\w.])(?:{alternatives})[ \t]*\(", "always", source)
    if source.language.name == "python":
        if not WORDS.search(source.text):
            return
        tree = source.tree
        if tree is not None:
            package = (root / source.path).parent / "__init__.py"
            yield from python_hits(tree, in_package=package.is_file())
            return
    rules = RULES.get(source.language.name)
    if rules is None:
        return
    tiers: tuple[tuple[Tier, str], ...] = (
        ("always", rules.always), ("focused", rules.focused), ("skipped", rules.skipped), ("maybe", rules.maybe),
    )  # fmt: skip
    for tier, pattern in tiers:
        if pattern:
            yield from _matches(source.lexed.code, source.text, pattern, tier, source)


def _matches(code: str, text: str, pattern: str, tier: Tier, source: Source) -> Iterator[Hit]:
    for found in expression(pattern).finditer(code):
        start = found.start() + len(found[0]) - len(found[0].lstrip())
        what = " ".join(text[start : found.end()].split()).rstrip("([{ ")[:60]
        bracket = found[0].rstrip()[-1:] in "([{"
        tell = False
        if tier == "maybe":
            end = text.find("\n", found.end())
            rest = text[found.end() : end if end >= 0 else len(text)]
            tell = gives_away(arguments_at(code, text, found.end()) if bracket else rest)
        yield Hit(source.lexed.line_at(start), tier, f"{what}(…)" if bracket and tier == "maybe" else what, tell)


def _is_entry(source: Source) -> bool:
    if _ENTRY.search(source.path) or source.text.startswith("#!"):
        return True
    assert source.language is not None
    if source.language.name == "python" and source.tree is not None:
        return is_script(source.tree)
    rules = RULES.get(source.language.name)
    return bool(rules and rules.entry and expression(rules.entry).search(source.lexed.code))


def _prints(path: str, text: str) -> list[Hit]:
    """Return the prints in a text."""
    language = language_of(path)
    if language is None:
        return []
    if language.name == "python":
        tree = parse(text)
        if tree is not None:
            return [hit for hit in python_hits(tree, in_package=False) if hit.tier == "maybe"]
    rules = RULES.get(language.name)
    code = lex(text, language).code
    return (
        [Hit(0, "maybe", found[0]) for found in expression(rules.maybe).finditer(code)] if rules and rules.maybe else []
    )
