"""What must not block: prints, comments, strings and fixtures as people write them, in six languages and some more."""

from __future__ import annotations

from typing import Any

import pytest

PYTHON = [
    "import logging\nlog = logging.getLogger(__name__)\n\n\ndef f(x):\n    log.debug('here %s', x)\n",
    "import sys\n\n\ndef f(x):\n    print('no such file', file=sys.stderr)\n",
    "def main():\n    print('hello')\n    print(f'{1} items')\n\n\nif __name__ == '__main__':\n    main()\n",
    "TEXT = '''\nbreakpoint()\nimport pdb; pdb.set_trace()\n# x = 1\n'''\n",
    "def f(x):\n    # The caller holds the lock, so that nobody else writes here;\n    # see the note in README for why we return early.\n    return x\n",
    "def f(x):\n    # return early\n    return x  # type: ignore\n",
    "# type: ignore\n# noqa: E501\nX = 1\n# pragma: no cover\n",
    "# Copyright 2026 The authors\n# Licensed under the Apache License, Version 2.0 (the \"License\");\n# you may not use this file except in compliance with it.\nX = 1\n",
    "def f(x):\n    # Example:\n    #   y = f(1)\n    #   z = f(y)\n    #   assert z\n    return x\n",
    "def f(x):\n    # TODO: x = compute(x) once the cache is there\n    return x\n",
    "class Breakpoint:\n    def set(self, line):\n        self.breakpoint = line\n        return self.breakpoint\n",
    "def f(x):\n    # one, two and three are the names of the columns\n    # and the last one is a total\n    return x.columns\n",
    "def report(rows):\n    for row in rows:\n        print(row.name, row.total)\n",
    "#!/usr/bin/env python3\nx = 1\nprint(x)\n",
]  # fmt: skip
JAVASCRIPT = [
    "export function f(x) {\n  console.error(x);\n  console.warn('here', x);\n  return x;\n}\n",
    "const s = 'debugger; console.log(x)';\nexport default s;\n",
    "const t = `debugger\n// const a = 1;\n// foo(a);\n// bar(a);\n`;\nexport default t;\n",
    "// The debugger statement is not allowed here, use the inspector instead;\n// it is faster, too.\nexport const a = 1;\n",
    "/**\n * Adds two numbers.\n * @example\n * const x = add(1, 2);\n * console.log(x);\n */\nexport const add = (a, b) => a + b;\n",
    "// eslint-disable-next-line no-console\nconsole.info('ready');\n",
    "import { test } from 'x';\ntest('only the first one counts', () => {\n  expect(model.fit(1)).toBe(1);\n});\n",
    "const url = 'http://example.com//path'; // see https://example.com/a;b\nexport default url;\n",
    "const re = /[/'\"]debugger;/g;\nexport const strip = (s) => s.replace(re, '');\n",
    "// Usage:\n//   const x = load('a');\n//   x.run();\n//   x.close();\nexport const load = (n) => n;\n",
    "export function log(x) {\n  console.log('loaded ' + x.length + ' rows');\n}\n",
    "// If the user is missing, we return a 404 (see the router);\n// otherwise the session is renewed.\nexport const b = 2;\n",
]  # fmt: skip
GO = [
    "package a\n\nimport \"fmt\"\n\nfunc F(x int) string {\n\treturn fmt.Sprintf(\"here %d\", x)\n}\n",
    "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tx := 1\n\tfmt.Println(x)\n}\n",
    "package a\n\n// F returns the sum of x and y; it never fails.\n// The caller must hold the lock.\nfunc F(x, y int) int {\n\treturn x + y\n}\n",
    "package a\n\n//go:generate stringer -type=Kind\n//nolint:errcheck\nvar X = 1\n",
    "package a\n\nvar text = `\nspew.Dump(x)\n// x := 1\n// y := 2\n`\n",
    "package a\n\nimport \"os\"\nimport \"fmt\"\n\nfunc F() {\n\tfmt.Fprintln(os.Stderr, \"no such file\")\n}\n",
    "package a\n\n/*\nPackage a does what b does, but slower:\nit waits for every answer.\n*/\n\nvar Y = 2\n",
    "package a\n\n// Example use:\n//\n//\tx := New()\n//\tx.Run()\n//\tx.Close()\nfunc New() int { return 1 }\n",
    "package a\n\nfunc Print(x int) {\n\tprinter.Print(x)\n}\n",
    "package a\n\n// Deprecated: use G instead.\nfunc F() {}\n",
]  # fmt: skip
RUST = [
    "//! Crate documentation: call `f()`;\n//! it returns 1.\npub fn f() -> i32 { 1 }\n",
    "/// Adds one.\n///\n/// ```\n/// let x = f(1);\n/// dbg!(x);\n/// assert_eq!(x, 2);\n/// ```\npub fn f(x: i32) -> i32 { x + 1 }\n",
    "fn main() {\n    let x = 1;\n    println!(\"{}\", x);\n}\n",
    "pub const S: &str = \"dbg!(x); // let y = 1;\";\n",
    "pub const R: &str = r#\"dbg!(\"x\")\n// let a = 1;\n// let b = 2;\"#;\n",
    "pub fn f<'a>(x: &'a str) -> &'a str {\n    // The lifetime is that of the input, not of the map.\n    x\n}\n",
    "/* A block that explains\n   why this is done /* nested */ here. */\npub fn g() {}\n",
    "pub fn warn(n: usize) {\n    eprintln!(\"{} rows were left out\", n);\n}\n",
    "// SAFETY: the pointer is valid for the whole call;\n// nobody else has it.\npub fn h() {}\n",
    "macro_rules! dbg_info {\n    () => {};\n}\n",
]  # fmt: skip
JAVA = [
    "class A {\n  /** Returns x;\n   * never null. */\n  int f(int x) {\n    return x;\n  }\n}\n",
    "class B {\n  String s = \"e.printStackTrace(); // int x = 1;\";\n}\n",
    "class C {\n  public static void main(String[] args) {\n    System.out.println(args);\n  }\n}\n",
    "class D {\n  // The order matters: first the cache, then the store.\n  // Otherwise a reader may see neither.\n  int y;\n}\n",
    "class E {\n  void f(Exception e) {\n    log.error(\"failed\", e);\n    System.err.println(e);\n  }\n}\n",
    "class F {\n  String t = \"\"\"\n      // int x = 1;\n      // foo(x);\n      // bar(x);\n      \"\"\";\n}\n",
    "// Copyright (c) 2026 The authors. All rights reserved;\n// see LICENSE for details.\nclass G {}\n",
    "class H {\n  // checkstyle:off\n  // noinspection unchecked\n  int z;\n}\n",
    "class I {\n  void f(int n) {\n    System.out.println(n + \" rows were written\");\n  }\n}\n",
]  # fmt: skip
SHELL = [
    "#!/bin/sh\nset -eu\necho \"$1\"\n",
    "#!/bin/bash\nset -euxo pipefail\n./build\n",
    "# The cache is warm here, so nothing is fetched.\n# Set X to skip it.\nrun() {\n  echo \"${#1}\"\n}\n",
    "cat <<EOF\nset -x\n# x=1\n# y=2\n# z=3\nEOF\n",
    "# shellcheck disable=SC2034\nx=1\nexport x\n",
    "f() {\n  echo 'set -x'\n  printf '%s\\n' \"$1\"\n}\n",
    "# Usage: build [target]\n#   build all\n#   build test\nbuild() { :; }\n",
    "echo it\\'s # done\n",
]  # fmt: skip
MORE = {
    "lib/a.rb": "# Returns the name; nil when there is none.\ndef name\n  @p ||= \"binding.pry\"\nend\n",
    "lib/b.php": "<?php\n// The dump() of the profiler is not ours.\nfunction show($x) {\n  $this->dump($x);\n  return $x;\n}\n",
    "lib/c.swift": "/// Prints the receipt.\nfunc show() {\n    printer.print(1)\n}\n",
    "lib/d.cs": "class A {\n  // Order matters here: see the manual.\n  string s = @\"Debugger.Break(); \"\"x\"\" \";\n}\n",
    "lib/e.c": "#include <stdio.h>\n/* A note: x = 1 means on. */\nint main(void) {\n  printf(\"%d\\n\", 1);\n  return 0;\n}\n",
    "lib/f.kt": "// Kept for callers of version one.\nfun f(x: Int) = printer.print(x)\n",
    "tests/fixtures/bad.py": "breakpoint()\n# x = 1\n# y = 2\n# z = 3\n",
    "tests/fixtures/run.log": "a log\n",
    "docs/usage.md": "```python\nbreakpoint()\nprint(x)\n```\n",
    "examples/show.py": "x = 1\nprint(x)\n",
    "scripts/run.py": "x = 1\nprint(x)\n",
    "vendor/x/a.js": "debugger;\n",
    "config.yaml": "# key: value\n# other: value\nkey: 1\n",
    "notebooks/a.ipynb": '{"cells": [{"cell_type": "code", "source": ["print(x)"]}]}\n',
    "package-lock.json": '{"debugger": 1}\n',
    "app.env.example": "API_KEY=your-key-here\n",
}  # fmt: skip

