"""The packet as plain data: what its JSON says, with the basis of every claim spelled out."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct

from passdown.model.packet import Packet, Prereqs


def plain_packet(packet: Packet) -> dict[str, Any]:
    """Return the packet as dictionaries and lists. Defaults are left out, but never a claim's `basis`."""
    plain: dict[str, Any] = msgspec.to_builtins(packet)
    _state_basis(plain, Packet)
    _state_basis(plain["next_session_prereqs"], Prereqs)
    return plain


def _state_basis(plain: dict[str, Any], record: type[Struct]) -> None:
    for name, basis in _claims(record).items():
        value = plain.get(name)
        for item in value if isinstance(value, list) else [value] if isinstance(value, dict) else []:
            item.setdefault("basis", basis)


@cache
def _claims(record: type[Struct]) -> dict[str, str]:
    """Return the fields that hold claims, each with the basis its record has by default."""
    found: dict[str, str] = {}
    for name, hint in hints_of(record).items():
        for part in get_args(hint) if get_origin(hint) is not None else (hint,):
            if isinstance(part, type) and issubclass(part, Struct):
                default = default_of(part, "basis")
                if isinstance(default, str):
                    found[name] = default
    return found


def hints_of(record: type[Struct]) -> dict[str, Any]:
    """Return the types of a record's fields. To ask `typing` takes long, and only where they are text is it needed."""
    hints: dict[str, Any] = record.__annotations__
    return get_type_hints(record) if any(isinstance(hint, str) for hint in hints.values()) else hints


def default_of(record: type[Struct], name: str) -> Any:
    """Return the default of a record's field, `NODEFAULT` without one or such a field."""
    fields, defaults = record.__struct_fields__, record.__struct_defaults__
    return dict(zip(reversed(fields), reversed(defaults), strict=False)).get(name, NODEFAULT)
