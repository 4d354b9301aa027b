"""A command run as a shell would run it: streams, exit codes, signals, timeouts, terminals; real processes."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.io.capture import HEAD, TAIL, Capture
from passdown.io.process import Ended, run_process

RUNNER = """
import sys
from pathlib import Path
from passdown.io.process import run_process
timeout = float(sys.argv[1]) or None
done = run_process(sys.argv[2:], cwd=Path.cwd(), timeout=timeout)
print(f"ENDED exit={done.exit} code={done.code} signal={done.signal} timed_out={done.timed_out}", file=sys.stderr)
"""


def quiet(argv: list[str], cwd: Path, **options: object) -> tuple[Ended, bytes, bytes]:
    """Run with the output going to files; returns what arrived there."""
    out, err = (os.open(cwd / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for name in ("out", "err"))
    try:
        ended = run_process(argv, cwd=cwd, targets=(out, err), stdin=False, **options)  # type: ignore[arg-type]
    finally:
        os.close(out)
        os.close(err)
    return ended, (cwd / "out").read_bytes(), (cwd / "err").read_bytes()


def test_streams_and_exit_code_pass_through(tmp_path: Path) -> None:
    ended, out, err = quiet(["sh", "-c", r"printf 'a\0\377b'; printf err >&2; exit 7"], tmp_path)
    assert (ended.exit, ended.code, ended.signal, ended.error) == (7, 7, 0, "")
    assert (out, err) == (b"a\0\xffb", b"err")
    assert (ended.out.head, ended.err.head) == ("a\0\ufffdb", "err")
    assert ended.duration >= 0
    assert ended.at > 1_700_000_000_000


@pytest.mark.parametrize(
    ("argv", "code"), [(["no-such-program-here"], 127), (["./plain"], 126), (["./gone/x"], 127), (["."], 126), (["a\0b"], 126)]
)  # fmt: skip
def test_what_cannot_be_run_ends_as_in_a_shell(argv: list[str], code: int, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    ended, out, _ = quiet(argv, tmp_path)
    assert (ended.exit, ended.code) == (code, code)
    assert ended.error
    assert out == b""


def test_a_script_without_its_first_line_is_run_by_sh(tmp_path: Path) -> None:
    (tmp_path / "script").write_text('echo "got $1"; exit 4\n')
    (tmp_path / "script").chmod(0o755)
    ended, out, _ = quiet(["./script", "it"], tmp_path)
    assert (ended.exit, out) == (4, b"got it\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT])
def test_death_by_signal_is_told(number: signal.Signals, tmp_path: Path) -> None:
    ended, _, _ = quiet(["sh", "-c", f"ulimit -c 0; kill -{int(number)} $$"], tmp_path)
    assert (ended.exit, ended.code, ended.signal) == (None, 128 + number, number)
    assert number.name in ended.error


def test_a_timeout_ends_the_whole_group_even_one_that_ignores_it(tmp_path: Path) -> None:
    script = "trap '' TERM INT; (trap '' TERM; sleep 60) & echo $! >pid; while :; do sleep 60; done"
    ended, _, _ = quiet(["sh", "-c", script], tmp_path, timeout=0.3)
    assert ended.timed_out
    assert (ended.exit, ended.code) == (None, 124)
    assert ended.error == "timed out after 0.3 s"
    assert not is_alive(int((tmp_path / "pid").read_text()))


def is_alive(pid: int) -> bool:
    """Whether a process still runs: a zombie that nobody has waited for does not."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except FileNotFoundError:
            return False
        time.sleep(0.02)
    return True


def test_200_mb_are_never_held(tmp_path: Path) -> None:
    program = (
        "import resource, sys\nfrom pathlib import Path\nfrom passdown.io.process import run_process\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "done = run_process(['head', '-c', '200000000', '/dev/zero'], cwd=Path.cwd())\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(done.exit, after - before, len(done.out.head) + len(done.out.tail), file=sys.stderr)\n"
    )
    with (tmp_path / "program.py").open("w") as stream:
        stream.write(program)
    done = subprocess.run(f"{sys.executable} program.py | wc -c", shell=True, cwd=tmp_path, capture_output=True, check=True)  # fmt: skip
    assert int(done.stdout) == 200_000_000
    code, grown, kept = map(int, done.stderr.split())
    assert code == 0
    assert grown < 8_000  # kilobytes
    assert kept <= HEAD + 2 * TAIL


