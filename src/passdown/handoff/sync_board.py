"""Sync the board: what is proven done is set to done, and nothing else is touched.

An agent may do this: the proof is evidence that was recorded, not somebody's opinion.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from passdown.clean.board import proven_open
from passdown.clean.options import CleanOptions, Situation
from passdown.errors import ConflictError, FormatError
from passdown.handoff.gather import Gathered
from passdown.io.files import lock, open_regular, write_files
from passdown.model.moment import to_rfc3339
from passdown.model.packet import Packet
from passdown.model.workbench import BoardStatus
from passdown.workbench.board import read_board
from passdown.workbench.board_write import set_status
from passdown.workbench.document import MalformedError, Notes, decode_json
from passdown.workbench.features import read_features
from passdown.workbench.locate import File, read_file, resolve

LOG = "board_sync.jsonl"
"""Where it is recorded what was set: on the local shelf."""

LOG_LIMIT = 1 << 20
"""Largest record that is kept, in bytes; the older half goes when it grows beyond."""


class Synced(Struct, frozen=True, kw_only=True):
    """An item that was set to done: its id, file, the status before, and the commit that its proof judged."""

    id: str
    path: str
    was: BoardStatus
    head: str


def sync_board(gathered: Gathered, draft: Packet, clean: CleanOptions) -> tuple[Synced, ...]:
    """Set the board's and the feature list's items to done whose proof exists (`board.stale_open`), and record it.

    Each file is written whole or not at all; only the status's own characters change. Raises `ConflictError` when a
    board changes meanwhile, `FormatError` when one cannot be edited.
    """
    situation = Situation(gathered.evidence, draft, gathered.config, clean)
    proven = {task.id for task in proven_open(situation)}
    workbench = gathered.evidence.workbench
    loose = [t for t in (*workbench.tasks, *workbench.features) if t.id in proven and t.status != "done"]
    if not loose:
        return ()
    common = Path(gathered.repository.common_dir)
    head = gathered.repository.effective_head or gathered.repository.head
    with lock(common / "passdown" / "lock"):
        paths = dict.fromkeys(task.source for task in loose)
        files = [
            edited_board(gathered, path, {task.id: "done" for task in loose if task.source == path}) for path in paths
        ]
        for target, data in files:
            write_files([(target, data)], mode=stat.S_IMODE(target.stat().st_mode))
        done = tuple(Synced(id=task.id, path=task.source, was=task.status, head=head) for task in loose)
        _record(common / "passdown" / LOG, done, clean.now)
    return done


def edited_board(gathered: Gathered, path: str, wanted: Mapping[str, BoardStatus]) -> tuple[Path, bytes]:
    """Return where a board lies and its bytes with these items in their new status.

    It is read again to see that nothing else changed: raises `ConflictError` when it did since it was gathered, and
    `FormatError` when it cannot be edited.
    """
    try:
        file = read_file(gathered.root, path)
        known = {artifact.path: artifact.sha256 for artifact in gathered.evidence.workbench.artifacts}
        if known.get(path) not in (None, file.sha256):
            raise ConflictError("changed while it was looked at", where=path, next_step="Run it again.")
        data = set_status(file.data, path, wanted)
        before, after = _statuses(file), _statuses(structs.replace(file, data=data))
    except MalformedError as error:
        raise FormatError(error.detail, where=path, next_step="Set the status by hand.") from error
    if after != {name: wanted.get(name, status) for name, status in before.items()}:
        raise FormatError("cannot be edited safely", where=path, next_step="Set the status by hand.")
    return resolve(gathered.root, path), data


def _statuses(file: File) -> dict[str, BoardStatus]:
    try:
        tasks = read_features(decode_json(file.data), Notes(file.path))[0]
    except MalformedError:
        tasks = read_board(file.data, Notes(file.path))
    return {task.id: task.status for task in tasks}


def _record(path: Path, done: tuple[Synced, ...], now: int | None) -> None:
    at = to_rfc3339(now) or ""
    lines = b"".join(msgspec.json.encode({"at": at, **msgspec.to_builtins(item)}) + b"\n" for item in done)
    try:
        with open_regular(path) as stream:
            present = stream.read(LOG_LIMIT + 1)
    except FileNotFoundError:
        present = b""
    if len(present) > LOG_LIMIT:
        present = present[LOG_LIMIT // 2 :].partition(b"\n")[2]
    write_files([(path, present + lines)], mode=0o600)
