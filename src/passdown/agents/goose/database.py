"""Goose's database `sessions.db` (`crates/goose/src/session/session_manager.rs`), schema versions 1 to 16."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from passdown.agents.dialogue import decoded, moment
from passdown.agents.goose.reader import Reader
from passdown.agents.tables import Row, columns_of, only, open_tables, select, text
from passdown.io.log import safe_id
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Title, Unknown

_SESSION = ("id", "name", "description", "session_type", "working_dir", "created_at", "updated_at", "parent_session_id",
            "archived_at")  # fmt: skip
_MESSAGE = ("message_id", "role", "content_json", "created_timestamp", "metadata_json")
_SPENT = ("created_timestamp", "model", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
          "cost_source", "is_compaction")  # fmt: skip
_NEEDED = {"sessions": ("id", "working_dir"), "messages": ("session_id", "role", "content_json")}
_PLACEHOLDERS = frozenset({"New Chat", "CLI Session", "Delegated task", "New session"})


def sessions_in(path: Path) -> Iterator[SessionRef]:
    """Yield the sessions of a database. Raises `FormatError` when it is none of Goose's."""
    with open_tables(path, "Goose", **_NEEDED) as connection:
        rows = list(select(connection, "sessions", _SESSION, order="updated_at DESC, id"))
    for row in rows:
        if identifier := safe_id(text(row, "id")):
            parent = safe_id(text(row, "parent_session_id"))
            yield SessionRef(
                agent="goose", path=str(path), session_id=identifier, inner=identifier,
                started_at=moment(row["created_at"]), modified_at=moment(row["updated_at"]),
                cwd=text(row, "working_dir"), title=_title(row), parent_id=parent,
                parent_kind=_kinship(row, parent),
            )  # fmt: skip


def _title(row: Row) -> str:
    name = text(row, "name") or text(row, "description")
    return "" if name in _PLACEHOLDERS else name[:300]


def _kinship(row: Row, parent: str) -> Any:
    return "" if not parent else "subagent" if text(row, "session_type") == "sub_agent" else "fork"


def read_database(path: Path, ref: SessionRef, max_row: int) -> Iterator[AnyEvent]:
    """Yield one session's events. Raises `FormatError` when it is not there, `UsageError` for several, none named."""
    wanted = ref.inner or ref.session_id
    with open_tables(path, "Goose", **_NEEDED) as connection:
        where = "id = ?" if wanted else ""
        rows = list(
            select(
                connection,
                "sessions",
                _SESSION,
                where=where,
                values=[wanted][: len(where)],
                order="updated_at DESC, id",
            )
        )
        yield from _events(connection, only(rows, "id", path, wanted), ref, max_row)


def _events(connection: sqlite3.Connection, session: Row, ref: SessionRef, max_row: int) -> Iterator[AnyEvent]:
    began, parent = moment(session["created_at"]), safe_id(text(session, "parent_session_id"))
    yield SessionStart(
        session_id=safe_id(text(session, "id")) or ref.session_id, agent="goose", cwd=text(session, "working_dir"),
        parent_id=parent, parent_kind=_kinship(session, parent), at=began,
    )  # fmt: skip
    if title := _title(session):
        yield Title(title=title, at=began)
    ordinal = size = 0
    reader = Reader(delegated=text(session, "session_type") == "sub_agent")
    try:
        ledger = _ledger(connection, text(session, "id"))
        told = sum(row["is_compaction"] in (1, True) for row in ledger)
        reader = Reader(delegated=text(session, "session_type") == "sub_agent", counted=bool(ledger))
        for row in select(
            connection, "messages", _MESSAGE, where="session_id = ?", values=[session["id"]],
            order="created_timestamp, id, rowid", cap=max_row, large=("content_json",),
        ):  # fmt: skip
            ordinal, size = ordinal + 1, size + (row["content_json_length"] or 0)
            yield from _message(reader, row, ordinal)
            if text(row, "role") == "assistant":
                yield from _spent(reader, ledger, moment(row["created_timestamp"]), ordinal)
        yield from _spent(reader, ledger, None, ordinal)
        yield from reader.untold(told)
    except sqlite3.Error:
        yield Unknown(record="message", reason="torn_line", offset=ordinal)
    yield SessionEnd(records=ordinal, bytes=size, offset=ordinal, ignored=dict(reader.ignored))


def _message(reader: Reader, row: Row, ordinal: int) -> list[AnyEvent]:
    at, length = moment(row["created_timestamp"]), row["content_json_length"] or 0
    if row["content_json"] is None:
        return [Unknown(record=text(row, "role")[:80], reason="line_too_long", length=length, offset=ordinal)]
    metadata = decoded(row["metadata_json"])
    known = metadata if isinstance(metadata, dict) else {}
    return reader.add(text(row, "role"), decoded(row["content_json"]), known, length, at=at, offset=ordinal)


def _ledger(connection: sqlite3.Connection, session: str) -> list[Row]:
    """Return what each response took, in order, the oldest last."""
    if "session_id" not in columns_of(connection, "usage_ledger"):
        return []
    order = "created_timestamp, id, rowid"
    rows = select(connection, "usage_ledger", _SPENT, where="session_id = ?", values=[session], order=order)
    return [row for row in rows if text(row, "cost_source") != "carried_forward"][::-1]


def _spent(reader: Reader, ledger: list[Row], until: int | None, ordinal: int) -> Iterator[AnyEvent]:
    while ledger:
        row = ledger[-1]
        at = moment(row["created_timestamp"])
        if until is not None and at is not None and at > until:
            break
        ledger.pop()
        reader.talk.place(at, ordinal)
        model = text(row, "model")
        reader.talk.answers(model if row["is_compaction"] not in (1, True) else "")
        reader.spent(row, model, f"response-{ordinal}-{len(ledger)}")
        yield from reader.talk.take()
