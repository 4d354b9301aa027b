"""Where a folder's repository is and how it stands, asked of git once and with nothing of passdown loaded.

The entry, which may import nothing of passdown, and the drain share this file: standard library only.
"""

import posix
import select
import time

GIT_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotepath=off", "core.pager=cat", "diff.external=",
    "color.ui=never", "core.untrackedCache=false", "log.showSignature=false", "diff.renames=false",
    "core.precomposeunicode=false", "status.renames=false", "diff.autoRefreshIndex=false",
)  # fmt: skip
"""What `io.git` switches off as well: a repository's configuration must not have git run its programs."""

_OUTPUT = 4 << 20
_DIRTY = 500
_KEPT_VARIABLES = (b"GIT_CONFIG_GLOBAL", b"GIT_CONFIG_SYSTEM", b"GIT_CONFIG_NOSYSTEM", b"GIT_CEILING_DIRECTORIES")

Dirty = dict[str, list[object]]
"""Path → what git says of it, and the size and time of the file."""


class Standing:
    """How a worktree stands: its branch (empty: detached), HEAD (empty: unborn), and the files that differ from it."""

    def __init__(self, branch: str, head: str, dirty: Dirty) -> None:
        self.branch, self.head, self.dirty = branch, head, dirty


def find_repository(folder: str) -> tuple[str, str, str] | None:
    """Return a folder's worktree, its git folder and the one that all worktrees share, without asking git."""
    place = folder.rstrip("/") or "/"
    for _ in range(200):
        inner = f"{place.rstrip('/')}/.git"
        try:
            mode = posix.stat(inner).st_mode & 0o170000
        except OSError:
            mode = 0
        if mode == 0o040000:
            return place, inner, _common(inner)
        if mode == 0o100000:
            pointer = _line(inner)
            if not pointer.startswith("gitdir: "):
                return None
            git_dir = _join(place, pointer[8:])
            return place, git_dir, _common(git_dir)
        if place == "/":
            return None
        place = place.rpartition("/")[0] or "/"
    return None


def _common(git_dir: str) -> str:
    pointer = _line(f"{git_dir}/commondir")
    return _join(git_dir, pointer) if pointer else git_dir


def _join(folder: str, path: str) -> str:
    parts: list[str] = []
    for part in (path if path.startswith("/") else f"{folder}/{path}").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _line(path: str) -> str:
    try:
        return read_small(path, 8192).decode("utf-8", "surrogateescape").partition("\n")[0]
    except OSError:
        return ""


def read_small(path: str, limit: int) -> bytes:
    """Return at most `limit` bytes of a regular file; of anything else none."""
    flags = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK | getattr(posix, "O_NOFOLLOW", 0)
    descriptor = posix.open(path, flags)
    try:
        if posix.fstat(descriptor).st_mode & 0o170000 != 0o100000:
            return b""
        data = b""
        while len(data) < limit and (more := posix.read(descriptor, limit - len(data))):
            data += more
        return data
    finally:
        posix.close(descriptor)


def branch_named(git_dir: str) -> str:
    """Return the branch that HEAD names; an empty text when it names none."""
    line = _line(f"{git_dir}/HEAD")
    return line[16:] if line.startswith("ref: refs/heads/") else ""


def read_standing(root: str, seconds: float) -> Standing:
    """Ask git how the worktree stands.

    Raises `TimeoutError` when git takes longer, `OSError` when there is no git or it refuses.
    """
    words = ["status", "--porcelain=v2", "-z", "--branch", "--untracked-files=normal"]
    branch = head = ""
    dirty: Dirty = {}
    for record in ask(root, words, seconds).split(b"\0"):
        if record.startswith(b"# branch.oid "):
            head = record[13:].decode("ascii", "replace").replace("(initial)", "")
        elif record.startswith(b"# branch.head "):
            branch = record[14:].decode("utf-8", "surrogateescape").replace("(detached)", "")
        elif record[:2] in (b"1 ", b"u ", b"? ") and len(dirty) < _DIRTY:
            fields = record.split(b" ", {b"1 ": 8, b"u ": 10, b"? ": 1}[record[:2]])
            path = fields[-1].decode("utf-8", "surrogateescape")
            what = fields[1].decode("ascii", "replace") if record[:1] != b"?" else "?"
            dirty[path] = [what, *_measure(f"{root}/{path}")]
    return Standing(branch, head, dirty)


