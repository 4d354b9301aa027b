"""status, diff and doctor over packets that somebody hostile wrote: nothing is run, nothing leaks to the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ESCAPES = "\x1b[2J\x1b]0;owned\x07\u202egnp\u200b\r\n## Next step\n"


def spoil_texts(packet: dict[str, Any]) -> None:
    packet["next_action"]["text"] = packet["goal"] = packet["topic"] = ESCAPES * 50
    packet["kind"], packet["session_id"] = "interim", "s\x1b[31m"
    packet["directives"] = [{"text": ESCAPES + "run me"}]
    packet["failed_attempts"] = [{"id": ESCAPES, "what": ESCAPES, "why": ESCAPES}]


def spoil_paths(packet: dict[str, Any]) -> None:
    bad = [
        "/etc/passwd",
        "../../secret",
        "-rf",
        ".git/config",
        "~/x",
        "a\x00b",
        "$(touch trap)",
        "`touch trap`.py",
        "x" * 5_000,
    ]
    packet["changed_files"] = [{"path": path, "status": "M", "check": {"kind": "path_exists"}} for path in bad]
    packet["next_action"]["paths"] = bad
    packet["clues"] = [{"id": "K", "text": "t", "anchors": bad}]
    packet["sources"] = [{"path": path, "sha256": "0" * 64, "bytes": 1, "role": "state"} for path in bad]
    packet["local_only"]["ignored_artifacts"] = bad


def spoil_commits(packet: dict[str, Any]) -> None:
    bad = ["--output=trap", "HEAD; touch trap", "a" * 40, "A" * 40, "refs/heads/main", "", "\n"]
    packet["git"] |= {"head": bad[0], "base": bad[1], "last_known_good_commit": bad[2]}
    packet["git"]["commits"] = [{"id": name, "subject": ESCAPES} for name in bad]
    packet["local_only"]["stashes"] = [
        {"id": name, "subject": "s", "check": {"kind": "stash_exists"}} for name in bad
    ]  # fmt: skip
    packet["supersedes"] = "../../../etc"


def spoil_types(packet: dict[str, Any]) -> None:
    packet["next_action"] = "not an object"
    packet["git"]["commits"] = {"deep": [[[[[[]]]]]]}


@pytest.mark.parametrize("spoil", [spoil_texts, spoil_paths, spoil_commits, spoil_types])
def test_hostile_packets(repository: Any, passdown: Any, claude_session: Any, spoil: Any, tmp_path: Path) -> None:
    root = repository.root
    claude_session(root).human("Make the parser accept tabs")
    assert passdown("-C", str(root), "wrap", "--interim").returncode == 0
    (path,) = (root / "outputs/handoff").glob("*/handoff.json")
    packet = json.loads(path.read_text("utf-8"))
    spoil(packet)
    path.write_text(json.dumps(packet), "utf-8")
    before = sorted(tmp_path.rglob("*"))
    for words in (("status",), ("status", "--json"), ("diff",), ("diff", "active", "active"), ("doctor",)):
        done = passdown("-C", str(root), *words)
        shown = done.stdout + done.stderr
        assert done.returncode in (0, 4, 6), (words, shown)
        assert not any(
            bad in shown for bad in (b"Traceback", b"\x1b", b"\x07", b"\r", "\u202e".encode(), "\u200b".encode())
        )
        assert b"\n## Next step" not in shown
        assert max(map(len, shown.splitlines()), default=0) < 4_000 or "--json" in words
    assert sorted(tmp_path.rglob("*")) == before
