"""A folder of a world's files where commands really run: a clean environment, bounded time, output that is stable."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from passdown.data.worlds.model import Commit
from passdown.data.worlds.past import imported
from passdown.data.worlds.warm import warm
from passdown.io.process import Ended, run_process
from passdown.model.pattern import lazy_pattern

TIMEOUT = 20.0
"""Seconds that one command may take."""

_TOOK = lazy_pattern(r"\bin \d+\.\d+s\b")
_ADDRESS = lazy_pattern(r"\b0x[0-9a-f]{6,16}\b")
_STDLIB = lazy_pattern(r'(?<=File ")/[^"\n]*/lib/python3\.\d+/')
_DATE = "2024-03-04T09:00:00+0000"
_START = "git init -q -b main && git fast-import --quiet < {} && git reset -q && git rev-parse HEAD"
_KNOWN_ANSWERS = 4096
_MOST_SAID = 1 << 20


class Answer(NamedTuple):
    """What a command said, made stable, and its exit code."""

    code: int
    text: str


_ANSWERS: dict[bytes, Answer] = {}


class Desk:
    """The folder. Its files are known to an agent as lying under `root`."""

    def __init__(self, home: Path, root: str) -> None:
        self.home, self.root, self.folder = home, root, home / "tree"
        self.folder.mkdir()
        programs = home / "bin"
        programs.mkdir()
        python = programs / "python"
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S -s "$@"\n', "utf-8")
        python.chmod(0o755)
        self._environ = {
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC",
            "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1",
            "COLUMNS": "80", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat",
            "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.org", "GIT_AUTHOR_DATE": _DATE,
            "GIT_COMMITTER_NAME": "Dev", "GIT_COMMITTER_EMAIL": "dev@example.org", "GIT_COMMITTER_DATE": _DATE,
        }  # fmt: skip

    def put(self, files: Mapping[str, bytes]) -> None:
        """Make these the files of the folder, and no others."""
        for path in self.tree():
            if path not in files:
                (self.folder / path).unlink()
        for path, content in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def tree(self) -> dict[str, bytes]:
        """Return the files, without git's own."""
        found: dict[str, bytes] = {}
        for folder, names, files in os.walk(self.folder):
            names[:] = sorted(name for name in names if name not in (".git", "__pycache__"))
            for name in files:
                path = Path(folder, name)
                if not path.is_symlink():
                    found[path.relative_to(self.folder).as_posix()] = path.read_bytes()
        return dict(sorted(found.items()))

    def commit(self, history: Sequence[Commit]) -> str:
        """Make a repository with this past and return the id of its last commit."""
        stream = self.home / "history"
        stream.write_bytes(imported(history))
        return self.run(_START.format(shlex.quote(str(stream)))).text.strip()

    def stage(self, files: Mapping[str, bytes], paths: Sequence[str]) -> None:
        """Put these paths of the files into git's index."""
        self.put(files)
        self.run(f"git add -f -- {shlex.join(paths)}")

    def tests(self, command: str) -> Answer:
        """Run `python -m ...` where that only looks at files. On the same files it is not run again in this process."""
        digest = hashlib.sha256(f"{self.root}\0{command}\0".encode())
        for path, content in self.tree().items():
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
        known = _ANSWERS.get(key := digest.digest())
        if known is None:
            if len(_ANSWERS) >= _KNOWN_ANSWERS:
                _ANSWERS.clear()
            known = _ANSWERS[key] = self._warm(command)
        return known

    def _warm(self, command: str) -> Answer:
        out = self.home / "out"
        code = warm().run(shlex.split(command)[1:], self.folder, out, int(TIMEOUT))
        return Answer(code, self._stable(out.read_bytes()[:_MOST_SAID].decode("utf-8", "replace")))

    def run(self, command: str) -> Answer:
        """Run a line of shell in the folder."""
        ended = self.end_of(["/bin/sh", "-c", f"exec 2>&1\n{command}"])
        return Answer(ended.code, self._stable(ended.out.head + ended.out.tail))

    def end_of(self, argv: list[str], timeout: float = TIMEOUT) -> Ended:
        """Run a program in the folder, its output kept and not shown."""
        sink = os.open(os.devnull, os.O_WRONLY)
        try:
            return run_process(
                argv, cwd=self.folder, timeout=timeout, targets=(sink, sink), environ=self._environ, stdin=False
            )  # fmt: skip
        finally:
            os.close(sink)

    def _stable(self, text: str) -> str:
        text = text.replace(str(self.folder), self.root).replace(str(self.home), "/home/dev")
        text = _STDLIB.sub("/usr/lib/python3/", text)
        return _ADDRESS.sub("0x7f0000000000", _TOOK.sub("in 0.001s", text))


@contextmanager
def desk(world_id: str, files: Mapping[str, str] | Mapping[str, bytes]) -> Iterator[Desk]:
    """Lend a desk with these files for a while."""
    with TemporaryDirectory(prefix="passdown-world-") as home:
        made = Desk(Path(os.path.realpath(home)), f"/work/{world_id}")
        made.put(as_bytes(files))
        yield made


def as_bytes(files: Mapping[str, str] | Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files as bytes."""
    return {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
