"""Packets of real sessions that a person read beside the log: their main fields are as judged in `tests/goldens/judged`.

Beside each golden lies a note of what a person would say and of the verdict. No words of the corpus stand in a golden:
of a text it holds the beginning of its hash. `PASSDOWN_UPDATE_GOLDENS=1` rewrites the fields: read the packets again then.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import Change, Commit, RepositoryFacts
from passdown.model.packet import Packet
from passdown.packet.build import build_packet
from passdown.sessions.read import read_ref, refer_to_begun
from passdown.sessions.summary import summarize

JUDGED = Path(__file__).resolve().parents[1] / "goldens" / "judged"
AGENTS = sorted(path.stem for path in JUDGED.glob("*.json"))
UPDATE = os.environ.get("PASSDOWN_UPDATE_GOLDENS") == "1"
OWN_WORDS = {"derived:last_request", "derived:failing_test", "derived:nothing_known", "derived:claims", "derived:begun"}
"""Rules that write the next action in passdown's words, quoting others."""
QUOTED = re.compile(r"“[^”]*”|`[^`]*`")


def digest(text: str | None) -> str | None:
    """Return the beginning of a text's hash; nothing of nothing."""
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else text


def repository(state: dict[str, Any]) -> RepositoryFacts:
    """Return the repository in the state that the session left it in, as far as its log tells."""
    changes = [Change(path=path, status=status, added=1) for status, path in state.get("committed", [])]
    changes += [
        Change(path=path, status="A" if status == "?" else status, added=1, uncommitted=True, untracked=status == "?")
        for status, path in state.get("uncommitted", [])
    ]
    commits = tuple(Commit(id=f"{at:x}" * 40, subject=f"Commit {at}") for at in range(state.get("commits", 0)))
    head = commits[0].id if commits else "f" * 40
    return RepositoryFacts(
        root=f"/somewhere/{state['name']}", branch="main", head=head, effective_head=head, base="b" * 40,
        identity="c" * 40, integration_branch="main", commits=commits, commits_total=len(commits),
        changes=tuple(changes), changes_total=len(changes),
    )  # fmt: skip


def fields(packet: Packet, models: Iterable[str]) -> dict[str, Any]:
    """Return what was judged of a packet."""
    action = packet.next_action
    said = action.text if action.source in OWN_WORDS else f"“{action.text}”"
    return {
        "goal": digest(packet.goal),
        "next_action": [action.source, QUOTED.sub(lambda quoted: f"“{digest(quoted[0])}”", said)],
        "agents_view": digest(action.agents_view),
        "directives": [digest(directive.text) for directive in packet.directives],
        "decisions": [digest(f"{decision.choice} {decision.why}") for decision in packet.decisions],
        "failed_attempts": [
            [
                digest(attempt.what), "mended" if attempt.resolved else "open", digest(attempt.why),
                [digest(tried) for tried in attempt.tried_after],
            ]
            for attempt in packet.failed_attempts
        ],
        "tests": [packet.tests.state, len(packet.tests.failing), digest(packet.tests.error_line)],
        "changed_files": [f"{file.status} {file.path}" for file in packet.changed_files],
        "remaining": [digest(item.text) for item in packet.remaining],
        "completed": len(packet.completed),
        "summaries": [digest(summary.text) for summary in packet.harness_summaries],
        "compactions": sum(line.compactions for line in packet.sessions),
        "models": sorted(models),
    }  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
def test_packets_are_as_judged(corpus: Path, agent: str) -> None:
    golden = JUDGED / f"{agent}.json"
    judged = json.loads(golden.read_text())
    found = {}
    for name, case in judged.items():
        ref = refer_to_begun(corpus.parent / name)
        assert ref.agent == agent, name
        events = list(read_ref(ref))
        evidence = collect_evidence(repository(case["repository"]), sessions=[(ref, events)])
        told = fields(build_packet(evidence), summarize(events).models)
        found[name] = {"repository": case["repository"], "packet": told}
    if UPDATE:
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    assert found == json.loads(golden.read_text())


@pytest.mark.parametrize("agent", AGENTS)
def test_every_judged_session_has_its_note(agent: str) -> None:
    notes = (JUDGED / f"{agent}.md").read_text()
    for name in json.loads((JUDGED / f"{agent}.json").read_text()):
        assert f"`{name}`" in notes
