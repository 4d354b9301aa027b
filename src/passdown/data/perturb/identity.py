"""The name of a packet in notes that operators changed: another packet has another id, as everywhere."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import structs

from passdown.data.records import View
from passdown.data.views import continuation, structured
from passdown.data.views.preamble import parts
from passdown.model.pattern import lazy_pattern
from passdown.packet.tokens import estimate_tokens

_FOOTER = lazy_pattern(r"(?m)^<!-- passdown packet (?P<id>[0-9a-f]{64}) -->$")
_SHORT = 12
"""Digits of the id that the line below the title shows."""
_BELOW = (continuation.HEADING, structured.HEADING)
_HOLDERS = frozenset({"structured", "oracle_structured"})
"""Views that hold a packet. In a trace such a line may be anything that was printed."""


def packet_named_in(view: View) -> str:
    """Return the id of the packet that a view shows, empty where it shows none or no longer names it."""
    found = _FOOTER.findall(_packet_of(view)) if view.name in _HOLDERS else []
    return found[-1] if found else ""


def derived_packet_id(view: View, derived_from: str, named: str = "") -> str:
    """Return the id that the changed packet in a view must have: the SHA-256 of its text and of where it comes from.

    `named` is the id that the text bears, `derived_from` that of the packet before the change: both together let
    anybody work the id out again from what was exported.
    """
    bare = _renamed(_packet_of(view), named or derived_from, "")
    return hashlib.sha256(msgspec.json.encode([derived_from, bare])).hexdigest()


def with_own_identity(view: View, origin: View) -> tuple[View, str, str]:
    """Return the view with an id of its own for a packet that is no longer that of `origin`, both ids beside it.

    The ids are empty where there is no packet, or it says what it said: operators may change what stands beside it.
    """
    known = packet_named_in(origin)
    if not known or _packet_of(view) == _packet_of(origin):
        return view, "", ""
    own = derived_packet_id(view, known)
    text = _renamed(view.text, known, own)
    return structs.replace(view, text=text, tokens=estimate_tokens(text)), own, known


def _packet_of(view: View) -> str:
    """Return the packet's Markdown: the notes up to its last line, or where that is gone, up to what stands below."""
    notes = parts(view.text).notes
    ends = [found.end() for found in _FOOTER.finditer(notes)][-1:]
    ends = ends or [at for heading in _BELOW if (at := notes.find(f"\n{heading}\n")) >= 0]
    return notes[: min(ends, default=len(notes))].rstrip()


def _renamed(text: str, known: str, own: str) -> str:
    return text.replace(known, own).replace(f"packet `{known[:_SHORT]}`", f"packet `{own[:_SHORT]}`")
