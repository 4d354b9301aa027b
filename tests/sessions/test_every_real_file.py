"""Every file of the corpus' index and of the agent lab: what it is by its content, and that it reads.

What single agents and formats add to this (order, bytes, orphans) stands in `tests/agents` and `tests/trajectories`.
"""

from __future__ import annotations

import csv
from fnmatch import fnmatch
from pathlib import Path

import pytest

from passdown.agents.table import AGENTS
from passdown.errors import FormatError, UsageError
from passdown.model.session import SessionEnd, SessionRef, SessionStart
from passdown.sessions.read import read_ref, recognise
from passdown.sessions.summary import summarize

LABELS = {
    "copilot-cli": "copilot", "gemini-cli": "gemini", "qwen-code": "qwen", "openai-chat": "chat", "swe-smith": "chat",
}  # fmt: skip
"""Folders whose name is not that of the reader."""
MISLABELLED = {
    "corpus/atif/rfc-inputs/harbor-gemini-cli-trajectory.json": "gemini",
    "corpus/atif/rfc-inputs/harbor-mini-swe-agent-trajectory.json": "mini_swe_agent",
    "corpus/atif/rfc-inputs/harbor-openhands_trajectory.json": "openhands",
}
"""Files under a label that is not theirs: what ATIF is made of, in its native form."""
SEVERAL = {
    "corpus/swe-smith/ft_xml_example.jsonl": 3,
    "corpus/openhands/v0-resolver-output.jsonl": 2,
    "corpus/openhands/v0-multi-swe-output.jsonl": 3,
    "agent-lab/real-sessions/opencode/native.opencode.db": 5,
}
"""Files that hold more than one session, and how many. Of Aider's history the newest run counts here;
`tests/agents/test_aider_corpus.py` reads the other thousand."""
NO_SESSION = {
    "corpus/gemini/fixture-sdk-resume.jsonl": "a model's answers for a test of the program",
    "corpus/openhands/v0-swebench-example.json": "patches that were predicted, without a history",
    "agent-lab/*.hooks.jsonl": "what hooks were given",
    "agent-lab/*.requests.json": "what the model was asked",
    "agent-lab/*/aider/basic.aider.input.history": "what was typed, without the answers",
    "agent-lab/*/copilot-cli/basic.workspace.yaml": "where the session beside it was held",
    "agent-lab/*/opencode/basic.db-rows.json": "rows that were taken out of a database by hand",
}
EMPTY = {
    "corpus/cursor/fixture-test-store.db": "a name, a date and a model; its table of messages has no row",
    "corpus/openhands/sdk-base_state-v1_11_5.json": "the state of a conversation whose events are not there",
    "corpus/codex/fixture-codex_050_legacy.jsonl": "counts of tokens alone",
    "corpus/codex/fixture-codex_051_usage.jsonl": "counts of tokens alone",
    "corpus/codex/fixture-codex_052_raw.jsonl": "counts of tokens alone",
    "corpus/codex/fixture-codex_053_rate_limit.jsonl": "counts of tokens and an error alone",
    "corpus/codex/fixture-ccusage.jsonl": "counts of tokens alone",
    "corpus/opencode/fixture-tokscale-message.json": "one answer's tokens, without its text",
    "agent-lab/real-sessions/opencode/native.opencode.db#ses_dd7b5f5fdffeDrDT8LtRMyzZa9": "a message without a part",
}
"""Sessions in which nobody said or did anything."""
DAMAGED = {
    "corpus/claude-code/fixture-edge-cases.jsonl": "rows of the wrong shape were put in by hand",
    "corpus/claude-code/fixture-truncated.jsonl": "three rows, the last one cut by hand",
    "corpus/pi/fixture-agentsview.jsonl": "a broken line and an unknown kind were put in by hand",
    "corpus/atif/polylogue-nemo-relay-v1_7-real.json": "the source of every step was replaced by <redacted>",
}
"""Files with more than 2 unknown records in 100, and why."""


