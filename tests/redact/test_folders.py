"""Absolute folders become what they are called in a packet."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.redact.folders import Folders

FOLDERS = Folders({"/home/me": "~", "/home/me/p": ".", "/": "never"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cd /home/me/p && ls", "cd . && ls"),
        ("/home/me/p/src/x.py:3", "src/x.py:3"),
        ('File "/home/me/p/a b.py", line 2', 'File "a b.py", line 2'),
        ("/home/me/pq/x", "~/pq/x"),
        ("/home/me/p.bak", "~/p.bak"),
        ("it lies in /home/me/p.", "it lies in .."),
        ("/home/me.", "~."),
        ("x/home/me/p/y", "x/home/me/p/y"),
        ("/home/melanie/p", "/home/melanie/p"),
        ("/home/me/p//src", "src"),
        ("/etc/passwd", "/etc/passwd"),
    ],
)
def test_known_folders(text: str, expected: str) -> None:
    assert FOLDERS.text(text) == expected


@settings(deadline=None)
@given(st.text(st.sampled_from("/home/me p.x\n-"), max_size=60))
def test_twice_is_once_and_no_root_is_left(text: str) -> None:
    once = FOLDERS.text(text)
    assert FOLDERS.text(once) == once
    assert "/home/me/p/home" not in once or "/home/me/p/home" in text
