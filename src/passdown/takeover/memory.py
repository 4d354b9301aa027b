"""Which memories of other topics a brief tells: ranked by what came of the takeovers that had them, and by recency."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from passdown.model.identifier import normalize_text
from passdown.model.memory import PastTakeover, Ranked, Remembered
from passdown.packet.tokens import estimate_tokens
from passdown.redact.neutralise import one_line

EXPIRES_AFTER = 20
"""Takeovers after which a memory that was of no use since is no longer told, unless it is standing."""

SHARE = 0.15
"""The part of a brief's tokens that memories may take."""

MOST = 12
"""Most memories that a brief tells."""

_TEXT, _WHY, _PLACE = 160, 80, 60


def memory_line(ranked: Ranked) -> str:
    """Return a memory as it stands in a brief: what it says, in quotes, and where it comes from."""
    memory = ranked.memory
    text = one_line(memory.text, _TEXT).replace('"', "'")
    why = f", because: {one_line(memory.why, _WHY)}" if memory.why else ""
    whose = {"preference": "wish", "decision": "decision", "clue": "clue"}[memory.kind]
    who = f"{memory.by}'s {whose}" if memory.by else whose
    place = one_line(memory.branch or memory.topic or "a detached HEAD", _PLACE)
    gone = "; its anchor is gone" if memory.broken else ""
    return f'"{text}" ({who}, from {place} {memory.packet_id[:8]}{gone}{why})'


def choose_memory(
    memories: Iterable[Remembered],
    takeovers: Sequence[PastTakeover],
    *,
    tokens: int,
    known: Collection[str] = (),
) -> tuple[Ranked, ...]:
    """Return the memories a brief of so many tokens tells, best first, within its share of them.

    `known` are texts the brief's own packet says already.
    """
    said = {normalize_text(text) for text in known}
    room, chosen = int(tokens * SHARE), list[Ranked]()
    for ranked in rank_memory(memories, takeovers):
        if normalize_text(ranked.memory.text) in said:
            continue
        cost = estimate_tokens(memory_line(ranked)) + 2
        if cost <= room and len(chosen) < MOST:
            room -= cost
            chosen.append(ranked)
    return tuple(chosen)


def rank_memory(memories: Iterable[Remembered], takeovers: Sequence[PastTakeover]) -> list[Ranked]:
    """Return the memories that have not expired, best first. The same set has the same order, however it is given.

    A memory gains by takeovers that showed it and ended passed, and loses by those that ended failed and by age; age
    is counted in takeovers, not in days: a project that rests forgets nothing. Of equals the newer comes first. Each
    text counts once, as its newest packet has it.
    """
    newest: dict[str, Remembered] = {}
    for memory in sorted(memories, key=lambda memory: (memory.at, memory.packet_id)):
        newest[memory.id] = memory
    judged = [_judge(memory, takeovers) for memory in newest.values()]
    kept = [ranked for ranked, age in judged if not _has_expired(ranked.memory, age)]
    kept.sort(key=lambda ranked: ranked.memory.id)
    kept.sort(key=lambda ranked: ranked.memory.at, reverse=True)
    return sorted(kept, key=lambda ranked: -ranked.score)


def _judge(memory: Remembered, takeovers: Sequence[PastTakeover]) -> tuple[Ranked, int]:
    shown = [takeover for takeover in takeovers if memory.id in takeover.memory]
    passed = sum(takeover.came == "passed" for takeover in shown)
    failed = sum(takeover.came == "failed" for takeover in shown)
    alive = max([memory.at, *(takeover.at for takeover in shown if takeover.came == "passed")])
    age = sum(takeover.at > alive for takeover in takeovers)
    served = (passed + 1) / (passed + failed + 2)
    score = served + 1 / (2 + age / 5) + 0.5 * memory.standing + 0.25 * (memory.by == "human")
    return Ranked(memory=memory, shown=len(shown), passed=passed, failed=failed, score=round(score, 6)), age


def _has_expired(memory: Remembered, age: int) -> bool:
    if memory.standing:
        return False
    return age >= EXPIRES_AFTER or (bool(memory.anchors) and len(memory.broken) == len(memory.anchors))
