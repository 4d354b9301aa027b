"""A feedback record: what was run, how it ended, both ends of what it printed, and the tree it ran on.

Everything is redacted before it is cut, and cut before it touches the disk.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from passdown.config import Config
from passdown.evidence.kinds import kind_of, words_of
from passdown.handoff.tree import hashes, here
from passdown.io.append import append_line, patient_lock
from passdown.io.capture import Kept
from passdown.io.files import home_folder, join_inside
from passdown.io.process import Ended
from passdown.model.command import command_text
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import neutralise
from passdown.redact.scan import Redactor
from passdown.repository.attributes import ignored_paths
from passdown.repository.content import TreeState
from passdown.takeover.receipt import who_takes
from passdown.workbench.local_log import append_local
from passdown.workbench.locate import candidates, exists, own_output

FIRST, LAST, LAST_OF_TESTS = 5, 30, 200
"""Lines of a stream that are kept: its first, its last, and its last when tests ran: their summary says what fails."""

MAX_LINE = 1_000
MAX_TEXT = 24_000
"""Most characters of one line, and of one stream."""

MAX_NOTE = 2_000
LOCK = "passdown/feedback.lock"

_BEGIN = lazy_pattern(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
_END = lazy_pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----")
_OVERWRITTEN = lazy_pattern(r"[^\n]*\r(?=[^\n\r])")


class Before(NamedTuple):
    """The repository before a command runs."""

    root: Path
    config: Config
    state: TreeState
    content: str
    code: str


def look(root: Path, config: Config) -> Before:
    """Read what the record says of the tree. Raises `GitError` when git refuses."""
    state = here(root, config)
    return Before(root, config, state, *hashes(state, config))


def write_record(before: Before, command: list[str] | str, ended: Ended, *, cwd: Path, note: str) -> str:
    """Append the record of a finished command; returns where it went.

    That is the project's own feedback log when the configuration names one, or when there is one that git ignores;
    else the local shelf, so that recording makes no tree dirty. Raises `ConflictError`, `UnsafeError` or `OSError`.
    """
    line = encode_record(before, command, ended, cwd=cwd, note=note)
    common = before.state.layout.common_dir
    (common / "passdown").mkdir(mode=0o700, exist_ok=True)
    with patient_lock(common / LOCK):
        path = project_log(before.root, before.config)
        if not path:
            return str(append_local(common, line))
        target = join_inside(before.root, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        append_line(target, line)
        return path


def project_log(root: Path, config: Config) -> str:
    """Return the path of the project's own feedback log when records go there, else an empty text."""
    places = [path for path in candidates("feedback", config) if not own_output(path, config)]
    if config.artifacts.get("feedback") in places:
        return config.artifacts["feedback"]
    there = next((path for path in places if exists(root, path)), "")
    return there if there and there in ignored_paths(root, [there]) else ""


def encode_record(before: Before, command: list[str] | str, ended: Ended, *, cwd: Path, note: str) -> bytes:
    """Return the record as one line of JSON."""
    redactor = Redactor(os.environ, {str(home_folder()): "~", str(before.root): "."})
    last = LAST_OF_TESTS if kind_of(words_of(command_text(command))) == "test" else LAST
    masked = redactor.tree(command)
    texts: dict[str, str] = {}
    truncations: dict[str, int] = {}
    redactions: dict[str, int] = {}
    for name, kept in (("stdout", ended.out), ("stderr", ended.err)):
        counted = sum(redactor.counts.values())
        texts[name], truncations[name] = _ends(kept, redactor, last)
        redactions[name] = sum(redactor.counts.values()) - counted
    agent = who_takes(os.environ)
    record: dict[str, Any] = {
        "command_id": secrets.token_hex(6),
        "parent_command_id": None,
        "command": masked,
        "stdout_tail": texts["stdout"],
        "stderr_tail": texts["stderr"],
        "exit_code": ended.code if ended.signal else ended.exit,
        "duration_ms": ended.duration,
        "started_at": ended.at / 1000,
        "agent_note": redactor.text(neutralise(note))[:MAX_NOTE],
        "error": redactor.text(ended.error) or None,
        "truncations": truncations,
        "redactions": redactions,
        "cwd": _folder(before.root, cwd),
        **_tree_fields(before),
        **({"agent": agent} if agent != "human" else {}),
    }
    return msgspec.json.encode(record) + b"\n"


def _folder(root: Path, cwd: Path) -> str:
    try:
        return cwd.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return "."


def _tree_fields(before: Before) -> Mapping[str, Any]:
    state, now = before.state, here(before.root, before.config)
    fields: dict[str, Any] = {"tree": state.fingerprint, "content": before.content, "code": before.code}
    fields |= {"head": state.head.commit, "branch": state.head.branch, "worktree": state.worktree}
    if now.fingerprint != state.fingerprint:
        content, code = hashes(now, before.config)
        fields |= {"tree_after": now.fingerprint, "content_after": content, "code_after": code}
        fields["edited"] = _edited(state, now)
    return fields


def _edited(before: TreeState, after: TreeState) -> int:
    """Return how many paths that were there before the run are different behind it; new ones do not count."""
    if before.head.commit != after.head.commit:
        return 1
    old = {item.path: (item.mode, item.content) for item in before.dirt}
    new = {item.path: (item.mode, item.content) for item in after.dirt}
    fresh = {item.path for item in after.dirt if item.untracked and item.path not in old}
    return sum(old.get(path) != new.get(path) for path in (old.keys() | new.keys()) - fresh)


def _ends(kept: Kept, redactor: Redactor, last: int) -> tuple[str, int]:
    """Return a stream's first and last lines without secrets, and how many lines are left out."""
    head = redactor.text(_plain(_without_open_key(kept.head) if kept.missing else kept.head)).splitlines()
    if not kept.missing:
        lines, missing = head, 0
        if len(head) > FIRST + last:
            missing = len(head) - FIRST - last
            lines = [*head[:FIRST], _marker(missing), *head[-last:]]
    else:
        tail = redactor.text(_plain(_without_half_key(kept.tail))).splitlines()
        missing = kept.missing + max(0, len(head) - FIRST) + max(0, len(tail) - last)
        lines = [*head[:FIRST], _marker(missing), *tail[-last:]]
    lines = [line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…" for line in lines]
    dropped = 0
    while len(lines) > FIRST + 2 and sum(map(len, lines)) > MAX_TEXT:
        del lines[FIRST + 1 if missing else FIRST]
        dropped += 1
    return "\n".join(lines), missing + dropped


def _without_open_key(head: str) -> str:
    """Return the beginning of a stream up to a private key whose end is not among what was kept."""
    begins = [found.start() for found in _BEGIN.finditer(head)]
    return head[: begins[-1]] if begins and not _END.search(head, begins[-1]) else head


def _without_half_key(tail: str) -> str:
    """Return the end of a stream behind a private key whose beginning is not among what was kept."""
    end = _END.search(tail)
    return tail[end.end() :] if end and not _BEGIN.search(tail, 0, end.start()) else tail


def _plain(text: str) -> str:
    """Return the text as a terminal would show it in the end: no control sequences, no overwritten progress."""
    text = text.replace("\r\n", "\n")
    return neutralise(_OVERWRITTEN.sub("", text) if "\r" in text else text)


def _marker(count: int) -> str:
    return f"[... {count} lines truncated ...]"
