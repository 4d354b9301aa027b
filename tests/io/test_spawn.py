"""Programs are fed, read and ended as they should be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from passdown.io.spawn import Child, start


def run(code: str, data: bytes = b"", *, timeout: float = 20.0) -> tuple[int, bytes, bytes]:
    return begin(code, feed=bool(data)).finish(data, timeout)


def begin(code: str, *, feed: bool = False) -> Child:
    return start([sys.executable, "-I", "-S", "-c", code], Path("/"), os.environ, feed=feed)


def descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_both_streams_and_the_code_are_told() -> None:
    assert run("import os, sys; os.write(1, b'out\\xff'); os.write(2, b'err'); sys.exit(3)") == (3, b"out\xff", b"err")
    assert run("import os; os.kill(os.getpid(), 15)")[0] == -15
    assert run("import sys; print(len(sys.stdin.buffer.read()))") == (0, b"0\n", b"")


def test_more_than_pipes_hold_goes_both_ways_at_once() -> None:
    data = b"line of text\n" * 200_000
    echo = (
        "import shutil, sys; sys.stderr.buffer.write(b'e' * 300_000); "
        "shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"
    )
    assert run(echo, data) == (0, data, b"e" * 300_000)


def test_a_program_that_reads_nothing_is_no_error() -> None:
    assert run("print(1)", b"x" * 1_000_000) == (0, b"1\n", b"")


def test_nothing_stays_open_and_nothing_runs_on(tmp_path: Path) -> None:
    before = descriptors()
    note = f"echo $$ > {tmp_path}/pid; exec sleep 60"
    run("print(1)", b"x")
    for words in (note, f"{note} >&- 2>&-"):  # the other only seems to have ended
        with pytest.raises(TimeoutError):
            start(["/bin/sh", "-c", words], Path("/"), os.environ).finish(b"", 1.0)
        assert is_gone(tmp_path / "pid")
    child = start(["/bin/sh", "-c", note], Path("/"), os.environ)
    while not (tmp_path / "pid").exists():
        time.sleep(0.01)
    child.kill()
    assert is_gone(tmp_path / "pid")
    for argv in (["/nowhere/at/all"], [sys.executable, "a\0b"], [sys.executable, "\ud800"]):
        with pytest.raises((OSError, ValueError)):
            start(argv, Path("/"), os.environ, feed=True)
    for folder in (tmp_path / "gone", Path(sys.executable)):
        with pytest.raises(OSError, match=r"\[Errno"):
            start([sys.executable], folder, os.environ)
    assert descriptors() == before


def is_gone(note: Path) -> bool:
    while not (text := note.read_text()):
        time.sleep(0.01)
    note.unlink()
    with pytest.raises(ProcessLookupError):  # not even waiting to be asked how it ended
        os.kill(int(text), 0)
    return True


def test_several_at_once_do_not_keep_each_other_waiting() -> None:
    answers: list[tuple[int, bytes, bytes]] = []

    def ask() -> None:
        copy = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
        answers.extend(run(copy, b"x" * 70_000) for _ in range(3))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [(0, b"x" * 70_000, b"")] * 12


def test_closed_streams_of_our_own_do_not_cross_those_of_the_program() -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom passdown.io.spawn import start\n"
        "told = os.dup(1)\nos.set_inheritable(told, False)\nfor number in range(3): os.close(number)\n"
        "child = start([sys.executable, '-c', 'import os; os.write(1, os.read(0, 9)); os.write(2, b\"e\")'],"
        " Path('/'), os.environ, feed=True)\nos.write(told, repr(child.finish(b'fed', 20.0)).encode())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"(0, b'fed', b'e')"


@pytest.mark.parametrize("name", ["PIPE", "XFSZ"])
def test_signals_that_python_ignores_end_a_program_all_the_same(name: str) -> None:
    child = start(["/bin/sh", "-c", f"kill -{name} $$; echo still here"], Path("/"), os.environ)
    code, output, _ = child.finish(b"", 20.0)
    assert (code, output) == (-getattr(signal, f"SIG{name}"), b"")
