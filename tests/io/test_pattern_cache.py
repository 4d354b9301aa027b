"""The cache of compiled expressions gives what `re.compile` gives, and is never needed."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import passdown
from passdown.io.pattern_cache import PatternCache
from passdown.model import pattern

SOURCES: list[tuple[str | bytes, int]] = [
    (r"(?P<word>[a-z]+)=(?P<value>\d+)", re.IGNORECASE),
    (rb"\A\x00+(a|b)?", 0),
    (r"(?mx) ^ \s* [−-] (?P<c>.) \b", re.ASCII),
    (r"推送|发布", re.IGNORECASE),
    (r"(?<![\w.])(\d++) (?:tests? )?passed\b", re.MULTILINE | re.DOTALL),
]


def _expressions() -> list[tuple[str | bytes, int]]:
    """Every expression that a module of passdown holds."""
    found = []
    for module in pkgutil.walk_packages(passdown.__path__, "passdown."):
        if module.name.endswith("__main__") or module.name.startswith(("passdown.hooks", "passdown.mcp")):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, pattern._Lazy):
                source = value._source() if callable(value._source) else value._source
                found.append((source, value._flags))
    return found


def test_every_expression_comes_back_as_it_was(tmp_path: Path) -> None:
    sources = SOURCES + _expressions()
    assert len(sources) > 150
    path = tmp_path / "__pycache__" / "patterns.bin"
    first = PatternCache(path)
    made = [first.compile(source, flags) for source, flags in sources]
    first.save()
    again = PatternCache(path)
    kept = [again.compile(source, flags) for source, flags in sources]
    for (source, flags), one, two in zip(sources, made, kept, strict=True):
        real = re.compile(source, flags)
        assert one == real == two  # the code that matches is compared, with the flags and the source
        assert one.groupindex == real.groupindex == two.groupindex
        assert one.groups == real.groups == two.groups
    before = path.stat().st_mtime_ns
    again.save()
    assert path.stat().st_mtime_ns == before, "nothing new, nothing written"


def test_groups_have_their_names(tmp_path: Path) -> None:
    cache = PatternCache(tmp_path / "patterns.bin")
    found = cache.compile(*SOURCES[0]).search("say ABC=12")
    assert found is not None
    assert found.groupdict() == {"word": "ABC", "value": "12"}
    assert found.lastgroup == "value"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"\x00" + data,
        lambda data: b"rubbish" * 100,
        lambda data: data.replace(sys.version.encode()[:6], b"9.9.99"),
        lambda data: b"x" * 2_000_001,
    ],
    ids=["empty", "half", "shifted", "rubbish", "another build", "too large"],
)
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "patterns.bin"
    cache = PatternCache(path)
    cache.compile(*SOURCES[0])
    cache.save()
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    again = PatternCache(path)
    assert again.compile(*SOURCES[0]) == re.compile(*SOURCES[0])
    again.save()
    assert path.read_bytes() != b""


def test_a_wrong_expression_is_still_refused(tmp_path: Path) -> None:
    with pytest.raises(re.error):
        PatternCache(tmp_path / "patterns.bin").compile("(", 0)


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = PatternCache(tmp_path / "file" / "patterns.bin")
    assert cache.compile("a+", 0).match("aa")
    cache.save()


def test_a_command_leaves_the_cache_unless_byte_code_is_unwanted(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "project")], check=True)
    words = [sys.executable, "-m", "passdown", "-C", str(tmp_path / "project"), "status"]
    for number, extra in enumerate((["-B"], [])):
        prefix = tmp_path / f"prefix{number}"
        argv = [words[0], *extra, "-X", f"pycache_prefix={prefix}", *words[1:]]
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        assert subprocess.run(argv, capture_output=True, check=True, env=env).stdout
        assert bool(list(prefix.rglob("patterns.*.bin"))) is not bool(extra)
