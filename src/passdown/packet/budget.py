"""Keeping handoff.json under its hard cap: what is dropped, in a fixed order, and counted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, structs

from passdown.model.packet import Packet
from passdown.packet.caps import is_pinned
from passdown.packet.changed import by_folder
from passdown.packet.encode import encode_packet

HARD_CAP = 24_000
"""Most bytes of handoff.json."""

RESERVE = 256
"""Bytes kept free for what is filled in or replaced later: the producer, the superseded packet's id, the status."""

Step = Callable[[Packet], Iterator[Packet]]


def fit(packet: Packet, cap: int = HARD_CAP) -> Packet:
    """Return the packet with no more than `cap` bytes, dropping in a fixed order and counting exactly in `omitted`.

    Never dropped: the next action, blocking risks, questions about what cannot be taken back, what the next session
    must load, the receipts, and the counts themselves. At the very end their prose is shortened.
    """
    if len(encode_packet(packet)) <= cap:
        return packet
    for step in _STEPS:
        smaller = list(step(packet))
        if smaller and len(encode_packet(smaller[-1])) <= cap:
            return smaller[bisect_left(smaller, True, key=lambda p: len(encode_packet(p)) <= cap)]
        packet = smaller[-1] if smaller else packet
    return packet


def _without(packet: Packet, field: str, kept: list[Any]) -> Packet:
    """Return the packet with a shorter list, the difference added to its count."""
    left = len(getattr(packet, field)) - len(kept)
    omitted = dict(packet.omitted)
    if left:
        omitted[field] = omitted.get(field, 0) + left
    changes: dict[str, Any] = {field: kept, "omitted": omitted}
    return structs.replace(packet, **changes)


def _feedback_output(packet: Packet) -> Iterator[Packet]:
    for at, entry in enumerate(packet.feedback_tail):
        if entry.out or entry.err:
            entries = list(packet.feedback_tail)
            entries[at] = structs.replace(entry, out="", err="")
            packet = structs.replace(packet, feedback_tail=entries)
            yield packet


def _drop_feedback(kinds: tuple[str, ...]) -> Step:
    def step(packet: Packet) -> Iterator[Packet]:
        """Drop the oldest of these kinds one by one; an entry counts for as many records as it stands for."""
        for entry in [e for e in packet.feedback_tail if e.kind in kinds]:
            kept = [e for e in packet.feedback_tail if e is not entry]
            omitted = dict(packet.omitted)
            omitted["feedback_tail"] = omitted.get("feedback_tail", 0) + entry.count
            packet = structs.replace(packet, feedback_tail=kept, omitted=omitted)
            yield packet

    return step


def _drop(
    field: str,
    keep: int,
    droppable: Callable[[Any], bool] = lambda _: True,
    *,
    oldest: bool = False,
    pinned: bool = False,
) -> Step:
    """Drop one by one what may go, from the end (or the oldest first), down to `keep` items.

    What somebody pinned stays, unless `pinned` says that nothing else is left to drop.
    """

    def step(packet: Packet) -> Iterator[Packet]:
        while len(getattr(packet, field)) > keep:
            items = list(getattr(packet, field))
            places = [at for at, item in enumerate(items) if droppable(item) and (pinned or not is_pinned(item))]
            if not places:
                return
            del items[places[0] if oldest else places[-1]]
            packet = _without(packet, field, items)
            yield packet

    return step


def _changed_files(keep: int) -> Step:
    def step(packet: Packet) -> Iterator[Packet]:
        """Drop committed files before uncommitted ones, and count them by folder."""
        while len(packet.changed_files) > keep:
            files = packet.changed_files
            place = next((at for at in reversed(range(len(files))) if not files[at].uncommitted), len(files) - 1)
            folders = by_folder([files[place].path], packet.changed_elsewhere) if files[place].status != "=" else None
            packet = _without(packet, "changed_files", [f for at, f in enumerate(files) if at != place])
            if folders is not None:
                packet = structs.replace(packet, changed_elsewhere=folders)
            yield packet

    return step


def _commits(packet: Packet) -> Iterator[Packet]:
    while packet.git.commits:
        omitted = dict(packet.omitted)
        omitted["git.commits"] = omitted.get("git.commits", 0) + 1
        git = structs.replace(packet.git, commits=packet.git.commits[:-1])
        packet = structs.replace(packet, git=git, omitted=omitted)
        yield packet


def _prereqs(packet: Packet) -> Iterator[Packet]:
    """Last resort: what is not required to load, from the end."""
    name = "next_session_prereqs.artifacts"
    while spare := [a for a in packet.next_session_prereqs.artifacts if not a.required]:
        kept = [a for a in packet.next_session_prereqs.artifacts if a is not spare[-1]]
        omitted = {**packet.omitted, name: packet.omitted.get(name, 0) + 1}
        prereqs = structs.replace(packet.next_session_prereqs, artifacts=kept)
        packet = structs.replace(packet, next_session_prereqs=prereqs, omitted=omitted)
        yield packet


