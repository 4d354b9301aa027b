"""Leftovers, each made in a real repository and taken out again: by the printed command, or as a person would."""

from __future__ import annotations

import os
from typing import Any

import pytest

BEGUN = "def f(x):\n    y = x + 1\n    return y\n"
OFFERED = r"passdown check --mend [0-9a-f]{8}"


def edit(repo: Any, path: str, before: str, after: str) -> None:
    """Commit a file, and change it."""
    repo.write(path, before)
    repo.commit(f"add {path}")
    repo.write(path, after)


def python(repo: Any, line: str) -> None:
    """Put a line into a function of Python."""
    edit(repo, "src/a.py", BEGUN, BEGUN.replace("    y =", f"{line}\n    y =", 1))


def clean_python(repo: Any) -> None:
    repo.write("src/a.py", BEGUN)


def append_waiver(repo: Any) -> None:
    lines = (repo.root / "src/a.py").read_text().split("\n")
    lines[1] += "  # handoff:allow-debug the console shows it"
    repo.write("src/a.py", "\n".join(lines))


# --- files -------------------------------------------------------------------------------------------------------


@pytest.mark.situation("temp.file", "block", where="notes.bak")
def temporary_file(repo: Any) -> None:
    repo.write("notes.bak", "x\n")


@pytest.mark.situation("temp.file", "block", where="tmp/a b'c.txt")
def file_in_a_temporary_folder(repo: Any) -> None:
    repo.write("tmp/a b'c.txt", "x\n")


@pytest.mark.situation("temp.file", "block", where="src/a_LOCAL_4711.py")
def left_by_a_merge_tool(repo: Any) -> None:
    repo.write("src/a_LOCAL_4711.py", "x = 1\n")


@pytest.mark.situation("temp.file", "block", where="nohup.out", base="HEAD~1")
def committed_temporary_file(repo: Any) -> None:
    repo.write("nohup.out", "x\n")
    repo.commit("oops")


@pytest.mark.situation("temp.ignored", "warn", where="out.txt")
def temporary_file_that_git_ignores(repo: Any, claude_session: Any) -> None:
    repo.write(".gitignore", "*.txt\n__pycache__/\n*.bak\n")
    repo.commit("ignore")
    claude_session(repo.root).human("Limit the export.")
    repo.write("out.txt", "x\n")
    repo.write("src/__pycache__/a.cpython-313.pyc", "remade by itself\n")
    old = repo.write("old.bak", "of before\n")
    os.utime(old, (1_700_000_000, 1_700_000_000))


@pytest.mark.situation("temp.empty_file", "warn", kind="choice", by=r"rm -- \S+", where="src/new.py")
def empty_source(repo: Any) -> None:
    repo.write("src/new.py", "")


@pytest.mark.situation("temp.large_blob", "warn", kind="choice", by=r"rm -- \S+", where="data.bin")
def large_binary(repo: Any) -> None:
    repo.write("data.bin", b"\0" * 5_100_000)


def mark_generated(repo: Any) -> None:
    repo.write(".gitattributes", "src/big.py linguist-generated\n")


@pytest.mark.situation("leftovers.not_scanned", "warn", kind="choice", by=mark_generated, where="src/big.py")
def too_large_to_look_into(repo: Any) -> None:
    repo.write("src/big.py", "A = 1\n" * 200_000)


# --- secrets -----------------------------------------------------------------------------------------------------


def read_it_from_the_environment(repo: Any) -> None:
    repo.write("src/a.py", "import os\n\nTOKEN = os.environ['EXPORT']\n")


@pytest.mark.situation("secret.added", "block", kind="edit", by=read_it_from_the_environment, where="src/a.py")
def secret(repo: Any) -> None:
    repo.write("src/a.py", "TOKEN = '" + "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'\n")


def ask_for_it(repo: Any) -> None:
    repo.write("tests/test_a.py", "def test_a(account):\n    login(account)\n")


@pytest.mark.situation("secret.added", "warn", kind="edit", by=ask_for_it, where="tests/test_a.py")
def made_up_secret(repo: Any) -> None:
    repo.write("tests/test_a.py", "def test_a():\n    login(" + "pass" + "word='hunter2-Qx81')\n")


# --- debugging ---------------------------------------------------------------------------------------------------


@pytest.mark.situation("temp.debug_print", "block", where="src/a.py")
def breakpoint_left(repo: Any) -> None:
    python(repo, "    breakpoint()  # why is it None?")


@pytest.mark.situation("temp.debug_print", "block", where="src/a.py")
def print_over_several_lines(repo: Any) -> None:
    python(repo, "    print(\n        x,\n    )")


@pytest.mark.situation("temp.debug_print", "block", kind="edit", by=clean_python, where="src/a.py")
def print_that_does_something(repo: Any) -> None:
    python(repo, "    print('here', x.pop())")


@pytest.mark.situation("temp.debug_print", "block", kind="edit", by=clean_python, where="src/a.py")
def breakpoint_behind_a_condition(repo: Any) -> None:
    python(repo, "    if x: breakpoint()")


