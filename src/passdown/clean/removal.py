"""Which lines a debugging statement fills, and whether they can be taken out with nothing else changing.

Where that cannot be told (the call is part of something larger, its arguments do something, the line before would then
lead on to another one), there is no answer, and a person has to look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passdown.clean.content import Source
from passdown.clean.edits import LineEdit
from passdown.clean.prints import RULES, Hit, expression
from passdown.clean.removal_python import python_lines
from passdown.model.pattern import lazy_pattern

_FREE_LINES = frozenset({"javascript", "go", "kotlin", "swift"})
"""Languages of the C family whose statements end with the line."""

_LEADS_ON = lazy_pattern(r"[,.(+\-*/%=&|<>?:\[\\~^!]$")
_LABEL = lazy_pattern(r"^(?:case\b.*|default\s*):$")
_HEADER = lazy_pattern(r"^(?:\}\s*)?(?:else|if|for|foreach|while|do|switch|when|guard|try|catch|finally|repeat)\b")
_OPENS = lazy_pattern(r"(?:^|\s)(?:then|do|else|begin|ensure|rescue\b.*)$|[{(]$")
_CLOSES = lazy_pattern(r"(?:fi|done|end|esac|else|elif|elsif|when|rescue|ensure)\b|[})]")
_CALL = lazy_pattern(r"([\w$.!?]+)\(")
_DOES = lazy_pattern(r"\+\+|--|(?<![=!<>])=(?![=>~])|\b(?:await|yield|new|delete)\b|<-")
_PURE = frozenset({
    "len", "cap", "String", "Number", "Boolean", "JSON.stringify", "Object.keys", "Object.values", "Object.entries",
    "typeof", "str", "count", "sizeof", "strlen", "int", "string",
})  # fmt: skip
_DEFINED = r"\b{name}\b[\w ,]*:="
_WORD = lazy_pattern(r"[A-Za-z_]\w*")

FOCUS = (
    (r"\.only\b", ""), (r"^([ \t]*)fit\b", r"\1it"), (r"^([ \t]*)fdescribe\b", r"\1describe"),
    (r"^([ \t]*)fcontext\b", r"\1context"), (r",[ \t]*(?::focus\b|focus:[ \t]*true\b)", ""),
    (r"(?<![\w.])F(It|Describe|Context|Entry|Specify)\b", r"\1"),
)  # fmt: skip


def removal(source: Source, hit: Hit, names: tuple[str, ...] = ()) -> tuple[LineEdit, ...]:
    """Return what takes a debugging statement out; empty when a person has to look. `names` are configured calls."""
    assert source.language is not None
    if source.path.endswith(".ipynb"):
        return ()
    if source.language.name == "python":
        found = python_lines(source, hit.line, names) if source.tree is not None else None
        return (_edit(source, *found),) if found else ()
    lines = next(_statements(source, hit, names), None)
    if lines is None or not _stands_alone(source, *lines):
        return ()
    edit = _edit(source, *lines, ())
    return (edit, *_imports(source, edit)) if source.language.name == "go" else (edit,)


def without_focus(source: Source, hit: Hit) -> tuple[LineEdit, ...]:
    """Return what takes the focus off a test; empty when a person has to look."""
    line = source.lines[hit.line - 1]
    if source.path.endswith(".ipynb"):
        return ()
    if line.strip() == "@pytest.mark.only":
        return (LineEdit(hit.line, hit.line, (line,)),)
    changed = [new for old, word in FOCUS if (new := re.sub(old, word, line, count=1)) != line]
    return (LineEdit(hit.line, hit.line, (line,), (changed[0],)),) if len(changed) == 1 else ()


def _edit(source: Source, first: int, last: int, new: tuple[str, ...]) -> LineEdit:
    return LineEdit(first, last, tuple(source.lines[first - 1 : last]), new)


# --- by its text -------------------------------------------------------------------------------------------------


def _statements(source: Source, hit: Hit, names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a statement that begins with what was found on a line, and has nothing beside it."""
    assert source.language is not None
    code, text, starts = source.lexed.code, source.text, source.lexed.starts
    begin = starts[hit.line - 1]
    stop = code.find("\n", begin)
    stop = len(code) if stop < 0 else stop
    for pattern in _patterns(source.language.name, names):
        for found in expression(pattern).finditer(code, begin, stop):
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            if start < begin or text[begin:start].strip():
                continue
            end = _end_of_call(code, found.end(), stop, bracket=found[0].rstrip()[-1:] in "([{", what=found[0])
            if end is None or not _is_harmless(text[found.end() : end], code[found.end() : end]):
                continue
            rest_end = code.find("\n", end)
            rest = code[end : rest_end if rest_end >= 0 else len(code)].strip()
            closed = code[end - 1 : end] == ";" or source.language.name != "rust"
            if rest == ";" or (not rest and closed):
                yield hit.line, source.lexed.line_at(max(begin, end - 1))


