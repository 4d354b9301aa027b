"""Hooks in a settings file of JSON: put ours in, find them, take them out; everything else keeps its bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import structs

from passdown.agents.hook_command import HookCommand, OwnLine, read_line
from passdown.agents.json_text import (
    Document,
    Item,
    Node,
    append_item,
    format_error,
    indent_unit,
    is_made,
    line_end,
    outer_indent,
    own_indent,
    parse_text,
    remove_item,
)

Hook = dict[str, Any]


class Shape(NamedTuple):
    """How an agent keeps hooks: an object of events, each a list of hooks, or of groups of hooks when `grouped`.

    `inside` is the key the object of events lies under (empty: the file is that object; both are read), `opening` what
    a file made from nothing begins with, `command` the key of the command line, `aliases` other spellings of an event.
    """

    agent: str
    inside: str = "hooks"
    grouped: bool = True
    command: str = "command"
    opening: Mapping[str, Any] = {}
    aliases: Mapping[str, str] = {}


class Found(NamedTuple):
    """A hook of ours: its event as the agent calls it, its place (event, group, hook), itself, its command line."""

    event: str
    item: Item
    group: int
    place: int
    hook: Node
    own: OwnLine


class HookSettings(NamedTuple):
    """An agent's settings file of JSON: what an agent's `hooks` module offers beside the file and the context.

    `events` maps the agent's name of an event to ours; `hook` writes the hook of one of ours.
    """

    shape: Shape
    events: Mapping[str, str]
    hook: Callable[[HookCommand, str], Hook]

    def install(self, text: str | None, command: HookCommand, where: str = "") -> str:
        """Return the settings with our hooks, everything else to the byte as it was."""
        wanted = {name: self.hook(command, event) for name, event in self.events.items()}
        return install_entries(text, self.shape, wanted, where)

    def uninstall(self, text: str, where: str = "", *, whole: bool = True) -> str:
        """Return the settings without our hooks; nothing is left of a file made for them, unless `whole` is False."""
        return uninstall_entries(text, self.shape, where, whole=whole)

    def installed(self, text: str, where: str = "") -> list[OwnLine]:
        """Return the command lines of ours in the settings."""
        return installed_entries(text, self.shape, where)


def install_entries(text: str | None, shape: Shape, wanted: Mapping[str, Hook], where: str = "") -> str:
    """Return the settings with exactly the wanted hooks of ours; the same text when they are there already.

    A hook of ours that runs something else is replaced where it stands; every other byte stays as it is. Raises
    `FormatError`, with the place, for a text that cannot be read or holds something else where hooks belong.
    """
    if text is None:
        return _written({**shape.opening, **_nested(shape, wanted)}, "", "  ", "\n", shape) + "\n"
    text = _without_stale(text, shape, wanted, where)
    for event, hook in wanted.items():
        document = parse_text(text, where)
        found = next((found for found in find_entries(document, shape, where) if _is(found.event, event, shape)), None)
        if found is None:
            text = _added(document, shape, event, hook, where)
        elif found.hook.plain() != hook:
            opened = "{ " if text.startswith("{ ", found.hook.start) else "{"
            text = text[: found.hook.start] + opened + json.dumps(hook, ensure_ascii=False)[1:] + text[found.hook.end :]
    return text


def uninstall_entries(text: str, shape: Shape, where: str = "", *, whole: bool = True) -> str:
    """Return the settings without any hook of ours, and without the containers that were made for them.

    Nothing is left of a text that was made for them, unless `whole` is False: then its outermost brackets stay.
    """
    while True:
        document = parse_text(text, where)
        found = list(find_entries(document, shape, where))
        if not found:
            return text
        text = _removed(
            document, found[-1], shape, whole=whole
        )  # the last first: a container's first item tells whose it is


def installed_entries(text: str, shape: Shape, where: str = "") -> list[OwnLine]:
    """Return the command lines of ours that the settings hold."""
    return [found.own for found in find_entries(parse_text(text, where), shape, where)]


def find_entries(document: Document, shape: Shape, where: str = "") -> Iterator[Found]:
    """Yield the hooks of ours. Raises `FormatError` for something else where hooks belong."""
    events = _events(document, shape, where)
    for item in events.items if events else ():
        if item.value.kind != "array":
            continue
        for at, group in enumerate(item.value.items):
            hooks = _hooks(group.value, shape)
            for index, hook in enumerate(hooks.items if hooks else ()):
                own = read_line(_text(hook.value, shape.command))
                if own is not None and own.agent == shape.agent:
                    yield Found(str(item.key), item, at, index, hook.value, own)
                if not shape.grouped:
                    break


def _hooks(group: Node, shape: Shape) -> Node | None:
    """Return the list of hooks in a group; where hooks are not grouped, a list that holds the hook itself."""
    if not shape.grouped:
        return Node("array", group.start, group.end, None, (Item(None, group, group.start, group.start, -1),))
    found = group.find("hooks") if group.kind == "object" else None
    return found.value if found and found.value.kind == "array" else None


def _text(hook: Node, key: str) -> Any:
    found = hook.find(key) if hook.kind == "object" else None
    return found.value.value if found else None


def _events(document: Document, shape: Shape, where: str) -> Node | None:
    root = document.root
    if root is None:
        return None
    if root.kind != "object":
        raise format_error(document.text, root.start, "is not an object", where)
    found = root.find(shape.inside or "hooks")
    if found is None:
        return None if shape.inside else root
    if found.value.kind != "object":
        raise format_error(document.text, found.value.start, f"{found.key} is not an object", where)
    return found.value


def _is(name: str, event: str, shape: Shape) -> bool:
    return name == event or shape.aliases.get(event) == name


def _without_stale(text: str, shape: Shape, wanted: Mapping[str, Hook], where: str) -> str:
    """Take out hooks of ours that are not wanted, or there twice."""
    while True:
        document = parse_text(text, where)
        seen: set[str] = set()
        stale: Found | None = None
        for found in find_entries(document, shape, where):
            event = next((event for event in wanted if _is(found.event, event, shape)), "")
            if not event or event in seen:
                stale = found
            seen.add(event)
        if stale is None:
            return text
        text = _removed(document, stale, shape, whole=False)


def _added(document: Document, shape: Shape, event: str, hook: Hook, where: str) -> str:
    """Return the text with the hook of one event, at the end of the innermost container that is there."""
    text, root, unit, end = document.text, document.root, indent_unit(document), line_end(document.text)
    group = {"hooks": [hook]} if shape.grouped else hook
    written: dict[str, Any]
    if root is None:
        whole = _written({**shape.opening, **_nested(shape, {event: hook})}, "", unit, end, shape)
        lead = end if text[: document.last].strip("\ufeff") else ""
        return text[: document.last] + lead + whole + text[document.last :]
    events = _events(document, shape, where)
    if events is None:
        node, written = root, {shape.inside: {event: [group]}}
    elif (item := events.find(event, shape.aliases.get(event, event))) is None:
        node, written = events, {event: [group]}
    elif item.value.kind != "array":
        raise format_error(text, item.value.start, f"{item.key} is not a list", where)
    else:
        node, written = item.value, {"": group}
    indent = _indent(document, node)
    key, value = next(iter(written.items()))
    inner = _written(value, indent, unit, end, shape) if indent is not None else _in_line(value, shape)
    if not key and not node.items and not node.spoken:
        inner = "{ " + inner[1:]
    name = f"{json.dumps(key)}: " if key else ""
    return append_item(document, node, name + inner, indent)


def _indent(document: Document, node: Node) -> str | None:
    """Return how far an item of the container is indented; None where it goes on the line that is there."""
    if node.items:
        return own_indent(document.text, node)
    outer = outer_indent(document.text, node.start)
    return outer + indent_unit(document) if node.spoken else outer


def _nested(shape: Shape, wanted: Mapping[str, Hook]) -> dict[str, Any]:
    events = {event: [{"hooks": [hook]} if shape.grouped else hook] for event, hook in wanted.items()}
    return {shape.inside: events} if shape.inside else events


def _is_leaf(value: Any, shape: Shape) -> bool:
    """Say whether a value is written on one line: a scalar, a hook, a group."""
    return not isinstance(value, dict | list) or (isinstance(value, dict) and ("type" in value or "hooks" in value)
                                                  and not _holds_events(value, shape))  # fmt: skip


def _holds_events(value: dict[str, Any], shape: Shape) -> bool:
    return isinstance(value.get(shape.inside or "hooks"), dict)


def _written(value: Any, indent: str, unit: str, end: str, shape: Shape) -> str:
    """Write a value over several lines, hooks and groups on one line each; a container begins with a new line."""
    if _is_leaf(value, shape):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + unit
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_written(part, inner, unit, end, shape)}" for key, part in value.items()]
    else:
        parts = [_written(part, inner, unit, end, shape) for part in value]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return opened + "".join(f"{end}{inner}{part}," for part in parts)[:-1] + end + indent + closed


def _in_line(value: Any, shape: Shape) -> str:
    """Write a value on one line; a container begins with a space, which tells that it is ours."""
    if _is_leaf(value, shape):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)}: {_in_line(part, shape)}" for key, part in value.items()) + " }"
    return "[ " + ", ".join(_in_line(part, shape) for part in value) + " ]"


def _removed(document: Document, found: Found, shape: Shape, *, whole: bool) -> str:
    """Take one hook out, and every container round it that held nothing else and was made for it."""
    text, root = document.text, document.root
    assert root is not None
    hooks = _hooks(found.item.value.items[found.group].value, shape)
    if shape.grouped and hooks is not None and len(hooks.items) > 1:
        return remove_item(document, hooks, found.place)
    for node, index in ((found.item.value, found.group), *_path(root, found.item)):
        if (
            node is root
            and whole
            and _is_opening(root, index, shape)
            and is_made(text, structs.replace(root, items=root.items[-1:]))
        ):
            break
        if node is root or not is_made(text, node):
            return remove_item(document, node, index)
    return text[: document.last] + text[root.end :]


def _is_opening(root: Node, index: int, shape: Shape) -> bool:
    """Say whether the root holds, beside the item, only what a file made from nothing begins with."""
    others = {item.key: item.value.plain() for at, item in enumerate(root.items) if at != index}
    return others in ({}, dict(shape.opening))


def _path(root: Node, item: Item) -> Iterator[tuple[Node, int]]:
    """Yield the containers round an event's item, the innermost first, each with the index of what it holds of it."""
    if item in root.items:
        yield root, root.items.index(item)
        return
    for index, outer in enumerate(root.items):
        if outer.value.kind == "object" and item in outer.value.items:
            yield outer.value, outer.value.items.index(item)
            yield root, index