def test_a_reader_that_leaves_ends_the_writer(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "$0" 0 yes | head -1', RUNNER], cwd=tmp_path, capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.stdout == b"y\n"
    assert b"code=141 signal=13" in done.stderr


def test_a_background_child_that_keeps_the_pipe_does_not_hold_the_end(tmp_path: Path) -> None:
    ended, out, _ = quiet(["sh", "-c", "echo hi; sleep 300 & echo $! >pid"], tmp_path)
    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, signal.SIGKILL)  # it was left alone, as a shell leaves it
    assert (ended.exit, out) == (0, b"hi\n")


FAMILY = """
import os, signal, sys, time
ready, written = os.pipe()
number = int(sys.argv[1])
inner = os.fork()
def end(*_):
    if inner:
        os.waitpid(inner, 0)
    os.write(1, b"outer\\n" if inner else b"inner\\n")
    os._exit(9)
signal.signal(number, end)
if inner:
    os.read(ready, 1)
    os.write(1, b"up\\n")
else:
    os.write(written, b"x")
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_passed_on_to_the_whole_group(number: signal.Signals, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", RUNNER, "0", sys.executable, "-c", FAMILY, str(int(number))]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert out == b"inner\nouter\n"
    assert b"exit=9" in err


def test_a_child_that_ignores_sigint_runs_to_its_end(tmp_path: Path) -> None:
    child = (
        "import signal, time, sys\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('ready', flush=True)\n"
        "sys.stdin.readline()\nprint('done', flush=True)\nsys.exit(5)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER, "0", sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(b"go\n", timeout=30)
    assert out == b"done\n"
    assert b"exit=5" in err


def on_terminal(
    argv: list[str], typed: bytes = b"", until: bytes = b"ENDED", size: tuple[int, int] = (33, 77)
) -> bytes:
    """Run a program with a terminal of its own for all three streams; returns what the terminal showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(argv[0], argv)
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    shown = b""
    try:
        while until not in shown or not shown.endswith(b"\n"):
            piece = os.read(terminal, 4096)
            if not piece:
                break
            shown += piece
            if typed and b"ready" in shown:
                os.write(terminal, typed)
                typed = b""
    except OSError:
        pass
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown


def test_on_a_terminal_a_program_has_a_terminal(tmp_path: Path) -> None:
    child = "import os, sys; print([os.isatty(n) for n in (0, 1, 2)], os.get_terminal_size(1).columns); sys.stderr.write('e\\n')"
    shown = on_terminal([sys.executable, "-c", RUNNER, "0", "sh", "-c", f'sleep 0.2; {sys.executable} -c "{child}"'])
    assert b"[True, True, True] 77\r\n" in shown, shown
    assert b"e\r\n" in shown
    assert b"\r\r\n" not in shown


def test_on_a_terminal_a_program_may_read_and_ctrl_c_reaches_it(tmp_path: Path) -> None:
    reads = "echo ready; read line; echo got $line"
    shown = on_terminal([sys.executable, "-c", RUNNER, "0", "sh", "-c", reads], typed=b"words\n")
    assert b"got words" in shown
    assert b"exit=0" in shown
    shown = on_terminal([sys.executable, "-c", RUNNER, "0", "sh", "-c", "echo ready; exec sleep 60"], typed=b"\x03")
    assert b"code=130 signal=2" in shown


def test_in_a_pipeline_on_a_terminal_ctrl_c_reaches_all(tmp_path: Path) -> None:
    line = f'{sys.executable} -c "$0" 0 sh -c "echo ready; exec sleep 60" | cat'
    shown = on_terminal(["/bin/bash", "-c", line, RUNNER], typed=b"\x03")
    assert b"code=130 signal=2" in shown


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=9000), max_size=60))
def test_capture_keeps_whole_lines_of_both_ends(pieces: list[bytes]) -> None:
    capture = Capture()
    for piece in pieces:
        capture.feed(piece)
    whole = b"".join(pieces)
    kept = capture.finish()
    if len(whole) <= HEAD + TAIL:
        assert (kept.head, kept.tail, kept.missing) == (whole.decode("utf-8", "replace"), "", 0)
    assert len(kept.head) + len(kept.tail) <= HEAD + 2 * TAIL
    assert kept.lines == whole.count(b"\n") + (not whole.endswith(b"\n") and bool(whole))


def test_capture_of_many_lines_counts_what_is_missing() -> None:
    capture = Capture()
    lines = [f"line {number}\n".encode() for number in range(100_000)]
    for line in lines:
        capture.feed(line)
    kept = capture.finish()
    assert kept.head.startswith("line 0\n")
    assert kept.tail.endswith("line 99999\n")
    shown = kept.head.splitlines() + kept.tail.splitlines()
    assert all(line in {f"line {number}" for number in (0, 1, 99_999)} or line.startswith("line ") for line in shown)
    assert len(shown) + kept.missing == kept.lines == 100_000
