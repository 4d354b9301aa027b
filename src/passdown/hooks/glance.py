"""Whether agents' logs of a repository grew, by the times of files alone. Standard library only: the entry uses it."""

import posix
import time

_LOOKED_AT = 2_000
_DAY = 86_400

HOMES = {
    "claude_code": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
    "pi": ("PI_CODING_AGENT_DIR", ".pi/agent"),
    "gemini": ("", ".gemini"),
    "qwen": ("QWEN_HOME", ".qwen"),
    "copilot": ("COPILOT_HOME", ".copilot"),
    "openhands": ("OH_PERSISTENCE_DIR", ".openhands"),
}
"""The variable that moves an agent's folder, and its place below the home folder; as in the table of agents."""


def grew_since(root: str, moment: int, without: tuple[str, ...]) -> bool:
    """Say whether a log that may be of the repository at `root` changed after `moment` (milliseconds).

    It errs on the side of yes. Paths that hold one of `without` (the log and the id of the session that asks) do not
    count. A log that is missed here is found by `passdown take`, which looks into them.
    """
    since, without = moment / 1000, tuple(part for part in without if part)
    if _newer(_folders(root), since, without, ".jsonl", most=1):
        return True
    marks = (f'"{root}"'.encode("utf-8", "surrogateescape"), f'"{root}/'.encode("utf-8", "surrogateescape"))
    for path in _newer(_codex_days(since), since, without, ".jsonl"):
        head = _head(path)
        if any(mark in head for mark in marks):
            return True
    return any(_time(path) > since and not any(part in path for part in without) for path in _single())


def _newer(folders: list[str], since: float, without: tuple[str, ...], ending: str, *, most: int = 40) -> list[str]:
    found: list[str] = []
    left = _LOOKED_AT
    for folder in folders:
        for name in _names(folder)[:left]:
            left -= 1
            path = f"{folder}/{name}"
            if name.endswith(ending) and _time(path) > since and not any(part in path for part in without):
                found.append(path)
                if len(found) >= most:
                    return found
    return found


def _folders(root: str) -> list[str]:
    """Return the folders that agents name after the folder they work in: the root's, and those below it."""
    claude = f"{home_of('claude_code')}/projects"
    dashed = "".join(c if (c.isascii() and c.isalnum()) or c == "-" else "-" for c in root)
    folders = [f"{claude}/{name}" for name in _names(claude) if name.startswith(dashed)]
    pi = f"{home_of('pi')}/sessions"
    slug = "--" + root.strip("/").replace("/", "-").replace(":", "-")
    folders += [f"{pi}/{name}" for name in _names(pi) if name.startswith(slug)]
    qwen = f"{home_of('qwen')}/projects"
    folders += [f"{qwen}/{name}/chats" for name in _names(qwen) if name.lower().startswith(dashed.lower())]
    gemini = f"{home_of('gemini')}/tmp"  # noqa: S108 - its own folder of that name
    return folders + [f"{gemini}/{name}/chats" for name in _names(gemini)]


def _single() -> list[str]:
    """Return what changes with every event and has a fixed name: databases, and what lies in a session's own folder.

    OpenHands writes a file for each event, so that its folder changes.
    """
    database = f"{_data_home()}/opencode/opencode.db"
    copilot, openhands = f"{home_of('copilot')}/session-state", f"{home_of('openhands')}/conversations"
    return [
        database,
        f"{database}-wal",
        *(f"{copilot}/{name}/events.jsonl" for name in _names(copilot)[:_LOOKED_AT]),
        *(f"{openhands}/{name}/events" for name in _names(openhands)[:_LOOKED_AT]),
    ]


def _codex_days(since: float) -> list[str]:
    """Return Codex's folders of the days since then, at most a week of them, and the one before."""
    now = time.time()
    first = max(since - _DAY, now - 7 * _DAY)
    moments = [first + _DAY * number for number in range(9)]
    days = {time.strftime("%Y/%m/%d", time.localtime(moment)) for moment in moments if moment <= now + _DAY}
    return [f"{home_of('codex')}/sessions/{day}" for day in sorted(days)]


def home_of(agent: str) -> str:
    """Return the folder in which an agent keeps its sessions."""
    variable, place = HOMES[agent]
    return (variable and _variable(variable)) or f"{_variable('HOME') or '/nonexistent'}/{place}"


def _data_home() -> str:
    return _variable("XDG_DATA_HOME") or f"{_variable('HOME') or '/nonexistent'}/.local/share"


def _variable(name: str) -> str:
    value = posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")
    return value if value.startswith("/") else ""


def _names(folder: str) -> list[str]:
    try:
        return posix.listdir(folder)
    except OSError:
        return []


def _time(path: str) -> float:
    try:
        return posix.stat(path).st_mtime
    except OSError:
        return 0.0


def _head(path: str) -> bytes:
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return posix.read(descriptor, 32 << 10)
    except OSError:
        return b""
    finally:
        posix.close(descriptor)
