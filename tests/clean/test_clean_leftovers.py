"""Leftovers in the diff: temporary files, debugging in eleven languages, commented-out code, secrets."""

from __future__ import annotations

from typing import Any

import pytest

CLEAN = {
    "py": "def f(x):\n    return x\n", "js": "export function f(x) {\n  return x;\n}\n",
    "ts": "export function f(x: number): number {\n  return x;\n}\n", "go": "package a\n\nfunc F(x int) int {\n\treturn x\n}\n",
    "rs": "pub fn f(x: i32) -> i32 {\n    x\n}\n", "java": "class A {\n  int f(int x) {\n    return x;\n  }\n}\n",
    "kt": "fun f(x: Int): Int {\n    return x\n}\n", "rb": "def f(x)\n  x\nend\n", "php": "<?php\nfunction f($x) {\n  return $x;\n}\n",
    "cs": "class A {\n  int F(int x) {\n    return x;\n  }\n}\n", "swift": "func f(_ x: Int) -> Int {\n    return x\n}\n",
    "sh": "f() {\n  echo \"$1\"\n}\n", "c": "int f(int x) {\n  return x;\n}\n",
}  # fmt: skip

DEBUG = {  # what is put into line 2, how it is judged
    "py breakpoint": ("py", "    breakpoint()", "block"),
    "py set_trace": ("py", "    import pdb; pdb.set_trace()", "block"),
    "py bare variable": ("py", "    print(x)", "block"),
    "py here": ("py", "    print('here 2')", "block"),
    "py debug": ("py", "    print(f'DEBUG {x}')", "block"),
    "py plain": ("py", "    print('done with', x.name)", "warn"),
    "js debugger": ("js", "  debugger;", "block"),
    "js told": ("js", "  console.log('>>>', x);", "block"),
    "js bare": ("js", "  console.log(x)", "block"),
    "js plain": ("js", "  console.log('loaded ' + x.length);", "warn"),
    "ts debugger": ("ts", "  debugger", "block"),
    "go spew": ("go", "\tspew.Dump(x)", "block"),
    "go told": ("go", '\tfmt.Println("xxx", x)', "block"),
    "go plain": ("go", '\tfmt.Printf("%d items", len(y))', "warn"),
    "rust dbg": ("rs", "    dbg!(x);", "block"),
    "rust plain": ("rs", '    println!("ready {}", x);', "warn"),
    "java trace": ("java", "    e.printStackTrace();", "block"),
    "java bare": ("java", "    System.out.println(x);", "block"),
    "java plain": ("java", '    System.out.println("ready " + x);', "warn"),
    "kotlin bare": ("kt", "    println(x)", "block"),
    "kotlin plain": ("kt", '    println("ready $x")', "warn"),
    "ruby pry": ("rb", "  binding.pry", "block"),
    "ruby bare": ("rb", "  puts x", "block"),
    "ruby plain": ("rb", '  puts "ready #{x}"', "warn"),
    "php dump": ("php", "  var_dump($x);", "block"),
    "php dd": ("php", "  dd($x);", "block"),
    "php plain": ("php", "  print_r($x->list);", "warn"),
    "c# bare": ("cs", "    Console.WriteLine(x);", "block"),
    "c# plain": ("cs", '    Console.WriteLine("ready " + x);', "warn"),
    "c# break": ("cs", "    Debugger.Break();", "block"),
    "swift bare": ("swift", "    print(x)", "block"),
    "swift plain": ("swift", '    print("ready \\(x)")', "warn"),
    "shell trace": ("sh", "  set -x", "block"),
    "c trap": ("c", "  __builtin_trap();", "block"),
    "c told": ("c", '  printf("here\\n");', "block"),
    "c plain": ("c", '  fprintf(stderr, "cannot open %s\\n", name);', "warn"),
}


AT = {"go": 4, "java": 3, "cs": 3, "php": 3}
"""The line inside of the function, by extension; 2 where it is not named."""


