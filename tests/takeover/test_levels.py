"""Levels with budgets: brief, handoff.md, handoff.json, sources; and that every fact is within two reads of the brief."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passdown.packet.identity import packet_id
from passdown.packet.tokens import estimate_tokens
from passdown.takeover.brief_text import render_brief

GOLDENS = Path(__file__).resolve().parent.parent / "goldens/packets"
ITEMS = {
    "completed": "text", "remaining": "text", "decisions": "choice", "preferences": "text", "blockers": "text",
    "directives": "text", "failed_attempts": "what", "open_risks": "detail", "assumptions_to_validate": "text",
    "questions_for_human": "question", "clues": "text", "changed_files": "path", "commands_run": "cmd",
}  # fmt: skip


def facts(packet: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every item of every list, by the words that make it one."""
    for field, name in ITEMS.items():
        yield from ((field, str(item[name])) for item in packet[field])


def words(text: str) -> str:
    """The letters and digits alone: Markdown and quotes set the rest in their own way."""
    return "".join(re.findall(r"[^\W_]+", html.unescape(text)))


def place_with(copy_of: Any, change: dict[str, Any]) -> Any:
    """A place whose packet says more, right in its id and rendered anew."""
    place = copy_of("dirty")
    plain = place.packet() | change
    plain["packet_id"] = packet_id(plain)
    place.packet_file.write_text(json.dumps(plain))
    return place


def big(golden: str) -> dict[str, Any]:
    """The lists of a golden packet."""
    packet: dict[str, Any] = json.loads((GOLDENS / golden / "handoff.json").read_text("utf-8"))
    return {field: packet[field] for field in ITEMS}


@pytest.mark.parametrize("golden", ["failed_run", "session_only", "passed_run", "cjk"])
def test_every_fact_is_within_two_reads(golden: str, copy_of: Any, passdown: Any) -> None:
    place = place_with(copy_of, big(golden))
    assert passdown("show", "--render", folder=place.root).returncode == 0
    brief = place.take(receipt=False).brief
    text = render_brief(brief)
    named = re.search(r"Full: (\S+), (\S+)\. ", text) or re.search(r"Full: (\S+) \(\.json beside it\)", text)
    assert named is not None
    markdown = (place.root / named[1]).read_text("utf-8")
    canonical = (place.root / (named[2] if named.lastindex == 2 else named[1].replace(".md", ".json"))).read_text(
        "utf-8"
    )
    plain = json.loads(canonical)
    second = words(text) + words(markdown)
    missed = [(field, fact) for field, fact in facts(plain) if words(fact)[:60] not in second]
    # What the Markdown leaves out it counts, and handoff.json, which the brief names as well, has all of it.
    assert len(missed) <= 0.15 * len(list(facts(plain))), missed
    assert all(words(fact) in words(json.dumps(plain, ensure_ascii=False)) for _, fact in missed)
    assert all(source["path"] in markdown for source in plain["sources"] if source["role"] in ("router", "features"))


@pytest.mark.parametrize("tokens", [200, 250, 400, 1200])
def test_what_no_budget_cuts(tokens: int, copy_of: Any) -> None:
    questions = [
        {"id": f"Q-{n}", "question": f"Which of the {n} ways is it to be? " + "so " * 40, "default": "none", "severity": "block"}
        for n in range(4)
    ]  # fmt: skip
    place = place_with(copy_of, {"open_risks": big("failed_run")["open_risks"], "questions_for_human": questions})
    brief = place.take(receipt=False).brief
    for form in ("agent", "person"):
        text = render_brief(brief, form, tokens)  # type: ignore[arg-type]
        assert "READY" in text.splitlines()[0]
        assert f'Next step proposed: "{brief.next_step.text}"' in text
        assert [f"Q-{n} Which of the {n} ways" in text for n in range(4)] == [True] * 4
        if tokens >= 400:
            assert estimate_tokens(text) <= tokens


def test_a_test_that_fails_is_no_dead_end(copy_of: Any) -> None:
    attempts = [
        {"id": "F1", "what": "pytest -q tests/test_a.py", "exit": 1},
        {"id": "F2", "what": "cd src && python -m pytest -k burst", "exit": 1, "tries": 3},
        {"id": "F3", "what": "npm install left-pad", "exit": 1},
        {"id": "F4", "what": "make docs", "exit": 2, "resolved": True},
    ]
    text = render_brief(place_with(copy_of, {"failed_attempts": attempts}).take(receipt=False).brief)
    assert 'Do not retry: "npm install left-pad" (failed, exit 1)\n' in text
    assert 'Also red when last run: "cd src && python -m pytest -k burst" (failed 3 times, exit 1)\n' in text
    assert "make docs" not in text


def test_assent_and_folders_say_nothing(copy_of: Any) -> None:
    said = [{"text": text} for text in ("Go on.", "Keep the names.", "yes", "继续", "Continue!")]
    place = place_with(copy_of, {"directives": said})
    plain = place.packet()
    folder = {
        "path": "src",
        "sha256": "",
        "bytes": 0,
        "why": "named",
        "check": {"kind": "path_exists"},
        "required": True,
    }
    plain["next_session_prereqs"]["artifacts"].append(folder)
    plain["packet_id"] = packet_id(plain)
    place.packet_file.write_text(json.dumps(plain))
    brief = place.take(receipt=False).brief
    assert [quote.text for quote in brief.human_said] == ["Keep the names."]
    assert "src" not in [quote.text for quote in brief.load_first]
    (place.root / "src").rename(place.root / "lib")
    assert place.take(receipt=False).brief.verdict == "stale"  # it is a claim all the same
