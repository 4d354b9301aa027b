"""Notebooks: the source of their code cells, line for line where it stands in the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from passdown.clean.languages import Language, language_of

_MISSES = 20
_EXTENSIONS = {"python": "py", "javascript": "js", "typescript": "ts", "julia": "", "r": "", "bash": "sh", "rust": "rs"}


def read_notebook(text: str) -> tuple[str, Language | None]:
    """Return the code of a notebook as a text with as many lines as the file, and its language.

    A line of a cell keeps the number of the line that it has in the file; all other lines are empty. What is no
    notebook, and one whose cells are not written line by line, has no code.
    """
    try:
        book = json.loads(text)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(book, dict):
        return "", None
    lines = text.split("\n")
    found = [""] * len(lines)
    at, misses = 0, 0
    for code in _code_lines(book):
        number = _find(lines, at, code)
        if number < 0:
            misses += 1
            if misses > _MISSES:
                break
            continue
        found[number] = code.rstrip("\n")
        at = number + 1
    return "\n".join(found), language_of("x." + _EXTENSIONS.get(_language(book), "py"))


def removed_code(line: str) -> str:
    """Return the code that a removed line of a notebook's file held, the line itself when it held none."""
    try:
        value = json.loads(line.strip().removesuffix(","))
    except (ValueError, RecursionError):
        return line
    return value.rstrip("\n") if isinstance(value, str) else line


def _code_lines(book: dict[str, Any]) -> Iterator[str]:
    cells = book.get("cells")
    for cell in cells if isinstance(cells, list) else ():
        source = cell.get("source") if isinstance(cell, dict) and cell.get("cell_type") == "code" else None
        if isinstance(source, str):
            source = source.splitlines(keepends=True)
        if not isinstance(source, list) or (source and str(source[0]).startswith("%%")):
            continue
        for line in source:  # magics and shell lines are no code of the notebook's language
            if isinstance(line, str) and line.strip() and not line.lstrip().startswith(("%", "!", "?")):
                yield line


def _find(lines: list[str], start: int, code: str) -> int:
    forms = (json.dumps(code), json.dumps(code, ensure_ascii=False))
    return next((n for n in range(start, len(lines)) if lines[n].strip().removesuffix(",") in forms), -1)


def _language(book: dict[str, Any]) -> str:
    metadata = book.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return str(part[name]).lower()
    return "python"