def begin(repo: Any, extension: str, name: str = "library") -> str:
    """Write a clean file of a language and return its path."""
    path = f"src/{name}.{extension}"
    repo.write(path, CLEAN[extension])
    return path


def insert(repo: Any, path: str, line: str) -> None:
    """Put a line into a file's function."""
    lines = (repo.root / path).read_text().split("\n")
    at = AT.get(path.rpartition(".")[2], 2)
    repo.write(path, "\n".join([*lines[: at - 1], line, *lines[at - 1 :]]))


def put_all(repo: Any, table: dict[str, tuple[str, str, str]]) -> dict[str, str]:
    """Commit a clean file for each row, then all of them with their lines in. Returns path by row."""
    paths = {name: begin(repo, row[0], f"case_{number}") for number, (name, row) in enumerate(table.items())}
    repo.commit("begin")
    for name, path in paths.items():
        insert(repo, path, table[name][1])
    repo.commit("more")
    return paths


def test_debugging_in_every_language(repository: Any, findings: Any) -> None:
    paths = put_all(repository, DEBUG)
    found = [f for f in findings(repository.root, base="HEAD~1") if f.code == "temp.debug_print"]
    severities = {f.where: f.severity for f in found}
    assert {name: severities.get(path) for name, path in paths.items()} == {n: row[2] for n, row in DEBUG.items()}
    assert all(f.line == AT.get(f.where.rpartition(".")[2], 2) and f.fix for f in found)
    repository.git("revert", "-n", "HEAD")
    repository.commit("remove it")
    assert "temp.debug_print" not in {f.code for f in findings(repository.root, base="HEAD~2")}


@pytest.mark.parametrize(
    ("extension", "waiver"),
    [("py", "    breakpoint()  # handoff:allow-debug the console needs it"),
     ("js", "  debugger; // handoff:allow-debug the console needs it"),
     ("sh", "  set -x # handoff:allow-debug traces are the point")],
)  # fmt: skip
def test_a_waiver_with_a_reason_is_counted(extension: str, waiver: str, repository: Any, judge: Any) -> None:
    path = begin(repository, extension)
    repository.commit("begin")
    insert(repository, path, waiver)
    repository.commit("more")
    state = judge(repository.root, base="HEAD~1")
    assert state.clean
    assert state.counts["waivers"] == 1


def test_a_waiver_without_a_reason_or_in_a_string_is_none(repository: Any, judge: Any) -> None:
    path = begin(repository, "py")
    repository.commit("begin")
    insert(repository, path, "    breakpoint()  # handoff:allow-debug")
    insert(repository, path, "    breakpoint(); y = 'handoff:allow-debug because'")
    repository.commit("more")
    state = judge(repository.root, base="HEAD~1")
    assert sum(f.code == "temp.debug_print" for check in state.checks for f in check.findings) == 2


FOCUS = {
    "it.only": ("src/a.test.js", "it.only('works', () => {});\n"),
    "fdescribe": ("spec/a.spec.ts", "fdescribe('a', () => {});\n"),
    "pytest only": ("tests/test_a.py", "import pytest\n\n\n@pytest.mark.only\ndef test_a():\n    pass\n"),
    "rspec fit": ("spec/a_spec.rb", "describe A do\n  fit 'works' do\n  end\nend\n"),
}


def test_focused_tests_block(repository: Any, findings: Any) -> None:
    for path, text in FOCUS.values():
        repository.write(path, text)
    found = {f.where: f.severity for f in findings(repository.root) if f.code == "temp.focused_test"}
    assert found == {path: "block" for path, _ in FOCUS.values()}


