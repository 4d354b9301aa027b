"""Files: refused kinds, atomic writes under kill -9, and the lock."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.errors import ConflictError, FormatError, UnsafeError
from passdown.io.files import is_inside, join_inside, lock, open_regular, read_bounded, write_files


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def test_reading_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(FormatError, match="larger than 4 bytes"):
        read_bounded(path, 4)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for name in ("link", "dangling", "folder", "pipe", "socket"):
            with pytest.raises(UnsafeError):
                open_regular(tmp_path / name)
            if name != "dangling":
                with pytest.raises(UnsafeError):
                    write_files([(tmp_path / name, b"")])
    with pytest.raises(UnsafeError):
        open_regular(Path("/dev/null"))
    assert (tmp_path / "real").read_bytes() == b"x"


def test_paths_that_leave_the_repository_are_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "out").symlink_to(tmp_path)
    (root / "inside").symlink_to("sub")
    (root / "circle").symlink_to("circle")
    assert join_inside(root, "sub/./new.txt") == root / "sub" / "new.txt"
    assert join_inside(root, "inside/x") == root / "inside" / "x"
    for path in ("", ".", "/etc/passwd", "../x", "sub/../../x", "a\0b", "out/x", "out", "circle", "circle/x"):
        with pytest.raises(UnsafeError):
            join_inside(root, path)
    assert is_inside(root, root)
    assert not is_inside(root, tmp_path / "root-beside")


@given(st.text(max_size=40))
@settings(deadline=None)
def test_a_joined_path_is_inside_whatever_the_text(text: str) -> None:
    root = Path("/tmp")  # nothing is written
    try:
        path = join_inside(root, text)
    except UnsafeError:
        return
    assert is_inside(root, path)


def test_writing_leaves_equal_files_alone(tmp_path: Path) -> None:
    one, two = tmp_path / "deep" / "one", tmp_path / "two"
    assert write_files([(one, b"1"), (two, b"2")]) == [one, two]
    os.utime(one, (1, 1))
    assert write_files([(one, b"1"), (two, b"22")]) == [two]
    assert one.stat().st_mtime == 1
    assert two.read_bytes() == b"22"
    assert (one.stat().st_mode & 0o777) == 0o644
    write_files([(tmp_path / "private", b"x")], mode=0o600)
    assert ((tmp_path / "private").stat().st_mode & 0o777) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "private", "two"]


def test_one_bad_target_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(UnsafeError):
        write_files([(tmp_path / "new", b"x"), (tmp_path / "link", b"x")])
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(OSError, match=r"File exists|Not a directory"):
        write_files([(tmp_path / "new", b"x"), (tmp_path / "file" / "below", b"x")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


WRITER = """
    import itertools, sys
    from pathlib import Path
    from passdown.io.files import write_files
    root = Path(sys.argv[1])
    print("ready", flush=True)
    for number in itertools.count():
        body = b"%d\\n" % (number % 10) * 200_000
        write_files([(root / "handoff.json", body), (root / "handoff.md", body)])
"""


def test_kill_9_leaves_each_file_old_or_new(tmp_path: Path) -> None:
    for name in ("handoff.json", "handoff.md"):
        (tmp_path / name).write_bytes(b"old\n" * 100)
    for attempt in range(12):
        process = start(WRITER, tmp_path)
        assert process.stdout is not None
        with process.stdout:
            process.stdout.readline()
            time.sleep(0.004 * attempt + 0.001)
            process.send_signal(signal.SIGKILL)
        process.wait()
        for name in ("handoff.json", "handoff.md"):
            lines = (tmp_path / name).read_bytes().splitlines()
            assert len(set(lines)) == 1
            assert len(lines) in (100, 200_000)
    # What a killed writer leaves beside them carries the mark of a staged file.
    litter = {path.name for path in tmp_path.iterdir()} - {"handoff.json", "handoff.md"}
    assert all(name.startswith(".handoff.") and name.endswith(".tmp") for name in litter)


LOCKER = """
    import sys, time
    from pathlib import Path
    from passdown.io.files import lock
    with lock(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(60)
"""


def test_the_lock_is_exclusive_and_dies_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "lock"
    with lock(path):
        assert (path.stat().st_mode & 0o777) == 0o600
        with pytest.raises(ConflictError), lock(path):
            pass
    process = start(LOCKER, path)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(ConflictError, match="another passdown"), lock(path):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
    with lock(path):
        pass


def test_a_lock_is_freed_after_an_error_and_never_follows_a_link(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock(tmp_path / "lock"):
        raise ZeroDivisionError
    with lock(tmp_path / "lock"):
        pass
    (tmp_path / "link").symlink_to("lock")
    with pytest.raises(UnsafeError), lock(tmp_path / "link"):
        pass
