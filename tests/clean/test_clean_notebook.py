"""Notebooks: their cells' source counts, not their JSON."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.clean.notebook import read_notebook


def book(*cells: str, language: str = "python", **more: Any) -> str:
    """A notebook as Jupyter writes it."""
    rows = [
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": cell.splitlines(keepends=True)}
        | more
        for cell in cells
    ]  # fmt: skip
    metadata = {"language_info": {"name": language}}
    return json.dumps({"cells": rows, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def test_each_line_keeps_its_number() -> None:
    text = book("%matplotlib inline\nx = 1\nprint('ä', x)", "%%bash\nset -x", "!ls\ny = '''a\nb'''")
    code, language = read_notebook(text)
    assert language is not None and language.name == "python"
    lines, written = code.split("\n"), text.split("\n")
    assert len(lines) == len(written)
    assert [line for line in lines if line] == ["x = 1", "print('ä', x)", "y = '''a", "b'''"]
    assert all(json.dumps(line)[1:-1] in written[n] for n, line in enumerate(lines) if line)


def test_what_is_found_in_a_notebook(repository: Any, findings: Any) -> None:
    repository.write("analysis.ipynb", book("x = 1\nprint(x)"))
    repository.commit("begin")
    bad = "x = 1\nprint(x)\nbreakpoint()\n# y = x + 1\n# z = y * 2\n# print(y, z)\nx"
    image = {"outputs": [{"data": {"image/png": "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 40}, "output_type": "display_data"}]}
    repository.write("analysis.ipynb", book(bad, **image))
    found = {(f.code, f.severity, f.line) for f in findings(repository.root) if f.where == "analysis.ipynb"}
    lines = (repository.root / "analysis.ipynb").read_text().split("\n")
    at = {word: next(n for n, line in enumerate(lines, 1) if word in line) for word in ("breakpoint", "# y")}
    assert {row for row in found if row[0].startswith(("temp.", "secret."))} == {
        ("temp.debug_print", "block", at["breakpoint"]), ("temp.commented_code", "block", at["# y"]),
    }  # fmt: skip


def test_code_of_a_notebook_made_a_comment(repository: Any, findings: Any) -> None:
    repository.write("a.ipynb", book("total = sum(rows)\nshow(total)"))
    repository.commit("begin")
    repository.write("a.ipynb", book("# total = sum(rows)\nshow(1)"))
    assert ("temp.commented_code", "block") in {(f.code, f.severity) for f in findings(repository.root)}


def test_prose_and_other_languages_are_left_alone(repository: Any, judge: Any) -> None:
    repository.write("a.ipynb", book("# Load the rows, newest first\nrows = load()\nprint(rows)"))
    repository.write("r.ipynb", book("breakpoint()\n# x <- 1", language="R"))
    repository.write("minified.ipynb", json.dumps(json.loads(book("breakpoint()"))))
    repository.write("broken.ipynb", '{"cells": [')
    repository.commit("notebooks")
    assert judge(repository.root, base="HEAD~1").clean


@settings(deadline=None, max_examples=100)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8) | st.sampled_from(["code", "cells"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cells", "source", "cell_type", "metadata", "language_info", "name"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_can_be_read(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=1), json.dumps(value)[1:]):
        code, _ = read_notebook(text)
        assert code == "" or code.count("\n") == text.count("\n")
