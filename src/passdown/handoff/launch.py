"""Launch: start an agent with the brief of this branch's packet, once it holds here and nobody else is at it."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import time
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct, structs

from passdown.agents.first_message import FirstMessage, Start
from passdown.agents.nested import agent_around, own_variables
from passdown.agents.table import TABLE, Agent, rows_called, takeover_of
from passdown.config import load_config
from passdown.errors import NoEvidenceError, PassdownError, StaleError, UnsafeError, UsageError
from passdown.handoff.candidate import open_shelf
from passdown.handoff.named import require_one, where
from passdown.handoff.place import find_root
from passdown.handoff.shelves import common_dir_of
from passdown.handoff.take import Taken, Terms, take
from passdown.io.ancestry import ancestor_programs
from passdown.io.become import become
from passdown.io.files import write_files
from passdown.io.program import find_program
from passdown.model.brief import Brief
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import neutralise, one_line
from passdown.store.chain import heads
from passdown.takeover.brief_text import render_brief

VARIABLE = "PASSDOWN_LAUNCH"
"""Tells the agent's own hook that the brief is there already; its value names the folder of the launch."""

FOLDER = "passdown/launch"
PENDING = "pending"
_NAME = lazy_pattern(r"[0-9a-f]{16}")
_SAID = lazy_pattern(r"\w")
_KEPT = 86_400
_MOST_SAID = 8_000
_LISTED = 5


class Order(Struct, frozen=True, kw_only=True):
    """What is to be started. `extra` goes to the agent; `said` is the human's own wish, put before the brief.

    `terminal` says whether a person sits at it; `nested` is that person's word that it may be started inside an agent;
    `private` keeps the brief off the command line.
    """

    agent: str
    topic: str = ""
    extra: tuple[str, ...] = ()
    said: str = ""
    acknowledge: bool = False
    nested: bool = False
    private: bool = False
    terminal: bool = False


class Check(Struct, frozen=True, kw_only=True):
    """One thing that must hold before an agent is started."""

    name: str
    ok: bool
    detail: str


class Launch(Struct, frozen=True, kw_only=True):
    """What would be, or is about to be, started: the program with its words, in which folder, and with what.

    `command` is what a person types to start the agent, `program` the file that is, empty where there is none. `road`
    is how the brief gets to it, `files` are where it is put; the agent does not get the variables `dropped`. `error` is
    why it is not started.
    """

    agent: str
    command: str = ""
    program: str = ""
    words: tuple[str, ...] = ()
    folder: str = ""
    brief: str = ""
    road: str = ""
    stdin: str = ""
    files: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    dropped: tuple[str, ...] = ()
    packet_id: str = ""
    branch: str = ""
    verdict: str = ""
    cheaper: str = ""
    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: PassdownError | None = None

    def report(self) -> dict[str, Any]:
        """Return what `launch --dry-run --json` prints."""
        plain = {name: getattr(self, name) for name in self.__struct_fields__ if name != "error"}
        argv = [self.program, *self.words] if self.program else []
        return {"schema_version": 1, **plain, "argv": argv, "exit_code": self.error.exit_code if self.error else 0}


def plan(folder: Path, order: Order) -> Launch:
    """Return what `launch` would do here, and what speaks against it; nothing is written or started.

    Raises `UsageError` for an unknown agent and for words that no agent would take, `NoEvidenceError` outside a
    repository.
    """
    return _Launch(folder, order).plan()


def launch(folder: Path, order: Order) -> Launch:
    """Record the takeover, put the brief where the agent finds it, and return what is to be started by `go`.

    Raises what `plan` and `take` raise, and the first reason against it: `UnsafeError` inside another agent and for a
    step that waits for a human's yes, `UsageError` without the agent's program, `StaleError` and `NoEvidenceError` as
    `take` exits, `ConflictError` when another agent has the topic in hand.
    """
    return _Launch(folder, order).ready()


def _as_one_line(error: PassdownError) -> str:
    return str(error).replace("\n  ", ". ")


