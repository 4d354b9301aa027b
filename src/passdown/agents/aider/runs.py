"""The runs of a chat history: Aider writes all of a project's into one file, each below a heading with its time."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from passdown.io.jsonl import open_log, read_lines
from passdown.model.pattern import lazy_pattern

_MARK = b"# aider chat started at "
HEADING = lazy_pattern(rb"# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)[ \t]*\r?\Z")
BEGINNING = "aider-beginning"
"""The run whose heading is lost: what stands before the first one."""


class Run(NamedTuple):
    """One run: its id, when it began (milliseconds), where it lies, and whether anybody asked for anything in it."""

    name: str
    started: int | None
    offset: int
    end: int
    line: int
    asked: bool
    until: int | None = None


def runs_of(path: Path) -> tuple[Run, ...]:
    """Return the runs of a history in their order. Raises `FileNotFoundError` when it is gone."""
    status = path.stat()
    return _runs(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=8)
def _runs(path: str, size: int, mtime_ns: int) -> tuple[Run, ...]:  # noqa: ARG001 - the time is part of the key
    runs: list[Run] = []
    current = Run(BEGINNING, None, 0, 0, 1, asked=False)
    names: dict[str, int] = {}
    end = 0
    with open_log(Path(path)) as stream:
        for line in read_lines(stream, limit=size):
            end = line.offset + line.length + line.complete
            data = line.data
            if data is None or not data.startswith(b"#"):
                continue
            if data.startswith(_MARK) and (match := HEADING.match(data)) is not None:
                started = _moment(match[1].decode(), match[2].decode())
                if line.offset:
                    runs.append(current._replace(end=line.offset, until=started))
                current = Run(
                    _name(match[1] + b"-" + match[2], names), started, line.offset, 0, line.number, asked=False
                )
            elif data.startswith(b"####") and not current.asked:
                current = current._replace(asked=True)
    runs.append(current._replace(end=end))
    return tuple(run for run in runs if run.name != BEGINNING or run.asked or len(runs) == 1)


def _name(stamp: bytes, names: dict[str, int]) -> str:
    name = f"aider-{stamp.decode().replace('-', '', 2).replace(':', '')}"
    names[name] = names.get(name, 0) + 1
    return name if names[name] == 1 else f"{name}-{names[name]}"


def _moment(day: str, time: str) -> int | None:
    """Return a local time, as Aider writes it without its zone, in milliseconds."""
    try:
        return int(datetime.fromisoformat(f"{day} {time}").astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
