"""Inputs that once broke a reader, and the seeds that fuzzing starts from, go through every time."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parent


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"passdown_fuzz_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


targets, mutate = _load("targets"), _load("mutate")
INPUTS = [
    pytest.param(target, path, id=f"{target}-{path.name}")
    for target in targets.TARGETS
    for path in targets.seeds(target)
]


@pytest.mark.parametrize(("target", "path"), INPUTS)
def test_seeds_and_regressions(target: str, path: Path) -> None:
    targets.TARGETS[target](path.read_bytes())


@pytest.mark.parametrize("target", sorted(targets.TARGETS))
def test_a_few_changed_seeds(target: str) -> None:
    pool = [path.read_bytes() for path in targets.seeds(target)] or [b'{"a": "b"}\n']
    for seed in range(40):
        targets.TARGETS[target](mutate.mutate(pool[seed % len(pool)], 1 << 16, seed))


def test_the_judge_can_fail() -> None:
    with pytest.raises((AssertionError, IndexError)):
        targets.judge([])


def test_a_change_is_the_same_again() -> None:
    data = b'{"type": "user", "content": [1, 2]}\n{"b": null}\n'
    assert mutate.mutate(data, 1000, 7) == mutate.mutate(data, 1000, 7)
    assert len({mutate.mutate(data, 1000, seed) for seed in range(50)}) > 20
