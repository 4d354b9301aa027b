"""Whether a file is a packet at all, is what its id says, and has the Markdown it must have."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import Struct

from passdown.model.evidence import Check
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.model.pattern import lazy_pattern
from passdown.packet.encode import decode_packet, decode_plain, encode_plain
from passdown.packet.headings import LANGUAGES
from passdown.packet.identity import packet_id
from passdown.packet.render import render_markdown

_SLUG = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ID = lazy_pattern(r"[0-9a-f]{64}")
_LONGEST_LIST = 500
_DEEPEST = 8


class Validated(Struct, frozen=True, kw_only=True):
    """A packet that could be read. `tampered` says why it is not the one it claims to be; empty when it is."""

    packet: Packet
    tampered: str = ""
    findings: tuple[Finding, ...] = ()


def validate(data: bytes, markdown: str | None = None, *, mirror: str | None = None) -> Validated:
    """Read a packet and recompute its id; render it again and compare with the Markdown beside it and the mirror.

    Raises `FormatError` for what is no packet. A check of a kind that is not known here is dropped, with a finding.
    """
    plain = decode_plain(data)
    known, dropped = _without_unknown_checks(plain)
    packet = decode_packet(encode_plain(known) if dropped else data)
    findings = []
    if dropped:
        detail = f"{dropped} checks are of kinds that only a later passdown knows"
        findings.append(Finding(code="packet.later_checks", severity="info", detail=detail))
    tampered = _tampered(plain, packet)
    if not tampered:
        findings += _markdown(packet, markdown, mirror)
    return Validated(packet=packet, tampered=tampered, findings=tuple(findings))


def _tampered(plain: dict[str, Any], packet: Packet) -> str:
    if not _ID.fullmatch(packet.packet_id) or not _SLUG.fullmatch(packet.session_id) or ".." in packet.session_id:
        return "its id or its session's id is none"
    if any(isinstance(value, list) and len(value) > _LONGEST_LIST for value in plain.values()):
        return f"a list in it has more than {_LONGEST_LIST} items"
    try:
        computed = packet_id(plain)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return "its content cannot be hashed"
    if computed != packet.packet_id:
        return f"it was changed after it was written: it hashes to {computed[:12]}, its id is {packet.packet_id[:12]}"
    return ""


def _markdown(packet: Packet, markdown: str | None, mirror: str | None) -> list[Finding]:
    found = []
    texts = [("packet.markdown_edited", "handoff.md", markdown), ("packet.mirror_edited", "the mirror", mirror)]
    if all(text is None for _, _, text in texts):
        return []
    rendered = {render_markdown(packet, language=language) for language in LANGUAGES}
    for code, name, text in texts:
        if text is not None and text not in rendered:
            detail = f"{name} is not what handoff.json renders to (edited, or of another version): the JSON is believed"
            found.append(Finding(code=code, severity="warn", detail=detail, fix="passdown show"))
    return found


def _without_unknown_checks(plain: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the packet without the checks whose kind is not in the closed set, and how many those were."""
    kinds = frozenset(get_args(get_type_hints(Check)["kind"]))
    dropped = 0

    def is_later(check: Any) -> bool:
        return isinstance(check, dict) and isinstance(check.get("kind"), str) and check["kind"] not in kinds

    def walk(value: Any, depth: int) -> Any:
        nonlocal dropped
        if depth > _DEEPEST or not isinstance(value, dict | list):
            return value
        if isinstance(value, list):
            return [walk(item, depth + 1) for item in value]
        made = {}
        for key, item in value.items():
            if key == "check" and is_later(item):
                dropped += 1
            elif key == "check" and isinstance(item, list):
                made[key] = [check for check in item if not is_later(check)]
                dropped += len(item) - len(made[key])
            else:
                made[key] = walk(item, depth + 1)
        return made

    return {key: item if key == "ext" else walk(item, 0) for key, item in plain.items()}, dropped
