"""A database with a table of sessions and one of their messages, whose columns vary by release. Nothing is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from passdown.errors import FormatError, PassdownError, UsageError
from passdown.io.files import open_regular
from passdown.io.sqlite import open_database

MAGIC = b"SQLite format 3\x00"

Row = dict[str, Any]


def is_database(path: Path) -> bool:
    """Say whether a file is a database. Raises `FileNotFoundError` when it is gone."""
    with open_regular(path) as stream:
        return stream.read(len(MAGIC)) == MAGIC


@contextmanager
def open_tables(path: Path, title: str, **needed: Sequence[str]) -> Iterator[sqlite3.Connection]:
    """Open a database that must have these tables with these columns.

    Raises `FormatError` when it does not, or is none at all.
    """
    with open_database(path) as connection:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for table, columns in needed.items():
            if not set(columns) <= columns_of(connection, table):
                raise FormatError(f"is no database of {title}'s", where=str(path), next_step="Name another file.")
        yield connection


def refused(path: Path, listed: Callable[[Path], Iterable[object]]) -> str:
    """Return why a database's sessions cannot be listed, empty when they can, or when it is gone."""
    try:
        for _ in listed(path):
            break
    except FileNotFoundError:
        return ""
    except PassdownError as error:
        return error.what
    except (OSError, sqlite3.Error) as error:
        return f"cannot be read: {error}"
    return ""


def columns_of(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """Return the names of a table's columns, none where there is no such table."""
    return frozenset(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))


def select(
    connection: sqlite3.Connection, table: str, names: Sequence[str], *, where: str = "", values: Sequence[Any] = (),
    order: str = "", cap: int = 1 << 20, large: Sequence[str] = (),
) -> Iterator[Row]:  # fmt: skip
    """Yield rows with those of the named columns that are there; the others are None.

    A text longer than `cap` characters comes as None, and its length, under `<name>_length`, for those that may be
    `large`. Only names that this program wrote get into the query.
    """
    present = columns_of(connection, table)
    known = [name for name in names if name in present]
    if not known:
        return
    asked = [f"CASE WHEN length({name}) <= {int(cap)} THEN {name} END" for name in known]
    lengths = [name for name in large if name in present]
    asked += [f"length({name})" for name in lengths]
    by = ", ".join(part for part in order.split(", ") if part.split(" ")[0] in {*present, "rowid"})
    query = f"SELECT {', '.join(asked)} FROM {table}{f' WHERE {where}' * bool(where)}{f' ORDER BY {by}' * bool(by)}"  # noqa: S608 - fixed names
    nothing = dict.fromkeys([*names, *(f"{name}_length" for name in large)])
    for row in connection.execute(query, tuple(values)):
        yield nothing | dict(zip([*known, *(f"{name}_length" for name in lengths)], row, strict=True))


def only(rows: list[Row], key: str, path: Path, session: str) -> Row:
    """Return the one session that is meant. Raises `FormatError` when there is none, `UsageError` for several."""
    if not rows:
        raise FormatError(f"holds no session {session}".rstrip(), where=str(path), next_step="List its sessions.")
    if len(rows) > 1:
        newest = ", ".join(str(row[key]) for row in rows[:3])
        raise UsageError(
            f"holds {len(rows)} sessions", where=str(path), next_step=f"Name one; the newest are {newest}."
        )
    return rows[0]


def text(row: Row, name: str) -> str:
    """Return a column that is a text, empty for anything else."""
    value = row.get(name)
    return value if isinstance(value, str) else ""
