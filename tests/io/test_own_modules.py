"""passdown's modules, found where they must lie: the same modules with the same places, and never code of an old source."""

from __future__ import annotations

import importlib.util
import marshal
import os
import py_compile
import subprocess
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import pytest

import passdown
import passdown.io
from passdown.io.own_modules import OwnModules

NAME = "passdown.made"


@pytest.fixture
def finder() -> OwnModules:
    tag = sys.implementation.cache_tag
    assert tag
    return OwnModules(tag, importlib.util.MAGIC_NUMBER)


def value(finder: OwnModules, folder: Path) -> object:
    """Return what the module says that lies in the folder."""
    spec = finder.find_spec(NAME, [str(folder)])
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.VALUE


def place(spec: ModuleSpec | None) -> tuple[object, ...]:
    assert spec
    return spec.name, spec.origin, spec.cached, spec.has_location, spec.submodule_search_locations, spec.parent


@pytest.mark.parametrize("name", ["model", "errors", "io.files", "agents.codex"])
def test_a_module_is_where_python_finds_it(finder: OwnModules, name: str) -> None:
    name = f"passdown.{name}"
    parent = importlib.import_module(name.rpartition(".")[0])
    assert place(finder.find_spec(name, parent.__path__)) == place(PathFinder.find_spec(name, parent.__path__))


def test_what_is_not_there_or_not_passdowns_is_left_to_python(finder: OwnModules) -> None:
    assert finder.find_spec("passdown.io.no_such", passdown.io.__path__) is None
    assert finder.find_spec("passdown", None) is None
    assert finder.find_spec("click.core", passdown.io.__path__) is None
    assert finder.find_spec("passdown.io.files", [*passdown.io.__path__, "/elsewhere"]) is None


def test_code_is_that_of_the_source_as_it_is_now(finder: OwnModules, tmp_path: Path) -> None:
    source = tmp_path / "made.py"
    source.write_text("VALUE = 1\n")
    os.utime(source, (1_000_000_000, 1_000_000_000))
    py_compile.compile(str(source))
    assert value(finder, tmp_path) == 1
    source.write_text("VALUE = 22\n")  # of the same second, but longer
    os.utime(source, (1_000_000_000, 1_000_000_000))
    assert value(finder, tmp_path) == 22
    source.write_text("VALUE = 33\n")  # as long, but later
    assert value(finder, tmp_path) == 33


def test_byte_code_that_is_there_is_what_runs(finder: OwnModules, tmp_path: Path) -> None:
    source = tmp_path / "made.py"
    source.write_text("VALUE = 1\n")
    kept = Path(py_compile.compile(str(source)) or "")
    code = compile("VALUE = 'kept'", str(source), "exec")
    kept.write_bytes(kept.read_bytes()[:16] + marshal.dumps(code))
    assert value(finder, tmp_path) == "kept"


@pytest.mark.parametrize("left", [b"", b"\xe3", b"i\x01\x00\x00\x00"], ids=["nothing", "half", "a number"])
def test_byte_code_that_is_broken_is_told_as_by_python(finder: OwnModules, tmp_path: Path, left: bytes) -> None:
    source = tmp_path / "made.py"
    source.write_text("VALUE = 1\n")
    kept = Path(py_compile.compile(str(source)) or "")
    kept.write_bytes(kept.read_bytes()[:16] + left)
    with pytest.raises(ImportError if left.startswith(b"i") else EOFError):
        value(finder, tmp_path)
    kept.unlink()
    assert value(finder, tmp_path) == 1


def test_byte_code_named_by_a_hash_is_left_to_python(finder: OwnModules, tmp_path: Path) -> None:
    source = tmp_path / "made.py"
    source.write_text("VALUE = 1\n")
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    source.write_text("VALUE = 2\n")
    assert value(finder, tmp_path) == 2


def test_the_command_finds_its_modules_this_way() -> None:
    script = "import sys; sys.argv[1:] = ['schema']\nfrom passdown.__main__ import main\ntry: main()\nexcept SystemExit: pass\n"
    script += "print(type(sys.modules['passdown.cli.main'].__loader__).__module__, file=sys.stderr)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stderr.strip() == "passdown.io.own_modules"
