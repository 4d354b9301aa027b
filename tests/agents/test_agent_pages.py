"""The page of each agent says what the tables in the code say."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.hook_command import HookCommand
from passdown.agents.table import TABLE, home_of, hooks_of
from passdown.hooks.compactions import silent_agents
from passdown.io.files import home_folder

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/agents"
ROWS = [row for row in TABLE if row.hooks]


@pytest.fixture(params=ROWS, ids=lambda row: row.id)
def page(request: Any) -> Any:
    """An agent's row and its page."""
    return request.param, (PAGES / f"{request.param.id}.md").read_text("utf-8")


def plain(text: str) -> str:
    return " ".join(text.split())


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def versions() -> dict[str, str]:
    """Return the versions that the tests with real agents install."""
    text = (ROOT / "tests/real_agents/clients.py").read_text("utf-8")
    return dict(re.findall(r'"(\w+)": "([\d.]+)"', text.partition("VERSIONS = {")[2].partition("}")[0]))


def test_every_agent_has_its_page_and_every_page_its_agent() -> None:
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted(row.id for row in ROWS)
    listed = (ROOT / "docs/hooks.md").read_text("utf-8")
    for row in ROWS:
        line = next(line for line in listed.splitlines() if f"(agents/{row.id}.md)" in line)
        assert versions()[row.id] in line
        assert f"`{row.skills}/passdown`" in line


def test_the_events_are_those_that_are_installed(page: Any) -> None:
    row, text = page
    found = re.findall(r"^\| `([\w.]+)` \| (\w+) \|", section(text, "What happens when"), re.MULTILINE)
    assert found == list(hooks_of(row).EVENTS.items())


def test_the_places_are_those_that_are_touched(page: Any) -> None:
    row, text = page
    install = plain(section(text, "Install"))
    assert f"passdown hooks install {row.id}" in install
    assert f"passdown skill install {row.id}" in install
    user = hooks_of(row).file("user", Path("/p"), home_of(row))
    assert f"`~/{user.relative_to(home_folder())}`" in install
    assert f"`{hooks_of(row).file('project', Path('/p'), home_of(row)).relative_to('/p')}`" in install
    assert f"`{row.skills}/passdown`" in install
    if row.override:
        assert f"`{row.override}`" in install
    assert f"passdown hooks uninstall {row.id}" in section(text, "Remove")


def test_the_rest_is_there(page: Any) -> None:
    row, text = page
    assert f"Verified with {versions()[row.id]}" in text
    assert f"passdown launch {row.id}" in section(text, "Launch")
    assert section(text, "Limits").count("\n- ") >= 2
    assert section(text, "Skill").strip()
    happens = plain(section(text, "What happens when"))
    assert "**Killed.**" in happens
    assert ("counts those in its log" in happens) == (row.id in silent_agents())


def test_the_seconds_are_those_that_are_asked_for() -> None:
    command = HookCommand(sys.executable, "/x/passdown/hooks/entry.py")
    claude = hooks_of(next(row for row in ROWS if row.id == "claude_code")).install(None, command)
    assert set(re.findall(r'"timeout": (\d+)', claude)) == {"10"}
    assert "ours asks for 10 s" in plain((PAGES / "claude_code.md").read_text("utf-8"))
    codex = hooks_of(next(row for row in ROWS if row.id == "codex")).install(None, command)
    assert set(re.findall(r'"timeout": (\d+)', codex)) == {"3", "10"}
    assert "SessionEnd and Interrupt get 3 s" in plain((PAGES / "codex.md").read_text("utf-8"))


def test_the_skills_page_names_who_looks_where() -> None:
    text = (ROOT / "docs/skill.md").read_text("utf-8")
    for row in (row for row in TABLE if row.skills):
        line = next(line for line in text.splitlines() if line.startswith(f"| `{row.skills}`"))
        assert row.title in line
