"""What an agent's hook runs: note ids and paths and return, or print the brief. It never fails and never waits long.

    "<python>" -I -S "<this file>" AGENT EVENT  < the agent's own payload

Nothing of passdown is imported, and of Python only what is there already: the agent waits for every module.
"""

import posix
import sys
import time

AGENTS = ("claude_code", "codex", "pi", "opencode", "gemini", "qwen", "copilot", "openhands")
EVENTS = ("start", "prompt", "stop", "compact", "compacted", "end", "error", "interrupt")

DRAIN_AFTER = {"stop": 600.0, "compact": 5.0, "error": 5.0, "interrupt": 5.0, "end": 0.0}
"""The events that have the packet written, and the seconds in which a session has it written once."""

KEPT = 1 << 20
PATIENCE = 1.0
"""Seconds to wait for a payload that does not come."""

LONGEST = 5.0
"""Seconds to read one that does not end."""

LOG_LIMIT = 256 << 10

_KEYS = {
    b"session_id": "session", b"sessionId": "session", b"sessionID": "session", b"thread-id": "session",
    b"transcript_path": "path", b"transcriptPath": "path", b"sessionFile": "path",
    b"cwd": "cwd", b"working_dir": "cwd", b"directory": "cwd",
    b"source": "source", b"reason": "source", b"trigger": "source",
}  # fmt: skip
"""What agents call the same thing, at the top of their payloads. Nothing else is looked at."""

_WORD = frozenset("abcdefghijklmnopqrstuvwxyz_-")
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


def main() -> None:
    """Run the hook and end the process with 0, whatever happens."""
    begun = time.monotonic()
    words = [*sys.argv[1:3], "", ""]
    state = state_folder()
    try:
        outcome = run(words[0], words[1], state, begun)
    except BaseException as error:  # noqa: BLE001 - the one boundary: a hook never breaks its agent
        outcome = f"{type(error).__name__}: {error}"
    try:
        log(state, words[0], words[1], begun, outcome)
    except OSError:
        pass
    posix._exit(0)


def run(agent: str, event: str, state: str, begun: float) -> str:
    """Do what the event asks for and say in a few words what was done."""
    if agent not in AGENTS or event not in EVENTS:
        return f"refused: not an agent and an event of these: {', '.join(AGENTS)}; {', '.join(EVENTS)}"
    record = scan(read_input())
    if "cwd" not in record:
        record["cwd"] = posix.getcwd()
    record["agent"], record["event"] = agent, event
    if event == "prompt" and is_told(state, record):
        return "greeted before"
    outcome = ""
    if event != "prompt":
        try:
            spool(state, record)
            outcome = "spooled"
        except (
            OSError
        ) as error:  # a full disk, a home that may not be written: the drain finds the session all the same
            outcome = f"not spooled: {error.strerror}"
    if event in ("compact", "compacted"):
        count(state, record, event)
    if event in ("start", "prompt"):
        sys.path.append(__file__.rpartition("/")[0])
        text, told = __import__("greeting").greet(record, state, begun)
        if text:
            write_all(1, text.encode("utf-8", "replace"))
        return f"{outcome}; {told}" if outcome else str(told)
    if event in DRAIN_AFTER and is_due(state, record, DRAIN_AFTER[event]):
        start_drain(record["cwd"])
        outcome += ", drain started"
    return outcome


def read_input() -> bytes:
    """Return the payload's first megabyte; the rest is read and forgotten, so that the agent's write does not fail."""
    import select

    data, end = b"", time.monotonic() + LONGEST
    try:
        ready = select.poll()
        ready.register(0, select.POLLIN)
        while time.monotonic() < end and ready.poll(PATIENCE * 1000):
            more = posix.read(0, 1 << 18)
            if not more:
                break
            if len(data) < KEPT:
                data += more
    except OSError:  # no standard input at all
        pass
    return data[:KEPT]


def scan(data: bytes) -> dict[str, str]:
    """Return the session, path, folder and source that stand at the top of a JSON object; texts are skipped."""
    found: dict[str, str] = {}
    depth = at = 0
    key = b""
    for _ in range(20_000):
        quote = data.find(b'"', at)
        if quote < 0:
            break
        gap = data[at:quote]
        depth += gap.count(b"{") + gap.count(b"[") - gap.count(b"}") - gap.count(b"]")
        at = string_end(data, quote) + 1
        if not at:
            break
        if depth == 1:
            if gap.strip() != b":":
                key = data[quote + 1 : at - 1]
            elif key in _KEYS and _KEYS[key] not in found:
                value = fitting(_KEYS[key], data[quote + 1 : at - 1])
                if value:
                    found[_KEYS[key]] = value
    return found


def string_end(data: bytes, quote: int) -> int:
    """Return where the string that begins at `quote` ends, -1 when it does not."""
    end = quote
    while True:
        end = data.find(b'"', end + 1)
        back = end - 1
        while end > 0 and data[back] == 92:
            back -= 1
        if end < 0 or (end - back) % 2:
            return end


def fitting(field: str, raw: bytes) -> str:
    """Return a value that is what its field is for, else an empty text: no message gets in here."""
    if len(raw) > 4096:
        return ""
    if b"\\" in raw:
        import json

        value = str(json.loads(b'"' + raw + b'"'))
    else:
        value = raw.decode("utf-8", "replace")
    if field in ("path", "cwd"):
        return value if value.startswith("/") and "\0" not in value else ""
    if field == "session":
        return value if len(value) <= 128 and _NAME.issuperset(value) and value[:1] not in (".", "-") else ""
    return value if len(value) <= 40 and _WORD.issuperset(value) else ""