def go(ready: Launch) -> NoReturn:
    """Become the agent, in its folder and this terminal. Raises `UsageError` when the system cannot start it."""
    dropped = set(ready.dropped)
    variables = {name: value for name, value in os.environ.items() if name not in dropped} | ready.variables
    try:
        become(Path(ready.program), ready.words, variables, Path(ready.folder), ready.stdin)
    except OSError as error:
        raise UsageError(
            f"cannot be started: {error.strerror}", where=ready.program, next_step="Try to start it yourself."
        ) from error


class _Launch:
    """One launch: what is shared between looking, recording and writing."""

    def __init__(self, folder: Path, order: Order) -> None:
        self.order, self.row = order, _row(order.agent)
        if order.said and not (_SAID.match(order.said) and len(order.said) <= _MOST_SAID):
            raise UsageError(
                "--say begins with a word: agents take other signs for a command or a file", where=order.said[:40]
            )
        self.root = find_root(folder)
        self.common = common_dir_of(self.root).resolve()
        self.name = secrets.token_hex(8)
        self.around = agent_around(os.environ, ancestor_programs(), str(self.root))
        self.program = find_program(self.row.program, outside=self.root)

    def plan(self) -> Launch:
        """Look at everything, whatever was found before."""
        taken, refused = self._take(receipt=False)
        checks = [
            ("not inside another agent", self._nested(), self._outside()),
            (f"{self.row.program} is installed", self._missing(), str(self.program)),
            ("the packet holds here", refused, _verdict(taken)),
        ]
        errors = [error for _, error, _ in checks if error is not None]
        shown = tuple(
            Check(name=name, ok=error is None, detail=one_line(_as_one_line(error) if error else detail, 400))
            for name, error, detail in checks
        )
        return structs.replace(self._made(taken), checks=shown, error=errors[0] if errors else None)

    def ready(self) -> Launch:
        """Stop at the first reason against it."""
        for error in (self._nested(), self._missing()):
            if error is not None:
                raise error
        taken, refused = self._take(receipt=True)
        if refused is not None:
            raise refused
        made = self._made(taken)
        self._write(made)
        return made

    def _nested(self) -> PassdownError | None:
        around = self.around
        if around is None or (self.order.nested and self.order.terminal):
            return None
        title = next((row.title for row in TABLE if row.id == around.agent), around.agent)
        if self.order.nested:
            return UnsafeError(
                f"--allow-nested is a human's word, and this runs inside {title} without a terminal ({around.how})",
                next_step="Run it yourself, in a terminal.",
            )
        words = shlex.join(("passdown", "-C", str(self.root), "launch", self.row.id, *self._topic()))
        return UnsafeError(
            f"this runs inside {title} ({around.how}); an agent inside an agent shares its folder and its limits, and "
            "nobody sees its questions",
            next_step=f"In a terminal of your own: {words}\n  Or give an agent that runs already the line of: passdown "
            "prompt take\n  Who knows better, in a terminal: --allow-nested",
        )

    def _topic(self) -> tuple[str, ...]:
        return ("--topic", one_line(self.order.topic, 64)) if self.order.topic else ()

    def _outside(self) -> str:
        return "" if self.around is None else f"allowed by a human inside {self.around.agent}"

    def _missing(self) -> PassdownError | None:
        if self.program is not None:
            return None
        return UsageError(
            f"{self.row.title} is not installed: there is no {self.row.program} on the search path (what lies in the "
            "repository itself does not count)",
            next_step=f"Install it: {self.row.install}",
        )

    def _take(self, *, receipt: bool) -> tuple[Taken | None, PassdownError | None]:
        """Take the packet as the agent that is to be started; what `take` raises is a reason against it."""
        terms = Terms(
            acknowledge=self.order.acknowledge, terminal=self.order.terminal, receipt=receipt, starts=self.row.id
        )  # fmt: skip
        try:
            taken = take(self.root, self._packet_name(), terms=terms)
        except PassdownError as error:
            if receipt:
                raise
            return None, error
        return taken, _refusal(taken, self.row)

    def _packet_name(self) -> str:
        """Return the id of the topic's packet; empty where it is the only one, which `take` finds by itself."""
        if not self.order.topic:
            return ""
        here = open_shelf(self.root, load_config(self.root))
        active = heads(here.stored, here.branch)
        of_topic = [packet for packet in active if packet.head.topic == self.order.topic]
        if not of_topic:
            topics = ", ".join(sorted({one_line(packet.head.topic, 64) for packet in active})) or "none"
            raise NoEvidenceError(
                f"no packet of the topic {one_line(self.order.topic, 64)!r} is active on {where(here.branch)}",
                next_step=f"Topics here: {topics}.",
            )
        require_one(of_topic, here.branch)
        return "" if len(active) == 1 else of_topic[0].packet_id

    def _made(self, taken: Taken | None) -> Launch:
        brief = taken.brief if taken is not None else None
        ready = Launch(
            agent=self.row.id, command=self.row.program, folder=str(self.root), program=str(self.program or "")
        )  # fmt: skip
        if taken is None or brief is None or brief.next_step is None:
            return structs.replace(ready, findings=taken.findings if taken is not None else ())
        text = neutralise(render_brief(structs.replace(brief, resume=None), "agent"))
        place = f"{self.common}/{FOLDER}/{self.name}"
        message = FirstMessage(text, f"{place}/brief.md", f"{place}/message.md", self.order.said, self.order.private)
        start: Start = takeover_of(self.row).start(message, self.order.extra)
        dropped = () if self.around is None else tuple(name for name in own_variables() if name in os.environ)
        return structs.replace(
            ready, words=start.words, brief=text, road=start.road, stdin=start.stdin,
            files=(message.file, message.whole), variables={VARIABLE: self.name}, dropped=dropped,
            packet_id=brief.packet_id, branch=brief.branch, verdict=brief.verdict, cheaper=_cheaper(brief),
            findings=taken.findings,
        )  # fmt: skip

    def _write(self, made: Launch) -> None:
        """Put the brief, the message and the word to the agent's hook into git's own folder, for this user alone."""
        place = self.common / FOLDER
        for folder in (place.parent, place, place / self.name):
            if folder.is_symlink():
                raise UnsafeError("is a symlink; not writing through it", where=str(folder), next_step="Remove it.")
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _clear(place)
        message = FirstMessage(made.brief, "", "", self.order.said).text()
        files = {
            "brief.md": made.brief, "message.md": message, PENDING: f"{self.row.id} {made.packet_id}\n",
        }  # fmt: skip
        write_files(
            [(place / self.name / name, text.encode("utf-8", "surrogateescape")) for name, text in files.items()],
            mode=0o600,
        )


