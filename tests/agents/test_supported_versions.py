"""The page of supported versions is what the script makes of the fixtures, the goldens and the data beside it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.table import AGENTS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> Any:
    """The script that makes the page."""
    spec = importlib.util.spec_from_file_location("supported_versions", ROOT / ".ci/versions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(script: Any) -> None:
    assert script.PAGE.read_text("utf-8") == script.page(), "run `python .ci/versions.py page`"


def test_every_agent_has_its_row_and_none_claims_more_than_was_seen(script: Any) -> None:
    told = json.loads(script.DATA.read_text("utf-8"))["agents"]
    assert set(told) <= {row.id for row in AGENTS}
    rows = [line.split(" | ") for line in script.page().splitlines() if line.startswith("| ")][1:]
    for row, cells in zip(AGENTS, rows, strict=True):
        measured = told.get(row.id, {}).get("measured", {})
        seen = bool(measured.get("real") or measured.get("lab"))
        assert cells[0] == f"| {row.title}"
        assert cells[3].startswith("**") == (not seen)
        assert ("**unverified**" in cells[3]) == (not measured)


def test_versions_are_in_order(script: Any) -> None:
    versions = ["1.0.9", "1.0.10", "0.118.0-alpha.2", "0.118.0"]
    assert sorted(versions, key=script.numbers) == ["0.118.0", "0.118.0-alpha.2", "1.0.9", "1.0.10"]


def test_the_data_is_what_the_corpus_says(script: Any, corpus: Path) -> None:
    told = json.loads(script.DATA.read_text("utf-8"))["agents"]
    found = script.collect(corpus.parent)
    assert {agent: entry["measured"] for agent, entry in told.items() if entry["measured"]} == found, (
        "run `python .ci/versions.py collect SHARED`"
    )
