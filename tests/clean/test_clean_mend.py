"""`passdown check --mend`: exactly what is a leftover goes, whatever stands around it, and nothing is guessed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.clean.edits import LineEdit, replace_lines
from passdown.model.finding import Finding

TAKEN_OUT = {  # text, where `@` marks lines that were added; with them taken out
    "a.py": "def f(x):\n@    import pdb; pdb.set_trace()\n    return x\n",
    "b.py": "def f(x):\n    if x:\n@        print(x)\n    return x\n",
    "a.js": "function f(x) {\n  const y = x\n@  console.log('>>>', x, JSON.stringify(x))\n  return y;\n}\n",
    "b.js": "function f(x) {\n  if (x) {\n@    debugger;\n  }\n}\n",
    "a.ts": "function f(x: number) {\n  return [\n    1,\n  ];\n@  console.log(\n@    '>>>', x,\n@  );\n}\n",
    "a.go": 'package a\n\nimport (\n\t"os"\n@\t"github.com/davecgh/go-spew/spew"\n)\n\nfunc F(x int) int {\n@\tspew.Dump(x)\n\treturn x + os.Getpid()\n}\n',
    "a.rs": "pub fn f(x: i32) -> i32 {\n    let y = x;\n@    dbg!(x);\n    y\n}\n",
    "A.java": "class A {\n  int f(int x) {\n@    System.out.println(x);\n    return x;\n  }\n}\n",
    "a.kt": "fun f(x: Int): Int {\n    val y = x\n@    println(x)\n    return y\n}\n",
    "a.rb": "def f(x)\n@  binding.pry\n  x\nend\n",
    "a.php": "<?php\nfunction f($x) {\n@  var_dump($x);\n  return $x;\n}\n",
    "a.cs": "class A {\n  int F(int x) {\n@    Console.WriteLine(x);\n    return x;\n  }\n}\n",
    "a.swift": "func f(_ x: Int) -> Int {\n    let y = x\n@    print(x)\n    return y\n}\n",
    "a.sh": "f() {\n@  set -x\n  echo \"$1\"\n}\n",
    "a.c": "int f(int x) {\n@  printf(\"here\\n\");\n  return x;\n}\n",
    "a.cc": "int f(int x) {\n@  std::cout << x << std::endl;\n  return x;\n}\n",
}  # fmt: skip
BECOMES = {"b.py": "def f(x):\n    if x:\n        pass\n    return x\n"}

LEFT_ALONE = {  # the line leads on, is a value, or does something: no command takes it out
    "if.js": "function f(x) {\n  if (x)\n@    debugger;\n  return x;\n}\n",
    "else.c": "int f(int x) {\n  if (x) x = 1;\n  else\n@    printf(\"here\\n\");\n  return x;\n}\n",
    "value.rs": "pub fn f(x: i32) -> i32 {\n@    dbg!(x)\n}\n",
    "does.js": "function f(x) {\n@  console.log('here', x.pop());\n  return x;\n}\n",
    "assign.js": "function f(x) {\n@  console.log('here', y = x);\n  return x;\n}\n",
    "template.js": "function f(x) {\n@  console.log(`here ${x.pop()}`);\n  return x;\n}\n",
    "await.py": "async def f(x):\n@    print('here', await x)\n    return x\n",
    "case.py": "def f(x):\n    match x:\n@        case 1: breakpoint()\n        case _: return x\n",
    "chained.js": "const z = f(x)\n  .then(g)\n@  .then(() => { debugger; })\n",
    "continued.kt": "fun f(x: Int) =\n@    println(x)\n",
    "empty.sh": "if x; then\n@  set -x\nfi\n",
    "last.rb": "def f(x)\n@  p x\nend\n",
    "beside.js": "function f(x) {\n@  debugger; g(x);\n}\n",
}  # fmt: skip


def begin(repo: Any, texts: dict[str, str]) -> None:
    """Commit the files without the lines that are marked, then put those in."""
    for name, text in texts.items():
        repo.write(f"src/{name}", re.sub(r"(?m)^@.*\n", "", text))
    repo.commit("begin")
    for name, text in texts.items():
        repo.write(f"src/{name}", re.sub(r"(?m)^@", "", text))


def debugging(findings: Any, root: Path) -> list[Finding]:
    return [f for f in findings(root) if f.code == "temp.debug_print"]


def test_debugging_is_taken_out_in_every_language(repository: Any, findings: Any, mend: Any) -> None:
    begin(repository, TAKEN_OUT)
    found = [f for f in debugging(findings, repository.root) if f.severity == "block"]
    assert {f.where for f in found} == {f"src/{name}" for name in TAKEN_OUT}
    assert {f.where: f.fix for f in found if f.mend_kind != "command"} == {}
    names = [f.fix.rpartition(" ")[2] for f in found]
    mend(repository.root, "passdown check " + " ".join(f"--mend {name}" for name in names))
    for name, text in TAKEN_OUT.items():
        expected = BECOMES.get(name, re.sub(r"(?m)^@.*\n", "", text))
        assert (repository.root / "src" / name).read_text() == expected
    assert debugging(findings, repository.root) == []


def test_what_cannot_be_told_is_left_to_a_person(repository: Any, findings: Any) -> None:
    begin(repository, LEFT_ALONE)
    found = debugging(findings, repository.root)
    assert {f.where for f in found} == {f"src/{name}" for name in LEFT_ALONE}
    assert {f.where: f.fix for f in found if "--mend" in f.fix} == {}


SEVERAL = "def f(x):\n    breakpoint()\n    y = x\n    print(x)\n    breakpoint()\n    # z = x\n    # w = z\n    # return w\n    return y\n"


@pytest.mark.parametrize("order", [1, -1], ids=["as printed", "backwards"])
def test_several_in_a_file_go_in_any_order(order: int, repository: Any, findings: Any, mend: Any) -> None:
    repository.write("src/a.py", "def f(x):\n    y = x\n    return y\n")
    repository.commit("begin")
    repository.write("src/a.py", SEVERAL)
    commands = [f.fix for f in findings(repository.root) if f.code.startswith("temp.")][::order]
    assert len(commands) == 4
    assert len(set(commands)) == 3, "the same line twice is one command"
    for command in commands:
        mend(repository.root, command)
    assert (repository.root / "src/a.py").read_text() == "def f(x):\n    y = x\n    return y\n"


def test_a_block_that_would_be_empty_is_not(repository: Any, findings: Any, mend: Any) -> None:
    repository.write("src/a.py", "def f(x):\n    if x:\n        breakpoint()\n        breakpoint()\n    return x\n")
    found = debugging(findings, repository.root)
    mend(repository.root, found[0].fix)
    assert debugging(findings, repository.root) == []
    compile((repository.root / "src/a.py").read_text(), "a.py", "exec")


def test_line_ends_mode_and_marks_are_kept(repository: Any, findings: Any, mend: Any) -> None:
    text = b"\xef\xbb\xbfdef f(x):\r\n    breakpoint()\r\n    return '\xff'  # no UTF-8\n"
    repository.write("src/a.js", b"function f(x) {\r\n  debugger;\r\n  return x;\r\n}")
    repository.write("src/b.js", b"\xef\xbb\xbf" + "function f(x) {\n  debugger;\n  return 'ü\u202e';\n}\n".encode())
    repository.write("src/c.js", text.replace(b"def f(x):", b"function f(x) {").replace(b"breakpoint()", b"debugger;"))
    (repository.root / "src/a.js").chmod(0o750)
    for finding in debugging(findings, repository.root):
        mend(repository.root, finding.fix)
    assert (repository.root / "src/a.js").read_bytes() == b"function f(x) {\r\n  return x;\r\n}"
    assert (repository.root / "src/a.js").stat().st_mode & 0o777 == 0o750
    assert (repository.root / "src/b.js").read_bytes().startswith(b"\xef\xbb\xbffunction f(x) {\n  return")
    assert b"\xff" in (repository.root / "src/c.js").read_bytes()


def test_a_dry_run_shows_and_changes_nothing(repository: Any, passdown: Any) -> None:
    begin(repository, {"a.js": "function f(x) {\n@  console.log('>>> \x1b[31m', x);\n  return x;\n}\n"})
    before = (repository.root / "src/a.js").read_bytes()
    state = json.loads(passdown("check", "--json", folder=repository.root).stdout)
    [name] = [f["fix"].rpartition(" ")[2] for c in state["checks"] for f in c["findings"] if c["id"] == "leftovers"]
    done = passdown("check", "--mend", name, "--dry-run", folder=repository.root)
    assert (done.returncode, done.stdout.splitlines()[:2]) == (0, [b"--- a/src/a.js", b"+++ b/src/a.js"])
    assert b"-  console.log('>>> ', x);" in done.stdout
    assert (repository.root / "src/a.js").read_bytes() == before
    value = json.loads(passdown("check", "--mend", name, "--dry-run", "--json", folder=repository.root).stdout)
    assert (value["schema_version"], value["unknown"], value["files"][0]["path"]) == (1, [], "src/a.js")
    done = passdown("check", "--mend", name, folder=repository.root, CLAUDECODE="1")
    assert b"src/a.js" in done.stderr, "an agent may, too"
    assert b"debugger" not in (repository.root / "src/a.js").read_bytes()


def test_names_that_are_none(repository: Any, passdown: Any) -> None:
    assert passdown("check", "--mend", "all", folder=repository.root).returncode == 2
    assert passdown("check", "--dry-run", folder=repository.root).returncode == 2
    done = passdown("check", "--mend", "0123abcd", folder=repository.root)
    assert (done.returncode, b"nothing here is mended by it" in done.stderr) == (0, True)


def test_a_line_that_reads_otherwise_now_is_not_touched(repository: Any, findings: Any, mend: Any) -> None:
    begin(repository, {"a.js": "function f(x) {\n@  debugger;\n  return x;\n}\n"})
    [finding] = debugging(findings, repository.root)
    repository.write("src/a.js", "function f(x) {\n  debugger; // once more\n  return x;\n}\n")
    mend(repository.root, finding.fix)
    assert "once more" in (repository.root / "src/a.js").read_text()


def test_no_link_is_written_through(repository: Any, findings: Any, tmp_path: Path, passdown: Any) -> None:
    begin(repository, {"a.js": "function f(x) {\n@  debugger;\n  return x;\n}\n"})
    [finding] = debugging(findings, repository.root)
    outside = tmp_path / "outside.js"
    outside.write_bytes((repository.root / "src/a.js").read_bytes())
    (repository.root / "src/a.js").unlink()
    (repository.root / "src/a.js").symlink_to(outside)
    passdown("check", "--mend", finding.fix.rpartition(" ")[2], folder=repository.root)
    assert "debugger" in outside.read_text()


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "", "é"]), max_size=8), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_only_the_named_lines_change(lines: list[str], end: str, data: Any) -> None:
    text = "".join(f"{line}{end}" for line in lines)
    if not lines:
        assert replace_lines(text, [LineEdit(1, 1, ("a",))]) is None
        return
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    edit = LineEdit(first, last, tuple(lines[first - 1 : last]), ("new",))
    kept = [*lines[: first - 1], "new", *lines[last:]]
    assert replace_lines(text, [edit, edit]) == "".join(f"{line}{end}" for line in kept)
    wrong = LineEdit(first, last, (*edit.old[:-1], "other"))
    assert replace_lines(text, [wrong]) is None
    assert replace_lines(text, [edit, LineEdit(first, first, edit.old[:1])]) is None or (first, last) == (first, first)
