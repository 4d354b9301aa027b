"""The shape of the code itself: sizes, imports that are free, nothing of one machine in the files."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))

HEAVY = {
    "asyncio", "pydantic", "rich", "numpy", "pyarrow", "torch", "sqlite3", "logging", "unittest", "email", "http", "ssl",
    "xml", "multiprocessing", "concurrent", "pdb", "pydoc", "importlib.metadata", "passdown.data",
}  # fmt: skip


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT / "src/passdown").as_posix())
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            assert length <= 40, f"{node.name} has {length} lines"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"a bare except in line {node.lineno}"
            assert "Exception" not in ast.unparse(node.type).split(), f"catches everything in line {node.lineno}"


def test_files_of_tests_stay_small() -> None:
    for folder in ("tests", "benchmarks", ".ci"):
        for path in (ROOT / folder).rglob("*.py"):
            assert len(path.read_text("utf-8").splitlines()) <= 400, path.relative_to(ROOT)


def test_no_expression_is_compiled_by_an_import() -> None:
    for path in SOURCES:
        for statement in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
                assert not [call.lineno for call in calls if ast.unparse(call.func) == "re.compile"], path


def imported(*arguments: str) -> set[str]:
    """The modules a fresh process has after running `arguments`."""
    code = "import sys, runpy; sys.argv = ['passdown', *sys.argv[1:]]\n"
    code += "try:\n    runpy.run_module('passdown', run_name='__main__')\nexcept SystemExit:\n    pass\n"
    code += "sys.stderr.write('MODULES ' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=True, text=True)
    return set(done.stderr.partition("MODULES ")[2].split())


def test_importing_the_package_is_free() -> None:
    code = "import sys; before = set(sys.modules); import passdown; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(done.stdout.split())
    assert [name for name in loaded if name.startswith("passdown")] == ["passdown"]
    assert loaded & (HEAVY | {"msgspec", "click", "json", "subprocess", "tempfile", "dataclasses", "inspect"}) == set()


def test_version_loads_neither_click_nor_msgspec() -> None:
    assert imported("--version").isdisjoint({"click", "msgspec", "passdown.cli.main"})


@pytest.mark.parametrize("words", [["--help"], ["schema"], ["completion", "bash"]])
def test_no_heavy_module_is_loaded(words: list[str]) -> None:
    assert imported(*words) & HEAVY == set()


def test_wrap_loads_no_heavy_module(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "x.py").write_text("x = 1\n")
    loaded = imported("-C", str(tmp_path), "wrap", "--dry-run")
    assert "passdown.packet.build" in loaded
    assert loaded & HEAVY == set()


def test_nothing_of_one_machine_or_registry_is_committed() -> None:
    words = [
        "/" + "work/main",
        "/" + "root/",
        "py" + "pi.org",
        "npm" + "js.org",
        "python" + "hosted.org",
        "debian" + ".org",
    ]
    pattern = re.compile("|".join(re.escape(word) for word in words).encode())
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    names = [name for name in listed.decode().split("\0") if (ROOT / name).is_file() and not name.endswith(".jsonl")]
    assert [name for name in names if pattern.search((ROOT / name).read_bytes())] == []
    assert os.sep == "/"