def _patterns(language: str, names: tuple[str, ...]) -> Iterator[str]:
    rules = RULES.get(language)
    yield from (pattern for pattern in ((rules.always, rules.maybe) if rules else ()) if pattern)
    if names:
        yield rf"(?<![\w.])(?:{'|'.join(re.escape(name) for name in names if name)})[ \t]*\("


def _end_of_call(code: str, at: int, stop: int, *, bracket: bool, what: str) -> int | None:
    """Return where a call ends, the bracket that closes it included; None when it has no end."""
    if not bracket:
        if what.rstrip().endswith("<<"):
            end = code.find(";", at, stop)
            return end + 1 if end >= 0 else None
        return at if what.rstrip().endswith((";", "debugger", "pry", "irb", "break", "byebug")) else stop
    depth = 1
    for offset in range(at, min(len(code), at + 4000)):
        depth += (code[offset] in "([{") - (code[offset] in ")]}")
        if depth == 0:
            return offset + 1
    return None


def _is_harmless(text: str, code: str) -> bool:
    """Say whether arguments are only read: no call of something unknown, no assignment."""
    return not _DOES.search(code) and all(found[1] in _PURE for found in _CALL.finditer(text))


# --- what stands around it ---------------------------------------------------------------------------------------


def _stands_alone(source: Source, first: int, last: int) -> bool:
    """Say whether the lines before and after make sense without what is between."""
    assert source.language is not None
    lines = source.lexed.code.split("\n")
    before = next((line.strip() for line in reversed(lines[: first - 1]) if line.strip()), "")
    after = next((line.strip() for line in lines[last:] if line.strip()), "")
    if source.language.family in ("shell", "ruby"):
        empties = bool(_OPENS.search(before)) and bool(_CLOSES.match(after))
        is_value = source.language.family == "ruby" and bool(_CLOSES.match(after)) and not _is_debugger(source, first)
        return not empties and not is_value and not _LEADS_ON.search(before)
    if not before or before[-1] in "{};" or _LABEL.match(before) or before.startswith(("<?php", "#include")):
        return True
    return source.language.name in _FREE_LINES and not _LEADS_ON.search(before) and not _HEADER.match(before)


def _is_debugger(source: Source, line: int) -> bool:
    return bool(expression(RULES["ruby"].always).search(source.lexed.code.split("\n")[line - 1]))


def _imports(source: Source, edit: LineEdit) -> tuple[LineEdit, ...]:
    """Return what takes out the import that Go would no longer compile with; it must not hide a variable's last use."""
    found = re.match(r"\s*(\w+)\.", edit.old[0])
    if found is None or _is_used_elsewhere(source, found[1], edit):
        return ()
    wanted = re.compile(rf'^\s*(?:import\s+)?"(?:[\w.\-/]+/)?{found[1]}"\s*$')
    at = [number for number, line in enumerate(source.lines, 1) if wanted.match(line)]
    return (_edit(source, at[0], at[0], ()),) if len(at) == 1 else ()


def _is_used_elsewhere(source: Source, name: str, edit: LineEdit) -> bool:
    lines = source.lexed.code.split("\n")
    rest = "\n".join([*lines[: edit.first - 1], *lines[edit.last :]])
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}\.", rest))