def state_folder() -> str:
    """Return the folder of passdown's own state for this user; an empty text for a user without a home."""
    base = posix.environ.get(b"XDG_STATE_HOME", b"")
    home = posix.environ.get(b"HOME", b"")
    if not base.startswith(b"/"):
        base = home + b"/.local/state" if home.startswith(b"/") else b""
    return (base + b"/passdown").decode("utf-8", "surrogateescape") if base else ""


def make_folder(path: str) -> None:
    """Make a folder and those above it, for this user alone where it is new."""
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        above = path.rpartition("/")[0]
        if not above:
            raise
        make_folder(above)
        posix.mkdir(path, 0o700)


def spool(state: str, record: dict[str, str]) -> None:
    """Write the record to a small file of its own, whole or not at all."""
    if not state:
        raise OSError(2, "there is no home folder")
    now = time.time_ns()
    fields = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in record.items())
    data = f'{{"v": 1, {fields}, "at": {now // 1_000_000}}}\n'.encode()
    name = f"{state}/spool/{now}-{posix.getpid()}"
    try:
        write_new(f"{name}.tmp", data)
    except FileNotFoundError:
        make_folder(f"{state}/spool")
        write_new(f"{name}.tmp", data)
    posix.rename(f"{name}.tmp", f"{name}.json")


def quoted(text: str) -> str:
    """Return the text as a JSON string of ASCII."""
    plain = all(" " <= c <= "~" and c not in '"\\' for c in text)
    if plain:
        return f'"{text}"'
    import json

    return json.dumps(text)


def write_new(path: str, data: bytes) -> None:
    """Write a new file for this user alone; one that does not fit on the disk is removed again."""
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC | getattr(posix, "O_NOFOLLOW", 0)
    descriptor = posix.open(path, flags, 0o600)
    try:
        write_all(descriptor, data)
    except OSError:
        posix.unlink(path)
        raise
    finally:
        posix.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[posix.write(descriptor, data) :]


def session_folder(state: str, record: dict[str, str]) -> str:
    """Return the folder of what is remembered of this session; an empty text for one without an id."""
    name = record.get("session", "")
    return f"{state}/sessions/{record['agent']}-{name}" if state and name else ""


def count(state: str, record: dict[str, str], what: str) -> None:
    """Count one more event of a kind for the session: the file's length is the number."""
    folder = session_folder(state, record)
    if not folder:
        return
    try:
        make_folder(folder)
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC | getattr(posix, "O_NOFOLLOW", 0)
        descriptor = posix.open(f"{folder}/{what}", flags, 0o600)
        try:
            posix.write(descriptor, b".")
        finally:
            posix.close(descriptor)
    except OSError:
        pass


DUE = ("compact", "compacted", "again", "logged", "level")
"""What lies in the folder of a session that advice may be due to."""


def is_told(state: str, record: dict[str, str]) -> bool:
    """Say whether a session was greeted and no advice can be due, which is so at nearly every prompt."""
    try:
        names = posix.listdir(session_folder(state, record) or "/dev/null")
    except OSError:
        return False
    return "greeted" in names and ("advised" in names or not any(name in names for name in DUE))


def is_due(state: str, record: dict[str, str], seconds: float) -> bool:
    """Say whether the session's packet is to be written now, and remember that it was."""
    folder = session_folder(state, record)
    if not folder:
        return True
    mark = f"{folder}/drained"
    try:
        age = time.time() - posix.stat(mark).st_mtime
        if 0 <= age < seconds:
            return False
    except OSError:
        pass
    try:
        make_folder(folder)
        posix.close(posix.open(mark, posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC, 0o600))
        posix.utime(mark)
    except OSError:
        pass
    return True


def start_drain(folder: str) -> None:
    """Start the work that the agent does not wait for, in a session of its own, which outlives the hook."""
    spawn_apart([sys.executable, "-P", "-E", "-m", "passdown.hooks.drain", folder])


def spawn_apart(argv: list[str]) -> int:
    """Start a program that shares neither terminal nor streams with us, and return its process id.

    Only in a hook, which has nothing open of its own: a command calls `io.apart.start_apart`.
    """
    actions = [(posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in (0, 1, 2)]
    posix.closerange(3, 64)  # what the agent left open for us is not the drain's
    try:
        return posix.posix_spawn(argv[0], argv, posix.environ, file_actions=actions, setsid=True)
    except NotImplementedError:  # a system without setsid for new processes
        return posix.posix_spawn(argv[0], argv, posix.environ, file_actions=actions, setpgroup=0)


def log(state: str, agent: str, event: str, begun: float, outcome: str) -> None:
    """Append one line to the hook log: when, who, what, how long, how it went. Never what was in the payload."""
    if not state:
        return
    path = f"{state}/hooks.log"
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    took = round((time.monotonic() - begun) * 1000)
    cells = [stamp, agent[:20] or "-", event[:20] or "-", str(took), outcome[:300]]
    line = "\t".join("".join(c if " " <= c <= "~" else "?" for c in cell) for cell in cells) + "\n"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC | getattr(posix, "O_NOFOLLOW", 0)
    try:
        descriptor = posix.open(path, flags, 0o600)
    except FileNotFoundError:
        make_folder(state)
        descriptor = posix.open(path, flags, 0o600)
    try:
        posix.write(descriptor, line.encode())
        full = posix.fstat(descriptor).st_size > LOG_LIMIT
    finally:
        posix.close(descriptor)
    if full:
        posix.rename(path, f"{path}.1")


if __name__ == "__main__":
    main()
