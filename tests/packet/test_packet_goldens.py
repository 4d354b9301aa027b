"""Golden packets a person can read. `PASSDOWN_UPDATE_GOLDENS=1` rewrites them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema_rs
import pytest

from passdown.model.evidence import Evidence
from passdown.packet.boundary import strings_of
from passdown.packet.budget import HARD_CAP
from passdown.packet.build import build_packet
from passdown.packet.encode import decode_packet, encode_packet
from passdown.packet.identity import packet_id
from passdown.packet.pull_request import TITLE_LENGTH, pull_request_title, render_pull_request
from passdown.packet.render import TOKEN_BUDGET, render_markdown
from passdown.packet.schema import packet_schema
from passdown.packet.tokens import estimate_tokens

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests" / "goldens" / "packets"
NAMES = ("session_only", "failed_run", "passed_run", "cjk", "hostile", "empty")
UPDATE = os.environ.get("PASSDOWN_UPDATE_GOLDENS") == "1"


def agrees(path: Path, data: bytes) -> bool:
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path.read_bytes() == data


@pytest.mark.parametrize("name", NAMES)
def test_packet_is_the_golden_one(cases: dict[str, Evidence], name: str) -> None:
    packet = build_packet(cases[name])
    assert agrees(GOLDENS / name / "handoff.json", encode_packet(packet))
    assert agrees(GOLDENS / name / "handoff.md", render_markdown(packet).encode())


NINE = (
    "Goal", "Completed", "Remaining", "Changed files", "Decisions", "Tests", "Known problems", "Next step",
    "Verification",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_pull_request_is_the_golden_one(cases: dict[str, Evidence], name: str) -> None:
    packet = build_packet(cases[name])
    body = render_pull_request(packet)
    assert agrees(GOLDENS / name / "pull_request.md", f"{pull_request_title(packet)}\n\n{body}".encode())
    headings = [line.removeprefix("## ") for line in body.splitlines() if line.startswith("#")]
    assert [name for name in NINE if name not in headings] == []
    assert set(headings) <= {*NINE, "Questions for the human", "Receipts"}, "no text of the packet makes a heading"
    assert len(pull_request_title(packet)) <= TITLE_LENGTH
    assert "handoff.json" not in body
    assert "handoff.md" not in body


def test_chinese_headings(cases: dict[str, Evidence]) -> None:
    markdown = render_markdown(build_packet(cases["cjk"]), language="zh-CN")
    assert agrees(GOLDENS / "cjk" / "handoff.zh.md", markdown.encode())
    assert "## 下一步" in markdown
    assert "导出接口每个调用者" in markdown


def test_published_schema_is_the_generated_one() -> None:
    text = json.dumps(packet_schema(), indent=2, sort_keys=True, ensure_ascii=True) + "\n"
    assert agrees(ROOT / "schema" / "handoff-v1.schema.json", text.encode())


@pytest.mark.parametrize("name", NAMES)
def test_independent_validator_accepts_every_golden(name: str) -> None:
    validator = jsonschema_rs.validator_for(json.loads((ROOT / "schema" / "handoff-v1.schema.json").read_text()))
    plain = json.loads((GOLDENS / name / "handoff.json").read_text())
    assert [f"{list(e.instance_path)}: {e.message[:120]}" for e in validator.iter_errors(plain)] == []


@pytest.mark.parametrize("name", NAMES)
def test_golden_invariants(name: str) -> None:
    data = (GOLDENS / name / "handoff.json").read_bytes()
    packet = decode_packet(data)
    assert encode_packet(packet) == data
    assert packet_id(packet) == packet.packet_id == packet_id(json.loads(data))
    assert len(data) <= HARD_CAP
    markdown = render_markdown(packet)
    assert estimate_tokens(markdown) <= TOKEN_BUDGET
    first_lines = markdown.splitlines()[:10]
    assert "## Next step" in first_lines
    assert any(packet.next_action.text.split()[0].strip("`“") in line for line in first_lines[4:])
    assert markdown.rstrip().endswith(f"<!-- passdown packet {packet.packet_id} -->")
    assert "/somewhere/else" not in data.decode()
    assert not any("\x1b" in text or "\u202e" in text or "\u2028" in text for text in strings_of(json.loads(data)))
