"""R39 and R40: clues lead back to where they came from, and a pinned one stays until it is unpinned."""

from __future__ import annotations

from typing import Any

import pytest

ROWS = [
    {"id": "K-1", "text": "The refill runs in a thread. " * 30, "anchors": ["src/limits.py:2"], "pinned": True},
    {"id": "K-2", "text": "An old note.", "anchors": ["src/gone.py", "/etc/passwd", "../up", "docs/api.md"]},
    {"id": "K-3", "text": "No way back."},
]


def test_r39_each_clue_can_be_loaded_alone(bench: Any) -> None:
    bench.put({"clues.jsonl": ROWS})
    packet = bench.wrap()
    assert [clue["id"] for clue in packet["clues"]] == ["K-1", "K-2", "K-3"], "a broken anchor never costs its clue"
    for clue in packet["clues"]:
        text, *anchors = bench.passdown("show", "--clue", clue["id"]).splitlines()
        assert 0 < len(text) <= 300
        assert text.startswith(clue["text"][:40])
        assert [line.split()[0] for line in anchors] == (clue.get("anchors") or ["(no"])
        broken = [line.split()[0] for line in anchors if "leads nowhere" in line]
        assert broken == clue.get("broken", [])
    assert packet["clues"][1]["broken"] == ["src/gone.py", "/etc/passwd", "../up"]
    resolved = [a for a in packet["clues"][1]["anchors"] if a not in packet["clues"][1]["broken"]]
    assert [(bench.root / anchor).exists() for anchor in resolved] == [True]
    markdown = bench.markdown()
    assert "leads nowhere" in markdown
    done = bench.run("-C", str(bench.root), "show", "--clue", "K-9")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"K-1, K-2, K-3" in done.stderr


UNPINNED = [{"id": "K-17", "pinned": False}, {"id": "K-17", "withdrawn": True}]


@pytest.mark.parametrize("row", UNPINNED, ids=["unpinned", "withdrawn"])
@pytest.mark.parametrize("file_stays", [True, False])
def test_r40_a_pinned_clue_survives_until_it_is_unpinned(row: dict[str, Any], file_stays: bool, bench: Any) -> None:
    rows = [
        {"id": f"K-{number}", "text": f"note {number} " * 20, "anchors": ["src/limits.py"], "pinned": number == 17}
        for number in range(30)
    ]
    bench.put({"clues.jsonl": rows})
    packet = bench.wrap()
    assert (packet["clues"][0]["id"], len(packet["clues"]), packet["omitted"]["clues"]) == ("K-17", 15, 15)
    first = packet["packet_id"]
    if not file_stays:
        bench.put({"clues.jsonl": None})
    for turn in range(3):
        bench.repository.write(f"turn{turn}.py", "x = 1\n" * 400)
        bench.put({"task_board.json": [
            {"id": f"T-{n}", "goal": f"Goal {n} {turn} " + "long " * 60, "status": "todo", "acceptance": ["make " * 40]} for n in range(60)
        ]})  # fmt: skip
        supersedes = packet["packet_id"]
        packet = bench.wrap()
        assert packet["supersedes"] == supersedes
        assert packet["clues"][0]["id"] == "K-17"
        assert packet["clues"][0]["pinned"] is True
        assert packet["clues"][0].get("from") == (None if file_stays else first)
    bench.put({"clues.jsonl": [*(rows if file_stays else []), row]})
    packet = bench.wrap()
    assert not any(clue["id"] == "K-17" and clue.get("pinned") for clue in packet["clues"])
    if "withdrawn" in row:
        assert not any(clue["id"] == "K-17" for clue in packet["clues"])
    bench.put({"clues.jsonl": None})
    bench.repository.write("last.py", "x = 1\n")
    assert bench.wrap()["clues"] == [], "what was unpinned is not carried on"
