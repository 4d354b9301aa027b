"""Discovery: what the head and the tail of each rollout say."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct, structs

from passdown.agents.codex.header import Git, Meta
from passdown.agents.codex.lineage import parent_of
from passdown.agents.codex.store import FOLDERS, other_name, walk
from passdown.errors import UnsafeError
from passdown.io.jsonl import open_log, size_of
from passdown.io.log import milliseconds
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionRef

PEEK = 64 << 10
"""Bytes looked at, at each end of a file."""

_NAME = lazy_pattern(r"rollout-.+\.jsonl(?:\.zst)?")
_UUID = lazy_pattern(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_FIELD = lazy_pattern(
    rb'"(id|cwd|timestamp|branch|commit_hash|repository_url|forked_from_id|parent_thread_id)"'
    rb'\s*:\s*("(?:[^"\\]|\\.){0,4096}")'
)


class _Event(Struct):
    type: str = ""
    thread_name: str | None = None
    cwd: str | None = None


class _Row(Struct):
    type: str = ""
    payload: _Event | None = None


class _MetaRow(Struct, tag_field="type", tag="session_meta"):
    payload: Meta


_META = msgspec.json.Decoder(_MetaRow)
_BARE = msgspec.json.Decoder(Meta)
_ROW = msgspec.json.Decoder(_Row)


def session_id_of(name: str) -> str:
    """Return the session's id out of a rollout's file name."""
    found = _UUID.findall(name)
    return found[-1] if found else name.removesuffix(".zst").removesuffix(".jsonl")


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the rollouts under Codex's folder, newest first, reading only the head and tail of each.

    A plain file wins over its compressed copy. Links, and files that cannot be read, are passed over.
    """
    files: dict[str, Path] = {}
    for folder in FOLDERS:
        for path in walk(home / folder):
            if not _NAME.fullmatch(path.name):
                continue
            name = path.name.removesuffix(".zst")
            if name not in files or (files[name].suffix == ".zst" and path.suffix != ".zst"):
                files[name] = path
    dated = []
    for path in files.values():
        try:
            dated.append((path.stat(follow_symlinks=False).st_mtime_ns, path.name, path))
        except FileNotFoundError:
            dated.append((0, path.name, path))
        except OSError:
            continue
    for _, _, path in sorted(dated, reverse=True):
        ref = refer(path) or refer(other_name(path))
        if ref is not None:
            yield ref


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a log say of its session, None when it cannot be read or is none."""
    try:
        with open_log(path) as stream:
            facts = path.stat(follow_symlinks=False)
            head = stream.read(PEEK)
            tail = b"" if size_of(stream) is None else _tail(stream, len(head), facts.st_size)
    except (OSError, UnsafeError):
        return None
    meta = _header(head)
    git = meta.git or Git()
    parent_id, parent_kind = parent_of(meta)
    ref = SessionRef(
        agent="codex",
        path=str(path),
        session_id=meta.id or meta.session_id or session_id_of(path.name),
        bytes=facts.st_size,
        started_at=milliseconds(meta.timestamp),
        modified_at=facts.st_mtime_ns // 1_000_000,
        cwd=meta.cwd or "",
        branch=git.branch or "",
        parent_id=parent_id,
        parent_kind=parent_kind,
        commit=git.commit_hash or "",
        remote=git.repository_url or "",
    )
    return _with_latest(ref, head + tail)


def _tail(stream: IO[bytes], start: int, size: int) -> bytes:
    """Return what follows the head when that is little, else the last whole lines."""
    if size <= start + PEEK:
        stream.seek(start)
        return stream.read(PEEK)
    stream.seek(size - PEEK)
    return b"\n" + stream.read(PEEK).partition(b"\n")[2]


def _header(head: bytes) -> Meta:
    first = head.lstrip(b"\xef\xbb\xbf\x00 \r\n").partition(b"\n")[0]
    for decoder in (_META, _BARE):
        try:
            found = decoder.decode(first)
        except (msgspec.DecodeError, RecursionError):
            continue
        return found.payload if isinstance(found, _MetaRow) else found
    return _cut_header(first)


def _cut_header(first: bytes) -> Meta:
    """Return what a header says that is longer than the head, or damaged: instructions make it long, and stand late."""
    if b'"session_meta"' not in first[:4096]:
        return Meta()
    start = first.find(b'"payload"')
    values: dict[str, str] = {}
    for match in _FIELD.finditer(first, max(start, 0), max(start, 0) + 8192):
        try:
            values.setdefault(match[1].decode(), msgspec.json.decode(match[2], type=str))
        except msgspec.DecodeError:
            continue
    git = Git(*(values.pop(name, None) for name in ("commit_hash", "branch", "repository_url")))
    return structs.replace(msgspec.convert(values, Meta), git=git)


def _with_latest(ref: SessionRef, ends: bytes) -> SessionRef:
    """Return the reference with the last name, folder and branch that the ends of the file tell."""
    title, cwd, branch = "", "", ""
    for line in ends.split(b"\n"):
        if b'"thread_name_updated"' in line or b'"turn_context"' in line:
            try:
                row = _ROW.decode(line)
            except (msgspec.DecodeError, RecursionError):
                continue
            event = row.payload or _Event()
            if row.type == "turn_context":
                cwd = event.cwd or cwd
            elif event.type == "thread_name_updated":
                title = event.thread_name or title
        elif b'"session_meta"' in line:
            try:
                meta = _META.decode(line).payload
            except (msgspec.DecodeError, RecursionError):
                continue
            if meta.id == ref.session_id:
                branch = (meta.git.branch if meta.git else None) or branch
    return structs.replace(ref, title=title, cwd=cwd or ref.cwd, branch=branch or ref.branch)
