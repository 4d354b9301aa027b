"""The page of damage: each kind has its tests, and each test that is named is there."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs/damage.md"
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)(?:\[([\w-]+)\])?`")


def rows() -> list[list[str]]:
    """Return the cells of every row of the page's tables."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if not line.startswith("| kind |")
    ]


@lru_cache
def functions(name: str) -> dict[str, set[str]]:
    """Return the tests in a file, each with the words that may name one of its cases."""
    tree = ast.parse((TESTS / name).read_text("utf-8"))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            found[node.name] = (
                words if any("parametrize" in ast.unparse(part) for part in node.decorator_list) else set()
            )
    return found


def test_every_kind_says_where_it_was_seen_and_what_is_done() -> None:
    assert len(rows()) > 80
    kinds = [cells[0] for cells in rows()]
    assert len(kinds) == len(set(kinds))
    for cells in rows():
        assert len(cells) == 4, cells
        assert all(cells), cells


def test_every_kind_has_a_test_that_is_there() -> None:
    for kind, _, _, tests in rows():
        named = NAMED.findall(tests)
        assert named, kind
        assert len(named) == tests.count("::"), f"{kind}: a test is named in another way"
        for file, test, case in named:
            assert test in functions(file), f"{kind}: {file} has no {test}"
            assert not case or case in functions(file)[test], f"{kind}: {test} has no case {case}"


def test_what_the_page_says_of_its_limits_is_so() -> None:
    from passdown.agents import document
    from passdown.agents.opencode import rows as exports
    from passdown.io import compressed, jsonl, log

    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"a line over {jsonl.MAX_LINE >> 20} MB" in text
    assert f"a document over {document.MAX_DOCUMENT >> 20} MB ({exports.MAX_DOCUMENT >> 30} GB" in text
    assert f"first line over {log.HEAD >> 10} KB" in text
    assert f"a window over {(1 << compressed._WINDOW) >> 20} MB" in text