SKIPS = {
    "pytest": (
        "tests/test_a.py",
        "def test_a():\n    pass\n",
        "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    pass\n",
    ),
    "jest": ("src/a.test.js", "it('a', f);\n", "it.skip('a', f);\n"),
    "go": ("a_test.go", "package a\n", 'package a\n\nfunc TestA(t *testing.T) {\n\tt.Skip("later")\n}\n'),
    "rust": ("tests/a.rs", "fn a() {}\n", "#[ignore]\nfn a() {}\n"),
    "junit": ("src/test/ATest.java", "class ATest {}\n", "@Disabled\nclass ATest {}\n"),
}


def test_a_skip_in_a_test_that_ran_warns(repository: Any, findings: Any) -> None:
    for path, before, _ in SKIPS.values():
        repository.write(path, before)
    repository.commit("begin")
    for path, _, after in SKIPS.values():
        repository.write(path, after)
    found = {f.where: f.severity for f in findings(repository.root) if f.code == "test.skipped_added"}
    assert found == {path: "warn" for path, _, _ in SKIPS.values()}


COMMENTED = {
    "py block": ("py", "    # y = x + 1\n    # if y:\n    #     return y\n    # return g(y)", "block"),
    "py one": ("py", "    # y = compute(x)", "warn"),
    "js block": ("js", "  // const y = x + 1;\n  // if (y > 2) {\n  //   return y;\n  // }", "block"),
    "js one": ("js", "  // const y = compute(x);", "warn"),
    "js in a block": ("js", "  /*\n  const y = x + 1;\n  foo(y);\n  return y;\n  */", "block"),
    "go": ("go", "\t// y := x + 1\n\t// if y > 2 {\n\t// \treturn y\n\t// }", "block"),
    "rust": ("rs", "    // let y = x + 1;\n    // if y > 2 {\n    //     return y;\n    // }", "block"),
    "java": ("java", "    // int y = x + 1;\n    // foo(y);\n    // return y;", "block"),
    "ruby": ("rb", "  # y = x + 1\n  # foo(y)\n  # return y if y > 2", "block"),
    "shell": ("sh", "  # y=$1\n  # run_it(y)\n  # z=$(cat y)", "block"),
}


def test_commented_out_code(repository: Any, findings: Any) -> None:
    paths = put_all(repository, COMMENTED)
    found = {f.where: f.severity for f in findings(repository.root, base="HEAD~1") if f.code == "temp.commented_code"}
    assert {name: found.get(path) for name, path in paths.items()} == {n: row[2] for n, row in COMMENTED.items()}


def test_a_function_made_a_comment_blocks_whatever_its_size(repository: Any, findings: Any) -> None:
    repository.write("src/a.py", "def f(x):\n    total = x + 1\n    return total\n")
    repository.commit("begin")
    repository.write("src/a.py", "def f(x):\n    # total = x + 1\n    return x\n")
    found = [f for f in findings(repository.root) if f.code == "temp.commented_code"]
    assert [(f.severity, f.line) for f in found] == [("block", 2)]


FILES = {
    "notes.bak": "block", "core": "block", "src/a.py.orig": "block", "x.rej": "block", "nohup.out": "block",
    "tmp/x.txt": "block", "scratch/a.py": "block", "a.out": "block", "out.txt": "block", "untitled.md": "block",
    "src/__pycache__/a.pyc": "block", "foo.py": "block", "trace.log": "block", ".DS_Store": "block",
}  # fmt: skip


@pytest.mark.parametrize("committed", [False, True])
def test_temporary_files_block_until_removed(committed: bool, repository: Any, findings: Any, mend: Any) -> None:
    base = repository.git("rev-parse", "HEAD")
    for path in FILES:
        repository.write(path, "x\n")
        if committed:
            repository.git("add", "-f", path)
    if committed:
        repository.commit("oops")
    found = [f for f in findings(repository.root, base=base) if f.code == "temp.file"]
    assert {f.where: f.severity for f in found} == FILES
    for finding in found:
        mend(repository.root, finding.fix)
    assert not {"temp.file", "tree.uncommitted"} & {f.code for f in findings(repository.root, base=base)}


