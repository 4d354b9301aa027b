"""Readers at work in processes of their own: one for each processor, given a few sessions at a time."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from passdown.sessions.index.changes import Task

if TYPE_CHECKING:
    from passdown.sessions.index.fold import Row, Text

    Found = list[Text] | Row | None

AT_ONCE = 4 << 20
"""Bytes of logs that a worker is given at a time."""

_COUNT_AT_ONCE = 64


def read_all(tasks: Sequence[Task], processes: int) -> Iterator[tuple[Task, Found]]:
    """Read the tasks, yielding each one's batches of texts and then its row or None; several at a time.

    A worker that dies takes the session it was at with it (None comes for it), nothing else.
    """
    if processes < 2:
        from passdown.sessions.index.fold import read_task

        for task in tasks:
            for found in read_task(task):
                yield task, found
        return
    yield from _Pool(tasks, processes).results()


class _Pool:
    def __init__(self, tasks: Sequence[Task], processes: int) -> None:
        self._shares = _shares(tasks)
        self._processes = processes
        self._at_work: dict[Connection, list[Task]] = {}

    def results(self) -> Iterator[tuple[Task, Found]]:
        context = multiprocessing.get_context("spawn")  # a fork would hold the lock and the database
        workers = []
        try:
            for _ in range(self._processes):
                ours, theirs = context.Pipe()
                worker = context.Process(target=_serve, args=(theirs,), daemon=True)
                worker.start()
                theirs.close()
                workers.append((worker, ours))
                self._give(ours)
            while self._at_work:
                for ready in wait(list(self._at_work)):
                    assert isinstance(ready, Connection)
                    yield from self._receive(ready)
        finally:
            for worker, ours in workers:
                ours.close()
                worker.join(2)
                if worker.is_alive():
                    worker.terminate()

    def _give(self, to: Connection) -> None:
        share = next(self._shares, None)
        try:
            to.send(share)
        except OSError:
            if share is None:
                return
        if share is not None:
            self._at_work[to] = list(share)

    def _receive(self, ready: Connection) -> Iterator[tuple[Task, Found]]:
        share = self._at_work[ready]
        try:
            found = ready.recv()
        except (EOFError, OSError):  # it died: what it was at is left out, the rest of its share goes to the others
            del self._at_work[ready]
            yield share[0], None
            for task in share[1:]:
                from passdown.sessions.index.fold import read_task

                for found in read_task(task):
                    yield task, found
            return
        if found == "done":
            del self._at_work[ready]
            self._give(ready)
            return
        task = share[0]
        if not isinstance(found, list):  # of a session, its row comes last
            share.pop(0)
        yield task, found


def _shares(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    share: list[Task] = []
    size = 0
    for task in tasks:
        share.append(task)
        size += task.size
        if size >= AT_ONCE or len(share) >= _COUNT_AT_ONCE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _serve(channel: Connection) -> None:
    """Read what comes down the channel until nothing more does, or the other end is gone."""
    from passdown.sessions.index.fold import read_task

    gc.freeze()
    gc.set_threshold(20_000, 50, 1000)  # records by the thousand and hardly a cycle: as for every command, see __main__
    try:
        while (share := channel.recv()) is not None:
            for task in share:
                for found in read_task(task):
                    # Plain tuples are packed and unpacked a good deal quicker than named ones.
                    channel.send(list(map(tuple, found)) if isinstance(found, list) else found)
            channel.send("done")
    except (EOFError, OSError, KeyboardInterrupt):
        return
