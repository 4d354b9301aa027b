"""The rules on comments and debug lines against 329 hand-labelled ones.

They were labelled before the rules were tuned, and tuned on one half. The first look at the other half gave, for comments,
a precision of 0.97 and a recall of 0.90 (34 of 38), for debug lines 1.0 and 0.98. Parsing the same comments with a grammar
of each language (tree-sitter) gave 0.99 and 0.91, so that the lexer stays.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from passdown.clean.commented import commented_findings
from passdown.clean.content import Source
from passdown.clean.debug import debug_findings
from passdown.clean.edits import Edits
from passdown.repository.added_lines import FileLines

LABELS = Path(__file__).parents[1] / "labels" / "leftovers.tsv"
AROUND = {
    "py": ("def f(x):\n", "\n    return x\n"), "js": ("export function f(x) {\n", "\n  return x;\n}\n"),
    "ts": ("export function f(x: A): A {\n", "\n  return x;\n}\n"), "go": ("package a\n\nfunc F() {\n", "\n\treturn\n}\n"),
    "rs": ("pub fn f() {\n", "\n}\n"), "java": ("class A {\n  void f() {\n", "\n  }\n}\n"),
    "kt": ("fun f() {\n", "\n}\n"), "swift": ("func f() {\n", "\n}\n"), "c": ("void f(int x) {\n", "\n}\n"),
    "cpp": ("void f(int x) {\n", "\n}\n"), "cs": ("class A {\n  void F() {\n", "\n  }\n}\n"),
    "php": ("<?php\nfunction f($x) {\n", "\n}\n"), "rb": ("def f(x)\n", "\nend\n"), "sh": ("f() {\n", "\n}\n"),
}  # fmt: skip


class Label(NamedTuple):
    kind: str
    extension: str
    label: str
    text: str


def labels() -> list[Label]:
    rows = [line.split("\t") for line in LABELS.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert rows[0] == list(Label._fields)
    return [Label(*row[:3], json.loads(row[3])) for row in rows[1:]]


def judged(label: Label) -> str:
    """How the rules judge a label's text inside a function: block, warn or none."""
    before, after = AROUND[label.extension]
    text = before + label.text + after
    first = before.count("\n") + 1
    added = frozenset(range(first, first + label.text.count("\n") + 1))
    source = Source(FileLines(f"src/library.{label.extension}", text, added), frozenset())
    if label.kind == "comment":
        found = [f.severity for f in commented_findings([source], Edits())]
    else:
        found = [f.severity for f in debug_findings([source], Path("/nowhere"), lambda paths: {}, (), Edits())]
    return "block" if "block" in found else "warn" if found else "none"


def test_labels_are_well_formed() -> None:
    rows = labels()
    assert len(rows) >= 300
    assert len(set(rows)) == len(rows)
    assert len({row.extension for row in rows}) >= 13


@pytest.mark.parametrize("kind", ["comment", "debug"])
def test_precision_and_recall(kind: str) -> None:
    rows = [row for row in labels() if row.kind == kind]
    wanted = {"code", "block", "warn"}
    said = {row: judged(row) != "none" for row in rows}
    right = sum(said[row] for row in rows if row.label in wanted)
    wrong = [row for row in rows if said[row] and row.label not in wanted]
    missed = [row for row in rows if not said[row] and row.label in wanted]
    assert right / (right + len(wrong)) >= 0.97, wrong
    assert right / (right + len(missed)) >= 0.9, missed


def test_blocks_are_right() -> None:
    """What blocks is never prose, and never output that may be meant."""
    assert [row for row in labels() if judged(row) == "block" and row.label not in ("code", "block")] == []
    debug = [row for row in labels() if row.label == "block"]
    assert sum(judged(row) == "block" for row in debug) >= 0.9 * len(debug), [r for r in debug if judged(r) != "block"]
