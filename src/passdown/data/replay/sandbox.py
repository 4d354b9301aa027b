"""A sandbox for the commands of a log: no network, nothing of this machine writable, every resource bounded.

The walls are bubblewrap's, or Linux namespaces that a bare interpreter sets up by itself. Where neither can be had a
sandbox is refused: a command out of a log is never run on the host.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

import msgspec
from msgspec import Struct

from passdown.errors import UnsafeError
from passdown.io.confined import Confined
from passdown.io.program import find_program

Wall = Literal["namespaces", "bubblewrap"]
HOME = "/home/dev"
_PLACES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_CLOSED = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "etc", "dev", "proc", "sys", "sandbox", "")
_TOOLS = "/sandbox"
_DATE = "2024-03-04T09:00:00+0000"
_BARE = "import sys, json\nfor text in sys.argv[1:-1]: exec(text)\nconfig = json.loads(sys.argv[-1])\n"
_INSIDE = {"namespaces": "enter(config)\nserve(config)\n", "bubblewrap": "give_up()\nserve(config)\n"}


class Limits(Struct, frozen=True, kw_only=True):
    """What a sandbox may use: seconds of one command, and of the processor; bytes of memory, of the tree, of one file,
    of what one command prints; processes; files."""

    seconds: float = 60.0
    cpu: int = 120
    memory: int = 2 << 30
    tree: int = 512 << 20
    file: int = 8 << 20
    told: int = 64 << 20
    output: int = 1 << 20
    processes: int = 128
    files: int = 50_000


class Ended(NamedTuple):
    """How a command ended. `code` is None when it was stopped, for `time` or `memory`; `cut` counts dropped bytes."""

    code: int | None
    text: str
    stopped: str = ""
    cut: int = 0


class _Answer(Struct):
    """What the process inside says."""

    code: int | None = None
    stopped: str = ""
    cut: int = 0
    text: str = ""
    error: str = ""
    ready: bool = False
    changed: list[tuple[str, str | None, int]] = []
    large: list[str] = []
    odd: list[str] = []


class File(NamedTuple):
    """A file of the tree: its bytes (of a symlink: where it leads), and git's mode."""

    content: bytes
    mode: str = "100644"


class Sandbox:
    """A workspace behind walls. `files` are its files as they are now; git's own and bytecode are left out. `untold`
    names those that could not be told: too large, too many (`.`), names that are no text.

    Use it as a context manager. `tools` is a folder that is lent to read: a virtual environment, whose programs come
    first. Raises `UnsafeError` where no walls can be had.
    """

    def __init__(
        self, root: str = "/work", limits: Limits | None = None, wall: Wall | None = None, tools: Path | None = None
    ) -> None:
        self.root = workspace(root)
        self.limits = limits or Limits()
        self.wall: Wall = wall or _best_wall()
        self.files: dict[str, File] = {}
        self.untold: set[str] = set()
        self._large: set[str] = set()
        most = 2 * self.limits.told + 2 * self.limits.output + (1 << 22)
        with TemporaryDirectory(prefix="passdown-sandbox-") as lent:  # what it lends is there once it is ready
            self._process = Confined(_argv(self.wall, self.root, self.limits, Path(lent), tools), most)
            self._process.ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.close()

    def put(self, files: Mapping[str, File | bytes | None]) -> str:
        """Write files of the tree, or remove them (None); return why not, empty when all went well."""
        rows: list[tuple[str, str | None, int]] = []
        for path, file in files.items():
            if not is_inside(path):
                return f"{path[:80]} lies outside of the workspace"
            one = File(file) if isinstance(file, bytes) else file
            rows.append((path, one and b64encode(one.content).decode(), int(one.mode, 8) if one else 0))
        return self._ask({"put": rows}, 60.0).error

    def run(self, command: str, *, cwd: str = "", shell: str = "/bin/sh", seconds: float | None = None) -> Ended:
        """Run a line of shell in the workspace."""
        took = min(seconds or self.limits.seconds, self.limits.seconds)
        folder = cwd if cwd.startswith("/") else posixpath.join(self.root, cwd)
        answer = self._ask({"run": [shell, "-c", command], "cwd": folder, "seconds": took}, took + 60.0)
        return Ended(answer.code, b64decode(answer.text).decode("utf-8", "replace"), answer.stopped, answer.cut)

    def _ask(self, question: dict[str, Any], seconds: float) -> _Answer:
        answer = _decoded(self._process.ask(msgspec.json.encode(question), seconds))
        for path, content, mode in answer.changed:
            if not is_inside(path):
                raise UnsafeError("the sandbox names a file outside of the workspace", where=path[:80])
            if content is None:
                self.files.pop(path, None)
            else:
                self.files[path] = File(b64decode(content), f"{mode:06o}")
            self._large.discard(path)
        self._large.update(answer.large)
        self.untold = self._large | set(answer.odd)
        return answer


def _decoded(data: bytes) -> _Answer:
    try:
        return msgspec.json.decode(data, type=_Answer)
    except msgspec.DecodeError as error:
        raise UnsafeError("the sandbox answers what is no answer", where=str(error)[:200]) from error


def is_inside(path: str) -> bool:
    """Say whether a path is plain text, relative, and leads nowhere out."""
    parts = path.split("/")
    plain = "\0" not in path and not any("\ud800" <= letter <= "\udfff" for letter in path)
    return bool(path) and plain and not {"", ".", "..", ".git"} & set(parts) and len(path) < 4096


