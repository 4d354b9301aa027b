"""Every expression that is compiled late is a good one, and behaves as if compiled at once."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import passdown
from passdown.model.pattern import _Lazy, lazy_pattern


def test_behaves_like_a_compiled_one() -> None:
    pattern = lazy_pattern(r"(?P<word>[a-z]+)(\d*)", re.IGNORECASE)
    assert pattern.findall("Ab1 c") == [("Ab", "1"), ("c", "")]
    assert pattern.sub("x", "Ab1 c") == "x x"
    assert pattern.groupindex == {"word": 1}
    assert lazy_pattern(rb"\d").search(b"a1") is not None


def test_a_broken_one_fails_when_used() -> None:
    with pytest.raises(re.error):
        lazy_pattern("(").search("x")


def test_all_of_the_package_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = Path(passdown.__path__[0]) / "hooks"
    monkeypatch.syspath_prepend(str(hooks))  # what runs inside an agent is run as files, without the package
    checked = 0
    for module in pkgutil.walk_packages(passdown.__path__, "passdown."):
        if module.name.endswith("__main__"):
            continue
        values = vars(importlib.import_module(module.name)).values()
        for value in values:
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, _Lazy):
                    assert item.flags is not None
                    checked += 1
    assert checked > 50