def _local(packet: Packet) -> Iterator[Packet]:
    for field in ("ignored_artifacts", "worktrees", "stashes"):
        name = f"local_only.{field}"
        left = len(getattr(packet.local_only, field))
        if left:
            changes: dict[str, Any] = {field: []}
            omitted = {**packet.omitted, name: packet.omitted.get(name, 0) + left}
            packet = structs.replace(
                packet, local_only=structs.replace(packet.local_only, **changes), omitted=omitted
            )  # fmt: skip
            yield packet


def _uncheck(packet: Packet) -> Iterator[Packet]:
    """Leave out the checks: a claim that cannot be checked again is worth more than no claim."""
    packet = _each(packet, _without_check)
    yield packet
    action = structs.replace(packet.next_action, paths=packet.next_action.paths[:3])
    yield structs.replace(packet, next_action=action)


def _without_check(record: Any) -> dict[str, Any]:
    if "check" not in record.__struct_fields__:
        return {}
    return {"check": [] if isinstance(record.check, list) else None}


def _environment(packet: Packet) -> Iterator[Packet]:
    if packet.environment.env_names or packet.environment.tools:
        yield structs.replace(packet, environment=structs.replace(packet.environment, env_names=[], tools={}))


def _shorten(packet: Packet) -> Iterator[Packet]:
    """Cut the prose of what is left, ever shorter; paths, names, commands and identifiers stay whole."""
    for cap in (160, 100, 60, 30):
        packet = _each(packet, _cut(cap))
        yield packet


def _cut(cap: int) -> Callable[[Any], dict[str, Any]]:
    def change(record: Any) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for name in _PROSE.intersection(record.__struct_fields__):
            value = getattr(record, name)
            if isinstance(value, str):
                changes[name] = _short(value, cap)
            elif isinstance(value, list):
                changes[name] = [_short(item, cap) if isinstance(item, str) else item for item in value]
        return changes

    return change


def _short(text: str, cap: int) -> str:
    return text if len(text) <= cap else text[: cap - 1].rstrip() + "…"


def _each(record: Any, change: Callable[[Any], dict[str, Any]]) -> Any:
    """Return the record and all records inside it, but for the next action, changed by the same rule."""
    changes = change(record)
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if name in ("environment", "next_action"):
            continue
        if isinstance(value, Struct) and name not in changes:
            changes[name] = _each(value, change)
        elif isinstance(value, list) and value and isinstance(value[0], Struct) and name not in changes:
            changes[name] = [_each(item, change) for item in value]
    return structs.replace(record, **changes) if changes else record


_PROSE_FIELDS = (
    "text choice why rejected detail question default options validate_with cmd what note error_line goal summary "
    "done_when fix reason failing approvals_open by tried_after waiting_on"
)
_PROSE = frozenset(_PROSE_FIELDS.split())

_PINNABLE = ("failed_attempts", "assumptions_to_validate", "clues", "decisions", "preferences")

_STEPS: tuple[Step, ...] = (
    _feedback_output,
    _drop_feedback(("resolved",)),
    _drop("clues", 0),
    _drop("completed", 5),
    _drop("commands_run", 8),
    _changed_files(40),
    _drop("decisions", 10, oldest=True),
    _drop("harness_summaries", 1, oldest=True),
    _drop_feedback(("tail", "anchor")),
    _drop("commands_run", 0),
    _drop("harness_summaries", 0),
    _drop("sources", 0),
    _commits,
    _changed_files(15),
    _drop("open_risks", 0, lambda risk: risk.severity != "block"),
    _drop("failed_attempts", 6, lambda attempt: attempt.resolved, oldest=True),
    _drop("assumptions_to_validate", 8),
    _drop("directives", 6, oldest=True),
    _drop("failed_attempts", 6, oldest=True),
    _drop_feedback(("receipt",)),
    _drop("completed", 0),
    _local,
    _changed_files(0),
    _drop("decisions", 3, oldest=True),
    _drop("remaining", 5),
    _drop("settle_first", 3),
    _drop("preferences", 3, oldest=True),
    _drop_feedback(("failure",)),
    _drop("overrides", 0),
    _drop("directives", 2, oldest=True),
    _prereqs,
    _environment,
    _shorten,
    _uncheck,
    _drop("failed_attempts", 0, oldest=True),
    _drop("assumptions_to_validate", 0),
    _drop("directives", 0, oldest=True),
    _drop("clues", 0),
    _drop("sessions", 1),
    _drop("decisions", 0, oldest=True),
    _drop("remaining", 0),
    _drop("preferences", 0, oldest=True),
    _drop("blockers", 0),
    _drop("settle_first", 0),
    _drop("questions_for_human", 0, lambda question: question.severity != "block"),
    *(_drop(name, 0, pinned=True, oldest=True) for name in _PINNABLE),
    _drop("open_risks", 0, lambda risk: risk.severity != "block", pinned=True),
    _drop("questions_for_human", 0, lambda question: question.severity != "block", pinned=True),
)