def workspace(root: str) -> str:
    """Return where the workspace can lie: at the folder that a run names, where that is no folder of a system."""
    clean = posixpath.normpath(root) if root.startswith("/") and "\0" not in root and len(root) < 1024 else "/"
    taken = ("/tmp", HOME, *_python()[1])  # noqa: S108
    closed = clean.split("/")[1] in _CLOSED or any(f"{place}/".startswith(f"{clean}/") for place in taken)
    return "/work" if closed else clean


def mark_of_tools(tools: Path) -> str:
    """Return what changes when other programs or packages are in an environment: the digest of their names."""
    names = sorted(
        path.relative_to(tools).as_posix() for part in ("bin/*", "lib/*/site-packages/*") for path in tools.glob(part)
    )
    return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()


def _best_wall() -> Wall:
    """Return the walls to use: bubblewrap's where there is one, our own as root, who gives up more that way."""
    if not sys.platform.startswith("linux"):
        raise UnsafeError(
            "commands of a log are run in a sandbox only, and that needs Linux",
            next_step="Replay without running: `--replay virtual`.",
        )
    return "bubblewrap" if os.getuid() != 0 and find_program("bwrap") else "namespaces"


def _python() -> tuple[str, list[str]]:
    """Return the interpreter, and the folders that it needs beside the system's own."""
    real = os.path.realpath(sys.executable)
    return real, sorted({*_homes(real), *_homes(f"{os.path.realpath(sys.base_prefix)}/bin/python")})


def _homes(python: str) -> list[str]:
    """Return the folder that an interpreter lies in, where that is none of the system's own."""
    home = Path(python).parent.parent
    return [] if home.is_relative_to("/usr") or home == Path("/") or not home.is_dir() else [str(home)]


def _texts(names: Iterable[str]) -> list[str]:
    return [Path(__file__).with_name(f"{name}.py").read_text("utf-8") for name in names]


def _environ() -> dict[str, str]:
    return {
        "PATH": f"{_TOOLS}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": HOME, "LANG": "C.UTF-8", "TZ": "UTC",
        "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1",
        "COLUMNS": "80", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat",
        "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.org", "GIT_AUTHOR_DATE": _DATE,
        "GIT_COMMITTER_NAME": "Dev", "GIT_COMMITTER_EMAIL": "dev@example.org", "GIT_COMMITTER_DATE": _DATE,
    }  # fmt: skip


def _argv(wall: Wall, root: str, limits: Limits, lent: Path, tools: Path | None) -> list[str]:
    python, homes = _python()
    environ = _environ()
    if tools is not None:
        homes = sorted({*homes, str(tools), *_homes(os.path.realpath(tools / "bin/python"))})
        environ["PATH"] = f"{tools}/bin:{environ['PATH']}"
    lend = [
        [os.path.realpath(place), place] for place in _PLACES if Path(place).exists() and not Path(place).is_symlink()
    ]
    lend += [[home, home] for home in homes]
    links = [[place, str(Path(place).readlink())] for place in _PLACES if Path(place).is_symlink()]
    lend += [[f"/dev/{name}", f"/dev/{name}"] for name in _DEVICES if wall == "namespaces"]
    links += [["/dev/fd", "/proc/self/fd"]] if wall == "namespaces" else []
    config = {
        "root": root, "environ": environ, "limits": msgspec.to_builtins(limits), "lend": lend, "links": links,
        "writable": [["/tmp", limits.tree // 4], [HOME, limits.tree // 4], [root, limits.tree]],  # noqa: S108
        "files": _files(python),
    }  # fmt: skip
    inner = [python, "-I", "-S", "-c", _BARE + _INSIDE[wall], *_texts(("walls", "inside"))]
    told = msgspec.json.encode(config).decode()
    return [*inner, told] if wall == "namespaces" else [*_bubblewrap(config, lent), *inner, told]


def _files(python: str) -> list[list[str]]:
    """Return the few files that a system needs: who is who, and a Python that finds no site packages."""
    run = f'#!/bin/sh\nexec {python} -S -s "$@"\n'
    return [
        ["/etc/passwd", f"root:x:0:0:root:{HOME}:/bin/sh\n"], ["/etc/group", "root:x:0:\n"],
        ["/etc/hosts", "127.0.0.1 localhost\n"], [f"{_TOOLS}/python", run], [f"{_TOOLS}/python3", run],
    ]  # fmt: skip


def _bubblewrap(config: dict[str, Any], lent: Path) -> list[str]:
    """Return bubblewrap's own words for the same walls."""
    program = find_program("bwrap")
    if os.getuid() == 0:  # it keeps root's number, to which /proc/sys listens whatever rights were given up
        raise UnsafeError("bubblewrap's walls do not hold root", next_step="Leave the choice of walls to passdown.")
    if program is None:
        raise UnsafeError("bubblewrap is not installed", next_step="Install it, or choose the other walls.")
    words = [str(program), "--unshare-all", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--clearenv",
             "--uid", "0", "--gid", "0", "--proc", "/proc", "--dev", "/dev"]  # fmt: skip
    for target, size in config["writable"]:
        words += ["--size", str(size), "--tmpfs", target]
    for source, target in config["lend"]:
        words += ["--ro-bind", source, target]
    for target, link in config["links"]:
        words += ["--symlink", link, target]
    for number, (target, text) in enumerate(config["files"]):
        file = lent / str(number)
        file.write_text(text, "utf-8")
        file.chmod(0o755)
        words += ["--ro-bind", str(file), target]
    return [*words, "--remount-ro", "/"]
