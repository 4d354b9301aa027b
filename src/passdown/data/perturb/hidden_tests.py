"""The verifier that runs hidden tests for real, in a folder of its own, in a process of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from passdown.errors import UsageError
from passdown.io.files import join_inside
from passdown.io.process import run_process

TIMEOUT = 60.0
"""Seconds that a run may take; one that takes longer has failed."""


class HiddenTests:
    """Writes a tree and the hidden tests over it, runs a command there, and says whether it ended with 0.

    The command runs what the tree holds, with the rights of this process: use it for trees of your own, or where
    nothing can be harmed. A tree that was seen before is not run again.
    """

    def __init__(self, argv: Sequence[str], tests: Mapping[str, bytes], *, timeout: float = TIMEOUT) -> None:
        if not argv:
            raise UsageError("there is no command that runs the hidden tests", next_step="Give its words.")
        self._argv = tuple(argv)
        self._tests = dict(tests)
        self._timeout = timeout
        self._known: dict[frozenset[tuple[str, bytes]], bool] = {}

    def __call__(self, files: Mapping[str, bytes]) -> bool:
        """Say whether a tree passes. Raises `UnsafeError` for a path that leaves the folder."""
        key = frozenset(files.items())
        if key not in self._known:
            self._known[key] = self._run(files)
        return self._known[key]

    def _run(self, files: Mapping[str, bytes]) -> bool:
        with tempfile.TemporaryDirectory(prefix="passdown-verify-") as name:
            root = Path(name)
            for path, data in sorted({**files, **self._tests}.items()):
                target = join_inside(root, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            quiet = os.open(os.devnull, os.O_WRONLY)
            try:
                environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
                ended = run_process(
                    self._argv, cwd=root, timeout=self._timeout, targets=(quiet, quiet), environ=environ, stdin=False
                )
            finally:
                os.close(quiet)
        return ended.code == 0 and not ended.timed_out