@pytest.mark.situation("temp.debug_print", "block", kind="edit", by=clean_python, where="src/a.py")
def breakpoint_beside_other_code(repo: Any) -> None:
    python(repo, "    z = 1; breakpoint()")


@pytest.mark.situation("temp.debug_print", "warn", kind="choice", by=OFFERED, where="src/a.py")
def prints_that_are_leftovers(repo: Any) -> None:
    python(repo, "    print('ready with', x.name)\n    print('and with', x.total)")


@pytest.mark.situation("temp.debug_print", "warn", kind="choice", by=append_waiver, where="src/a.py")
def print_that_is_meant(repo: Any) -> None:
    python(repo, "    print('ready with', x.name)")


NOTEBOOK = '{"cells": [{"cell_type": "code", "source": [\n"x = 1\\n",\n"%s\\n"\n]}]}\n'


def clean_notebook(repo: Any) -> None:
    repo.write("a.ipynb", NOTEBOOK % "y = 2")


@pytest.mark.situation("temp.debug_print", "block", kind="edit", by=clean_notebook, where="a.ipynb")
def breakpoint_in_a_notebook(repo: Any) -> None:
    edit(repo, "a.ipynb", NOTEBOOK % "y = 2", NOTEBOOK % "breakpoint()")


def handle_it(repo: Any) -> None:
    repo.write("src/A.java", "class A {\n  void f(Exception e) {\n    log.error(e);\n  }\n}\n")


@pytest.mark.situation("temp.debug_print", "block", kind="edit", by=handle_it, where="src/A.java")
def stack_trace_where_an_exception_is_caught(repo: Any) -> None:
    text = "class A {\n  void f(Exception e) {\n  }\n}\n"
    edit(repo, "src/A.java", text, text.replace("e) {\n", "e) {\n    e.printStackTrace();\n"))


@pytest.mark.situation("temp.focused_test", "block", where="src/a.test.js")
def focused_test(repo: Any) -> None:
    edit(repo, "src/a.test.js", "it('works', () => {});\n", "it.only('works', () => {});\n")


@pytest.mark.situation("test.skipped_added", "warn", kind="choice", by=append_waiver, where="src/a.py")
def skip_put_on_a_test_that_ran(repo: Any) -> None:
    edit(repo, "src/a.py", "import pytest\n\ndef test_a():\n    pass\n", "import pytest\n@pytest.mark.skip\ndef test_a():\n    pass\n")  # fmt: skip


# --- commented out -----------------------------------------------------------------------------------------------


@pytest.mark.situation("temp.commented_code", "block", where="src/a.py")
def block_of_code_in_comments(repo: Any) -> None:
    python(repo, "    # y = x + 1\n    # if y:\n    #     return y\n    # return g(y)")


@pytest.mark.situation("temp.commented_code", "warn", where="src/a.py")
def line_of_code_in_a_comment(repo: Any) -> None:
    python(repo, "    # y = compute(x)")


@pytest.mark.situation("temp.commented_code", "block", where="src/a.py")
def code_that_became_a_comment(repo: Any) -> None:
    edit(repo, "src/a.py", BEGUN, BEGUN.replace("    y = x + 1", "    # y = x + 1\n    y = x"))


@pytest.mark.situation("temp.commented_code", "block", where="src/a.js")
def code_in_a_block_comment(repo: Any) -> None:
    text = "export function f(x) {\n  return x;\n}\n"
    edit(repo, "src/a.js", text, text.replace("{\n", "{\n  /*\n  const y = x + 1;\n  foo(y);\n  return y;\n  */\n", 1))


def test_situation(situation: Any, settle: Any) -> None:
    settle(situation)


def test_ignored_temporary_files_are_named_and_bounded(
    repository: Any, findings: Any, judge: Any, mend: Any, claude_session: Any
) -> None:  # fmt: skip
    repository.write(".gitignore", "*.log\ntmp/\n__pycache__/\nkept.log\n")
    repository.write("passdown.toml", 'allow-files = ["kept.log"]\n')
    repository.commit("ignore")
    for number in range(30):
        repository.write(f"run-{number:02}.log", "x\n")
    for path in ("tmp/x", "kept.log", "src/__pycache__/a.pyc"):
        repository.write(path, "x\n")
    assert "temp.ignored" not in {f.code for f in findings(repository.root)}, "nobody knows when the work began"
    claude_session(repository.root).human("Limit the export.")
    [found] = [f for f in findings(repository.root) if f.code == "temp.ignored"]
    assert found.detail.startswith("31 temporary files that git ignores")
    assert found.detail.endswith("run-09.log and 21 more")
    assert judge(repository.root).counts["ignored_files"] == 33
    mend(repository.root, found.fix)
    [found] = [f for f in findings(repository.root) if f.code == "temp.ignored"]
    mend(repository.root, found.fix)
    assert "temp.ignored" not in {f.code for f in findings(repository.root)}
    assert (repository.root / "kept.log").exists()
