"""One session on its way into the index: its counts, and what was said and run in it, redacted."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from passdown.agents.table import Sessions, sessions_of
from passdown.errors import PassdownError
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, AssistantMessage, SessionRef, ToolCall, UserMessage
from passdown.redact.neutralise import one_line
from passdown.redact.scan import Redactor
from passdown.sessions.discover import plain_remote
from passdown.sessions.index.changes import LARGE, Task, prefix_of
from passdown.sessions.index.schema import PART_BITS
from passdown.sessions.index.words import searchable
from passdown.sessions.read import agent_called
from passdown.sessions.summary import Fold
from passdown.usage.tally import Kept, TallyReader

LONGEST = {"human": 4000, "agent": 2000, "ran": 2000, "title": 200}
"""Characters of each kind of text that are kept; what stands behind is not found."""

MARGIN = 500
"""Characters more are looked at for secrets, so that none is cut in two and overlooked."""

LARGEST = (1 << 63) - 1
"""The largest number that SQLite can hold."""

_BATCH = 200_000
_MOST = (1 << PART_BITS) - 1
_BETWEEN = "\n\x1e\n"
_CHANCE = lazy_pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KINDS = {"shell": "ran", "plan": "agent", "subagent": "agent"}
_DAMAGE = (
    OSError, EOFError, PassdownError, sqlite3.Error, msgspec.MsgspecError, ValueError, LookupError, TypeError,
    AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What a file that is not as it should be can bring about in a reader: that file is left out, the others are read."""


class Text(NamedTuple):
    """One text that was said or run: when and where, as shown, and as searched (empty when it is the same)."""

    kind: str
    at: int | None
    place: int
    line: int
    text: str
    words: str


class Row(NamedTuple):
    """One session as the list shows it. The `ref_` fields are as discovery told them."""

    agent: str
    path: str
    inner: str
    home: str
    session_id: str
    bytes: int
    prefix: str
    started_at: int | None
    modified_at: int
    ended_at: int | None
    cwd: str
    branch: str
    ref_branch: str
    branches: str
    title: str
    ref_title: str
    parent_id: str
    parent_kind: str
    commit_id: str
    remote: str
    tokens: int
    human_messages: int
    last_exit: int | None
    texts: int
    trouble: str
    spent: Kept | None = None
    """What it cost, which goes to tables of its own; None where that could not be read."""
    began: int = 0


def read_task(task: Task) -> Iterator[list[Text] | Row | None]:
    """Read a session: yield batches of its texts, last its row; None where the file holds no session."""
    ref = None
    try:
        ref = task.ref or _reader(task.agent).refer(Path(task.path))
        if ref is None:
            yield None
            return
        yield from _fold(task, ref)
    except FileNotFoundError:
        yield None
    except _DAMAGE as error:
        yield None if ref is None else _row(task, ref, trouble=one_line(f"{type(error).__name__}: {error}", 200))


def _fold(task: Task, ref: SessionRef) -> Iterator[list[Text] | Row]:
    gathered = Gathered(_redactor())
    fold = Fold()
    tally = TallyReader(_clean)
    for event in _reader(ref.agent).read(ref):
        fold.add(event)
        tally.add(event)
        gathered.add(event)
        if gathered.size > _BATCH:
            yield gathered.batch()
    counts = fold.finish()
    raw = one_line(counts.title or ref.title or gathered.first_words, LONGEST["title"])
    gathered.take("title", None, 0, 0, raw)
    last = gathered.batch()
    yield last
    title = last[-1].text if last and last[-1].kind == "title" else ""
    yield _row(task, ref)._replace(
        session_id=ref.session_id or counts.session_id,
        started_at=_bounded(counts.started_at),
        ended_at=_bounded(counts.ended_at),
        branch=one_line(counts.branches[-1] if counts.branches else ref.branch, 60),
        branches="\n".join(one_line(branch, 200) for branch in counts.branches[:50]),
        title=one_line(title, 80),
        ref_title=title if ref.title == raw else gathered.redacted(ref.title),
        tokens=min(
            LARGEST,
            counts.tokens_input + counts.tokens_cache_read + counts.tokens_cache_write + counts.tokens_output,
        ),
        human_messages=counts.human_messages,
        last_exit=_bounded(counts.last_exit),
        texts=gathered.count,
        spent=tally.finish(),
        began=_bounded(ref.started_at) or 0,
    )


