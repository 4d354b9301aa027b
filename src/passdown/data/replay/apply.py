"""Apply one operation to what is known of a file. What cannot be told leaves the content unknown, never wrong."""

from __future__ import annotations

from passdown.data.actions.operations import AnyOperation, Diff, Insert, Opaque, Replace, ReplaceLines, Sed, Write
from passdown.data.replay.contents import GONE, UNKNOWN, Content, Gone, Lines, Unknown, Whole, replaced, spliced
from passdown.data.replay.hunks import applied_to_lines, apply_hunks
from passdown.data.replay.sed import apply_sed, sed_on_lines

MOST_TEXT = 4 << 20
"""Characters of a file that are followed; a longer one is not known."""


def applied(operation: AnyOperation, before: Content) -> Content:
    """Return the content after an operation that concerns one file alone."""
    after = _applied(operation, before)
    return UNKNOWN if isinstance(after, Whole) and len(after.text) > MOST_TEXT else after


def _applied(operation: AnyOperation, before: Content) -> Content:
    match operation:
        case Write():
            return _written(operation, before)
        case Replace():
            return _replaced(operation, before)
        case Insert():
            return _inserted(operation, before)
        case ReplaceLines():
            return _lines_replaced(operation, before)
        case Diff():
            return _patched(operation, before)
        case Sed():
            return _edited(operation, before)
        case Opaque():
            return UNKNOWN
        case _:
            return before


def _written(operation: Write, before: Content) -> Content:
    if not operation.append or isinstance(before, Gone):
        return Whole(operation.content)
    return Whole(before.text + operation.content) if isinstance(before, Whole) else before


def _replaced(operation: Replace, before: Content) -> Content:
    old, new = operation.old, operation.new
    if not old:
        return Whole(new)
    if isinstance(before, Lines):
        return UNKNOWN if operation.which == "all" else replaced(before, old, new)
    if not isinstance(before, Whole):
        return before if isinstance(before, Gone) else UNKNOWN
    count = before.text.count(old)
    if count == 0 or (count > 1 and operation.which == "unique"):
        return UNKNOWN
    return Whole(before.text.replace(old, new, -1 if operation.which == "all" else 1))


def _inserted(operation: Insert, before: Content) -> Content:
    text = operation.text.removesuffix("\n").split("\n")
    if isinstance(before, Lines):
        return UNKNOWN if operation.line < 0 else spliced(before, operation.line + 1, operation.line, text)
    if isinstance(before, Unknown):
        return before
    own = _split(before)
    at = len(own) if operation.line < 0 else operation.line
    return _joined([*own[:at], *text, *own[at:]])


def _lines_replaced(operation: ReplaceLines, before: Content) -> Content:
    text = operation.text.removesuffix("\n").split("\n") if operation.text else []
    if isinstance(before, Lines):
        return spliced(before, operation.first, operation.last, text)
    if isinstance(before, Unknown):
        return before
    own = _split(before)
    return _joined([*own[: operation.first - 1], *text, *own[operation.last :]])


def _patched(operation: Diff, before: Content) -> Content:
    if isinstance(before, Gone) or operation.new:
        before = Whole("")
    if isinstance(before, Lines):
        return applied_to_lines(before, operation.hunks, operation.form)
    if not isinstance(before, Whole):
        return UNKNOWN
    text = apply_hunks(before.text, operation.hunks, operation.form)
    return UNKNOWN if text is None else Whole(text)


def _edited(operation: Sed, before: Content) -> Content:
    if operation.quiet or isinstance(before, Gone | Unknown):
        return GONE if isinstance(before, Gone) else UNKNOWN
    after: Content = before
    for script in operation.expressions:
        if isinstance(after, Whole):
            text = apply_sed(after.text, script, extended=operation.extended)
            after = UNKNOWN if text is None else Whole(text)
        elif isinstance(after, Lines):
            after = sed_on_lines(after, script, extended=operation.extended)
    return after


def _split(content: Whole | Gone) -> list[str]:
    if isinstance(content, Gone) or not content.text:
        return []
    return content.text.removesuffix("\n").split("\n")


def _joined(lines: list[str]) -> Whole:
    return Whole("".join(f"{line}\n" for line in lines))
