"""The commands that SWE-agent adds to a shell: its viewer, its line editor, its searches."""

from __future__ import annotations

from passdown.data.actions.draft import Draft, bucket, marked
from passdown.data.actions.lexer import Simple
from passdown.data.actions.looking import search
from passdown.data.actions.programs import table
from passdown.model.pattern import lazy_pattern

OPEN_FILE = "\x01"
"""Stands for the path of the file that is open in the viewer, until it is known."""
WINDOW = 100
COMMANDS = table(
    "open goto scroll_down scroll_up create edit search_dir search_file find_file submit insert append "
    "str_replace undo_edit exit_cost exit_format exit_context exit_forfeit skip"
)
_EDIT = lazy_pattern(r"\s*edit\s+(\d+):(\d+)\s*\n(.*?)(?:\n?end_of_edit\s*)?\Z", 16)  # re.DOTALL
_EDIT_LINE = lazy_pattern(r"(\d+):(\d+)")


def simple(command: str) -> Simple | None:
    """Return a line edit of SWE-agent, whose text is no shell; None for anything else."""
    if not command.lstrip().startswith("edit "):
        return None
    found = _EDIT.fullmatch(command)
    return Simple(("edit", f"{found[1]}:{found[2]}"), stdin=found[3]) if found else None


def lines_of_edit(words: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the lines of an `edit 1:5`."""
    found = _EDIT_LINE.fullmatch(words[1]) if len(words) > 1 else None
    return (int(found[1]), int(found[2])) if found else None


def drafts(name: str, words: tuple[str, ...], stdin: str | None) -> tuple[Draft, ...] | None:
    """Return what a command of SWE-agent does, None when the words are not its own."""
    first = words[0] if words else ""
    if name == "submit":
        return (Draft("SUBMIT", "", "submit"),)
    if name.startswith("exit_"):
        return (Draft("SUBMIT", "", name),)
    if name == "create" and len(words) == 1:
        return (Draft("CREATE", marked(first), f"create {marked(first)}", (), (first,)),)
    if name == "edit" and (lines := _EDIT_LINE.fullmatch(first)):
        return (Draft("EDIT", marked(OPEN_FILE), f"edit {lines[0]}\n{stdin or ''}", (OPEN_FILE,), (OPEN_FILE,)),)
    if name in ("search_dir", "search_file") and words:
        place = words[1:2] or ((OPEN_FILE,) if name == "search_file" else ())
        return (search(first, place, f"{name} {' '.join(words)}"),)
    if name == "find_file" and words:
        return (search(first, words[1:2], f"find_file {' '.join(words)}"),)
    return _viewer(name, words)


def _viewer(name: str, words: tuple[str, ...]) -> tuple[Draft, ...] | None:
    first = words[0] if words else ""
    if name == "open" and len(words) in (1, 2) and (len(words) == 1 or words[1].isdigit()):
        return view(first, int(words[1]) if len(words) == 2 else 1)
    if name == "goto" and first.isdigit():
        return view(OPEN_FILE, int(first))
    if name in ("scroll_down", "scroll_up"):
        return (Draft("READ", marked(OPEN_FILE), name, (OPEN_FILE,)),)
    return None


def view(path: str, line: int) -> tuple[Draft, ...]:
    """Return the reading of the window around a line; the viewer opens at the beginning."""
    first = max(1, line - WINDOW // 2) if line > 1 else 1
    return (Draft("READ", marked(path) + bucket(first, first + WINDOW - 1), f"open {marked(path)} {line}", (path,)),)
