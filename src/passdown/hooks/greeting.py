"""The brief at a session's start: the prepared one, with what moved since; once a session. Standard library only."""

import json
import posix
import sys
import time

TYPE_CHECKING = False  # as `typing` has it, without loading that
if TYPE_CHECKING:
    from passdown.hooks import entry, glance, ground
else:  # the entry runs as a file: what lies beside it is found by its bare name
    import entry
    import glance
    import ground

BOUND = 2.0
"""Seconds in which a session's start is answered, the catching up included."""

GIT_BOUND = 1.0
MOST = 9_000
"""Most characters that are put into a session; Claude Code and Codex cut at about 10,000."""

_WORK = ("stop", "compact", "compacted", "end", "error", "interrupt")
_SPOOLED = 300
_DAY = 86_400
_EVENT_NAMES = {
    "claude_code": ("SessionStart", "UserPromptSubmit"), "codex": ("SessionStart", "UserPromptSubmit"),
    "qwen": ("SessionStart", "UserPromptSubmit"), "gemini": ("SessionStart", "BeforeAgent"),
}  # fmt: skip
_HEX = frozenset("0123456789abcdef")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/")

Record = dict[str, str]
Brief = dict[str, object]


def greet(record: Record, state: str, begun: float) -> tuple[str, str]:
    """Return what the hook prints for this session, often nothing, and a few words for the log."""
    memory = Memory(state, record)
    if record.get("source") == "compact":
        memory.count("again")
        memory.forget("level")
    greeted = record["event"] == "prompt" and memory.holds("greeted")
    found = ground.find_repository(record["cwd"])
    if found is None:
        return "", "no repository"
    start = _Start(record, memory, found, state, begun + BOUND)
    text, outcome = ("", "started with the brief") if start.is_launched() else start.tell(advice_alone=greeted)
    memory.claim("greeted")
    return (_as_context(text[:MOST], record) if text else ""), outcome


class Memory:
    """What is remembered of a session in passdown's own state: what it was told, how often it was compacted."""

    def __init__(self, state: str, record: Record) -> None:
        self.state = state
        self.name = f"{record['agent']}-{record['session']}" if record.get("session") else ""
        self.folder = f"{state}/sessions/{self.name}" if state and self.name else ""

    def holds(self, what: str, session: str = "") -> bool:
        """Say whether it is remembered of this session, or of another one (`<agent>-<id>`)."""
        folder = f"{self.state}/sessions/{session}" if session else self.folder
        return bool(folder) and bool(ground.stamp(f"{folder}/{what}"))

    def claim(self, what: str) -> bool:
        """Remember it and say whether nobody did before; yes where nothing can be remembered."""
        if not self.folder:
            return True
        try:
            entry.make_folder(self.folder)
            _create(f"{self.folder}/{what}")
        except FileExistsError:
            return False
        except OSError:
            return True
        return True

    def count(self, what: str) -> None:
        """Count one more of them."""
        if self.folder:
            try:
                entry.make_folder(self.folder)
                flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC
                descriptor = posix.open(f"{self.folder}/{what}", flags, 0o600)
                posix.write(descriptor, b".")
                posix.close(descriptor)
            except OSError:
                pass

    def forget(self, what: str) -> None:
        """Forget it, where it was remembered."""
        try:
            posix.unlink(f"{self.folder}/{what}")
        except OSError:
            pass

    def words(self, what: str) -> str:
        """Return what the drain wrote down of the session, empty where it is nothing plain."""
        try:
            text = ground.read_small(f"{self.folder}/{what}", 80).decode("ascii", "replace") if self.folder else ""
        except OSError:
            return ""
        return text if _PLAIN.union(" %,").issuperset(text) else ""

    def compactions(self) -> int:
        """Return how often the session was compacted: as told before, after, at the new start, or logged."""
        most = 0
        for what in ("compact", "compacted", "again", "logged"):
            try:
                most = max(most, posix.stat(f"{self.folder}/{what}").st_size)
            except OSError:
                pass
        return most


