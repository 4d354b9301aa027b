"""How each agent is started with a brief: its words, and by which road the brief goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.first_message import LONGEST, FirstMessage
from passdown.agents.table import TABLE, takeover_of

BRIEF = '[passdown] Handoff for main — READY.\n```text\nNext step proposed: "fix @src/a.py"\n```\n[passdown] End of the data.\n'
FILE = "/r/.git/passdown/launch/0/brief.md"
MESSAGE = FirstMessage(BRIEF, FILE, "/r/.git/passdown/launch/0/message.md")
ROWS = {row.id: row for row in TABLE if row.takeover}


def started(agent: str, *extra: str, message: FirstMessage = MESSAGE) -> tuple[tuple[str, ...], str, str]:
    """The words, the road and the standard input."""
    start = takeover_of(ROWS[agent]).start(message, extra)
    return start.words, start.road, start.stdin


def test_every_agent_can_be_started_and_installed() -> None:
    assert len(ROWS) >= 8
    assert all(row.program and row.install for row in ROWS.values())


def test_agents_that_read_a_file() -> None:
    words, road, _ = started("claude_code", "-p", "--allowedTools", "Read")
    assert words[:-1] == ("-p", "--allowedTools", "Read", "--")
    assert (words[-1].endswith(f"\n@{FILE}"), road) == (True, "file")
    words, road, _ = started("pi", "-p")
    assert (words[:2], road) == (("-p", f"@{FILE}"), "file")
    words, road, _ = started("opencode", "run", "--format", "json")
    assert (words[:3], words[-2:], road) == (("run", "--format", "json"), ("--file", FILE), "file")
    assert started("openhands", "--headless") == (("--headless", "--file", MESSAGE.whole), "file", "")
    for agent, extra in (("claude_code", ()), ("pi", ()), ("opencode", ("run",)), ("openhands", ())):
        assert "Handoff for" not in " ".join(started(agent, *extra)[0])


def test_codex_reads_standard_input_where_it_has_no_terminal() -> None:
    words, road, stdin = started("codex", "exec", "--json")
    assert (words[:3], road, stdin) == (("exec", "--json", "--"), "stdin", FILE)
    assert "Handoff for" not in words[-1]
    words, road, stdin = started("codex", "-m", "gpt-5.5")
    assert (words[:3], road, stdin) == (("-m", "gpt-5.5", "--"), "argument", "")
    assert "Handoff for" in words[-1]


@pytest.mark.parametrize("agent", ["gemini", "qwen", "copilot"])
def test_agents_that_take_an_option(agent: str) -> None:
    words, road, _ = started(agent, "-m", "small")
    assert (words[:3], road) == (("-m", "small", "-i"), "argument")
    for headless in ("-p", "--prompt"):
        words, _, _ = started(agent, headless, "-o", "json")
        assert words[:3] == ("-o", "json", headless)
        assert words[-1].startswith("[passdown] Take over")


def test_a_brief_mentions_no_file_to_an_agent() -> None:
    for agent in ("codex", "gemini", "qwen", "copilot", "opencode"):
        text = started(agent)[0][-1]
        assert "@" not in text
        assert "fix ＠src/a.py" in text


def test_a_place_with_a_space_is_mentioned_as_a_whole() -> None:
    spaced = MESSAGE._replace(file="/my project/.git/brief.md")
    assert started("claude_code", message=spaced)[0][-1].endswith('\n@"/my project/.git/brief.md"')
    quoted = MESSAGE._replace(file='/my "own"/.git/brief.md')
    assert started("claude_code", message=quoted)[1] == "argument"


@pytest.mark.parametrize("agent", ["codex", "gemini", "qwen", "copilot", "opencode"])
def test_a_private_or_long_brief_is_named(agent: str) -> None:
    for message in (MESSAGE._replace(private=True), MESSAGE._replace(brief="é" * LONGEST)):
        words, road, _ = started(agent, message=message)
        assert road == "named"
        assert FILE in words[-1]
        assert len(words[-1]) < 1_000
        assert "End of the data" not in words[-1]


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(sorted(ROWS)), st.text(min_size=1, max_size=200), st.text(max_size=3_000))
def test_what_is_said_comes_first_and_ours_is_marked(agent: str, said: str, brief: str) -> None:
    message = MESSAGE._replace(said=said, brief=brief)
    for extra in ((), ("run",), ("exec",), ("-p",)):
        words, road, _ = started(agent, *extra, message=message)
        if agent != "openhands":
            assert any(said in word and "\n\n[passdown] Take over the work" in word for word in words)
            assert not any("ask me what it says" in word for word in words)
        assert road in ("argument", "file", "stdin", "named")


def test_the_modules_see_a_finished_brief_alone() -> None:
    folder = Path(__file__).parents[2] / "src/passdown/agents"
    for row in (row for row in TABLE if row.takeover):
        source = (folder / row.id / "takeover.py").read_text("utf-8")
        imports = [line for line in source.splitlines() if line.startswith(("import", "from"))]
        assert all(line.startswith(("from __future__", "from passdown.agents.first_message", "from passdown.model.pattern"))
                   for line in imports), row.id  # fmt: skip