LANGUAGES = {"py": PYTHON, "js": JAVASCRIPT, "go": GO, "rs": RUST, "java": JAVA, "sh": SHELL}
FILES = {
    f"src/{extension}/s{number}.{extension}": text
    for extension, texts in LANGUAGES.items()
    for number, text in enumerate(texts)
} | MORE


def test_there_are_enough() -> None:
    assert len(FILES) >= 75
    assert len(LANGUAGES) == 6


@pytest.mark.parametrize("kind", ["new", "added"])
def test_nothing_of_it_blocks(kind: str, repository: Any, judge: Any) -> None:
    if kind == "added":
        for path, text in FILES.items():
            repository.write(path, text.split("\n", 1)[0] + "\n" if path.endswith((".py", ".sh", ".go")) else "\n")
        repository.commit("begin")
    for path, text in FILES.items():
        repository.write(path, text)
    repository.git("add", "-f", "-A")
    repository.commit("clean work")
    state = judge(repository.root, base="HEAD~1")
    blocks = [
        (f.code, f.where, f.line, f.detail) for check in state.checks for f in check.findings if f.severity == "block"
    ]
    assert blocks == []
    assert state.clean


def test_one_commit_after_another(repository: Any, judge: Any) -> None:
    """Every eighth file in a commit of its own, each judged against its parent."""
    for path in list(FILES)[::8]:
        repository.write(path, FILES[path])
        repository.git("add", "-f", "-A")
        repository.commit(f"add {path}")
        assert judge(repository.root, base="HEAD~1").clean, path
