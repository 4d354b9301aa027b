"""The process behind the walls: it runs commands in the workspace, one by one, and tells what they changed.

This text is handed to a bare interpreter as well. Requests and answers are JSON behind a length of four bytes.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import resource
import select
import signal
import stat
import struct
import sys
import time
from typing import Any

_TICK = 0.1
_QUIET = 0.2
_Signature = tuple[int, ...]


class Served:
    """The workspace and what is known of its files."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.root: str = config["root"]
        self.limits: dict[str, int] = config["limits"]
        self.environ: dict[str, str] = config["environ"]
        self.known: dict[str, _Signature] = {}

    # --- files -------------------------------------------------------------------------------------------------------

    def put(self, files: list[list[Any]]) -> None:
        """Write, or remove, files of the workspace."""
        for path, content, mode in files:
            target = os.path.join(self.root, path)  # noqa: PTH118
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                os.unlink(target)  # noqa: PTH108
            if content is None:
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
            data = base64.b64decode(content)
            if mode == 0o120000:
                os.symlink(data, target.encode("utf-8", "surrogateescape"))  # noqa: PTH211
                continue
            with open(target, "xb") as stream:  # noqa: PTH123
                stream.write(data)
            os.chmod(target, 0o755 if mode == 0o100755 else 0o644)  # noqa: PTH101

    def changes(self) -> dict[str, list[Any]]:
        """Return the files that are others than when they were last looked at: what they hold, and those of them that
        are too large to be told. Told every time are odd ones: names that are no text, `.` when there are too many.
        """
        found: dict[str, _Signature] = {}
        odd: list[str] = []
        for folder, names, files in os.walk(self.root):
            names[:] = [name for name in names if name not in (".git", "__pycache__")]
            for name in files:
                path = os.path.join(folder, name)  # noqa: PTH118
                if any("\ud800" <= letter <= "\udfff" for letter in path):  # a name that is no text
                    odd.append(os.path.relpath(path, self.root).encode("utf-8", "replace").decode())
                    continue
                with contextlib.suppress(OSError):
                    now = os.lstat(path)
                    if stat.S_ISREG(now.st_mode) or stat.S_ISLNK(now.st_mode):
                        found[path] = (now.st_mode, now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino)
            if len(found) > self.limits["files"]:
                return {"changed": [], "large": [], "odd": ["."]}
        told: list[list[Any]] = []
        large: list[str] = []
        room = self.limits["told"]
        for path, signature in found.items():
            if self.known.get(path) == signature:
                continue
            name = os.path.relpath(path, self.root)
            content = self._read(path, signature, room)
            if content is None:
                large.append(name)
            else:
                room -= len(content)
                told.append([name, base64.b64encode(content).decode(), _mode(signature[0])])
        told += [[os.path.relpath(path, self.root), None, 0] for path in self.known if path not in found]
        self.known = found
        return {"changed": told, "large": large, "odd": odd[:100]}

    def _read(self, path: str, signature: _Signature, room: int) -> bytes | None:
        if signature[1] > min(self.limits["file"], room):
            return None
        if stat.S_ISLNK(signature[0]):
            return os.readlink(path.encode("utf-8", "surrogateescape"))  # noqa: PTH115
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as stream:
            return stream.read(self.limits["file"])

    # --- commands ----------------------------------------------------------------------------------------------------

    def run(self, argv: list[str], cwd: str, seconds: float) -> dict[str, Any]:
        """Run a program in the workspace and return how it ended and what it printed."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            self._become(argv, cwd, writing)
        os.close(writing)
        output = bytearray()
        dropped, stopped, status = 0, "", None
        end = time.monotonic() + seconds
        while status is None and not stopped:
            ready, _, _ = select.select([reading], [], [], _TICK)
            piece = os.read(reading, 1 << 16) if ready else b""
            room = self.limits["output"] - len(output)
            output += piece[:room]
            dropped += max(0, len(piece) - room)
            if ready and not piece:
                time.sleep(0.005)
            status = _ended(child)
            if status is None:
                stopped = "time" if time.monotonic() > end else "memory" if self._is_large() else ""
        if stopped:
            _kill_all()
        else:
            dropped += self._drain(reading, output)
        os.close(reading)
        return {"code": status if not stopped else None, "stopped": stopped, "cut": dropped,
                "text": base64.b64encode(bytes(output)).decode()}  # fmt: skip

    def _become(self, argv: list[str], cwd: str, writing: int) -> None:
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            os.closerange(3, 256)
            for number, most in (
                (resource.RLIMIT_CPU, self.limits["cpu"]), (resource.RLIMIT_AS, self.limits["memory"]),
                (resource.RLIMIT_NPROC, self.limits["processes"]), (resource.RLIMIT_FSIZE, self.limits["tree"]),
                (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, 1024),
            ):  # fmt: skip
                resource.setrlimit(number, (most, most))
            os.chdir(cwd if os.path.isdir(cwd) else self.root)  # noqa: PTH112
            os.execve(argv[0], argv, self.environ)  # noqa: S606
        finally:
            os._exit(126)

    def _drain(self, reading: int, output: bytearray) -> int:
        """Take what is left in the pipe; what a process in the background prints later is not waited for."""
        dropped = 0
        end = time.monotonic() + 2
        while time.monotonic() < end and select.select([reading], [], [], 0)[0]:
            piece = os.read(reading, 1 << 16)
            if not piece:
                break
            room = self.limits["output"] - len(output)
            output += piece[:room]
            dropped += max(0, len(piece) - room)
        return dropped

    def _is_large(self) -> bool:
        """Say whether all processes together hold more memory than they may, or hardly any is left to anybody."""
        pages = 0
        with contextlib.suppress(OSError), open("/proc/meminfo") as stream:  # noqa: PTH123
            told = dict(line.split()[:2] for line in stream)
            if int(told["MemAvailable:"]) < min(256 << 10, int(told["MemTotal:"]) // 20):
                return True
        with contextlib.suppress(OSError):
            for name in os.listdir("/proc"):  # noqa: PTH208
                if name.isdigit() and name != "1":
                    with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/statm") as stream:  # noqa: PTH123
                        pages += int(stream.read().split()[1])
        return pages * 4096 > self.limits["memory"]


def _mode(mode: int) -> int:
    return 0o120000 if stat.S_ISLNK(mode) else 0o100755 if mode & 0o100 else 0o100644


def _ended(child: int) -> int | None:
    """Reap what has ended and return the child's exit code when it is among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                code = os.waitstatus_to_exitcode(ended[1])
                found = code if code >= 0 else 128 - code
    return found


def _kill_all() -> None:
    """End every process behind the walls but this one."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            break
        _ended(-2)
        time.sleep(0.01)


def _receive() -> dict[str, Any]:
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        os._exit(0)
    found: dict[str, Any] = json.loads(sys.stdin.buffer.read(struct.unpack("!I", head)[0]))
    return found


def _send(answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode()
    sys.stdout.buffer.write(struct.pack("!I", len(data)) + data)
    sys.stdout.buffer.flush()


def serve(config: dict[str, Any]) -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o022)
    served = Served(config)
    _send({"ready": True})
    while True:
        asked = _receive()
        answer: dict[str, Any] = {}
        if "put" in asked:
            try:
                served.put(asked["put"])
            except OSError as error:
                answer["error"] = str(error)
        if "run" in asked:
            answer.update(served.run(asked["run"], asked["cwd"], asked["seconds"]))
        answer.update(served.changes())
        _send(answer)
