"""passdown: turn what a coding agent's session leaves behind into a handoff packet.

The public names below are resolved on first use, so that `import passdown` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Evidence": "passdown.model.evidence",
    "Packet": "passdown.model.packet",
    "Session": "passdown.model.session",
    "WorkbenchSnapshot": "passdown.handoff.snapshot",
    "build_packet": "passdown.packet.build",
    "collect_evidence": "passdown.evidence.collect",
    "generate_handoff": "passdown.handoff.snapshot",
    "read_session": "passdown.sessions.read",
    "render_markdown": "passdown.packet.render",
}

__all__ = [
    "Evidence",
    "Packet",
    "Session",
    "WorkbenchSnapshot",
    "__version__",
    "build_packet",
    "collect_evidence",
    "generate_handoff",
    "read_session",
    "render_markdown",
]

if TYPE_CHECKING:
    from passdown.evidence.collect import collect_evidence
    from passdown.handoff.snapshot import WorkbenchSnapshot, generate_handoff
    from passdown.model.evidence import Evidence
    from passdown.model.packet import Packet
    from passdown.model.session import Session
    from passdown.packet.build import build_packet
    from passdown.packet.render import render_markdown
    from passdown.sessions.read import read_session


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
