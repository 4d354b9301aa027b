"""Prepare the brief that a session's start prints: made by the drain, so that no agent waits for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passdown.config import Config
from passdown.errors import ConflictError, FormatError, StaleError, UnsafeError
from passdown.handoff.candidate import Candidate, find_candidate, open_shelf
from passdown.handoff.options import Options
from passdown.handoff.shelves import common_dir_of
from passdown.handoff.take import Terms, take
from passdown.hooks.ground import brief_path, read_standing, stamp
from passdown.io.files import write_files
from passdown.packet.encode import decode_packet
from passdown.redact.neutralise import one_line
from passdown.store.packets import own_paths
from passdown.store.shelves import shelves
from passdown.takeover.brief_text import render_brief

CHARACTERS = 8_000
"""Most characters of a prepared brief: what moved since and advice are put beside it, and agents cut at 10,000."""

_GIT_SECONDS = 20.0
_TOKENS = (1_200, 800, 400, 200)


def prepare_brief(root: Path, config: Config, made: int) -> bool:
    """Write the brief of the branch's active packet, as verified now; an empty one where there is nothing to tell.

    `made` is the moment (milliseconds) up to which sessions are told of. Says whether there is something to tell.
    """
    common = common_dir_of(root)
    standing = read_standing(str(root), _GIT_SECONDS)
    brief: dict[str, Any] = {
        "v": 1, "branch": standing.branch, "head": standing.head, "dirty": standing.dirty, "made": made,
        "root": stamp(str(root))[:2], "place": str(root), "own": [*own_paths(config)], "text": "",
        "advise_after": config.hooks.advise_after_compactions, "automatic": config.hooks.automatic_handoffs,
    }  # fmt: skip
    places = shelves(root, common, config)
    watched = [places.project, places.local]
    try:
        candidate = find_candidate(open_shelf(root, config))
        if candidate is not None:
            watched.append(candidate.path.parent)
            brief |= _told(root, candidate, made)
    except (ConflictError, FormatError, StaleError, UnsafeError) as error:
        why = one_line(str(error), 400)
        brief["text"] = f"[passdown] No handoff can be told: {why} (`passdown status` shows more)\n"
    brief["stamps"] = {str(path): stamp(str(path)) for path in watched}
    path = Path(brief_path(str(common), standing.branch))
    _make_private(path.parent)
    brief["folder"] = stamp(str(path.parent))[:2]
    write_files([(path, json.dumps(brief).encode() + b"\n")], mode=0o600)
    return bool(brief["text"])


def _told(root: Path, candidate: Candidate, made: int) -> dict[str, Any]:
    packet = decode_packet(candidate.data)
    name = packet.packet_id
    for tokens in _TOKENS:
        taken = take(root, name, Options(now=made), Terms(receipt=False, tokens=tokens))
        text = render_brief(taken.brief, "agent", tokens) if taken.brief is not None else ""
        if len(text) <= CHARACTERS:
            break
    newest = packet.sessions[0] if packet.sessions else None
    return {
        "text": text if len(text) <= CHARACTERS else f"[passdown] The handoff of this branch: {candidate.shown}\n",
        "packet": name,
        "full": taken.brief.full if taken.brief is not None else "",
        "agent": newest.agent if newest is not None else "",
        "session": newest.id if newest is not None else "",
    }


def _make_private(folder: Path) -> None:
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise UnsafeError("is a symlink; not writing through it", where=str(place), next_step="Remove the link.")
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
