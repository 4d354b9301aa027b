"""A table that says under which licence each file of a collection is: TSV or CSV with a heading."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from passdown.errors import FormatError, UsageError

MOST_BYTES = 64_000_000
_FILE = ("file", "path")
_LICENCE = ("licence", "license")
_NONE = ("none", "unknown", "not stated", "n/a", "-")


def read_licences(path: Path) -> dict[str, str]:
    """Return file name → licence, as the columns `file` (or `path`) and `licence` (or `license`) tell; '' for none.

    Commas separate the columns, tabs where the name ends in `.tsv`. Raises `UsageError` for a table that cannot be read
    and `FormatError` for one without these columns.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError("the table of licences is too large", where=path.name, next_step="Name the right file.")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "the table of licences cannot be read", where=path.name, next_step="Name a TSV or CSV file in UTF-8."
        ) from error
    tabs = path.suffix.lower() == ".tsv"  # where a quotation mark is a character as any other
    rows = csv.reader(
        text.replace("\r\n", "\n").split("\n") if tabs else io.StringIO(text, newline=""),
        delimiter="\t" if tabs else ",", quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL,
    )  # fmt: skip
    names = [name.strip().lower() for name in next(rows, [])]
    file = next((names.index(name) for name in _FILE if name in names), None)
    licence = next((names.index(name) for name in _LICENCE if name in names), None)
    if file is None or licence is None:
        raise FormatError(
            "the table has no columns `file` and `licence`", where=f"{path.name}, line 1",
            next_step="Give it a heading that names both.",
        )  # fmt: skip
    return {row[file].strip(): _stated(row[licence]) for row in rows if len(row) > max(file, licence)}


def _stated(said: str) -> str:
    said = " ".join(said.split())
    return "" if said.lower().startswith(_NONE) else said
