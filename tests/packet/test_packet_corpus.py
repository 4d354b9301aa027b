"""Packets of real sessions: always within their caps, always valid, always with a next step."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from passdown.errors import FormatError, UsageError
from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import RepositoryFacts
from passdown.packet.boundary import strings_of
from passdown.packet.budget import HARD_CAP
from passdown.packet.build import build_packet
from passdown.packet.encode import encode_packet
from passdown.packet.render import TOKEN_BUDGET, render_markdown
from passdown.packet.schema import packet_schema
from passdown.packet.tokens import estimate_tokens
from passdown.packet.vague import refusal
from passdown.sessions.read import read_ref, refer_to

AGENTS = ("claude-code", "codex", "copilot-cli", "gemini", "opencode", "openhands", "pi", "qwen")


@pytest.mark.parametrize("agent", AGENTS)
def test_packets_of_real_sessions(corpus: Path, agent: str) -> None:
    validator = jsonschema_rs.validator_for(packet_schema())
    built = 0
    for path in sorted((corpus / agent).iterdir()):
        if not path.is_file() or path.stat().st_size > 3_000_000:
            continue
        try:
            ref = refer_to(path)
            events = list(read_ref(ref))
        except (FormatError, UsageError):  # no session, or a file of many
            continue
        repository = RepositoryFacts(root="/x", branch="main", head="a" * 40)
        evidence = collect_evidence(repository, sessions=[(ref, events)])
        packet = build_packet(evidence)
        data = encode_packet(packet)
        plain = json.loads(data)
        assert len(data) <= HARD_CAP, path.name
        assert [e.message for e in validator.iter_errors(plain)] == [], path.name
        assert estimate_tokens(render_markdown(packet)) <= TOKEN_BUDGET, path.name
        assert refusal(packet.next_action.text) == "", path.name
        assert encode_packet(build_packet(evidence)) == data, path.name
        assert not any("\x1b" in text for text in strings_of(plain)), path.name
        built += 1
    assert built
