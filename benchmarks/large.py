"""A repository of 50,000 files, made in seconds by git's fast import."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

_SUFFIXES = ("py", "js", "go", "rs", "java", "c", "md", "json")
_PERSON = "Dev <dev@example.com>"


def make_large(root: Path, files: int) -> None:
    """Make a repository with so many small files in folders of fifty, and two small commits on top."""
    root.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_GLOBAL": os.devnull}
    for argv, data in (
        (["init", "-q", "-b", "main"], b""),
        (["fast-import", "--quiet"], "".join(_stream(files)).encode()),
        (["reset", "-q", "--hard"], b""),
    ):
        subprocess.run(["git", *argv], cwd=root, env=env, input=data, check=True)


def _stream(files: int) -> Iterator[str]:
    for number in range(3):
        message = f"commit {number}"
        yield f"commit refs/heads/main\ncommitter {_PERSON} {1_760_000_000 + 60 * number} +0000\n"
        yield f"data {len(message)}\n{message}\n"
        names = range(files) if number == 0 else range(files, files + number)
        for name in names:
            text = f"// file {name}\n" + f"int value_{name}(int a) {{\n  return a + {name};\n}}\n" * 5
            yield f"M 100644 inline pkg{name // 500:03}/mod{name // 50 % 10}/file_{name:05}.{_SUFFIXES[name % 8]}\n"
            yield f"data {len(text)}\n{text}\n"