def _row(agent: str) -> Agent:
    return rows_called([agent], [row for row in TABLE if row.takeover], "brief")[0]


def _verdict(taken: Taken | None) -> str:
    return taken.brief.verdict.replace("_", " ") if taken is not None and taken.brief is not None else ""


def _refusal(taken: Taken, row: Agent) -> PassdownError | None:
    """Return why an agent is not started with what was taken, with the exit code of `take`."""
    if taken.exit_code == 0:
        return None
    if taken.brief is None:
        others = taken.cold.other_packets[:_LISTED] if taken.cold is not None else ()
        names = ", ".join(one_line(f"{quote.text} ({quote.note})", 160) for quote in others)
        elsewhere = f"; there is work on {names}" if names else ""
        return NoEvidenceError(
            f"there is no packet and no session here to go on from{elsewhere}",
            next_step=f"Start the agent by itself: {row.program}. `passdown take` shows what the repository says.",
        )
    why = "; ".join(one_line(reason, 300) for reason in taken.brief.reasons)
    if taken.exit_code == UnsafeError.exit_code:
        return UnsafeError(
            why.replace("passdown take --ack", f"passdown launch {row.id} --ack"),
            next_step="`passdown take` shows the step.",
        )
    return StaleError(
        f"the packet is not to be used here ({_verdict(taken)}): {why}", next_step="`passdown take` shows more."
    )


def _cheaper(brief: Brief) -> str:
    return brief.resume.command if brief.resume is not None else ""


def _clear(place: Path) -> None:
    """Remove what launches of more than a day ago left."""
    with os.scandir(place) as entries:
        old = [
            entry.path
            for entry in entries
            if _NAME.fullmatch(entry.name)
            and entry.is_dir(follow_symlinks=False)
            and time.time() - entry.stat(follow_symlinks=False).st_mtime > _KEPT
        ]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
