"""Make `docs/supported-versions.md` out of the fixtures, the goldens and `.ci/versions.json`.

`versions.py page` writes the page. `versions.py collect FOLDER` first reads every session in FOLDER/corpus and
FOLDER/agent-lab/real-sessions, and renews what the JSON file says of them; what is written there by hand stays.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from passdown.agents.opencode.database import sessions_in
from passdown.agents.table import AGENTS, Agent, row_called
from passdown.errors import PassdownError, UsageError
from passdown.model.session import Session, SessionRef
from passdown.sessions.read import read_ref, recognise
from passdown.sessions.summary import summarize

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / ".ci/versions.json"
PAGE = ROOT / "docs/supported-versions.md"
TESTS = ROOT / "tests"
ENDINGS = (".json", ".jsonl", ".db", ".md", ".zst", ".txt")
HEAD = """# Supported versions

Made by `.ci/versions.py` out of the fixtures, the goldens, and what the sessions at hand say of themselves; do not edit
it. [agents.md](agents.md) says where each agent's sessions lie and how they are read, [adapters.md](adapters.md) how to
add one.

| agent | versions seen | newest record | how verified | not read |
|---|---|---|---|---|
"""
FOOT = """
*Real sessions* are those of people's own work and of public repositories, *lab sessions* those that the real program
wrote here against a scripted model, *published fixtures* what another project made or sanitised for its own tests. A
golden is a summary that a second, independent count agrees with, a judged packet one that a person read beside the log
(`tests/goldens/judged/*.md` says what was right and what was not). **Unverified**: the reader follows the program's
source or public descriptions, and files of our own making; no real file was at hand. **Fixtures alone**: what others
published was all there was. The formats of trajectories stand in [formats.md](formats.md).

A version beside those seen is read as far as it keeps to the form. When it does not, `wrap`, `take` and `sessions show`
say `format not understood`, with the records they stumbled over.
"""


def refs_in(path: Path, row: Agent) -> Iterator[SessionRef]:
    """Yield the sessions of a file: one, or all of those that a database or history holds."""
    ref = SessionRef(agent=row.id, path=str(path), session_id="", bytes=path.stat().st_size)
    try:
        next(iter(read_ref(ref)))
        yield ref
    except UsageError:
        number, known = 0, True
        while known and number < 5000:
            number += 1
            one = SessionRef(agent=row.id, path=str(path), session_id="", inner=str(number))
            try:
                next(iter(read_ref(one)))
                yield one
            except PassdownError:
                known = False
        if number == 1 and row.id == "opencode":
            for info in sessions_in(path):
                yield SessionRef(agent=row.id, path=str(path), session_id=info.id or "", inner=info.id or "")


def summaries(folder: Path) -> Iterator[tuple[str, Path, Session]]:
    """Yield every session under a folder: its agent's id, its file and its counts; each session once."""
    seen: set[tuple[str, str]] = set()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix not in ENDINGS or ".hooks." in path.name or ".requests." in path.name:
            continue
        try:
            row = recognise(path)
            if row_called(row.id, AGENTS) is None:
                continue
            for ref in refs_in(path, row):  # type: ignore[arg-type]
                session = summarize(read_ref(ref))
                name = (row.id, session.session_id or path.name)
                if name not in seen:
                    seen.add(name)
                    yield row.id, path, session
        except (PassdownError, OSError):
            continue


def collect(shared: Path) -> dict[str, dict[str, Any]]:
    """Return what the sessions of a corpus say of themselves, by agent."""
    found: dict[str, dict[str, Any]] = {}
    for kind, folder in (("real", shared / "corpus"), ("lab", shared / "agent-lab/real-sessions")):
        for agent, path, session in summaries(folder):
            told = found.setdefault(agent, {"real": 0, "lab": 0, "fixtures": 0, "versions": [], "newest": ""})
            if path.name.startswith("fixture-"):
                told["fixtures"] += 1
                continue
            told[kind] += 1
            versions = {version for version in session.agent_versions if version[:1].isdecimal()}
            told["versions"] = sorted({*told["versions"], *versions}, key=numbers)
            if session.ended_at is not None:
                ended = datetime.fromtimestamp(session.ended_at / 1000, UTC).date().isoformat()
                told["newest"] = max(told["newest"], ended)
    return found


def numbers(version: str) -> list[tuple[int, str]]:
    """Return what versions are sorted by."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[.\-+]", version)]


def renew(shared: Path) -> None:
    """Write what the corpus says into the JSON file."""
    data = json.loads(DATA.read_text("utf-8"))
    found = collect(shared)
    for row in AGENTS:
        entry = data["agents"].setdefault(row.id, {"not_read": ""})
        entry["measured"] = found.get(row.id, {})
    data["read"] = datetime.now(UTC).date().isoformat()
    DATA.write_text(json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


def versions_of(told: dict[str, Any], also: str) -> str:
    """Return the versions as they stand in the table."""
    versions = told.get("versions", [])
    if not versions:
        return also or "not stated by the files" if told else also or "none"
    seen = versions[0] if len(versions) == 1 else f"{versions[0]} – {versions[-1]} ({len(versions)})"
    return f"{seen}; {also}" if also else seen


def verified(agent: str, told: dict[str, Any]) -> str:
    """Return how a reader was verified."""
    goldens = len(list((TESTS / "goldens/sessions" / agent).glob("*.json")))
    judged = TESTS / "goldens/judged" / f"{agent}.json"
    packets = len(json.loads(judged.read_text("utf-8"))) if judged.exists() else 0
    own = any(path.is_file() and path.name != "README.md" for path in (TESTS / "fixtures" / agent).rglob("*"))
    counts = [
        (told.get("real", 0), "real session"), (told.get("lab", 0), "lab session"),
        (told.get("fixtures", 0), "published fixture"), (goldens, "golden"), (packets, "judged packet"),
    ]  # fmt: skip
    parts = [f"{count:,} {what}{'s' * (count != 1)}" for count, what in counts if count]
    listed = ", ".join(parts + ["hand-made files"] * own)
    if told.get("real") or told.get("lab"):
        return listed
    return f"**{'fixtures alone' if told.get('fixtures') else 'unverified'}**: {listed or 'nothing at hand'}"


def page() -> str:
    """Return the whole page."""
    data = json.loads(DATA.read_text("utf-8"))
    lines = []
    for row in AGENTS:
        entry = data["agents"].get(row.id, {})
        told = entry.get("measured", {})
        cells = (
            row.title, versions_of(told, entry.get("also", "")), told.get("newest") or "–", verified(row.id, told),
            entry.get("not_read") or "–",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |\n")
    return f"{HEAD}{''.join(lines)}\nLast read: {data['read']}.\n{FOOT}"


def main() -> None:
    """`page` writes the page, `collect FOLDER` renews the data before it."""
    if sys.argv[1:2] == ["collect"]:
        renew(Path(sys.argv[2]))
    elif sys.argv[1:] != ["page"]:
        sys.exit(__doc__)
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