def test_files_that_may_be_named_so(repository: Any, findings: Any) -> None:
    repository.write("passdown.toml", 'allow-files = ["logs/*.log"]\n')
    repository.write("scope_contract.json", '{"task_id": "T-1", "goal": "g", "allowed_files": ["out.txt"]}')
    repository.write("old.bak", "was here before")
    repository.commit("begin")
    for path in ("logs/x.log", "out.txt", "tests/fixtures/a.log", "src/debug.py", "src/core/x.py", "src/tmp/.gitkeep"):
        repository.write(path, "X = 1\n")
    repository.write("old.bak", "and still is")
    assert "temp.file" not in {f.code for f in findings(repository.root)}


def test_empty_source_and_large_binary_warn(repository: Any, findings: Any) -> None:
    repository.write("src/empty.py", "")
    repository.write("src/pkg/__init__.py", "")
    repository.write("data.bin", b"\0" * 5_100_000)
    found = {(f.code, f.severity, f.where) for f in findings(repository.root) if f.code.startswith("temp.")}
    assert found == {("temp.empty_file", "warn", "src/empty.py"), ("temp.large_blob", "warn", "data.bin")}


def test_a_secret_is_told_by_kind_and_line_never_by_value(repository: Any, judge: Any) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    repository.write("src/a.py", f"A = 1\nTOKEN = '{secret}'\n")
    state = judge(repository.root)
    found = [f for check in state.checks for f in check.findings if f.code == "secret.added"]
    assert [(f.severity, f.where, f.line) for f in found] == [("block", "src/a.py", 2)]
    assert secret[8:] not in repr(state)


def test_a_made_up_password_in_a_test_warns(repository: Any, findings: Any) -> None:
    word = "pass" + "word"
    repository.write("tests/test_a.py", f"def test_a():\n    login({word}='hunter2-Qx81')\n")
    assert {f.severity for f in findings(repository.root) if f.code == "secret.added"} == {"warn"}


def test_generated_vendored_and_moved_lines_do_not_count(repository: Any, judge: Any) -> None:
    bad = "function f(x) {\n  debugger;\n}\n"
    repository.write("src/old.js", bad)
    repository.write(".gitattributes", "gen/*.js linguist-generated\n")
    repository.commit("begin")
    repository.git("mv", "src/old.js", "src/new.js")
    for path in ("vendor/a.js", "src/a.min.js", "gen/x.js", "node_modules/a/b.js"):
        repository.write(path, bad)
    repository.write("src/pb.js", "// Code generated by protoc. DO NOT EDIT.\n" + bad)
    repository.commit("more")
    state = judge(repository.root, base="HEAD~1")
    assert state.clean, state.blocking
    assert state.counts["skipped_generated"] == 4


def test_house_style_is_respected(repository: Any, findings: Any) -> None:
    repository.write("src/a.py", "def f(x):\n" + "    print('a', 1)\n" * 3)
    repository.commit("begin")
    repository.write("src/a.py", "def f(x):\n" + "    print('a', 1)\n" * 3 + "    print(x)\n")
    assert "temp.debug_print" not in {f.code for f in findings(repository.root)}


def test_a_file_that_is_too_large_is_named_and_strict_blocks(repository: Any, judge: Any) -> None:
    repository.write("src/big.py", "A = 1\n" * 200_000)
    repository.commit("big")
    state = judge(repository.root, base="HEAD~1")
    assert state.clean
    assert state.checks[2].status == "unknown"
    assert judge(repository.root, base="HEAD~1", strict=True).blocking == ("leftovers.not_scanned",)


def test_configured_names(repository: Any, findings: Any) -> None:
    repository.write("passdown.toml", 'debug-names = ["TRACE_IT"]\n')
    path = begin(repository, "c")
    insert(repository, path, "  TRACE_IT(x);")
    assert "temp.debug_print" in {f.code for f in findings(repository.root)}
