"""Processes of a run: replaced as they work, gone when it ends, and what goes wrong in one is told by the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from pickle import PicklingError
from typing import Any

import pytest

from passdown.data.engine.ingest import trajectory_row
from passdown.data.engine.pipeline import FilterTable
from passdown.data.engine.processes import PATIENCE, Processes
from passdown.data.engine.run import run_stage
from passdown.data.engine.shards import set_hash, written
from passdown.data.engine.stages import quality_stage
from passdown.errors import FormatError

ITS_NUMBER = "__import__('os').getpid()"
ENDLESS = "__import__('time').sleep(60)"
RUN = f"""
from passdown.data.engine.processes import Processes
with Processes(2, spell=0.0) as processes:
    for number in processes.results(eval, [{ITS_NUMBER!r}, {ENDLESS!r}, {ENDLESS!r}]):
        print(number, flush=True)
"""


def _is_there(process: int) -> bool:
    """Say whether a process exists; of a negative number, whether any of its group does."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_whose_spell_is_over_is_replaced_and_none_is_left(workers: int) -> None:
    with Processes(workers, spell=0.0) as processes:
        found = list(processes.results(eval, [ITS_NUMBER] * 6))
        assert len(set(found)) == 6, "each item in a process of its own"
        assert os.getpid() not in found
    assert not [process for process in found if _is_there(process)]


def test_a_process_is_kept_as_long_as_its_spell_lasts() -> None:
    with Processes(2, spell=60.0) as processes:
        found = list(processes.results(eval, [ITS_NUMBER] * 8))
        again = list(processes.results(eval, [ITS_NUMBER] * 8))
        assert len({*found, *again}) <= 2
    assert not [process for process in found if _is_there(process)]


def test_with_one_worker_the_first_spell_is_worked_here() -> None:
    work = "[sum(range(1000)) for _ in range(4000)] and " + ITS_NUMBER
    with Processes(1, spell=0.05) as processes:
        found = list(processes.results(eval, [work] * 6))
    assert found[0] == os.getpid(), "a small run waits for no other process"
    assert os.getpid() not in found[-2:], "a long one leaves nothing in this process's memory"


def test_one_two_and_many_processes_give_the_same_rows(tmp_path: Path, script: Any) -> None:
    for part in range(4):
        with written(tmp_path / f"read/part-{part:05}.parquet") as writer:
            for number in range(3):
                run = script().asks(f"Mend {part}-{number}.").runs("cat a.py", "x = 1\n").runs("pytest -q", "1 passed")
                writer.write(trajectory_row(run.says("Done.").trajectory(repo=f"owner/repo{number}")))
    made = []
    for name, workers, spell in (("here", 1, 60.0), ("one", 1, 0.0), ("two", 2, 60.0), ("many", 2, 0.0)):
        with Processes(workers, spell) as processes:
            run_stage(quality_stage(FilterTable()), tmp_path / "read", tmp_path / name, processes=processes)
        made.append((set_hash([tmp_path / name]), (tmp_path / name / "manifest.jsonl").read_bytes()))
    assert made == [made[0]] * 4
    assert made[0][0].startswith("12-")


def test_an_error_arrives_as_it_was_raised_and_says_where(tmp_path: Path) -> None:
    (tmp_path / "part-00000.parquet").write_bytes(b"PAR1 not really PAR1")
    with Processes(1, spell=0.0) as processes, pytest.raises(FormatError, match="no shard") as caught:
        run_stage(quality_stage(FilterTable()), tmp_path, tmp_path / "out", processes=processes)
    assert caught.value.where == "part-00000.parquet"
    assert caught.value.next_step
    assert "in read_batches" in caught.value.__notes__[0]
    assert not list((tmp_path / "out").glob(".part-*"))


@pytest.mark.parametrize(
    ("wrong", "kind", "told"),
    [
        ("{}['x']", KeyError, "x"),
        ("[].pop()", IndexError, "pop from empty list"),
        ("lambda: 0", (AttributeError, TypeError, PicklingError), "(?i)pickle"),  # what is made cannot be sent
        ("exec('class Odd(Exception): pass\\nraise Odd(5)')", RuntimeError, "Odd: 5"),  # nor this error
        ("open('/nowhere/at/all')", FileNotFoundError, "No such file"),
        ("(_ for _ in ()).throw(EOFError('too short'))", EOFError, "too short"),  # not taken for a killed process
    ],
)
def test_whatever_goes_wrong_is_raised_here(wrong: str, kind: type[Exception], told: str) -> None:
    with Processes(1, spell=0.0) as processes, pytest.raises(kind, match=told):
        list(processes.results(eval, [wrong, ITS_NUMBER]))


def test_who_looks_no_further_leaves_nobody_working() -> None:
    with Processes(2, spell=0.0) as processes:
        results = processes.results(eval, [ITS_NUMBER, ENDLESS, ENDLESS])
        next(results)
        working = [process._process.pid for process in processes._busy.values()]
        began = time.monotonic()
    assert len(working) == 2
    assert time.monotonic() - began < 20
    assert not [process for process in working if process and _is_there(process)]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_a_run_that_was_broken_off(how: signal.Signals) -> None:
    """As on a terminal, an interrupt goes to all of them; a kill to the one that hands out alone."""
    run = subprocess.Popen(
        [sys.executable, "-c", RUN], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert run.stdout is not None
    assert run.stdout.readline().strip().isdigit()
    if how == signal.SIGINT:
        os.killpg(run.pid, how)
    else:
        run.kill()
    began = time.monotonic()
    _, said = run.communicate(timeout=30)
    assert time.monotonic() - began < PATIENCE, "a process did not hear of it"
    deadline = time.monotonic() + 20
    while _is_there(-run.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_there(-run.pid), "something still works"
    assert said.count("Traceback") <= 1, "only who hands out tells of it"
