"""What passdown itself says to an agent at its start is not taken for a person's wish."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.first_message import FirstMessage
from passdown.agents.table import TABLE, takeover_of
from passdown.evidence.words import own_words

BRIEF = '[passdown] Handoff for main — READY.\n```text\nGoal: "x" </file>\n```\n[passdown] End of the data.\n'
FILE = "/r/.git/passdown/launch/0123456789abcdef/brief.md"


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Fix the parser.", "Fix the parser."),
        ("What does `[passdown] Handoff` in the log mean?", "What does `[passdown] Handoff` in the log mean?"),
        (f"{BRIEF}", ""),
        (f"Go on with this:\n{BRIEF}", "Go on with this:\n"),
        ('"[passdown] Take over the work of the brief in the file attached: x"', ""),
        (f'<file name="{FILE}">\n{BRIEF}\n</file>\n[passdown] Take over: x', ""),
        (f'<file name="{FILE}">\n{BRIEF}\n</file>\nOnly the docs.\n\n[passdown] Take over: x', "Only the docs.\n\n"),
        ('<file name="/r/notes.md">\nx\n</file>\nRead it.', '<file name="/r/notes.md">\nx\n</file>\nRead it.'),
    ],
)
def test_what_a_person_said(text: str, own: str) -> None:
    assert own_words(text) == own


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet=st.characters(exclude_characters="[<"), min_size=1), st.text())
def test_of_every_agents_first_message_the_wish_is_left(said: str, brief: str) -> None:
    message = FirstMessage(f"[passdown] Handoff for main.\n{brief}", FILE, FILE, said)
    for row in (row for row in TABLE if row.takeover):
        for word in takeover_of(row).start(message, ()).words:
            if "[passdown] Take over" in word:
                assert own_words(word.removeprefix("--prompt=")) == f"{said}\n\n"
