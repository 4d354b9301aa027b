"""R32, R33, R34, R37 and R38: plain text by a public schema, no vendor needed, readable with cat, open to later versions."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from passdown.packet.encode import decode_packet, encode_packet

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = sorted((ROOT / "tests/goldens/packets").glob("*/handoff.json"))
HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
RUN = re.compile(r"[A-Za-z0-9+/=_-]{257,}")


def strings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Every string of a decoded packet with where it stands."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from strings(item, (*path, at))


def with_value(value: Any, path: tuple[Any, ...], new: str) -> Any:
    """A copy of a decoded packet with one string replaced."""
    if not path:
        return new
    if isinstance(value, dict):
        return value | {path[0]: with_value(value[path[0]], path[1:], new)}
    return [with_value(item, path[1:], new) if at == path[0] else item for at, item in enumerate(value)]


def entropy(text: str) -> float:
    """Bits a character."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())


def opaque_words(packet: dict[str, Any]) -> list[str]:
    """Words that look encoded: long, without hyphens or dots to read by, and of nearly random letters."""
    words = [word for _, text in strings(packet) for word in re.findall(r"[A-Za-z0-9+/=]{40,}", text)]
    return [word for word in words if not HASH.fullmatch(word) and entropy(word) > 4.5]


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.parent.name)
def test_r32_goldens_hold_nothing_opaque(path: Path) -> None:
    packet = json.loads(path.read_text("utf-8"))
    assert opaque_words(packet) == []
    assert [text for _, text in strings(packet) if RUN.search(text)] == []


def test_r32_schema_forbids_encoded_text_everywhere(full: Any, passdown: Any) -> None:
    validator = jsonschema_rs.validator_for(json.loads(passdown("schema").stdout))
    packet = full.wrap()
    blob = "QUJDRGVmZ2hpamtsbW5v" * 13
    places = [path for path, _ in strings(packet)]
    assert len(places) > 200
    assert validator.is_valid(packet)
    assert [path for path in places if validator.is_valid(with_value(packet, path, blob))] == []


def test_r32_encoded_input_comes_out_as_a_note(full: Any, claude_session: Any, workbench_files: dict[str, Any]) -> None:
    blob = ("iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4" * 12)[:700]
    session = claude_session(full.root)
    session.branch = "feat/export-limit"
    session.human(f"look at data:image/png;base64,{blob} please")
    session.runs(f"echo {blob}", blob, 1)
    full.put({
        "clues.jsonl": [{"id": "K-1", "text": blob, "anchors": [blob, "src/limits.py"], "pinned": True}],
        "agent_state.json": workbench_files["agent_state.json"] | {"blockers": [blob], "touched_files": [blob]},
    })  # fmt: skip
    packet = full.wrap()
    assert [text for _, text in strings(packet) if RUN.search(text)] == []
    assert opaque_words(packet) == []
    assert "characters of opaque data" in packet["directives"][0]["text"]


def test_r33_nothing_of_a_vendor_is_required(bench: Any, claude_session: Any, passdown: Any, tmp_path: Path) -> None:
    session = claude_session(bench.root)
    session.branch = "feat/export-limit"
    session.human("Limit the exports.")
    session.runs("pytest -q", "1 failed", 1)
    packet = bench.wrap()
    schema = json.loads(passdown("schema").stdout)
    assert not {"producer", "sessions", "environment.os"} & set(schema["required"])
    rest = {key: value for key, value in packet.items() if key not in ("producer", "sessions")}
    assert jsonschema_rs.validator_for(schema).is_valid(rest)
    text = json.dumps(rest)
    assert not re.search(r"sonnet|claude|anthropic", text, re.IGNORECASE)
    assert ".claude" not in text
    path = next(bench.root.glob("outputs/handoff/*/handoff.json"))
    named = tmp_path / "handoff.json"
    named.write_text(text.replace(session.session_id, "gone"))
    assert passdown("show", str(named)).returncode == 0
    path.write_text(text)
    for words in (["show"], ["show", "--json"], ["export", "--lesson"], ["show", str(path)]):
        assert bench.passdown(*words)
    assert json.loads(bench.passdown("wrap", "--interim", "--json"))["changed"] == [], (
        "nothing but the vendor's part is gone"
    )


