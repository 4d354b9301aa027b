"""Content-derived identifiers: the same text has the same id on every device, whatever its spacing."""

from __future__ import annotations

import unicodedata

from passdown.model.digest import sha256


def normalize_text(text: str) -> str:
    """Return the form in which two texts count as the same: NFC, single spaces, trimmed, one full stop dropped.

    The full stop is the trailing `.` or `。`; a text that is nothing but one becomes empty.
    """
    collapsed = " ".join(unicodedata.normalize("NFC", text).split())
    return collapsed[:-1].rstrip() if collapsed.endswith((".", "。")) else collapsed


def content_id(prefix: str, text: str) -> str:
    """Return `prefix` and the first 10 hex digits of the SHA-256 of the normalised text."""
    digest = sha256(normalize_text(text).encode("utf-8", "surrogatepass")).hexdigest()
    return prefix + digest[:10]
