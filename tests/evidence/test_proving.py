"""A command line that edits and then tests: what of it proves the work, and whether its result is fresh."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.evidence.proving import proving_part


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("sed -i s/10/11/ src/limits.py && python3 -m unittest tests.test_a", "python3 -m unittest tests.test_a"),
        ("sed -i s/a/b/ x.py; pytest -q tests", "pytest -q tests"),
        ("pytest -q && git commit -qam done", "pytest -q"),
        ("rm -f old.py && pytest -q | tail -5", "pytest -q | tail -5"),
        ("mv a.py b.py && pytest a && pytest b", "pytest a && pytest b"),
        ("pytest -q", "pytest -q"),
        ("ruff check . && pytest -q", "ruff check . && pytest -q"),
        ("cd sub && sed -i s/a/b/ x.py && pytest", "cd sub && sed -i s/a/b/ x.py && pytest"),
        ("sed -i s/a/b/ x.py && make lint", "sed -i s/a/b/ x.py && make lint"),
        ("", ""),
        ("&& ;", "&& ;"),
    ],
)
def test_only_what_runs_tests_is_proof(line: str, part: str) -> None:
    assert proving_part(line) == part


def test_an_edit_before_the_tests_of_one_line_leaves_their_result_fresh(
    make_repository: Any, claude_session: Any, passdown: Any
) -> None:
    import json

    repository = make_repository()
    session = claude_session(repository.root)
    session.human("Raise the limit to eleven.")
    repository.write("limits.py", "LIMIT = 11\n")
    line = "sed -i s/10/11/ limits.py && python3 -m unittest tests.test_limits"
    session.runs(line, "FAIL: test_limit (tests.test_limits.T.test_limit)\nFAILED (failures=1)", 1)

    def packet() -> Any:
        done = passdown("wrap", "--dry-run", "--json", folder=repository.root)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    red = packet()
    assert red["tests"]["state"] == "red", "the edit stands before the tests"
    assert red["tests"]["commands"] == ["python3 -m unittest tests.test_limits"]
    assert red["verification"]["how"] == ["python3 -m unittest tests.test_limits"]
    assert red["next_action"]["command"] == "python3 -m unittest tests.test_limits"
    session.runs("python3 -m unittest tests.test_limits && sed -i s/11/12/ limits.py", "Ran 1 test in 0.1s\n\nOK", 0)
    assert packet()["tests"]["state"] == "stale", "the edit stands behind them"
