"""Processes that a run's jobs are done in: started when needed, shared by all steps, replaced again and again."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from passdown.errors import PassdownError

Given = TypeVar("Given")
Made = TypeVar("Made")

SPELL = 2.0
"""Seconds of processor time after which a process ends with its job. Starting one takes some hundredths of a second."""
PATIENCE = 5.0
"""Seconds that a process has to end by itself."""


class Processes:
    """So many processes at most, each for a spell: what work leaves in memory goes with the process that did it.

    With one worker, or one item, the first spell is worked in this process: a small run waits for no other to start.
    """

    # Not the standard library's pool: one that limits the tasks of a process can hang under Python 3.11 (gh-115634).

    def __init__(self, workers: int, spell: float = SPELL) -> None:
        self.workers = workers
        self.spell = spell
        self._spent = 0.0
        self._idle: list[_Process] = []
        self._busy: dict[Connection[Any, Any], _Process] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()
        while self._idle:
            self._idle.pop().end()

    def results(self, function: Callable[[Given], Made], items: list[Given]) -> Iterator[Made]:
        """Yield what `function` makes of each item, as it is done; what it raises is raised here.

        Raises `PassdownError` when a process was killed.
        """
        queue = iter(items)
        if self.workers <= 1 or len(items) <= 1:
            yield from self._here(function, queue)
        try:
            self._hand_out(function, queue)
            while self._busy:
                for end in wait(list(self._busy)):
                    answer = self._taken(self._busy.pop(end))  # type: ignore[call-overload]
                    self._hand_out(function, queue)  # before somebody looks at the answer, which may take a while
                    if answer.error is not None:
                        raise answer.error
                    yield answer.made
        except _KilledError as error:
            raise PassdownError(
                "a process was killed while it worked, most likely because memory ran out",
                next_step="Run the command again with fewer workers: what is finished is kept.",
            ) from error
        finally:
            self._stop()

    def _here(self, function: Callable[[Given], Made], queue: Iterator[Given]) -> Iterator[Made]:
        """Work on items in this process until its spell is over."""
        while self._spent < self.spell and (item := next(queue, None)) is not None:
            began = time.process_time()
            made = function(item)
            self._spent += time.process_time() - began
            yield made

    def _hand_out(self, function: Callable[[Given], Made], queue: Iterator[Given]) -> None:
        """Give every process that may work an item, as long as there are any."""
        while len(self._busy) < self.workers and (item := next(queue, None)) is not None:
            process = self._idle.pop() if self._idle else _Process(self.spell)
            self._busy[process.connection] = process
            process.give(function, item)

    def _taken(self, process: _Process) -> _Answer:
        """Take a process's answer, and keep the process for more work unless its spell is over."""
        try:
            answer = process.answer()
        except _KilledError:
            process.end()
            raise
        if answer.over:
            process.end()
        else:
            self._idle.append(process)
        return answer

    def _stop(self) -> None:
        """Break off what is being worked on. A shard that is half made leaves nothing under its name."""
        stopped, self._busy = list(self._busy.values()), {}
        for process in stopped:
            process.stop()
        for process in stopped:
            process.end()


class _Answer(NamedTuple):
    """What a process made of an item, or the error; whether its spell is over."""

    made: Any
    error: BaseException | None
    over: bool


class _KilledError(Exception):
    """A process ended without an answer."""


class _Process:
    """A process that works on one item at a time. It ends with the process that it works for."""

    def __init__(self, spell: float) -> None:
        context = multiprocessing.get_context("forkserver")  # not a fork of this process, whose threads may hold locks
        context.set_forkserver_preload(["passdown.data.engine.loaded"])
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, spell), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, function: Callable[[Any], Any], item: Any) -> None:
        """Give it an item to work on."""
        given = pickle.dumps((function, item))
        with contextlib.suppress(ConnectionError):  # it was killed: who waits for the answer is told
            self.connection.send_bytes(given)

    def answer(self) -> _Answer:
        """Wait for what it made."""
        try:
            answer: _Answer = pickle.loads(self.connection.recv_bytes())  # noqa: S301 - from a process of our own
        except (EOFError, ConnectionError) as error:
            raise _KilledError from error
        return answer

    def stop(self) -> None:
        """Tell it to break off."""
        self._process.terminate()

    def end(self) -> None:
        """Give it no more work, and wait until it is gone."""
        self.connection.close()
        self._process.join(PATIENCE)
        self._process.kill()
        self._process.join()
        self._process.close()


def _work(connection: Connection[Any, Any], spell: float) -> None:
    """Work on what is given, until there is no more."""
    gc.freeze()  # what is loaded stays, and the pages it lies on stay shared
    _end_with_parent()
    signal.signal(signal.SIGTERM, _break_off)
    with contextlib.suppress(EOFError, ConnectionError, KeyboardInterrupt):
        while True:
            connection.send_bytes(_answered(connection.recv_bytes(), spell))


def _break_off(_signal: int, _frame: Any) -> None:
    raise SystemExit  # so that files that are half written are removed


def _answered(given: bytes, spell: float) -> bytes:
    try:
        function, item = pickle.loads(given)  # noqa: S301 - from the process it works for
        made = function(item)
        return pickle.dumps(_Answer(made, None, time.process_time() >= spell))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the answer is waited for
        return pickle.dumps(_Answer(None, _sent(error), over=True))


def _sent(error: BaseException) -> BaseException:
    """Return an error that can be sent, and tells where in the other process it arose."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except BaseException:  # noqa: BLE001 - its class says how it is packed, and may do so wrongly
        told = RuntimeError(f"{type(error).__name__}: {error}")
        told.add_note(error.__notes__[-1])
        return told
    return error


def _end_with_parent() -> None:
    """End this process when the one it works for is killed: it would work on for nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        # A signal that the watching thread took would not wake the one that works.
        others = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_SETMASK, others)


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
