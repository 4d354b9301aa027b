"""What a hostile log can do in a sandbox: nothing to this machine, and not for long."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passdown.data.replay.sandbox import File, Limits, Sandbox, is_inside, mark_of_tools, workspace
from passdown.errors import UnsafeError

LIMITS = Limits(seconds=30, memory=300 << 20, tree=20 << 20, file=4 << 20, processes=40, output=100_000)


def _has_namespaces() -> bool:
    """Root always has them here; others where the kernel lets them."""
    if os.getuid() == 0:
        return True
    unshare = shutil.which("unshare")
    return (
        unshare is not None
        and subprocess.run([unshare, "-Urm", "true"], check=False, capture_output=True).returncode == 0
    )


needs_namespaces = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not _has_namespaces(), reason="this system gives nobody namespaces"
)


@pytest.fixture(params=["namespaces", "bubblewrap"], scope="module")
def box(request: Any) -> Iterator[Sandbox]:
    if request.param == "bubblewrap" and (shutil.which("bwrap") is None or os.getuid() == 0):
        pytest.skip("bubblewrap is not installed, or this is root, who is not given to it; the other walls are tested")
    with Sandbox("/testbed", LIMITS, request.param) as made:
        yield made


@needs_namespaces
class TestWalls:
    def test_files_go_in_and_come_out(self, box: Sandbox) -> None:
        assert box.put({"a.py": b"print(1)\n", "bin/b.sh": File(b"#!/bin/sh\necho hi\n", "100755")}) == ""
        ended = box.run("python a.py; ./bin/b.sh; printf x > 'new file'; rm a.py; ln -s bin/b.sh link; pwd")
        assert (ended.code, ended.text) == (0, "1\nhi\n/testbed\n")
        assert set(box.files) == {"bin/b.sh", "new file", "link"}
        assert box.files["new file"] == File(b"x")
        assert box.files["link"] == File(b"bin/b.sh", "120000")
        box.run("rm -rf *; exit 3")
        assert box.files == {}
        assert box.run("exit 3").code == 3

    def test_nothing_of_this_machine_is_there(self, box: Sandbox, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("from outside")
        found = box.run(f"cat /etc/shadow {secret} /proc/1/environ; ls -a /home/dev /tmp; env; cat /etc/passwd")
        assert "from outside" not in found.text
        assert found.text.count("No such file") == 2
        assert "PYTEST_CURRENT_TEST" not in found.text
        assert found.text.endswith("root:x:0:0:root:/home/dev:/bin/sh\n")

    def test_nothing_but_the_workspace_can_be_written(self, box: Sandbox) -> None:
        found = box.run(
            "for f in /usr/x /etc/x /x /sandbox/python /bin/x /dev/x; do echo x > $f; done 2>/dev/null; ls /usr/x /etc/x /x"
        )
        assert found.text.count("No such file") == 3
        assert box.run("python -c 'print(1)'").text == "1\n", "the interpreter is what it was"
        assert box.run("echo core > /proc/sys/kernel/core_pattern").code != 0

    def test_no_right_is_left_and_none_can_be_had(self, box: Sandbox) -> None:
        found = box.run(
            "grep -E '^(Cap|NoNew)' /proc/self/status; mount -o remount,rw /usr; mount -t tmpfs x /home/dev"
        )
        assert {line.split()[1] for line in found.text.splitlines() if line.startswith("Cap")} == {"0" * 16}
        assert "NoNewPrivs:\t1" in found.text
        assert found.code != 0

    def test_memory_out_of_sight_and_further_namespaces_are_refused(self, box: Sandbox) -> None:
        if os.uname().machine not in ("x86_64", "aarch64"):
            pytest.skip("calls are filtered on the two usual machines; memory and namespaces have other bounds as well")
        found = box.run("python -c \"import os; os.memfd_create('x')\"; unshare -Ur true; echo $?")
        assert "PermissionError" in found.text
        assert found.text.endswith("1\n")
        code = "import threading, subprocess; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join(); subprocess.run(['echo', 'child'])"
        assert box.run(f'python -c "{code}"').text == "thread\nchild\n", "what programs need goes on working"

    def test_there_is_no_network(self, box: Sandbox) -> None:
        code = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
        found = box.run(f'python -c "{code}"; ls /sys/class/net 2>/dev/null')
        assert "Network is unreachable" in found.text
        assert "eth" not in found.text

    def test_a_fork_bomb_is_over_in_time(self, box: Sandbox) -> None:
        began = time.monotonic()
        box.run("b(){ b | b & }; b; sleep 25", seconds=1)
        box.run("kill -9 -1")
        assert time.monotonic() - began < 25
        assert box.run("echo alive").text.endswith("alive\n")

    @pytest.mark.parametrize(
        ("command", "stopped"),
        [("yes", "time"), ("while :; do :; done", "time"), ("sleep 60", "time"), ("trap '' TERM INT HUP; sleep 60", "time"),
         ("for i in 1 2 3 4 5; do python -c 'x = bytearray(150 << 20); import time; time.sleep(9)' & done; wait", "memory")],
    )  # fmt: skip
    def test_what_takes_too_much_is_stopped(self, box: Sandbox, command: str, stopped: str) -> None:
        ended = box.run(command, seconds=1 if stopped == "time" else None)
        assert (ended.code, ended.stopped) == (None, stopped)
        assert len(ended.text) <= LIMITS.output
        assert box.run("ps -e 2>/dev/null | grep -c sleep; true").text.strip() in ("0", "")

    def test_the_disk_cannot_be_filled(self, box: Sandbox) -> None:
        found = box.run(
            "i=0; while head -c 3000000 /dev/zero > f$i && [ $i -lt 30 ]; do i=$((i+1)); done; ls | wc -l; rm -f f*"
        )
        assert "No space left" in found.text
        assert int(found.text.split()[-1]) < 10
        assert "File too large" in box.run("head -c 90000000 /dev/zero > big; rm big").text

    def test_what_is_too_large_to_be_told_is_named(self, box: Sandbox) -> None:
        box.run("head -c 5000000 /dev/zero > large")
        assert box.untold == {"large"}
        box.run("rm large")
        box.run("echo small > large")
        assert box.untold == set()
        box.run("rm large")

    def test_what_goes_on_in_the_background_holds_nobody_up(self, box: Sandbox) -> None:
        began = time.monotonic()
        assert box.run("sleep 60 & echo begun").text == "begun\n"
        assert time.monotonic() - began < LIMITS.seconds

    def test_a_name_that_is_no_text_is_told_of(self, box: Sandbox) -> None:
        assert box.run("touch \"$(printf 'a\\200b')\" c; echo on").text == "on\n"
        assert box.untold == {"a?b"}
        assert "c" in box.files
        box.run("rm -f a*b c")
        assert box.untold == set()

    @pytest.mark.parametrize(
        "path", ["../x", "/x", "a/../../x", "", "a//b", ".git/hooks/post-commit", "a\0b", "a\udc80"]
    )
    def test_no_file_is_put_outside(self, box: Sandbox, path: str) -> None:
        assert not is_inside(path)
        assert "outside" in box.put({path: b"x"})


@needs_namespaces
def test_processes_end_with_their_sandbox() -> None:
    mark = f"{os.getpid()}.25"
    with Sandbox("/testbed", LIMITS, "namespaces") as made:
        made.run(f"setsid sleep {mark} & echo begun")
        assert _becomes(mark, running=True)
    assert _becomes(mark, running=False)


@needs_namespaces
def test_processes_end_with_a_process_that_is_killed() -> None:
    mark = f"{os.getpid()}.75"
    code = (
        "from passdown.data.replay.sandbox import Sandbox\n"
        f"with Sandbox('/testbed', wall='namespaces') as box: print(box.run('sleep {mark} & echo begun').text, flush=True); input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        assert _becomes(mark, running=True)
        child.kill()
    assert _becomes(mark, running=False)


@needs_namespaces
def test_an_environment_is_lent_to_read(tmp_path: Path) -> None:
    tools = tmp_path / "env"
    (tools / "bin").mkdir(parents=True)
    (tools / "bin/hello").write_text("#!/bin/sh\necho hello\n")
    (tools / "bin/hello").chmod(0o755)
    (tools / "bin/python").symlink_to(sys.executable)
    mark = mark_of_tools(tools)
    with Sandbox("/testbed", LIMITS, "namespaces", tools) as made:
        assert made.run("hello; python -c 'print(1)'").text == "hello\n1\n"
        assert made.run(f"echo > {tools}/bin/hello").code != 0
    (tools / "bin/other").touch()
    assert mark_of_tools(tools) != mark


def _becomes(mark: str, *, running: bool) -> bool:
    end = time.monotonic() + 20
    while _running(mark) is not running and time.monotonic() < end:
        time.sleep(0.02)
    return _running(mark) is running


def _running(mark: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == f"sleep\0{mark}\0".encode():
                return True
        except OSError:
            continue
    return False


def test_without_walls_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnsafeError, match="bubblewrap"):  # and root is never given to it
        Sandbox("/testbed", LIMITS, "bubblewrap")


@pytest.mark.parametrize(
    ("root", "place"),
    [("/testbed", "/testbed"), ("/home/dev/slug", "/home/dev/slug"), ("/tmp/x", "/tmp/x"), ("", "/work"), ("/", "/work"),
     ("/usr/src/app", "/work"), ("/etc", "/work"), ("c:/Users", "/work"), ("/a/../usr", "/work"), ("/tmp", "/work"), ("/home", "/work")],
)  # fmt: skip
def test_a_workspace_lies_where_the_run_says_unless_a_system_lies_there(root: str, place: str) -> None:
    assert workspace(root) == place
