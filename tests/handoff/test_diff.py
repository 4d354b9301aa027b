"""`passdown diff`, run as a person runs it."""

from __future__ import annotations

import json
from typing import Any


def test_the_active_packet_against_the_one_before_it(repository: Any, passdown: Any, claude_session: Any) -> None:
    root = str(repository.root)
    session = claude_session(repository.root)
    session.human("Make the parser accept tabs")
    repository.write("parser.py", "TABS = False\n")
    session.edits("parser.py")
    session.runs("pytest -x", "E   AssertionError: no tabs\n1 failed", 1)
    first = json.loads(passdown("-C", root, "wrap", "--interim", "--json").stdout)
    alone = passdown("-C", root, "diff")
    assert alone.returncode == 4
    assert b"the first of its work" in alone.stderr

    session.human("Keep the old flag, users depend on it")
    repository.write("parser.py", "TABS = True\n")
    session.edits("parser.py")
    session.runs("pytest -x", "1 passed", 0)
    second = json.loads(passdown("-C", root, "wrap", "--interim", "--json").stdout)
    assert second["packet_id"] != first["packet_id"]

    done = passdown("-C", root, "diff")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert text.startswith(f"{first['packet_id'][:12]} (")
    assert "+ Keep the old flag, users depend on it" in text
    assert "~ pytest -x  (resolved" in text

    found = json.loads(passdown("-C", root, "diff", first["packet_id"][:8], "active", "--json").stdout)
    assert found == json.loads(passdown("-C", root, "diff", "active", "--json").stdout)
    assert found["schema_version"] == 1
    assert [found["before"]["packet_id"], found["after"]["packet_id"]] == [first["packet_id"], second["packet_id"]]
    assert "tests.state" in {value["field"] for value in found["values"]}
    same = passdown("-C", root, "diff", "active", second["session_id"])
    assert same.stdout.decode().splitlines()[1:] == ["They say the same."]


def test_a_name_that_is_none(repository: Any, passdown: Any) -> None:
    root = str(repository.root)
    assert passdown("-C", root, "diff").returncode == 4
    done = passdown("-C", root, "diff", "nothing", "such")
    assert done.returncode == 2
    assert b"names no packet" in done.stderr