def test_r34_readable_with_cat(full: Any, claude_session: Any) -> None:
    session = claude_session(full.root)
    session.branch = "feat/export-limit"
    session.human("Limit the exports.")
    packet = full.wrap()
    lines = (full.root / ".ai/HANDOFF.md").read_text("utf-8").splitlines()
    [at] = [number for number, line in enumerate(lines[:10]) if line == "## Next step"]
    assert any(
        packet["next_action"]["text"][:40].replace("_", "") in line.replace("_", "") for line in lines[at + 1 : 10]
    )
    text = "\n".join(lines)
    for command in packet["verification"]["how"]:
        assert f"`{command}`" in text.partition("## Verification")[2]


def test_r34_every_golden_says_it_in_ten_lines() -> None:
    for path in GOLDENS:
        lines = path.with_name("handoff.md").read_text("utf-8").splitlines()
        assert "## Next step" in lines[:9], path


def test_r37_the_packet_outlives_the_vendor(bench: Any, claude_session: Any, isolated_home: Path) -> None:
    session = claude_session(bench.root)
    session.branch = "feat/export-limit"
    session.human("Limit the exports.")
    session.runs("pytest -q", "1 failed", 1)
    packet = bench.wrap()
    before = [bench.passdown("show"), bench.passdown("show", "--json"), bench.passdown("export", "--lesson")]
    shutil.rmtree(isolated_home / ".claude")
    assert [bench.passdown("show"), bench.passdown("show", "--json"), bench.passdown("export", "--lesson")] == before
    again = json.loads(bench.passdown("wrap", "--dry-run", "--json"))
    assert "session.missing" in again["unknowns"]
    assert again["supersedes"] == packet["packet_id"]


LATER = {
    "schema_minor": 7,
    "ext": {"com.example": {"kept": [1, "two", {"three": None}]}, "x-mine": "yes"},
    "a_later_field": {"of": ["a later minor version"]},
}


def test_r38_extensions_survive_decoding(bench: Any) -> None:
    packet = bench.wrap() | {"schema_minor": 7, "ext": LATER["ext"]}
    assert json.loads(encode_packet(decode_packet(json.dumps(packet).encode()))) == packet
    assert decode_packet(json.dumps(packet | LATER).encode()).schema_minor == 7


def test_r38_later_fields_survive_show_and_superseding(bench: Any, passdown: Any) -> None:
    packet = bench.wrap()
    path = next(bench.root.glob("outputs/handoff/*/handoff.json"))
    later = packet | LATER | {"next_action": packet["next_action"] | {"later": "too"}}
    path.write_text(json.dumps(later, indent=2, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
    assert json.loads(bench.passdown("show", "--json")) == later
    assert json.loads(passdown("show", str(path), "--json").stdout) == later
    assert bench.passdown("show").startswith("# Handoff")
    bench.repository.write("more.py", "x = 1\n")
    assert bench.wrap()["supersedes"] == packet["packet_id"]
    assert json.loads(path.read_text("utf-8")) == later | {"status": "superseded"}


def test_r38_a_later_packet_that_says_the_same_is_left_alone(bench: Any) -> None:
    packet = bench.wrap()
    path = next(bench.root.glob("outputs/handoff/*/handoff.json"))
    data = (json.dumps(packet | {"a_later_field": 1}, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    path.write_bytes(data)
    assert json.loads(bench.passdown("wrap", "--interim", "--json"))["changed"] == []
    assert path.read_bytes() == data


@pytest.mark.parametrize("change", [{"schema_version": 2}, {"schema_version": "1"}, {"schema_version": None}])
def test_r38_another_major_version_stops_the_reader(change: dict[str, Any], bench: Any) -> None:
    path = next(bench.root.glob("outputs/handoff/*/handoff.json"), None)
    packet = bench.wrap() | change
    path = next(bench.root.glob("outputs/handoff/*/handoff.json"))
    path.write_text(json.dumps(packet))
    before = path.read_bytes()
    for words in (["show"], ["show", str(path)], ["export", "--lesson"], ["wrap", "--interim"]):
        done = bench.run("-C", str(bench.root), *words)
        assert (done.returncode, done.stdout) == (4, b""), words
        assert b"version" in done.stderr
    assert path.read_bytes() == before
