"""Edits of Python text: those without harm keep the tree, the others change it, all of them parse."""

from __future__ import annotations

import ast
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.data.perturb.hunks import Changed, hunks_of, undone
from passdown.data.perturb.python_edits import otherwise, parsed, reformat, rename_local, same_meaning
from passdown.data.perturb.scene import MemoryBlobs, lines_of
from passdown.data.perturb.table import perturb
from passdown.data.records import FileState, Perturbed, Reject, Snapshot
from passdown.data.replay.snapshot import snapshot_id

SEEDS = range(8)


def renamed(text: str, seed: int = 0) -> Any:
    return rename_local(text, random.Random(seed))


def test_a_local_variable_is_renamed_wherever_it_stands() -> None:
    made = renamed("def f(a):\n    total = a\n    total += 1  # total\n    return total\n")
    assert made.text == "def f(a):\n    total_value = a\n    total_value += 1  # total\n    return total_value\n"
    assert (made.function, made.old, made.new) == ("f", "total", "total_value")


@pytest.mark.parametrize(
    "body",
    [
        "def f(a):\n    return a\n",
        "def f():\n    x = 1\n    return locals()\n",
        "def f():\n    x = 1\n    def g():\n        return x\n    return g\n",
        "def f():\n    global x\n    x = 1\n",
        "def f(n):\n    x = n\n    return f'{x}'\n",
        "def f():\n    try:\n        pass\n    except ValueError as x:\n        x = None\n",
        "def f():\n    import os as x\n    x = 1\n    return x\n",
        "def f(:\n",
        "def f():\n    é = 1\n    return é\n",
    ],
)
def test_what_cannot_be_renamed_for_certain_is_left(body: str) -> None:
    assert all(renamed(body, seed) is None for seed in SEEDS)


def test_a_name_that_is_taken_is_not_used() -> None:
    made = renamed("x_value = 0\ndef f():\n    x = 1\n    return x + x_value\n")
    assert made.new == "x_found"


def test_lines_end_where_python_ends_them() -> None:
    text = "A = 1\x0c\n\ndef f():\r\n    x = 'a\u2028b'\r\n    return x\r\n"
    assert "".join(lines_of(text)) == text
    assert len(lines_of(text)) == 5
    made = reformat(text, random.Random(1))
    assert made is not None
    assert same_meaning(made, text)


def test_a_layout_never_changes_a_docstring_or_a_decorated_function() -> None:
    text = '"""def f():"""\n\n@property\ndef g():\n    pass\n'
    made = reformat(text, random.Random(1))
    assert made == text.rstrip("\n") + "\n\n# end of module\n"


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("    return a == b\n", "    return a != b\n"),
        ("    return a < b\n", "    return a <= b\n"),
        ("    limit = 10\n", "    limit = 11\n"),
        ("    a = min(a, b)  # min\n", "    a = max(a, b)  # min\n"),
        ("    return a\n", "    return not (a)\n"),
        ("    call(a)\n", "    pass\n"),
    ],
)
def test_lines_are_written_otherwise(line: str, other: str) -> None:
    whole = f"def f(a, b):\n{line}"
    assert otherwise([line], whole, 1) == [other]


def test_what_has_no_other_way_is_left() -> None:
    assert otherwise(["import os\n"], "import os\n", 0) is None
    assert otherwise(["\n"], "\n", 0) is None


LINES = st.lists(st.sampled_from(["a\n", "b\n", "    c\n", "\n", "d"]), max_size=10)


@settings(deadline=None, max_examples=100)
@given(base=LINES, now=LINES)
def test_all_changes_taken_back_give_the_base(base: list[str], now: list[str]) -> None:
    file = Changed("x", base, now, hunks_of(base, now))
    assert undone(file, file.hunks) == "".join(base)
    assert undone(file, ()) == "".join(now)


NAMES = st.sampled_from(["a", "b", "total", "item"])
STATEMENTS = st.one_of(
    st.builds(lambda name, other: f"    {name} = {other}\n", NAMES, NAMES),
    st.builds(lambda name: f"    for {name} in range(3):\n        print({name})\n", NAMES),
    st.builds(lambda name: f"    {name} = [{name} for {name} in (1, 2)]\n", NAMES),
    st.builds(lambda name: f"    with open('x') as {name}:\n        pass\n", NAMES),
    st.builds(lambda name: f"    print(f'{{{name}}}')\n", NAMES),
)


@settings(deadline=None, max_examples=100)
@given(body=st.lists(STATEMENTS, min_size=1, max_size=6), seed=st.integers(0, 50))
def test_harmless_edits_keep_the_tree(body: list[str], seed: int) -> None:
    text = "def f(a):\n" + "".join(body) + "    return a\n"
    made = rename_local(text, random.Random(seed))
    if made is not None:
        back = parsed(made.text)
        assert back is not None
        names = [node for node in ast.walk(back) if isinstance(node, ast.Name) and node.id == made.new]
        assert names
        for node in names:
            node.id = made.old
        assert ast.dump(back) == ast.dump(ast.parse(text))
    laid = reformat(text, random.Random(seed))
    assert laid is not None
    assert same_meaning(laid, text)


def test_files_that_are_no_text_are_left_alone(work: Any) -> None:
    blobs = MemoryBlobs()
    delta = (FileState(path="logo.png", blob=blobs.put(b"\x89PNG\0\xff")), FileState(path="gone.py"))
    snapshot = Snapshot(snapshot_id=snapshot_id(list(delta), []), delta=delta)
    base = {"logo.png": b"\x89PNG\0\0", "gone.py": b"x = 1\n"}
    for name in ("overwrite_file_section", "parallel_edit", "conflict_hunk", "half_merge", "two_alternatives"):
        made = perturb([name], snapshot, work.views["structured"], 1, blobs=blobs, base=base)
        assert isinstance(made, Reject)
    moved = perturb(["moved_file"], snapshot, work.views["structured"], 1, blobs=blobs, base=base)
    assert isinstance(moved, Perturbed)
    assert moved.snapshot is not None
    assert {state.path for state in moved.snapshot.delta if not state.blob} == {"gone.py", "logo.png"}
    unknown = perturb(["half_merge"], work.snapshot, work.views["structured"], 1, blobs=work.blobs)
    assert isinstance(unknown, Reject)
    assert unknown.reason == "half_merge: the base commit's files are not known"