def listed(corpus: Path) -> list[str]:
    """Return every file: the index's rows, and what lies in the lab."""
    with (corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [row["file"] for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    lab = sorted((corpus.parent / "agent-lab" / "real-sessions").rglob("*"))
    return [f"corpus/{row}" for row in rows] + [str(p.relative_to(corpus.parent)) for p in lab if p.is_file()]


def expected(name: str) -> str:
    """Return the reader that a file is for: its folder's, but for the mislabelled."""
    folder = name.removeprefix("corpus/").removeprefix("agent-lab/real-sessions/").split("/")[0]
    return MISLABELLED.get(name) or LABELS.get(folder) or folder.replace("-", "_")


def refused(name: str) -> bool:
    """Say whether a file is known to be no session."""
    return any(fnmatch(name, pattern) for pattern in NO_SESSION)


def refs_in(path: Path, reader: str, several: int) -> list[SessionRef]:
    """Return the sessions of a file."""
    plain = SessionRef(agent=reader, path=str(path), session_id="", bytes=path.stat().st_size)
    if not several:
        return [plain]
    with pytest.raises(UsageError):  # it asks which one
        list(read_ref(plain))
    names = [str(number + 1) for number in range(several)]
    if reader == "opencode":
        from passdown.agents.opencode.database import sessions_in

        names = [str(info.id) for info in sessions_in(path)]
        assert len(names) == several
    return [SessionRef(agent=reader, path=str(path), session_id="", inner=name) for name in names]


def check(ref: SessionRef, name: str) -> None:
    """Read one session to its end."""
    events = list(read_ref(ref))
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart), name
    assert isinstance(end, SessionEnd), name
    assert start.session_id, name
    summary = summarize(events)
    told = summary.human_messages + summary.assistant_messages + summary.tool_calls
    assert (told == 0) == (name in EMPTY or f"{name}#{ref.inner}" in EMPTY), name
    unknown = sum(summary.unknown.values())
    assert (unknown > 0.02 * end.records) == (name in DAMAGED), (name, summary.unknown)


def test_every_real_file_reads(corpus: Path) -> None:
    names = listed(corpus)
    assert sum(name.startswith("corpus/") for name in names) == 239
    sessions = 0
    for name in names:
        path = corpus.parent / name
        if refused(name):
            with pytest.raises(FormatError):
                recognise(path)
            continue
        assert recognise(path).id == expected(name), name
        refs = refs_in(path, expected(name), SEVERAL.get(name, 0))
        for ref in refs:
            check(ref, name)
        sessions += len(refs)
    assert sessions > 250


def test_what_is_said_of_files_is_of_files_that_are_there(corpus: Path) -> None:
    names = listed(corpus)
    for known in (MISLABELLED, SEVERAL, EMPTY, DAMAGED):
        assert {name.split("#")[0] for name in known} <= set(names)
    assert all(any(fnmatch(name, pattern) for name in names) for pattern in NO_SESSION)


@pytest.mark.parametrize(
    ("label", "name", "truth"),
    [
        ("Gemini CLI", "corpus/claude-code/gemini-mislabelled-edd2df34.jsonl", "claude_code"),
        ("Opencode", "corpus/gemini/computermode-14d75ebe.json", "gemini"),
    ],
)
def test_content_wins_over_the_label_it_came_with(
    corpus: Path, tmp_path: Path, label: str, name: str, truth: str
) -> None:
    real = corpus.parent / name
    index = (corpus / "INDEX.tsv").read_text("utf-8").splitlines()
    [row] = [line for line in index if f"corpus/{line}".startswith(name)]
    assert label in row.split("\t")[-1]
    for agent in AGENTS:  # in a folder of any agent, under any ending, it stays what it is
        place = tmp_path / agent.id / f"session{real.suffix}"
        place.parent.mkdir()
        place.write_bytes(real.read_bytes())
        assert recognise(place).id == truth