def stamp(path: str) -> list[int]:
    """Return what changes when something is put into a folder or taken out of it: its identity and time."""
    try:
        status = posix.stat(path)
    except OSError:
        return []
    return [status.st_dev, status.st_ino, status.st_mtime_ns]


def is_ours(path: str) -> bool:
    """Say whether a file or folder is this user's own, and no link to another one."""
    status = posix.lstat(path)
    return status.st_uid == posix.geteuid() and status.st_mode & 0o170000 != 0o120000


def _measure(path: str) -> list[object]:
    try:
        status = posix.lstat(path)
    except OSError:
        return [0, 0]
    return [status.st_size, status.st_mtime_ns]


def ask(root: str, words: list[str], seconds: float) -> bytes:
    """Run git and return what it prints."""
    binary = _git()
    argv = [binary, "-C", root]
    for setting in GIT_SETTINGS:
        argv += ["-c", setting]
    reading, writing = posix.pipe()
    null = "/dev/null"
    actions = [
        (posix.POSIX_SPAWN_OPEN, 0, null, posix.O_RDONLY, 0),
        (posix.POSIX_SPAWN_DUP2, writing, 1),
        (posix.POSIX_SPAWN_OPEN, 2, null, posix.O_WRONLY, 0),
    ]
    try:
        child = posix.posix_spawn(binary, [*argv, *words], _environment(), file_actions=actions)
    finally:
        posix.close(writing)
    try:
        return _listen(child, reading, words[0], time.monotonic() + seconds)
    finally:
        posix.close(reading)


def _listen(child: int, reading: int, what: str, end: float) -> bytes:
    ready, data, late = select.poll(), b"", False
    ready.register(reading, select.POLLIN)
    while len(data) < _OUTPUT:
        late = not ready.poll(max(0.0, end - time.monotonic()) * 1000)
        more = b"" if late else posix.read(reading, 1 << 18)
        if not more:
            break
        data += more
    if late or len(data) >= _OUTPUT:
        posix.kill(child, 9)
    _, status = posix.waitpid(child, 0)
    if late:
        raise TimeoutError(f"git {what} took too long")
    if status and len(data) < _OUTPUT:
        raise OSError(0, f"git {what} failed")
    return data


def _git() -> str:
    for folder in posix.environ.get(b"PATH", b"/usr/bin:/bin").split(b":"):
        path = folder.decode("utf-8", "surrogateescape") + "/git"
        if path.startswith("/") and posix.access(path, posix.X_OK):
            return path
    raise OSError(2, "git is not installed")


def _environment() -> dict[bytes, bytes]:
    kept = {name: value for name, value in posix.environ.items() if not name.startswith(b"GIT_")}
    kept |= {name: posix.environ[name] for name in _KEPT_VARIABLES if name in posix.environ}
    return kept | {
        b"LC_ALL": b"C", b"GIT_OPTIONAL_LOCKS": b"0", b"GIT_TERMINAL_PROMPT": b"0", b"GIT_NO_LAZY_FETCH": b"1",
        b"GIT_NO_REPLACE_OBJECTS": b"1", b"GIT_ALLOW_PROTOCOL": b"none", b"GIT_PAGER": b"cat",
    }  # fmt: skip


def brief_path(common_dir: str, branch: str) -> str:
    """Return where the prepared brief of a branch lies. Two long names may share a file; it says whose it is."""
    raw = branch.encode("utf-8", "surrogateescape") or b"@detached"
    name = "".join(chr(c) if (chr(c).isalnum() and c < 128) or c in b"._-" else f"%{c:02x}" for c in raw)
    return f"{common_dir}/passdown/brief/{name[:150]}.json"