@cache
def _reader(agent: str) -> Sessions:
    return sessions_of(agent_called(agent))


@cache
def _redactor() -> Redactor:
    """The one redactor of this process: to know the secrets of the environment costs as much as a short session."""
    return Redactor(os.environ)


@lru_cache(maxsize=4096)
def _clean(name: str) -> str:
    # Every session has an id, and it stands in the list as it is: most often one that holds nothing but chance.
    return storable(_redactor().text(name)) if name and not _CHANCE.fullmatch(name) else name


class Gathered:
    """The texts of a session on their way: those not handed over yet, how many there were, the first a person said."""

    def __init__(self, redactor: Redactor) -> None:
        self.count = 0
        self.size = 0
        self.first_words = ""
        self._redactor = redactor
        self._texts: list[Text] = []

    def add(self, event: AnyEvent) -> None:
        """Take what an event says or runs; what another session said already, or a program put in, is none of it."""
        if isinstance(event, ToolCall):
            if event.command and not event.copied:
                self.take("ran", event.at, event.offset, event.line, event.command)
        elif isinstance(event, AssistantMessage):
            if not (event.reasoning or event.copied):
                self.take("agent", event.at, event.offset, event.line, event.text)
        elif isinstance(event, UserMessage) and not event.copied and event.origin not in ("hook", "injected"):
            kind = _KINDS.get(event.origin, "human") if not event.agent_id else "agent"
            self.take(kind, event.at, event.offset, event.line, event.text)
            if not self.first_words and kind == "human" and event.origin == "human":
                self.first_words = event.text[: LONGEST["human"]].strip()

    def take(self, kind: str, at: int | None, place: int, line: int, text: str) -> None:
        """Take one text."""
        text = text[: LONGEST[kind] + MARGIN]
        if self.count < _MOST and text and not text.isspace():
            self.count += 1
            self.size += len(text)
            self._texts.append(Text(kind, _bounded(at), place, line, text, ""))

    def batch(self) -> list[Text]:
        """Hand over the texts taken since the last time, without their secrets and cut to size."""
        texts, self._texts, self.size = self._texts, [], 0
        clean = self._all_redacted([text.text for text in texts])
        done = []
        for text, shown in zip(texts, clean, strict=True):
            shown = storable(shown[: LONGEST[text.kind]])
            words = searchable(shown)
            done.append(text._replace(text=shown, words="" if words == shown else words))
        return done

    def redacted(self, text: str) -> str:
        """Return a short text without its secrets."""
        return storable(self._redactor.text(text[:2000])) if text else ""

    def _all_redacted(self, texts: list[str]) -> list[str]:
        """Redact many texts as one, several times as fast; one by one where a secret went beyond its text."""
        joined = _BETWEEN.join(text.replace("\x1e", " ") for text in texts)
        parts = self._redactor.text(joined).split(_BETWEEN)
        return parts if len(parts) == len(texts) else [self._redactor.text(text) for text in texts]


def storable(text: str) -> str:
    """Return a text that can be written as UTF-8: half a character pair becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _bounded(number: int | None) -> int | None:
    """Return a number that the database can hold: a damaged log may have any."""
    return number if number is None or abs(number) <= LARGEST else None


def _row(task: Task, ref: SessionRef, *, trouble: str = "") -> Row:
    remote = ref.remote
    if "@" in remote:  # may hold a password
        remote = f"https://{plain_remote(remote)}"
    return Row(
        agent=ref.agent, path=ref.path, inner=ref.inner, home=task.home, session_id=ref.session_id, bytes=ref.bytes,
        prefix=prefix_of(task.path, task.size) if task.ref is None and task.size >= LARGE else "",
        started_at=_bounded(ref.started_at),
        modified_at=_bounded(ref.modified_at or ref.started_at) or 0, ended_at=None, cwd=ref.cwd,
        branch=one_line(ref.branch, 60), ref_branch=ref.branch, branches="", title="", ref_title="",
        parent_id=ref.parent_id,
        parent_kind=ref.parent_kind, commit_id=ref.commit, remote=remote, tokens=0, human_messages=0, last_exit=None,
        texts=0, trouble=trouble,
    )  # fmt: skip
