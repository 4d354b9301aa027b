"""What a compaction's summary lost that the packet keeps: the packet's facts of that moment, looked for in its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal

from msgspec import Struct

from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import RepositoryFacts
from passdown.model.packet import Packet
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, Compaction, SessionRef, SessionStart
from passdown.packet.build import draft_packet
from passdown.redact.neutralise import one_line
from passdown.sessions.read import read_ref

Section = Literal["human_words", "decisions", "failed_attempts", "tests"]

ENOUGH = 0.6
"""Part of a fact's distinct words that must stand in a summary for the fact to count as being in it."""

MOST = 5
"""Compactions of one session that are looked into, the last ones: each asks for the packet of its moment."""

READ_MOST = 256 << 20
"""Bytes that are read for it: of a large log fewer compactions are looked into, of a larger one none."""

_SHOWN = 3
_WORD = lazy_pattern(r"[\w./-]*\w")
_PART = lazy_pattern(r"[^\W_]+")
_SHORTEST = 4


class Lost(Struct, frozen=True, kw_only=True):
    """One section of the packet against a summary: how many facts it has, how many the summary does not, and some."""

    section: Section
    facts: int
    lost: int
    examples: tuple[str, ...] = ()


class Comparison(Struct, frozen=True, kw_only=True):
    """One compaction, the `number`-th of its session. `readable` is False where the log does not tell its summary."""

    number: int
    at: int | None = None
    line: int = 0
    readable: bool = True
    sections: tuple[Lost, ...] = ()

    @property
    def facts(self) -> int:
        """How many facts the packet had."""
        return sum(section.facts for section in self.sections)

    @property
    def lost(self) -> int:
        """How many of them the summary has not."""
        return sum(section.lost for section in self.sections)


def compare_compactions(ref: SessionRef) -> list[Comparison]:
    """Return what the summaries of a session's last compactions lost of what a packet made just before would hold.

    Of a compaction whose summary the log hides or does not tell, nothing is said but that.
    """
    found = [(index, event) for index, event in enumerate(read_ref(ref)) if _counts(event)]
    compared = []
    most = min(MOST, READ_MOST // max(1, ref.bytes))
    for number, (index, event) in enumerate(found, 1):
        if number <= len(found) - most:
            continue
        assert isinstance(event, Compaction)
        readable = bool(event.summary.strip()) and not event.opaque
        sections = tuple(_compare(_facts(ref, index), event.summary)) if readable else ()
        compared.append(
            Comparison(number=number, at=event.at, line=event.line, readable=readable, sections=sections)
        )  # fmt: skip
    return compared


def _counts(event: AnyEvent) -> bool:
    return isinstance(event, Compaction) and not (event.micro or event.agent_id or event.copied)


def _facts(ref: SessionRef, upto: int) -> Iterator[tuple[Section, list[str]]]:
    """Yield the facts of the packet that these events come to, by section."""
    packet = _packet(ref, islice(read_ref(ref), upto))
    yield "human_words", [line.text for line in packet.directives]
    yield "decisions", [decision.choice for decision in packet.decisions]
    yield "failed_attempts", [
        f"{attempt.what} {attempt.why}" for attempt in packet.failed_attempts if not attempt.resolved
    ]  # fmt: skip
    tests = packet.tests
    yield "tests", list(dict.fromkeys(filter(None, [*tests.failing, tests.counts])))


def _packet(ref: SessionRef, events: Iterable[AnyEvent]) -> Packet:
    # Without git's facts: what is compared comes from the log alone, and the repository may be another one by now.
    events = iter(events)
    first = next(events, None)
    cwd = first.cwd if isinstance(first, SessionStart) else ref.cwd
    before = [] if first is None else [first]
    evidence = collect_evidence(RepositoryFacts(root=cwd or "/"), sessions=[(ref, _chained(before, events))])
    return draft_packet(evidence).packet


def _chained(first: Iterable[AnyEvent], rest: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
    # An earlier summary is no evidence of the facts that a later one is held against.
    for events in (first, rest):
        for event in events:
            if not isinstance(event, Compaction):
                yield event


def _compare(facts: Iterable[tuple[Section, list[str]]], summary: str) -> Iterator[Lost]:
    words = set(_words(summary))
    for section, texts in facts:
        lost = [text for text in texts if not _stands(text, words)]
        if texts:
            examples = tuple(one_line(text, 120) for text in lost[:_SHOWN])
            yield Lost(section=section, facts=len(texts), lost=len(lost), examples=examples)


def _stands(text: str, summary: set[str]) -> bool:
    wanted = set(_words(text))
    distinct = {word for word in wanted if len(word) >= _SHORTEST or not word.isascii()} or wanted
    return not distinct or len(distinct & summary) >= ENOUGH * len(distinct)


def _words(text: str) -> Iterator[str]:
    """Yield a text's words in small letters: names and paths also by their parts, other scripts by pairs."""
    for found in _WORD.finditer(text.casefold()):
        word = found.group()
        if not word.isascii():
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
            continue
        yield word
        yield from _PART.findall(word)
