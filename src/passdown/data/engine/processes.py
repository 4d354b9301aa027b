"""Processes that a run's jobs are done in: started when first needed, shared by all steps, ended with the run."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_end
from types import TracebackType
from typing import Self, TypeVar

from passdown.errors import PassdownError

Given = TypeVar("Given")
Made = TypeVar("Made")


class Processes:
    """So many processes at most. With one, the work is done in this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def results(self, function: Callable[[Given], Made], items: list[Given]) -> Iterator[Made]:
        """Yield what `function` makes of each item, as it is done.

        A few items are handed out ahead, so that a million of them are no million futures. Raises `PassdownError` when
        a process was killed.
        """
        if self.workers <= 1 or len(items) <= 1:
            yield from map(function, items)
            return
        queue = iter(items)
        running: set[Future[Made]] = set()
        try:
            while True:
                while len(running) < 2 * self.workers and (item := next(queue, None)) is not None:
                    running.add(self._started().submit(function, item))
                if not running:
                    return
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    yield future.result()
        except BrokenProcessPool as error:
            self._end()
            raise PassdownError(
                "a process was killed while it worked, most likely because memory ran out",
                next_step="Run the command again with fewer workers: what is finished is kept.",
            ) from error
        finally:
            for future in running:
                future.cancel()

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("forkserver")  # a fork of a process with Arrow's threads could hang
            context.set_forkserver_preload(["passdown.data.engine.stages", "passdown.data.engine.run"])
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_end_with_parent)
        return self._pool


def _end_with_parent() -> None:
    """End this process when the one it works for is killed: it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    wait_for_end([sentinel])
    os._exit(1)
