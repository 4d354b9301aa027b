"""Files: opening without following links, bounded reading, atomic writing, and a lock."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from passdown.errors import ConflictError, FormatError, UnsafeError

_AT_ONCE = 64 << 10

_PAUSE = 0.003
"""Seconds between two tries to get a lock. Were it long, who lets it go would have it again before anybody else."""

_NO_HOME = Path("/nonexistent")


def home_folder() -> Path:
    """Return the user's home folder; one that does not exist for a user who has none, as in many containers."""
    try:
        home = Path.home()
    except RuntimeError:
        return _NO_HOME
    return home if home.is_absolute() else _NO_HOME


def open_regular(path: Path) -> IO[bytes]:
    """Open a regular file for reading; its last part must not be a symlink.

    Raises `UnsafeError` for a symlink, directory, device or pipe (which could block for ever).
    """
    return os.fdopen(_open_regular(path), "rb")


def _open_regular(path: Path | str) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise UnsafeError("is a symlink", where=str(path), next_step="Name the file it points to.") from error
        if error.errno == errno.ENXIO:  # a socket
            raise UnsafeError("is not a regular file", where=str(path), next_step="Name a file.") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnsafeError("is not a regular file", where=str(path), next_step="Name a file.")
    return descriptor


def read_bounded(path: Path | str, limit: int) -> bytes:
    """Return the whole file. Raises `FormatError` when it is larger than `limit` bytes."""
    descriptor = _open_regular(path)
    try:
        data = os.read(descriptor, min(limit + 1, _AT_ONCE))
        if len(data) == _AT_ONCE:  # memory is taken for as much as is asked for
            data += os.read(descriptor, max(min(limit, os.fstat(descriptor).st_size) + 1 - len(data), 1))
        while len(data) <= limit and (more := os.read(descriptor, min(limit + 1 - len(data), _AT_ONCE))):
            data += more
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise FormatError(f"is larger than {limit} bytes", where=str(path), next_step="Move it away, or split it up.")
    return data


def read_most(stream: IO[bytes], limit: int) -> bytes:
    """Return the first bytes of an open file, up to `limit`, taking memory for those that are there alone."""
    return stream.read(min(limit, os.fstat(stream.fileno()).st_size + 1))


def is_inside(root: Path, path: Path) -> bool:
    """Say whether `path`, with every symlink resolved, lies under `root`; a link that leads in a circle does not."""
    try:
        resolved, top = path.resolve(), root.resolve()
    except (OSError, RuntimeError):
        return False
    # From Python 3.13 on a circle is left as it stands instead of raising.
    circle = any(part.is_symlink() for part in (resolved, *resolved.parents))
    return resolved.is_relative_to(top) and not circle


def join_inside(root: Path, relative: str) -> Path:
    """Join a repository-relative path to `root`, refusing what leaves it.

    Raises `UnsafeError` for an absolute path, a `..`, a NUL, a symlink on the way that leads outside, or git's folder.
    """
    parts = PurePosixPath(relative).parts
    if not parts or relative.startswith("/") or ".." in parts or "\x00" in relative:
        raise UnsafeError("the path leaves the repository", where=relative, next_step="Use a path inside it.")
    path = root.joinpath(*parts)
    if not is_inside(root, path):
        raise UnsafeError("a symlink leads outside the repository", where=relative, next_step="Remove the link.")
    inner = (*parts, *path.resolve().relative_to(root.resolve()).parts)
    if any(part.lower() == ".git" for part in inner):
        raise UnsafeError("the path lies in git's own folder", where=relative, next_step="Use a path beside it.")
    return path


def _stage(path: Path, data: bytes, mode: int) -> Path:
    from tempfile import mkstemp  # here: it loads a dozen modules, and most commands write nothing

    try:
        descriptor, name = mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    except OSError as error:  # it names the file that was to be, not the one that was wanted
        raise OSError(error.errno, error.strerror, str(path)) from error
    staged = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged


def write_files(files: list[tuple[Path, bytes]], *, mode: int = 0o644) -> list[Path]:
    """Write several files so that a crash leaves each one old or new, never half; all are staged before any is renamed.

    A file that already holds the bytes is left alone (its time does not change). Returns the paths that changed.
    Raises `UnsafeError` when a target is a symlink, a folder or a device.
    """
    changed = [(path, data) for path, data in files if not _holds(path, data)]
    staged: list[tuple[Path, Path]] = []
    try:
        for path, data in changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            staged.append((_stage(path, data, mode), path))
        for temporary, path in staged:
            temporary.replace(path)
            _sync_folder(path.parent)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
    return [path for path, _ in changed]


def remove_staged(path: Path) -> None:
    """Remove files that a killed `write_files` staged for `path`. Call it under the lock that its writers hold."""
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        if leftover.is_file() and not leftover.is_symlink():
            leftover.unlink(missing_ok=True)


def _holds(path: Path, data: bytes) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    if stat.S_ISLNK(status.st_mode):
        raise UnsafeError("is a symlink; not writing through it", where=str(path), next_step="Remove the link.")
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeError("is not a regular file; not writing over it", where=str(path), next_step="Move it away.")
    return status.st_size == len(data) and path.read_bytes() == data


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot sync a folder; the rename stands all the same
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def lock(path: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold an exclusive lock on `path` (created when missing, mode 0600). The kernel frees it when the process dies.

    Raises `ConflictError` when somebody else holds it for `wait` seconds, saying which process has had it for how long;
    `UnsafeError` when `path` is a symlink.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise UnsafeError("is a symlink; not locking it", where=str(path), next_step="Remove the link.") from error
        raise
    try:
        if not _lock_within(descriptor, wait):
            raise ConflictError(
                f"another passdown{_holder(descriptor)} is writing here",
                where=str(path),
                next_step="Wait for it to end and try again.",
            )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _lock_within(descriptor: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE)
        else:
            return True


def _holder(descriptor: int) -> str:
    """Return which process took the lock and how long ago, as far as its file says."""
    try:
        number = os.pread(descriptor, 32, 0).strip()
        age = max(0, int(time.time() - os.fstat(descriptor).st_mtime))
    except OSError:
        return ""
    return f" (process {number.decode()}, for {age} s)" if number.isdigit() else ""