class _Start:
    """One start of a session in one worktree."""

    def __init__(self, record: Record, memory: Memory, place: tuple[str, str, str], state: str, end: float) -> None:
        self.record, self.memory, self.state, self.end = record, memory, state, end
        self.root, self.git_dir, self.common = place
        self.session = record.get("session", "")
        self.standing: ground.Standing | None = None
        self.notes: list[str] = []
        self.way = "prepared"

    def is_launched(self) -> bool:
        """Say whether `passdown launch` started the agent with the brief, once; the session then has had the packet."""
        name = posix.environ.get(b"PASSDOWN_LAUNCH", b"").decode("ascii", "replace")
        if len(name) != 16 or not _HEX.issuperset(name):
            return False
        folder = f"{self.common}/passdown/launch/{name}"
        try:
            words = ground.read_small(f"{folder}/pending", 200).decode("ascii", "replace").split()
            if words[:1] != [self.record["agent"]] or not ground.is_ours(folder):
                return False
            posix.unlink(f"{folder}/pending")
        except OSError:  # another session of this agent was the first
            return False
        brief = self._brief(ground.branch_named(self.git_dir)) or {}
        for packet in {*words[1:2], str(brief.get("packet", ""))}:
            self._first(packet[:16])
        return True

    def tell(self, *, advice_alone: bool) -> tuple[str, str]:
        """Return the text for the session, and what was done; in the midst of one it is advice at most."""
        if advice_alone:
            text = self._advice(self._brief(ground.branch_named(self.git_dir)) or {})
            return text, "advised" if text else "greeted before"
        try:
            self.standing = ground.read_standing(self.root, min(GIT_BOUND, self._left()))
            branch = self.standing.branch
        except TimeoutError as error:
            self.notes.append("git did not answer: what moved since was not looked at")
            self.way = f"TimeoutError: {error}"
            branch = ground.branch_named(self.git_dir)
        brief = self._brief(branch)
        if self.standing is not None and (brief is None or not self._fits(brief)):
            ended = self._catch_up()
            brief = self._brief(branch)
            if not ended:
                self.notes.append("another session worked since; that is not in it yet")
        parts = [] if brief is None else [self._text(brief)]
        parts.append(self._advice(brief or {}))
        text = "\n".join(part for part in parts if part)
        return text, f"{self.way}: {f'told {len(text)} characters' if text else 'nothing to tell'}"

    def _left(self) -> float:
        return max(0.05, self.end - time.monotonic())

    def _brief(self, branch: str) -> Brief | None:
        """Return the brief that passdown prepared here for the branch: one that came with the folder is none."""
        path = ground.brief_path(self.common, branch)
        try:
            brief = json.loads(ground.read_small(path, 256 << 10)) if ground.is_ours(path) else None
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(brief, dict) or brief.get("v") != 1 or brief.get("branch") != branch:
            return None
        here = ground.stamp(path.rpartition("/")[0])[:2]
        return brief if brief.get("folder") == here and isinstance(brief.get("text"), str) else None

    def _fits(self, brief: Brief) -> bool:
        """Say whether nothing happened that a brief prepared now would tell otherwise, dirty files aside."""
        stamps, made = brief.get("stamps"), brief.get("made")
        if self.standing is None or brief.get("head") != self.standing.head:
            return False
        place = brief.get("place")
        if brief.get("root") != ground.stamp(self.root)[:2] or not isinstance(place, str):
            return False
        if ground.stamp(place)[:2] != brief["root"]:  # moved since: sessions are told of by where they worked
            return False
        if not isinstance(stamps, dict) or any(ground.stamp(path) != then for path, then in stamps.items()):
            return False
        if not isinstance(made, int) or self._is_pending(made):
            return False
        return not glance.grew_since(self.root, made, self._own_logs())

    def _own_logs(self) -> tuple[str, ...]:
        """Return what the names of this session's own logs hold: they grow by its very start."""
        database = "/opencode.db" if self.record["agent"] == "opencode" else ""
        return self.record.get("path", ""), self.session, self.session.replace("-", ""), database

    def _is_pending(self, made: int) -> bool:
        """Say whether the spool holds work of this worktree that no drain has taken up yet."""
        here = ground.stamp(self.root)[:2]
        try:
            names = sorted(posix.listdir(f"{self.state}/spool"), reverse=True)[:_SPOOLED]
        except OSError:
            return False
        for name in names:
            item = _spooled(f"{self.state}/spool/{name}") if name.endswith(".json") else {}
            own = item.get("session", "") == self.session and self.record.get("source") != "compact"
            if own or not self._is_work(item, made):
                continue
            found = ground.find_repository(item.get("cwd", ""))
            if found is not None and ground.stamp(found[0])[:2] == here:
                return True
        return False

    def _is_work(self, item: Record, made: int) -> bool:
        if item.get("event") in _WORK:
            return True
        written = ground.stamp(item.get("path", "")) if item.get("event") == "start" else []
        return bool(written) and written[2] // 1_000_000 > made

    def _catch_up(self) -> bool:
        """Have the brief prepared anew and wait for it as long as there is time; it goes on by itself afterwards."""
        self.way = "caught up"
        argv = [sys.executable, "-P", "-E", "-m", "passdown.hooks.start", self.root]
        if self.session and self.record.get("source") != "compact":  # after a compaction its own work is what is told
            argv.append(self.session)
        child = entry.spawn_apart(argv)
        while time.monotonic() < self.end:
            if posix.waitpid(child, posix.WNOHANG)[0]:
                return True
            time.sleep(0.005)
        self.way = f"catching up took longer than {BOUND:g} s"
        return False

    def _text(self, brief: Brief) -> str:
        """Return the brief with what moved since, where this session has not had it and does not know it anyway."""
        text, packet = str(brief["text"]), str(brief.get("packet", ""))[:16]
        mine = bool(self.session) and self.session == brief.get("session")
        if not text or mine != (self.record.get("source") == "compact") or not self._first(packet):
            return ""
        if not mine:
            self._count_successor(brief)
        notes = [*self._moved(brief), *self.notes]
        since = f"[passdown] Since the brief below was made: {'; '.join(notes)}.\n" if notes else ""
        return since + text

    def _first(self, packet: str) -> bool:
        if packet and not all(c in "0123456789abcdef" for c in packet):
            return False
        return self.memory.claim(f"packet-{packet or 'none'}")

    def _moved(self, brief: Brief) -> list[str]:
        """Say in words what git knows now that it did not when the brief was made."""
        if self.standing is None:
            return []
        notes = []
        before, now = str(brief.get("head", "")), self.standing.head
        if before != now:
            notes.append(f"HEAD moved since: {before[:12] or 'no commit'}..{now[:12]}")
        then = brief.get("dirty")
        own = tuple(str(name) for name in _list(brief.get("own")))
        if isinstance(then, dict) and before == now:
            now_dirty = self.standing.dirty
            paths = sorted(path for path in {*then, *now_dirty} if then.get(path) != now_dirty.get(path))
            paths = [path for path in paths if not path.startswith(own) and not _is_above(path, own)]
            if paths:
                shown = [path for path in paths if len(path) <= 80 and _PLAIN.issuperset(path)][:5]
                more = f"{', '.join(shown)}{' and others' if len(shown) < len(paths) else ''}" if shown else "odd names"
                notes.append(f"{len(paths)} file{'' if len(paths) == 1 else 's'} changed since: {more}")
        return notes

    def _advice(self, brief: Brief) -> str:
        """Return the advice to go on in a fresh session, once a session: compacted so often, or too full."""
        after, limit, times = brief.get("advise_after", 2), brief.get("automatic", 0), self.memory.compactions()
        often, level = isinstance(after, int) and 0 < after <= times, self.memory.words("level")
        if not (often or level) or not self.memory.claim("advised"):
            return ""
        full = str(brief.get("full", "")) if _PLAIN.issuperset(str(brief.get("full", ""))) else ""
        packet = f"the packet ({full})" if full else "the packet"
        why = f"[passdown] This session was compacted {times} times, and each time details were lost."
        if not often:
            why = f"[passdown] This session's context is full to {level}: it forgets, and every call costs all of it."
        used = self._successors()
        if isinstance(limit, int) and used < limit:
            self.memory.claim("handed")
            return (
                f"{why} Automatic handoff {used + 1} of {limit}: go no further here. Finish the edit under way, run "
                f"`passdown wrap --interim`, and end your turn: a fresh session here is given {packet} as it starts."
            )
        return (
            f"{why} Tell the human once: a fresh session here is given {packet} as it starts; in another agent, "
            f"`passdown take` prints it."
        )

    def _count_successor(self, brief: Brief) -> None:
        """Count an automatic handoff now that its successor exists."""
        before = f"{brief.get('agent')}-{brief.get('session')}"
        if self.memory.name and "/" not in before and self.memory.holds("handed", before):
            folder = f"{self.common}/passdown/handoffs"
            try:
                entry.make_folder(folder)
                if ground.is_ours(folder):
                    _create(f"{folder}/{self.memory.name}")
            except OSError:
                pass

    def _successors(self) -> int:
        """Return how many automatic handoffs of the last day have a successor."""
        folder, since = f"{self.common}/passdown/handoffs", (time.time() - _DAY) * 1e9
        try:
            return sum((ground.stamp(f"{folder}/{name}") or [0, 0, 0])[2] > since for name in posix.listdir(folder))
        except OSError:
            return 0


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_above(path: str, own: tuple[str, ...]) -> bool:
    return path.endswith("/") and any(name.startswith(path) for name in own)


def _spooled(path: str) -> Record:
    try:
        item = json.loads(ground.read_small(path, 32 << 10))
    except (OSError, ValueError, RecursionError):
        return {}
    return {key: value for key, value in item.items() if isinstance(value, str)} if isinstance(item, dict) else {}


def _create(path: str) -> None:
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC
    posix.close(posix.open(path, flags, 0o600))


def _as_context(text: str, record: Record) -> str:
    """Return the text as the agent takes it: JSON where it reads JSON, else plain."""
    agent = record["agent"]
    if agent in _EVENT_NAMES:
        name = _EVENT_NAMES[agent][record["event"] == "prompt"]
        return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}) + "\n"
    if agent in ("copilot", "openhands"):
        return json.dumps({"additionalContext": text}) + "\n"
    return text
