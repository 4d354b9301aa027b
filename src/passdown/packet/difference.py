"""What one packet knows that another did not: field by field, items matched by their ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from passdown.model.identifier import normalize_text
from passdown.model.packet import Packet
from passdown.redact.neutralise import one_line

_TEXT = 400


class Side(Struct, frozen=True, kw_only=True):
    """Which packet a side of the comparison is."""

    packet_id: str
    as_of: str = ""
    kind: str = ""
    outcome: str = ""
    branch: str = ""
    topic: str = ""
    head: str = ""


class ValueChange(Struct, frozen=True, kw_only=True):
    """One value that is not what it was; an empty side had none."""

    field: str
    before: str
    after: str


class Item(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An item of a list, in one line. `note` says more: why an attempt failed, what became of an open thing."""

    id: str
    text: str
    note: str = ""


class ItemChange(Struct, frozen=True, kw_only=True):
    """An item that both packets have, and what is different about it."""

    id: str
    text: str
    changes: tuple[ValueChange, ...]


class ListChange(Struct, frozen=True, kw_only=True):
    """What happened to one list. The later packet had no room for `left_out` items: what is gone may be among them."""

    field: str
    new: tuple[Item, ...] = ()
    changed: tuple[ItemChange, ...] = ()
    gone: tuple[Item, ...] = ()
    left_out: int = 0


class Difference(Struct, frozen=True, kw_only=True):
    """The comparison of two packets: only what differs. Every text is on one line and harmless."""

    schema_version: int = 1
    before: Side
    after: Side
    values: tuple[ValueChange, ...] = ()
    lists: tuple[ListChange, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.values or self.lists)

    def list_of(self, name: str) -> ListChange:
        """Return what happened to a list, empty when nothing did."""
        return next((item for item in self.lists if item.field == name), ListChange(field=name))


class _List(NamedTuple):
    """How a list is compared: what tells its items apart, how one reads, and what about it may change."""

    field: str
    key: str
    text: tuple[str, ...]
    compared: tuple[str, ...] = ()
    note: str = ""


_LISTS = (
    _List("completed", "id", ("text",)),
    _List("remaining", "id", ("text",), ("text", "status", "done_when")),
    _List("failed_attempts", "id", ("what",), ("resolved", "tries", "exit", "ended", "why"), "why"),
    _List("decisions", "id", ("choice",), ("choice", "why", "rejected", "state"), "why"),
    _List("preferences", "id", ("text",), ("text",)),
    _List("directives", "text", ("text",)),
    _List("questions_for_human", "id", ("question",), ("question", "default", "severity")),
    _List("blockers", "id", ("text",), ("text", "waiting_on")),
    _List("open_risks", "id", ("code", "detail"), ("severity", "detail")),
    _List("assumptions_to_validate", "id", ("text",), ("text", "score", "validate_with")),
    _List("settle_first", "code", ("code", "detail"), ("detail",), "fix"),
    _List("clues", "id", ("text",), ("text", "anchors", "pinned")),
    _List("changed_files", "path", ("path",), ("status", "added", "deleted", "uncommitted", "check.expect")),
    _List("git.commits", "id", ("subject",)),
    _List("local_only.stashes", "id", ("subject",)),
)  # fmt: skip

_VALUES = (
    "next_action.text", "next_action.command", "goal", "task_id", "topic", "kind", "outcome", "git.branch", "git.head",
    "git.last_known_good_commit", "tests.state", "tests.failing", "tests.error_line", "verification.how",
    "interrupted_edit.path", "clean_state.blocking",
)  # fmt: skip


def difference(before: Packet, after: Packet) -> Difference:
    """Compare two packets of one piece of work, the earlier one first."""
    return Difference(
        before=_side(before),
        after=_side(after),
        values=tuple(_values(before, after, _VALUES)),
        lists=tuple(found for row in _LISTS if (found := _list(row, before, after)) is not None),
    )


def items_of(packet: Packet, field: str) -> list[Item]:
    """Return the items of one of the lists that are compared, each in one line."""
    row = next(row for row in _LISTS if row.field == field)
    return [_item(row, key, item) for key, item in _items(row, packet).items()]


def _side(packet: Packet) -> Side:
    return Side(
        packet_id=one_line(packet.packet_id, 64),
        as_of=one_line(packet.as_of or "", 20),
        kind=packet.kind,
        outcome=packet.outcome,
        branch=one_line(packet.git.branch or "", 120),
        topic=one_line(packet.topic, 64),
        head=one_line(packet.git.head or "", 64),
    )


def _values(before: Any, after: Any, names: Sequence[str]) -> Iterator[ValueChange]:
    for name in names:
        was, now = _plain(before, name), _plain(after, name)
        if was != now:
            yield ValueChange(field=name, before=was, after=now)


def _plain(holder: Any, name: str) -> str:
    """Return a value by its dotted name as a line of text; what is absent is empty."""
    value = holder
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return one_line(text, _TEXT)


def _list(row: _List, before: Packet, after: Packet) -> ListChange | None:
    old, new = _items(row, before), _items(row, after)
    changed = []
    for key, item in new.items():
        if key in old and (changes := tuple(_values(old[key], item, row.compared))):
            changed.append(ItemChange(id=one_line(key, 120), text=_line(row, item), changes=changes))
    added = tuple(_item(row, key, item) for key, item in new.items() if key not in old)
    gone = tuple(
        Item(id=one_line(key, 120), text=_line(row, item), note=_became(row, item, after))
        for key, item in old.items()
        if key not in new
    )
    if not (changed or added or gone):
        return None
    left = after.omitted.get(row.field, 0)
    return ListChange(field=row.field, new=added, changed=tuple(changed), gone=gone, left_out=left)


def _items(row: _List, packet: Packet) -> dict[str, Any]:
    holder: Any = packet
    for part in row.field.split("."):
        holder = getattr(holder, part)
    found: dict[str, Any] = {}
    for item in holder:
        key = str(getattr(item, row.key))
        if row.field == "settle_first":
            key = f"{key} {item.path}".rstrip()
        found.setdefault(normalize_text(key) if row.key == "text" else key, item)
    return found


def _item(row: _List, key: str, item: Any) -> Item:
    return Item(id=one_line(key, 120), text=_line(row, item), note=_plain(item, row.note) if row.note else "")


def _line(row: _List, item: Any) -> str:
    return one_line(": ".join(str(getattr(item, name)) for name in row.text), _TEXT)


def _became(row: _List, item: Any, after: Packet) -> str:
    """Say what became of an open thing that is not listed any more, where the later packet tells."""
    if row.field == "remaining":
        text = normalize_text(item.text).casefold()
        done = any(other.id == item.id or normalize_text(other.text).casefold() == text for other in after.completed)
        return "done" if done else ""
    if row.field == "questions_for_human":
        answer = next((d.choice for d in after.decisions if d.anchor == item.id and d.state == "made"), "")
        return f"answered: {one_line(answer, 200)}" if answer else ""
    return ""
